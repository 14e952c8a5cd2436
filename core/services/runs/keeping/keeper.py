"""The worker process beside the app, or by itself, and the keeper that watches over it.

A process that lives may still do nothing: one text that a check cannot finish with, all of it in C,
stops a whole event loop, and no signal is heard there any more. So the keeper looks whether the
worker *moves*; one that does not is killed and replaced, and what it was at is held against the run
(`core.store.runs.stops`).
"""

from __future__ import annotations

import logging
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from core import clock
from core.domain.runs import Lease
from core.domain.votes import Cell
from core.errors import StoreError
from core.judging.offline import load
from core.services.runs import runner as signals
from core.services.runs.runner import Runner
from core.settings import Settings, own_environment, own_python
from core.store.database.data_file import FilePlace, cannot_write
from core.store.runs import logbook
from core.store.runs.stops import How
from core.store.store import Store

log = logging.getLogger(__name__)
#: A worker that does not move for so many seconds is killed; how often it is looked at.
HUNG_AFTER, LOOK_EVERY = 60.0, 1.0
#: So long a worker that is told to end may take: it waits for calls, and for a locked file.
END_WITHIN = 20.0


@contextmanager
def runner_beside(settings: Settings) -> Iterator[None]:
    """A Runner for as long as the server lives: in a process of its own, in a thread, or none."""
    from core.services import open_store

    signals.hang_up_ends()
    # Of a data file that can only be read, nothing is worked off.
    written = [one for one in settings.each() if not cannot_write(one.db)]
    if settings.runner == "none" or not written:
        yield
    elif settings.runner == "thread":
        runners = [Runner(open_store(one), settings.cluster).start() for one in written]
        try:
            yield
        finally:
            for runner in runners:
                runner.stop()
    else:
        keeper = WorkerProcess(*(one.db for one in written))
        try:
            yield
        finally:
            keeper.stop()


class WorkerProcess:
    """A worker process that is started again if it dies or hangs, and that dies with this one.

    The worker ends when its standard input ends, which happens when this process is gone, however
    it went.
    """

    def __init__(self, *files: Path) -> None:
        self._files = {path: FilePlace(path) for path in files}
        self._stores = {path: Store(path) for path in files}
        self._stopping = threading.Event()
        self._worker = self._spawn()
        self._thread = threading.Thread(target=self._keep, name="worker-keeper", daemon=True)
        self._thread.start()

    def _spawn(self) -> subprocess.Popen[bytes]:
        files = [word for path in self._files for word in ("--db", str(path))]
        command = own_python("core.cli", "worker", "--with-parent", *files)
        return subprocess.Popen(command, stdin=subprocess.PIPE, env=own_environment())

    def _keep(self) -> None:
        while True:
            how = self._watched()
            if self._stopping.is_set():
                break
            self._close_input()
            self._let_go(how)
            time.sleep(1.0)
            # A new worker would make a new, empty file where one is gone.
            self._files = {path: place for path, place in self._files.items() if place.in_place()}
            if self._stopping.is_set() or not self._files:
                break
            self._worker = self._spawn()
        for store in self._stores.values():
            store.close()

    def _close_input(self) -> None:
        if self._worker.stdin is not None:
            self._worker.stdin.close()

    def _watched(self) -> How:
        """Returns when the worker has ended, or did not move for too long and was killed."""
        look = _Look(self._worker.pid, {path: self._stores[path] for path in self._files})
        while True:
            with suppress(subprocess.TimeoutExpired):
                self._worker.wait(LOOK_EVERY)
                return "ended"
            hung = look.why_hung()
            if hung and not self._stopping.is_set():
                log.error(
                    "The worker (process %d) is killed and replaced: %s for %g s.",
                    *(self._worker.pid, hung, HUNG_AFTER),
                )
                self._worker.kill()
                self._worker.wait()
                return "hung"

    def _let_go(self, how: How) -> None:
        """Frees the runs of the worker that is gone. The one whose code ran then, or all where
        nobody knows, are told that it stopped.
        """
        begins = clock.owner_begins(self._worker.pid)
        at = {path: _at(path, begins) for path in self._files}
        known = any(noted is not None and noted.at for noted in at.values())
        for path, noted in at.items():
            run_id, cells = (0, ()) if noted is None else noted.cells
            try:
                for lease in self._stores[path].leases.of_process(begins):
                    guilty = lease.run_id == run_id or (how == "hung" and not known)
                    free(self._stores[path], lease, how, cells, guilty=guilty)
            except StoreError as error:
                log.info("Runs of the worker are free when their leases end: %s", error)

    def hurry(self) -> None:
        """The worker ends without waiting for calls that are out."""
        self._worker.terminate()

    @property
    def lives(self) -> bool:
        """Whether there is a worker, or will be one soon."""
        return self._thread.is_alive()

    def stop(self) -> None:
        """Lets the worker hand its runs back, then ends it."""
        self._stopping.set()
        self._close_input()
        try:
            self._worker.wait(END_WITHIN)
        except subprocess.TimeoutExpired:
            self._worker.kill()
            self._worker.wait()
        self._thread.join()


class _Look:
    """What one look after the other sees of a worker. Looks are counted, not seconds: a machine
    that slept, or a clock that jumped, is no worker that hung.
    """

    def __init__(self, pid: int, stores: dict[Path, Store]) -> None:
        self._begins, self._stores = clock.owner_begins(pid), stores
        self._moves: dict[Path, int] = {}
        self._looks: dict[str, int] = {}

    def why_hung(self) -> str:
        """Why the worker hangs, or nothing."""
        seen = [why for path, store in self._stores.items() for why in self._seen(path, store)]
        self._looks = {why: self._looks.get(why, 0) + 1 for why in seen}
        long = [why for why, looks in self._looks.items() if looks * LOOK_EVERY >= HUNG_AFTER]
        return long[0] if long else ""

    def _seen(self, path: Path, store: Store) -> Iterator[str]:
        noted = _at(path, self._begins)
        if noted is not None:
            if self._moves.get(path) == noted.moves:
                yield "it did not move"
            self._moves[path] = noted.moves
        with suppress(StoreError):
            for lease in store.leases.of_process(self._begins):
                if lease.until < clock.at():
                    # Whoever cannot write cannot renew a lease, and is not to blame.
                    with store.write():
                        yield f"it did not renew its lease on run {lease.run_id}"
                if lease.cancel:
                    yield f"it did not let go of run {lease.run_id}, which is cancelled,"


def free(store: Store, lease: Lease, how: How, cells: tuple[Cell, ...], *, guilty: bool) -> None:
    """Frees a run whose owner is gone. ``guilty``: its code ran then, perhaps at these cells."""
    told = {"run": lease.run_id}
    if lease.cancel:
        store.leases.expire(lease)
        store.runs.request_cancel(lease.run_id, now=clock.now())
    elif not guilty:
        store.leases.expire(lease)
    elif store.stops.stopped(lease, how, cells, now=clock.now()):
        log.error("Run %(run)s is put aside: it stopped two workers.", told, extra=told)


def _at(path: Path, begins: str) -> logbook.Noted | None:
    found = logbook.of_process(path, begins)
    return logbook.read(found[0]) if found else None


def keep_working(*files: Path) -> None:
    """A worker process and its keeper, until Ctrl-C, SIGTERM or SIGHUP, or until its files are
    gone. A second signal ends it without waiting for calls that are out.
    """
    told, keeper = threading.Event(), WorkerProcess(*files)

    def end(*_: object) -> None:
        if told.is_set():
            keeper.hurry()
        told.set()

    for one in (signal.SIGINT, *signals.ENDING):
        if signal.getsignal(one) is not signal.SIG_IGN:
            signal.signal(one, end)
    while keeper.lives and not told.wait(LOOK_EVERY):
        pass
    keeper.stop()


def work_until_told(*stores: Store, with_parent: bool = False, cluster: str = "") -> None:
    """Works off queued runs until Ctrl-C or, ``with_parent``, until standard input ends.

    Of several data files each has a Runner of its own, beside the first.
    """
    first, *others = [Runner(store, cluster) for store in stores]
    if with_parent:

        def watch() -> None:
            sys.stdin.buffer.read()
            first.stop(0)

        threading.Thread(target=watch, name="parent-watch", daemon=True).start()
        # Somebody sits before the app: a first spot check should not wait for these imports.
        threading.Thread(target=load, name="warm-up", daemon=True).start()
    for runner in others:
        runner.start()
    try:
        first.serve()
    except KeyboardInterrupt:
        first.stop(0)
    finally:
        for runner in others:
            runner.stop()
