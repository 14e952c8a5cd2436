"""The Runner: works off runs from the database on an asyncio loop; signals end it in order.

It is the same in the app, in a worker process and on the command line. Runs are claimed by lease,
so that several Runners over one data file share the work and never do it twice. The loop's thread
talks to judges; one more thread does all the writing.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import aclosing, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

from core import clock
from core.domain.access import LOCAL
from core.domain.runs import Lease, RunStatus
from core.errors import NotNow, StoreError
from core.services.access.allowing import allowed
from core.services.judges.registry import NO_FUNCTIONS, Functions
from core.services.runs.cluster.asking import ClusterDoor
from core.services.runs.held_work import in_thread, store_thread
from core.services.runs.ready_run import Providers
from core.services.runs.worker import LEASE_SECONDS, Work
from core.settings import pace_folder
from core.store.store import Store

if TYPE_CHECKING:
    from core.services.runs.lifecycle import RunProgress


# SIGTERM and SIGHUP end a program as Ctrl-C does: what was answered is recorded first.
#
# A signal that is ignored when the program starts (`nohup`) stays ignored.

#: SIGHUP is unknown on some systems.
ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextmanager
def ending(end: Callable[[], object]) -> Iterator[None]:
    """On the running loop these signals call ``end``, once; off the main thread nothing changes."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop, ended = asyncio.get_running_loop(), False

    def once() -> None:
        nonlocal ended
        if not ended:
            ended = True
            end()

    before = {one: signal.getsignal(one) for one in ENDING}
    taken = [one for one in ENDING if before[one] is not signal.SIG_IGN]
    for one in taken:
        loop.add_signal_handler(one, once)
    try:
        yield
    finally:
        for one in taken:
            loop.remove_signal_handler(one)
            signal.signal(one, before[one])


def hang_up_ends() -> None:
    """A server ends as on SIGTERM when its terminal goes away."""
    sighup = getattr(signal, "SIGHUP", None)
    if sighup is None or threading.current_thread() is not threading.main_thread():
        return
    if signal.getsignal(sighup) is signal.SIG_DFL:
        signal.signal(sighup, lambda *_: signal.raise_signal(signal.SIGTERM))


log = logging.getLogger(__name__)
LOOK_EVERY = 0.2
AT_ONCE = 4


class Runner:
    """Works off queued runs, several at once, until it is stopped."""

    def __init__(self, store: Store, cluster: str = "") -> None:
        self.store = store
        self._where = cluster
        self.owner = clock.owner_name()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> Runner:
        """Starts the thread; returns at once."""
        self._thread = threading.Thread(target=self.serve, name="runner", daemon=True)
        self._thread.start()
        return self

    def stop(self, timeout: float = 10.0) -> None:
        """Hands unfinished runs back to the queue and ends the thread."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(timeout)

    def serve(self) -> None:
        """Works until ``stop`` is called from another thread (or a signal handler)."""
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        providers, cluster = Providers(), ClusterDoor(self._where)
        async with store_thread(self.store, providers) as io, aclosing(cluster):
            works: dict[asyncio.Task[None], Work] = {}
            try:
                with ending(self._stopping.set):
                    freed = False
                    while not self._stopping.is_set():
                        freed = freed or await in_thread(io, self._free_from_the_dead)
                        if sum(not work.resting for work in works.values()) < AT_ONCE:
                            lease = await in_thread(io, self._claim)
                            if lease is not None:
                                work = Work(self.store, lease, providers, io, cluster)
                                works[asyncio.create_task(_guarded(work))] = work
                                continue
                        await asyncio.sleep(LOOK_EVERY)
                        works = {task: work for task, work in works.items() if not task.done()}
            finally:
                for work in works.values():
                    work.leave("queued")
                await asyncio.gather(*works, return_exceptions=True)

    def _free_from_the_dead(self) -> bool:
        """Takes runs from processes of this machine that were killed, before their leases end.

        ``False`` while the data file cannot be written.
        """
        try:
            for lease in self.store.leases.active(at=clock.at()):
                if clock.is_gone(lease.owner):
                    self.store.leases.expire(lease.run_id, lease.owner, lease.fence)
        except NotNow:
            return False
        return True

    def _claim(self) -> Lease | None:
        try:
            return self.store.leases.claim(self.owner, at=clock.at(), seconds=LEASE_SECONDS)
        except NotNow:
            return None  # looked at again soon


async def _guarded(work: Work) -> None:
    try:
        await work.run()
    except StoreError as error:
        log.error("run %s: %s", work.lease.run_id, error, extra={"run": work.lease.run_id})
    except Exception:
        # The run is already marked failed with the reason; other runs must go on.
        told = {"run": work.lease.run_id}
        log.exception("run %(run)s ended with a defect", told, extra=told)


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
    """Works off one run in this thread; ``None`` if another process holds it.

    ``on_tick`` is called every ``tick`` seconds (for a progress bar); models are asked on
    ``cluster``, where one is named (`cluster.joining.read`). An interrupt (Ctrl-C,
    SIGTERM, SIGHUP) keeps what is finished and leaves the run ``interrupted``, then raises
    ``KeyboardInterrupt``.
    """
    try:
        door = ClusterDoor(cluster)
        return asyncio.run(_work_here(store.acting(LOCAL), run_id, on_tick, tick, functions, door))
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


async def _work_here(
    store: Store,
    run_id: int,
    on_tick: Callable[[], None],
    tick: float,
    functions: Functions,
    cluster: ClusterDoor,
) -> RunStatus | None:
    claim = partial(
        store.leases.claim,
        clock.owner_name(),
        at=clock.at(),
        seconds=LEASE_SECONDS,
        run_id=run_id,
    )
    providers = Providers(functions, pace_folder())
    async with store_thread(store, providers) as io, aclosing(cluster):
        lease = await in_thread(io, claim)
        if lease is None:
            return None
        work = Work(store, lease, providers, io, cluster)
        task, mine = asyncio.create_task(work.run()), asyncio.current_task()
        assert mine is not None
        try:
            with ending(mine.cancel):
                while not task.done():
                    await asyncio.wait({task}, timeout=tick)
                    on_tick()
            return task.result()
        except asyncio.CancelledError:
            # asyncio.run turns Ctrl-C into a cancellation of this coroutine, as the signals do.
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
    """Works the run off here, or watches whoever does, until it rests."""
    from core.services.runs.lifecycle import progress, release_if_gone

    look = progress(store, run_id)

    def tick() -> None:
        nonlocal look
        look = progress(store, run_id, look)
        on_look(look)

    def looked() -> None:
        # Where the file cannot be read, the work finds that out itself, and ends in order.
        with suppress(StoreError):
            tick()

    while work_here(store, run_id, on_tick=looked, functions=functions, cluster=cluster) is None:
        if not store.runs.row(run_id).active:
            return
        release_if_gone(store, run_id)
        tick()
        time.sleep(0.5)
    tick()
