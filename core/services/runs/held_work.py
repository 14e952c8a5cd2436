"""Shared by work under a lease: runs, and help tasks.

The worker renews its lease with heartbeats. A heartbeat also tells it that another worker took
over, or that the work was asked to stop. A worker uses the store from one thread, and writes
outcomes in groups.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import math
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

from core import clock
from core.domain.votes import AskedOutcome, Call, VoteFailure
from core.errors import StoreError, WriteBlocked
from core.judging.asking.engine import Watch
from core.judging.asking.steps import stepwise
from core.judging.protocol import Question
from core.judging.turns import QuestionTurns
from core.services.runs.ready_run import Providers
from core.settings import load_settings
from core.store.runs.kept import MANY
from core.store.runs.logbook import Logbook, cells_argument
from core.store.store import Store

log = logging.getLogger(__name__)
ResultT = TypeVar("ResultT")

#: Python collects cyclic garbage after this many more allocations than deallocations.
SELDOM = 100_000
_seldom: list[int] = []


@contextmanager
def collecting_less_often() -> Iterator[None]:
    """Collect cyclic garbage less often inside the ``with`` block.

    Three calls in flight reach Python's default threshold (700), and each collection visits all
    calls in flight. That costs a sixth of a call's processor time, although calls leave no cycles.
    A few hundred calls in flight and their outcomes are tens of thousands of objects. The last of
    several nested uses restores the threshold.
    """
    _seldom.append(gc.get_threshold()[0])
    if _seldom[0]:  # A threshold of 0 means that collection is off.
        gc.set_threshold(max(SELDOM, _seldom[0]), *gc.get_threshold()[1:])
    try:
        yield
    finally:
        before = _seldom.pop()
        if not _seldom:
            gc.set_threshold(before, *gc.get_threshold()[1:])


@asynccontextmanager
async def store_thread(store: Store, providers: Providers | None = None) -> AsyncIterator[Executor]:
    """Yield the store's own thread; at the end close its connection, and ``providers``."""
    io = ThreadPoolExecutor(1, thread_name_prefix="store")
    try:
        yield io
    finally:
        if providers is not None:
            await providers.close()
        await in_thread(io, store.close)
        io.shutdown()


def in_thread(io: Executor, call: Callable[..., ResultT], *arguments: object) -> Awaitable[ResultT]:
    """Run a store call in the store's thread."""
    return asyncio.get_running_loop().run_in_executor(io, call, *arguments)


@asynccontextmanager
async def calling_beat(beat: Callable[[], Awaitable[bool]], every: float) -> AsyncIterator[None]:
    """Call ``beat`` at this interval in seconds, until it returns ``False``.

    A beat is skipped while the file cannot be written. The recorder reports that, and meanwhile no
    other worker can take the work.
    """

    async def repeat_beats() -> None:
        going = True
        while going:
            await asyncio.sleep(every)
            with suppress(WriteBlocked):
                going = await beat()

    task = asyncio.create_task(repeat_beats())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


class WaitingQuestions:
    """The questions without an outcome, and when each was asked."""

    #: Seconds after which a waiting question is reported.
    LONG = 10.0

    def __init__(self) -> None:
        self._since: dict[object, tuple[float, str]] = {}

    def longest_wait(self) -> dict[str, Any]:
        """Return the oldest question's judge and time if it has waited for long, else an empty
        dict.
        """
        since, judge = min(self._since.values(), default=(math.inf, ""))
        return {"since": since, "judge": judge} if clock.seconds_now() - since > self.LONG else {}

    async def watch(self, question: Question, answer: Awaitable[AskedOutcome]) -> AskedOutcome:
        """Return the answer, and count its question as waiting until then."""
        key = object()
        self._since[key] = (clock.seconds_now(), question.cell.judge)
        try:
            return await answer
        finally:
            del self._since[key]


def noting_questions(book: Logbook, run_id: int, waiting: WaitingQuestions) -> Watch:
    """Return a watch that notes in the logbook which question's code runs, to find what blocks a
    worker.
    """

    def watched_question(
        question: Question, asking: Coroutine[Any, Any, AskedOutcome]
    ) -> Awaitable[AskedOutcome]:
        cells = cells_argument(run_id, [ask.cell for ask in question.asks])
        noted = stepwise(asking, partial(book.record_work, cells), partial(book.record_work, b""))
        return waiting.watch(question, noted)

    return watched_question


def trim_answers(store: Store, used_keys: Collection[str]) -> None:
    """Trim the cached answers to their limit. If the file is busy, the next run does it."""
    try:
        store.responses.trim(load_settings().cache_bytes, used_keys)
    except StoreError as error:
        log.info("Kept answers were not trimmed: %s", error)


def keep_columns(store: Store, run_id: int) -> None:
    """Build the run's columns for pages. If the file is busy, the first page builds them."""
    try:
        if store.runs.row(run_id).items >= MANY:
            # Columns need numpy, which a small run should not load.
            from core.services.results import run_columns

            run_columns.store_columns(store, run_id)
    except StoreError as error:
        log.info("Columns of the run were not kept: %s", error)


def budget_message(turns: QuestionTurns, seed: int) -> str:
    """Return why a run ended, and how it goes on."""
    return (
        f"The budget of ${turns.limit:.4g} is spent (${turns.spent:.4g}). What was finished is "
        f"kept. To continue, start the same run with a higher budget and the seed {seed}: answers "
        "that were kept cost nothing."
    )


# Passes the outcomes of a run to the writer in groups: one transaction each, as soon as it is free.
#
# While a group is written the next one gathers, so that a slow disk makes larger groups and not a
# longer queue. A group first waits ``GATHER`` seconds for more outcomes: docs/decisions/0014. So a
# kill loses calls in flight, and answers that arrived while one group gathered and was written.

GATHER = 0.02
#: No more calls are made while this many outcomes wait.
HOLD_AT = 2000
#: The least limit of paid outcomes that are not on disk yet; otherwise the limit is twice the calls
#: in flight.
LEAST_PAID = 64


class Recorder:
    """Records outcomes as they come. ``ready`` is cleared while no more calls should be made.

    ``on_failure`` is called once when a group cannot be written; ``drain`` then raises the cause.
    Calls pause while unwritten outcomes include twice as many paid calls as may be in ``flight``.
    This limits what a kill loses.
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
        """Queue an outcome for recording."""
        self._waiting.append(outcome)
        self.wake_writer()
        if len(self._waiting) >= HOLD_AT or self._unwritten_paid() >= self._most_paid:
            self.ready.clear()

    def _unwritten_paid(self) -> int:
        """Return how many paid outcomes are unwritten, or 0 if there are surely few."""
        if len(self._waiting) + len(self._writing) < self._most_paid:
            return 0
        return sum(
            outcome.call is not None and not outcome.call.cached for outcome in self.unwritten
        )

    def wake_writer(self) -> None:
        """Wake the writer soon, even if no outcome waits."""
        self._some.set()
        self._none.clear()

    @property
    def unwritten(self) -> list[AskedOutcome]:
        """Return the outcomes that are not on disk yet."""
        return [*self._writing, *self._waiting]

    async def drain(self) -> None:
        """Wait until every added outcome is written; raise the cause if writing failed."""
        written = asyncio.create_task(self._none.wait())
        await asyncio.wait({written, self._task}, return_when=asyncio.FIRST_COMPLETED)
        written.cancel()
        if self._task.done():
            self._task.result()

    async def close(self) -> None:
        """End the task. Call ``drain`` first."""
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


def unwritable_outcome(outcome: AskedOutcome, error: Exception) -> AskedOutcome:
    """Return the outcome with every cell failed; each failure says why recording failed."""
    reason = f"{type(error).__name__}: {error}"[:200]
    failures = tuple(
        VoteFailure(
            vote.cell,
            "internal",
            f"The answer of {vote.cell.judge} on {vote.cell.item} could not be recorded "
            f"({reason}).",
        )
        for vote in outcome.results
    )
    call = outcome.call and Call((), {}, tries=outcome.call.tries, asked=outcome.call.asked)
    return AskedOutcome(failures, call)
