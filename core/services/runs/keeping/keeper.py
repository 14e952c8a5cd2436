"""The keeper: it starts the worker process for the app or alone, and watches over it.

A live process may still hang: a check that never ends on some text, all in C, blocks the event
loop, and then no signal is handled. So the keeper checks whether the worker *moves*. It kills and
replaces a hanging worker, and notes the cells it worked on as the cause (`core.store.runs.stops`).
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
#: Seconds without progress after which a worker is killed, and seconds between checks.
HUNG_AFTER, LOOK_EVERY = 60.0, 1.0
#: Seconds that a worker may take to end. It waits for calls in flight and for a locked file.
END_WITHIN = 20.0


@contextmanager
def runner_beside(settings: Settings) -> Iterator[None]:
    """Run a Runner while the server runs: in its own process, in a thread, or not at all."""
    from core.services import open_store

    signals.end_on_hang_up()
    # A read-only data file needs no Runner.
    written = [
        file_settings for file_settings in settings.each() if not cannot_write(file_settings.db)
    ]
    if settings.runner == "none" or not written:
        yield
    elif settings.runner == "thread":
        runners = [
            Runner(open_store(file_settings), settings.cluster).start() for file_settings in written
        ]
        try:
            yield
        finally:
            for runner in runners:
                runner.stop()
    else:
        keeper = WorkerProcess(*(file_settings.db for file_settings in written))
        try:
            yield
        finally:
            keeper.stop()


class WorkerProcess:
    """A worker process that is restarted if it dies or hangs, and that ends with this one.

    The worker ends when its standard input closes, which happens however this process ends.
    """

    def __init__(self, *files: Path) -> None:
        self._files = {path: FilePlace(path) for path in files}
        self._stores = {path: Store(path) for path in files}
        self._stopping = threading.Event()
        self._worker = self._spawn_worker()
        self._thread = threading.Thread(target=self._keep_alive, name="worker-keeper", daemon=True)
        self._thread.start()

    def _spawn_worker(self) -> subprocess.Popen[bytes]:
        files = [word for path in self._files for word in ("--db", str(path))]
        command = own_python("core.cli", "worker", "--with-parent", *files)
        return subprocess.Popen(command, stdin=subprocess.PIPE, env=own_environment())

    def _keep_alive(self) -> None:
        while True:
            ending = self._watch_worker()
            if self._stopping.is_set():
                break
            self._close_input()
            self._free_runs(ending)
            time.sleep(1.0)
            # A new worker would create an empty file to replace a deleted one.
            self._files = {path: place for path, place in self._files.items() if place.in_place()}
            if self._stopping.is_set() or not self._files:
                break
            self._worker = self._spawn_worker()
        for store in self._stores.values():
            store.close()

    def _close_input(self) -> None:
        if self._worker.stdin is not None:
            self._worker.stdin.close()

    def _watch_worker(self) -> How:
        """Wait until the worker ended, or hung and was killed; return which of them."""
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

    def _free_runs(self, ending: How) -> None:
        """Free the runs of the ended worker.

        A stop is noted for the run whose code ran at that moment, or for all runs if that is
        unknown.
        """
        begins = clock.owner_prefix(self._worker.pid)
        positions = {path: _content_at(path, begins) for path in self._files}
        named = any(noted is not None and noted.at for noted in positions.values())
        for path, noted in positions.items():
            run_id, cells = (0, ()) if noted is None else noted.cells
            try:
                for lease in self._stores[path].leases.of_process(begins):
                    guilty = lease.run_id == run_id or (ending == "hung" and not named)
                    free_run(self._stores[path], lease, ending, cells, guilty=guilty)
            except StoreError as error:
                log.info("Runs of the worker are free when their leases end: %s", error)

    def end_now(self) -> None:
        """End the worker without waiting for calls in flight."""
        self._worker.terminate()

    @property
    def is_alive(self) -> bool:
        """Return whether a worker runs now or will start soon."""
        return self._thread.is_alive()

    def stop(self) -> None:
        """Ask the worker to hand back its runs, and wait for its end."""
        self._stopping.set()
        self._close_input()
        try:
            self._worker.wait(END_WITHIN)
        except subprocess.TimeoutExpired:
            self._worker.kill()
            self._worker.wait()
        self._thread.join()


class _Look:
    """Repeated checks of a worker. They are counted instead of timed, so that a sleeping machine or
    a clock that jumps does not look like a hanging worker.
    """

    def __init__(self, pid: int, stores: dict[Path, Store]) -> None:
        self._begins, self._stores = clock.owner_prefix(pid), stores
        self._moves: dict[Path, int] = {}
        self._looks: dict[str, int] = {}

    def why_hung(self) -> str:
        """Return why the worker hangs, or an empty string."""
        reasons = [
            reason
            for path, store in self._stores.items()
            for reason in self._hang_reasons(path, store)
        ]
        self._looks = {reason: self._looks.get(reason, 0) + 1 for reason in reasons}
        long = [reason for reason, looks in self._looks.items() if looks * LOOK_EVERY >= HUNG_AFTER]
        return long[0] if long else ""

    def _hang_reasons(self, path: Path, store: Store) -> Iterator[str]:
        noted = _content_at(path, self._begins)
        if noted is not None:
            if self._moves.get(path) == noted.moves:
                yield "it did not move"
            self._moves[path] = noted.moves
        with suppress(StoreError):
            for lease in store.leases.of_process(self._begins):
                if lease.until < clock.seconds_now():
                    # A lease cannot be renewed while the file cannot be written.
                    with store.write():
                        yield f"it did not renew its lease on run {lease.run_id}"
                if lease.cancel:
                    yield f"it did not let go of run {lease.run_id}, which is cancelled,"


def free_run(
    store: Store, lease: Lease, stop_kind: How, cells: tuple[Cell, ...], *, guilty: bool
) -> None:
    """Free a run whose owner ended. ``guilty``: the run's code, perhaps for these cells, ran at its
    end.
    """
    extra = {"run": lease.run_id}
    if lease.cancel:
        store.leases.expire(lease)
        store.runs.request_cancel(lease.run_id, now=clock.now())
    elif not guilty:
        store.leases.expire(lease)
    elif store.stops.stopped(lease, stop_kind, cells, now=clock.now()):
        log.error("Run %(run)s is put aside: it stopped two workers.", extra, extra=extra)


def _content_at(path: Path, begins: str) -> logbook.LogbookContent | None:
    paths = logbook.logbooks_of_process(path, begins)
    return logbook.read_logbook(paths[0]) if paths else None


def keep_worker_running(*files: Path) -> None:
    """Keep a worker process running until Ctrl-C, SIGTERM or SIGHUP, or until its files are
    deleted.

    A second signal ends it without waiting for calls in flight.
    """
    stopping, keeper = threading.Event(), WorkerProcess(*files)

    def end_worker(*_: object) -> None:
        if stopping.is_set():
            keeper.end_now()
        stopping.set()

    for signal_number in (signal.SIGINT, *signals.ENDING):
        if signal.getsignal(signal_number) is not signal.SIG_IGN:
            signal.signal(signal_number, end_worker)
    while keeper.is_alive and not stopping.wait(LOOK_EVERY):
        pass
    keeper.stop()


def work_until_stopped(*stores: Store, with_parent: bool = False, cluster: str = "") -> None:
    """Process queued runs until Ctrl-C or, ``with_parent``, until standard input closes.

    Each data file has its own Runner.
    """
    first, *other_runners = [Runner(store, cluster) for store in stores]
    if with_parent:

        def watch_run() -> None:
            sys.stdin.buffer.read()
            first.stop(0)

        threading.Thread(target=watch_run, name="parent-watch", daemon=True).start()
        # The app is open: load these imports before its first spot check needs them.
        threading.Thread(target=load, name="warm-up", daemon=True).start()
    for runner in other_runners:
        runner.start()
    try:
        first.serve()
    except KeyboardInterrupt:
        first.stop(0)
    finally:
        for runner in other_runners:
            runner.stop()
