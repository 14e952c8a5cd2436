"""The engine of every panel: questions in, outcomes out, within a budget.

Each judge has its own queue of questions and its own limit of calls in flight, so a slow provider
never delays a fast one. Memory is constant: questions are drawn when a call can start, and a slow
consumer delays the judges before they ask, so a stop loses no answer. The engine never writes to
the database.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping
from typing import Any

from core.domain.votes import AskedOutcome, FailureKind, VoteFailure
from core.judging.protocol import AskableJudge, Question
from core.judging.turns import QuestionTurns

#: Awaits a judge's answer to a question; an implementation may watch the progress.
Watch = Callable[[Question, Coroutine[Any, Any, AskedOutcome]], Awaitable[AskedOutcome]]


def await_unwatched(
    question: Question, asking: Coroutine[Any, Any, AskedOutcome]
) -> Awaitable[AskedOutcome]:
    """Await the answer without watching it."""
    return asking


#: Judges pause while this many outcomes are unread; the second number is the polling interval in
#: seconds.
_WAITING, _LOOK_EVERY = 512, 0.01


async def grade(
    questions: Mapping[str, Iterator[Question]],
    judges: Mapping[str, AskableJudge],
    *,
    stop: asyncio.Event,
    turns: QuestionTurns | None = None,
    ready: asyncio.Event | None = None,
    watch: Watch = await_unwatched,
) -> AsyncIterator[AskedOutcome]:
    """Yield every question's outcome, in the order in which judges answer.

    ``questions`` maps judge names to their questions. Setting ``stop`` cancels the calls in flight;
    their cells simply have no outcome yet. A spent budget of ``turns`` stops new calls and lets
    those in flight finish; no call starts while ``ready`` is not set. After a fatal failure (no
    key; twice an invalid key or unknown model) a judge gets no more questions: the remaining ones
    become failures of the same kind. A judge that has answered before stops after ten fatal
    failures in a row. ``watch`` awaits each answer.
    """
    outcomes, turns = _Outcomes(), turns or QuestionTurns()
    lanes = [
        _Lane(judges[name], judge_questions, outcomes, turns, ready, watch)
        for name, judge_questions in questions.items()
    ]
    workers = [
        asyncio.create_task(lane.work())
        for lane in lanes
        for _ in range(1 if lane.judge.spec.learns else lane.judge.spec.concurrency)
    ]
    closer = asyncio.create_task(_close_after(workers, outcomes, stop))
    try:
        while await outcomes.some():
            while outcomes.waiting:
                yield outcomes.waiting.popleft()
        await closer
    finally:
        for task in (*workers, closer):
            task.cancel()
        await asyncio.gather(*workers, closer, return_exceptions=True)


class _Outcomes:
    """A queue of outcomes that wakes its consumer once per group."""

    def __init__(self) -> None:
        self.waiting: deque[AskedOutcome] = deque()
        self._woken, self._ended = asyncio.Event(), False

    def put(self, outcome: AskedOutcome) -> None:
        self.waiting.append(outcome)
        self._woken.set()

    def end(self) -> None:
        """Mark the queue as complete."""
        self._ended = True
        self._woken.set()

    async def some(self) -> bool:
        """Wait for outcomes; return ``False`` if no more will come."""
        while not self.waiting and not self._ended:
            self._woken.clear()
            await self._woken.wait()
        return bool(self.waiting)


async def _close_after(
    workers: list[asyncio.Task[None]], outcomes: _Outcomes, stop: asyncio.Event
) -> None:
    """Complete the queue when all workers are done, one crashed, or ``stop`` is set."""
    stopped = asyncio.ensure_future(stop.wait())
    work = asyncio.gather(*workers)
    work.add_done_callback(_retrieve_error)
    ends: set[asyncio.Future[object]] = {work, stopped}  # type: ignore[arg-type]
    try:
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            work.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await work
    finally:
        stopped.cancel()
        outcomes.end()


def _retrieve_error(ended: asyncio.Future[list[None]]) -> None:
    """Retrieve the workers' exception, so that asyncio does not log it."""
    if not ended.cancelled():
        ended.exception()


class _Lane:
    """A judge and its queue of questions, shared by several workers."""

    def __init__(
        self,
        judge: AskableJudge,
        questions: Iterator[Question],
        outcomes: _Outcomes,
        turns: QuestionTurns,
        ready: asyncio.Event | None,
        watch: Watch,
    ) -> None:
        self.ready, self._watch, self._turns = ready, watch, turns
        self.judge, self.questions, self.outcomes = judge, questions, outcomes

    async def work(self) -> None:
        """Ask questions until none are left or the budget is spent."""
        for question in self.questions:
            if len(self.outcomes.waiting) >= _WAITING or not (
                self.ready is None or self.ready.is_set()
            ):
                await self._wait_for_room()
            if not await self._turns.acquire(self.judge.spec):
                return
            if (dead := self._turns.stopping_failure(self.judge.spec)) is not None:
                self.outcomes.put(failures_unasked(question, *dead))
                continue
            self.outcomes.put(await self._ask_judge(question))
            if self.judge.spec.offline:
                await asyncio.sleep(0)  # An offline judge never waits, so let other tasks run.

    async def _wait_for_room(self) -> None:
        """Wait until the queue of outcomes has room and ``ready`` is set."""
        while len(self.outcomes.waiting) >= _WAITING:
            await asyncio.sleep(_LOOK_EVERY)
        if self.ready is not None:
            await self.ready.wait()

    async def _ask_judge(self, question: Question) -> AskedOutcome:
        outcome: AskedOutcome | None = None
        try:
            outcome = await self._watch(question, self.judge.ask(question))
        finally:
            self._turns.report(self.judge.spec, outcome)
        return outcome


def failures_unasked(question: Question, kind: FailureKind, message: str) -> AskedOutcome:
    """Return failures for a question that a stopped judge was not asked."""
    text = f"Not asked, because an earlier call of this judge failed: {message}"
    return AskedOutcome(
        tuple(VoteFailure(ask.cell, kind, text, ask.order) for ask in question.asks)
    )
