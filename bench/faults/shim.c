/* Preloaded into a program, it makes writing to its data file fail, and its clock jump.

   FAULT_FILE   only files whose path holds this (studio.db: the file, its log and its journal)
   FAULT_KIND   kill (SIGKILL), eio, enospc; anything else only counts
   FAULT_AT     at this write, counted from 1      FAULT_EVERY   at each so-manieth write
   FAULT_UNTIL  the writes from this one on are let be
   FAULT_COUNT  a file that gets the number of writes when the program ends
   FAULT_SHIFT  seconds that the wall clock is put forward
   FAULT_JUMP   seconds by which the wall clock jumps forth and back, each second anew

   A write is pwrite, write, fsync, fdatasync or ftruncate: every step at which a commit can be cut. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static atomic_long writes;

static long number(const char *name) {
    const char *said = getenv(name);
    return said ? atol(said) : 0;
}

static int of_the_data_file(int fd) {
    char link[64], path[4096];
    const char *wanted = getenv("FAULT_FILE");
    if (!wanted) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return strstr(path, wanted) != NULL;
}

/* Whether this write fails; errno is set. */
static int fails(int fd) {
    int before = errno;
    if (!of_the_data_file(fd)) { errno = before; return 0; }
    long now = atomic_fetch_add(&writes, 1) + 1;
    long at = number("FAULT_AT"), every = number("FAULT_EVERY"), until = number("FAULT_UNTIL");
    const char *kind = getenv("FAULT_KIND");
    errno = before;
    if (!kind || (until && now >= until)) return 0;
    if (!(at && now == at) && !(every && now % every == 0)) return 0;
    if (!strcmp(kind, "kill")) { kill(getpid(), SIGKILL); for (;;) pause(); }
    if (!strcmp(kind, "eio")) { errno = EIO; return 1; }
    if (!strcmp(kind, "enospc")) { errno = ENOSPC; return 1; }
    return 0;
}

#define REAL(name) \
    static __typeof__(name) *real; \
    if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

ssize_t pwrite(int fd, const void *what, size_t size, off_t at) {
    REAL(pwrite);
    return fails(fd) ? -1 : real(fd, what, size, at);
}
ssize_t pwrite64(int fd, const void *what, size_t size, off64_t at) {
    REAL(pwrite64);
    return fails(fd) ? -1 : real(fd, what, size, at);
}
ssize_t write(int fd, const void *what, size_t size) {
    REAL(write);
    return fails(fd) ? -1 : real(fd, what, size);
}
int fsync(int fd) { REAL(fsync); return fails(fd) ? -1 : real(fd); }
int fdatasync(int fd) { REAL(fdatasync); return fails(fd) ? -1 : real(fd); }
int ftruncate(int fd, off_t size) { REAL(ftruncate); return fails(fd) ? -1 : real(fd, size); }
int ftruncate64(int fd, off64_t size) { REAL(ftruncate64); return fails(fd) ? -1 : real(fd, size); }

int clock_gettime(clockid_t which, struct timespec *now) {
    REAL(clock_gettime);
    int status = real(which, now);
    if (which == CLOCK_REALTIME && status == 0) {
        now->tv_sec += number("FAULT_SHIFT") + (now->tv_sec % 2 ? 1 : -1) * number("FAULT_JUMP");
    }
    return status;
}

__attribute__((destructor)) static void told(void) {
    const char *path = getenv("FAULT_COUNT");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file) { fprintf(file, "%ld\n", (long)writes); fclose(file); }
}
