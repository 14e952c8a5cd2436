"""The Runner: processes queued runs on an asyncio loop, and ends cleanly on signals.

The app, worker processes and the command line use the same Runner. It claims runs by lease, so
several Runners share a data file's work without repeating any. The loop's thread calls judges;
another thread does all the writing.
"""

from __future__ import annotations

import asyncio
import logging
import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import aclosing, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

from core import clock
from core.domain.access import LOCAL
from core.domain.runs import Lease, RunStatus
from core.errors import StoreError, WriteBlocked
from core.services.access.allowing import allowed
from core.services.judges.readiness import NO_FUNCTIONS, Functions
from core.services.runs.cluster.asking import ClusterConnection
from core.services.runs.held_work import calling_beat, in_thread, store_thread
from core.services.runs.ready_run import Providers
from core.services.runs.worker import GRACE, LEASE_SECONDS, RunningWork
from core.settings import pace_folder
from core.store.runs.logbook import Logbook, logbook_for
from core.store.store import Store

if TYPE_CHECKING:
    from core.services.runs.lifecycle import RunProgress


# SIGTERM and SIGHUP end a program like Ctrl-C: answers are recorded first.
#
# A signal that was ignored at the start (`nohup`) stays ignored.

#: Signals within this many seconds count as one.
TOGETHER = 0.3
#: Some systems lack SIGHUP.
ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextmanager
def ending_on_signals(end: Callable[[], object]) -> Iterator[None]:
    """Make these signals call ``end`` on the running loop, if this is the main thread.

    A second signal before the loop handled the first raises ``KeyboardInterrupt``: the loop hangs.
    A closing terminal sends several signals at once; they count as one.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop, waiting, last = asyncio.get_running_loop(), False, -math.inf

    def signal_arrived(*_: object) -> None:
        nonlocal waiting, last
        if time.monotonic() - last < TOGETHER:
            return
        last = time.monotonic()
        if waiting:
            raise KeyboardInterrupt
        waiting = True
        loop.call_soon_threadsafe(on_signal)

    def on_signal() -> None:
        nonlocal waiting
        waiting = False
        end()

    before = {number: signal.getsignal(number) for number in ENDING}
    handled = [number for number in ENDING if before[number] is not signal.SIG_IGN]
    for number in handled:
        signal.signal(number, signal_arrived)
    try:
        yield
    finally:
        for number in handled:
            signal.signal(number, before[number])


def end_on_hang_up() -> None:
    """Make a lost terminal end a server like SIGTERM."""
    sighup = getattr(signal, "SIGHUP", None)
    if sighup is None or threading.current_thread() is not threading.main_thread():
        return
    if signal.getsignal(sighup) is signal.SIG_DFL:
        signal.signal(sighup, lambda *_: signal.raise_signal(signal.SIGTERM))


log = logging.getLogger(__name__)
LOOK_EVERY = 0.2
AT_ONCE = 4


class Runner:
    """Processes queued runs, several at once, until it is stopped."""

    def __init__(self, store: Store, cluster: str = "") -> None:
        self.store = store
        self._where = cluster
        self.owner = clock.owner_name()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> Runner:
        """Start the thread and return at once."""
        self._thread = threading.Thread(target=self.serve, name="runner", daemon=True)
        self._thread.start()
        return self

    def stop(self, timeout: float = 20.0) -> None:
        """Hand unfinished runs back to the queue, and end the thread."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(timeout)

    def serve(self) -> None:
        """Work until ``stop`` is called from another thread or a signal handler."""
        asyncio.run(self._serve_runs())

    async def _serve_runs(self) -> None:
        providers, cluster = Providers(), ClusterConnection(self._where)
        works: dict[asyncio.Task[None], RunningWork] = {}

        def end_loop() -> None:
            if self._stopping.is_set():
                for work in works.values():
                    work.leave("queued")
            self._stopping.set()

        async with store_thread(self.store, providers) as io, aclosing(cluster):
            with logbook_for(self.store.path, self.owner) as book, ending_on_signals(end_loop):
                begun = partial(
                    RunningWork, self.store, providers=providers, io=io, book=book, cluster=cluster
                )
                async with calling_beat(partial(_note_alive, book), LOOK_EVERY):
                    try:
                        await self._process_runs(works, begun, io)
                    finally:
                        for work in works.values():
                            work.leave("queued", GRACE)
                        await asyncio.gather(*works, return_exceptions=True)

    async def _process_runs(
        self,
        works: dict[asyncio.Task[None], RunningWork],
        begun: Callable[[Lease], RunningWork],
        io: Executor,
    ) -> None:
        """Claim and process runs until the Runner is stopped; ``works`` holds the active ones."""
        freed = False
        while not self._stopping.is_set():
            freed = freed or await in_thread(io, self._free_runs_of_the_dead)
            if sum(not work.resting for work in works.values()) < AT_ONCE:
                lease = await in_thread(io, self._claim_run)
                if lease is not None:
                    work = begun(lease)
                    works[asyncio.create_task(_run_guarded(work))] = work
                    continue
            await asyncio.sleep(LOOK_EVERY)
            for task in [task for task in works if task.done()]:
                del works[task]

    def _free_runs_of_the_dead(self) -> bool:
        """Free runs of killed processes on this machine before their leases expire.

        Return ``False`` while the data file cannot be written.
        """
        try:
            for lease in self.store.leases.active(at=clock.seconds_now()):
                if clock.is_gone(lease.owner):
                    self.store.leases.expire(lease)
        except WriteBlocked:
            return False
        return True

    def _claim_run(self) -> Lease | None:
        try:
            lease = self.store.leases.claim(
                self.owner, at=clock.seconds_now(), seconds=LEASE_SECONDS
            )
        except WriteBlocked:
            return None  # Return to the loop, which checks again soon.
        if lease is not None:
            self.store.leases.sweep()
        return lease


async def _note_alive(book: Logbook) -> bool:
    """Note in the logbook that this process is alive; return ``True``."""
    book.record_heartbeat()
    return True


async def _run_guarded(work: RunningWork) -> None:
    try:
        await work.run()
    except StoreError as error:
        log.error("run %s: %s", work.lease.run_id, error, extra={"run": work.lease.run_id})
    except Exception:
        # The run is already marked as failed, with the reason. Other runs must continue.
        fields = {"run": work.lease.run_id}
        log.exception("run %(run)s ended with a defect", fields, extra=fields)


@allowed("write")
def work_here(
    store: Store,
    run_id: int,
    *,
    on_tick: Callable[[], None] = lambda: None,
    tick: float = 0.5,
    functions: Functions = NO_FUNCTIONS,
    cluster: str = "",
) -> RunStatus | None:
    """Process one run in this thread; return ``None`` if another process has its lease.

    ``on_tick`` is called every ``tick`` seconds (for a progress bar). Models run on ``cluster``, if
    set (`cluster.joining.read`). An interrupt (Ctrl-C, SIGTERM, SIGHUP) keeps finished votes,
    leaves the run ``interrupted`` and raises ``KeyboardInterrupt``.
    """
    try:
        connection = ClusterConnection(cluster)
        return asyncio.run(
            _work_here(store.acting(LOCAL), run_id, on_tick, tick, functions, connection)
        )
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


async def _work_here(
    store: Store,
    run_id: int,
    on_tick: Callable[[], None],
    tick: float,
    functions: Functions,
    cluster: ClusterConnection,
) -> RunStatus | None:
    claim = partial(
        store.leases.claim,
        clock.owner_name(),
        at=clock.seconds_now(),
        seconds=LEASE_SECONDS,
        run_id=run_id,
    )
    providers = Providers(functions, pace_folder())
    async with store_thread(store, providers) as io, aclosing(cluster):
        lease = await in_thread(io, claim)
        if lease is None:
            return None
        await in_thread(io, store.leases.sweep)
        with logbook_for(store.path, lease.owner) as book:
            work = RunningWork(store, lease, providers, io, book, cluster)
            task, this_task = asyncio.create_task(work.run()), asyncio.current_task()
            assert this_task is not None
            with ending_on_signals(this_task.cancel):
                return await _final_status(work, task, on_tick, tick)


async def _final_status(
    work: RunningWork,
    task: asyncio.Task[RunStatus | None],
    on_tick: Callable[[], None],
    tick: float,
) -> RunStatus | None:
    """Return the run's final status. Ctrl-C cancels the task through asyncio.run, like the
    signals.
    """
    try:
        while not task.done():
            await asyncio.wait({task}, timeout=tick)
            on_tick()
        return task.result()
    except asyncio.CancelledError:
        work.leave("interrupted", GRACE)
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            work.leave("interrupted")
            await task
        raise


@allowed("write")
def follow(
    store: Store,
    run_id: int,
    on_look: Callable[[RunProgress], None],
    functions: Functions = NO_FUNCTIONS,
    cluster: str = "",
) -> None:
    """Process the run here, or watch the process that does, until the run stops."""
    from core.services.runs.lifecycle import release_if_gone, run_progress

    look = run_progress(store, run_id)

    def tick_once() -> None:
        nonlocal look
        look = run_progress(store, run_id, look)
        on_look(look)

    def tick_if_readable() -> None:
        # If the file is unreadable, the run's own work notices it and ends cleanly.
        with suppress(StoreError):
            tick_once()

    while (
        work_here(store, run_id, on_tick=tick_if_readable, functions=functions, cluster=cluster)
        is None
    ):
        if not store.runs.row(run_id).active:
            return
        release_if_gone(store, run_id)
        tick_once()
        time.sleep(0.5)
    tick_once()
