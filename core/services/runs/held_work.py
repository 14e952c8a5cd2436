"""What is shared by all work that is held for a while: runs, and tasks of a model's help.

Whoever holds something renews that with beats, which also tell when somebody else took it, or
wants it stopped. All that one worker does with the store is done in one thread, and outcomes are
written in groups.
"""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Coroutine,
    Iterator,
    Sequence,
)
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from typing import Any, TypeVar

from core.domain.votes import AskedOutcome, Call, VoteFailure
from core.errors import NotNow, StoreError
from core.judging.asking.engine import Watch
from core.judging.asking.steps import stepwise
from core.judging.protocol import Question
from core.judging.turns import QuestionTurns
from core.services.runs.ready_run import Providers
from core.settings import load_settings
from core.store.runs.kept import MANY
from core.store.runs.logbook import Logbook, cells_said
from core.store.store import Store

log = logging.getLogger(__name__)
ResultT = TypeVar("ResultT")

#: Python looks for garbage in circles whenever so many more things were made than given up.
SELDOM = 100_000
_seldom: list[int] = []


@contextmanager
def seldom_collecting() -> Iterator[None]:
    """Inside, Python looks for garbage in circles less often.

    Its usual number (700) is reached by three calls in flight, and each look goes through all that
    are: a sixth of a call's processor time, for calls that leave no circles. Some hundred calls in
    flight and their outcomes are tens of thousands of things. Inside of several, the first one's
    end does not count.
    """
    _seldom.append(gc.get_threshold()[0])
    if _seldom[0]:  # somebody who wants no looks at all gets none
        gc.set_threshold(max(SELDOM, _seldom[0]), *gc.get_threshold()[1:])
    try:
        yield
    finally:
        before = _seldom.pop()
        if not _seldom:
            gc.set_threshold(before, *gc.get_threshold()[1:])


@asynccontextmanager
async def store_thread(store: Store, providers: Providers | None = None) -> AsyncIterator[Executor]:
    """A thread for the store alone; at the end its connection is closed, and ``providers``."""
    io = ThreadPoolExecutor(1, thread_name_prefix="store")
    try:
        yield io
    finally:
        if providers is not None:
            await providers.close()
        await in_thread(io, store.close)
        io.shutdown()


def in_thread(io: Executor, call: Callable[..., ResultT], *arguments: object) -> Awaitable[ResultT]:
    """Runs a store call off the loop."""
    return asyncio.get_running_loop().run_in_executor(io, call, *arguments)


@asynccontextmanager
async def beating(beat: Callable[[], Awaitable[bool]], every: float) -> AsyncIterator[None]:
    """Inside, ``beat`` is called every so many seconds until it says ``False``.

    One that comes while the file cannot be written is left out: whoever records says so, and
    nobody else can take the work meanwhile.
    """

    async def beats() -> None:
        going = True
        while going:
            await asyncio.sleep(every)
            with suppress(NotNow):
                going = await beat()

    task = asyncio.create_task(beats())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def noting(book: Logbook, run_id: int) -> Watch:
    """The logbook has whose code runs, for whoever finds that nothing moves any more."""

    def watched(
        question: Question, asking: Coroutine[Any, Any, AskedOutcome]
    ) -> Awaitable[AskedOutcome]:
        said = cells_said(run_id, [one.cell for one in question.asks])
        return stepwise(asking, partial(book.at, said), partial(book.at, b""))

    return watched


def trim_answers(store: Store, used: Collection[str]) -> None:
    """Bounds what the answers take in the file; where it is busy, the next run will."""
    try:
        store.responses.trim(load_settings().cache_bytes, used)
    except StoreError as error:
        log.info("Kept answers were not trimmed: %s", error)


def keep_columns(store: Store, run_id: int) -> None:
    """Has what pages count ready; where the file is busy, the first page does it."""
    try:
        if store.runs.row(run_id).items >= MANY:
            # Columns need numpy, which a run of a few items shall not wait for.
            from core.services.results import run_columns

            run_columns.keep(store, run_id)
    except StoreError as error:
        log.info("Columns of the run were not kept: %s", error)


def budget_message(turns: QuestionTurns, seed: int) -> str:
    """Why a run ended, and how it goes on."""
    return (
        f"The budget of ${turns.limit:.4g} is spent (${turns.spent:.4g}). What was finished is "
        f"kept. To go on, start the same with a higher budget and the seed {seed}: answers that "
        "were kept cost nothing."
    )


# Hands the outcomes of a run to the writer in groups: one transaction each, as soon as it is free.
#
# While a group is written the next one gathers, so that a slow disk makes larger groups and not a
# longer queue. A group waits ``GATHER`` seconds for company first: docs/decisions/0014. So a kill
# loses what was in flight, and what was answered while one group gathered and was written.

GATHER = 0.02
#: While so many outcomes wait, nothing more is asked.
HOLD_AT = 2000
#: Of those that a call was paid for, twice as many as calls in flight, and at least so many.
LEAST_PAID = 64


class Recorder:
    """Takes outcomes as they come. ``ready`` is not set while nothing more should be asked.

    ``on_failure`` is called once when a group cannot be written; ``drain`` then raises why. While
    what is unwritten holds twice as many calls as may be in ``flight``, nothing more is asked: a
    kill loses no more than that.
    """

    def __init__(
        self,
        write: Callable[[Sequence[AskedOutcome]], Awaitable[object]],
        on_failure: Callable[[], None],
        flight: int = 0,
    ) -> None:
        self._most_paid = max(LEAST_PAID, 2 * flight)
        self.ready = asyncio.Event()
        self.ready.set()
        self._write, self._on_failure = write, on_failure
        self._waiting: list[AskedOutcome] = []
        self._writing: list[AskedOutcome] = []
        self._some, self._none = asyncio.Event(), asyncio.Event()
        self._none.set()
        self._task = asyncio.create_task(self._work())

    def add(self, outcome: AskedOutcome) -> None:
        """Record this outcome soon."""
        self._waiting.append(outcome)
        self.stir()
        if len(self._waiting) >= HOLD_AT or self._unwritten_paid() >= self._most_paid:
            self.ready.clear()

    def _unwritten_paid(self) -> int:
        """How many unwritten outcomes a call was paid for; counted only where there may be many."""
        if len(self._waiting) + len(self._writing) < self._most_paid:
            return 0
        return sum(one.call is not None and not one.call.cached for one in self.unwritten)

    def stir(self) -> None:
        """Write soon, be there an outcome or none."""
        self._some.set()
        self._none.clear()

    @property
    def unwritten(self) -> list[AskedOutcome]:
        """What was added and is not on the disk."""
        return [*self._writing, *self._waiting]

    async def drain(self) -> None:
        """Returns when all that was added is written. Raises what kept it from being written."""
        none = asyncio.create_task(self._none.wait())
        await asyncio.wait({none, self._task}, return_when=asyncio.FIRST_COMPLETED)
        none.cancel()
        if self._task.done():
            self._task.result()

    async def close(self) -> None:
        """Ends the task; ``drain`` first."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _work(self) -> None:
        try:
            while True:
                await self._some.wait()
                await asyncio.sleep(GATHER)
                self._some.clear()
                self._writing, self._waiting = self._waiting, []
                await self._write(self._writing)
                self._writing = []
                self.ready.set()
                if not self._some.is_set():
                    self._none.set()
        except Exception:
            self._on_failure()
            raise


def unwritable(outcome: AskedOutcome, error: Exception) -> AskedOutcome:
    """The outcome as a failure of its cells, which says why it could not be recorded."""
    why = f"{type(error).__name__}: {error}"[:200]
    failures = tuple(
        VoteFailure(
            one.cell,
            "internal",
            f"The answer of {one.cell.judge} on {one.cell.item} could not be recorded ({why}).",
        )
        for one in outcome.results
    )
    call = outcome.call and Call((), {}, tries=outcome.call.tries, asked=outcome.call.asked)
    return AskedOutcome(failures, call)
