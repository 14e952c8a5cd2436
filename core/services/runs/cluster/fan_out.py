"""The owner's side: hand questions to workers in chunks, and collect their outcomes.

`ask_cluster` is the engine's `grade` for many machines. Each worker has two chunks of a judge, so
it never waits for the next chunk. The owner keeps every question until its outcome arrives.
Unanswered questions of a lost worker go back to the front, and duplicate outcomes are dropped.
"""

from __future__ import annotations

import asyncio
import pickle
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from functools import partial
from itertools import count
from typing import Any

from core.domain.panel import Judge
from core.domain.votes import AskedOutcome, Cell
from core.judging.asking.engine import failures_unasked
from core.judging.protocol import Question
from core.judging.turns import QuestionTurns
from core.services.runs.cluster import remote
from core.services.runs.cluster.credit import Acknowledging, Receipts
from core.services.runs.cluster.joining import Cluster
from core.services.runs.cluster.orders import Chunk, WorkerMessage, WorkOrder, judge_share

#: Questions in a chunk, per concurrent call of the worker; and the number of chunks that a worker
#: holds at a time.
TIMES, AHEAD = 8, 2
CachedJudges = Callable[[str, Question], Awaitable[AskedOutcome | None]]
#: Seconds between checks of the cluster while no messages arrive.
LOOK_EVERY = 0.25
#: No chunks are handed out while this many outcomes wait to be consumed.
WAITING = 2048


class _Sent:
    """A chunk that was sent to a worker. ``left`` holds its unanswered questions, by their first
    cell.
    """

    def __init__(self, number: int, lane: _Remaining, worker: str, questions: tuple[Question, ...]):
        self.number, self.lane, self.worker = number, lane, worker
        self.left = {question.cell: question for question in questions}
        self.task: Any = None


class _Remaining:
    """One judge with its remaining questions."""

    def __init__(self, spec: Judge, questions: Iterator[Question]) -> None:
        self.spec, self._questions = spec, questions
        self.returned: deque[Question] = deque()
        self.drawn = False

    def draw(self) -> Question | None:
        """Return the next question; those of lost workers come first."""
        if self.returned:
            return self.returned.popleft()
        question = next(self._questions, None)
        self.drawn = question is None
        return question


class FanOut:
    """Grading of a run's models on a cluster; see ``ask_cluster``."""

    def __init__(
        self,
        cluster: Cluster,
        order: WorkOrder,
        questions: Mapping[str, Iterator[Question]],
        turns: QuestionTurns,
        ready: asyncio.Event | None,
        on_call: Callable[[int], None],
        remembered: CachedJudges | None,
        receipts: Receipts,
    ) -> None:
        specs = {judge.name: judge for judge in order.judges}
        self._cluster, self._order = cluster, order
        self._sealed = pickle.dumps(order)
        self._lanes = [_Remaining(specs[name], remaining) for name, remaining in questions.items()]
        self._turns, self._ready, self._on_call = turns, ready, on_call
        self._remembered = remembered
        self._acknowledging = Acknowledging(partial(cluster.say, order.token))
        receipts.listener = self._acknowledging.recorded
        self._out: dict[int, _Sent] = {}
        self._numbers = count(1)
        self.outcomes: asyncio.Queue[AskedOutcome] = asyncio.Queue()
        self._stir = asyncio.Event()

    async def work(self, stop: asyncio.Event) -> None:
        """Hand out questions until none remain, the budget is spent, or ``stop`` is set."""
        with self._cluster.listening(self._order.token, self._take_news):
            self._acknowledging.begin()
            try:
                while not stop.is_set():
                    workers = await self._cluster.workers()
                    self._take_back(workers)
                    await self._fill_workers(workers)
                    if self._all_done():
                        break
                    self._stir.clear()
                    await _wait_for_either(self._stir, stop)
            finally:
                for sent in list(self._out.values()):
                    await sent.task.cancel(force=True)
                    self._return_questions(sent)
                await self._acknowledging.close()
                await self._cluster.forget_run(self._order.token)

    async def _fill_workers(self, workers: list[str]) -> None:
        """Fill up every worker, starting with the emptiest."""
        for ahead in range(AHEAD):
            for lane in self._lanes:
                size = TIMES * judge_share(lane.spec, len(workers) or 1).concurrency
                for worker in workers:
                    chunks = sum(s.lane is lane and s.worker == worker for s in self._out.values())
                    if chunks == ahead and (questions := await self._questions_to_send(lane, size)):
                        self._send_share(lane, worker, len(workers), questions)

    async def _questions_to_send(self, lane: _Remaining, size: int) -> tuple[Question, ...]:
        """Return questions to send, after settling those that the cache answers."""
        drawn = self._draw_questions(lane, size)
        if self._remembered is None:
            return drawn
        outcomes = await asyncio.gather(
            *(self._remembered(lane.spec.name, question) for question in drawn)
        )
        for outcome in outcomes:
            if outcome is not None:
                self._take_outcome(lane, outcome)
        return tuple(
            question for question, outcome in zip(drawn, outcomes, strict=True) if outcome is None
        )

    def _draw_questions(self, lane: _Remaining, size: int) -> tuple[Question, ...]:
        """Return questions that may be sent now; none while outcomes wait or the budget is
        spent.
        """
        drawn: list[Question] = []
        while len(drawn) < size and self.outcomes.qsize() < WAITING:
            if self._ready is not None and not self._ready.is_set():
                break
            if not self._turns.acquire_now(lane.spec):
                break
            question, dead = lane.draw(), self._turns.stopping_failure(lane.spec)
            if question is None:
                if dead is None:
                    self._turns.report(lane.spec, None)
                break
            if dead is None:
                drawn.append(question)
            else:
                self.outcomes.put_nowait(failures_unasked(question, *dead))
        return tuple(drawn)

    def _send_share(
        self, lane: _Remaining, worker: str, share: int, questions: tuple[Question, ...]
    ) -> None:
        sent = _Sent(next(self._numbers), lane, worker, questions)
        chunk = Chunk(sent.number, lane.spec.name, share, questions)
        key = f"{self._order.token}-{sent.number}"
        sent.task = self._cluster.client.submit(
            *(remote.grade_chunk, self._sealed, pickle.dumps(chunk), key),
            key=key, workers=[worker], allow_other_workers=False, pure=False, retries=0,
        )  # fmt: skip
        sent.task.add_done_callback(lambda _: self._stir.set())
        self._out[sent.number] = sent

    def _take_news(self, news: WorkerMessage) -> None:
        """Take a worker's outcomes, without duplicates."""
        self._on_call(news.went_out)
        sent = self._out.get(news.chunk)
        for outcome in news.outcomes:
            cell = outcome.results[0].cell
            if sent is not None and sent.left.pop(cell, None) is not None:
                self._take_outcome(sent.lane, outcome)
            elif not self._take_late_outcome(cell, outcome):
                self._acknowledging.done(news.state, cell.judge)
                continue
            self._acknowledging.note_sender(news.state, outcome)
        self._stir.set()

    def _take_outcome(self, lane: _Remaining, outcome: AskedOutcome) -> None:
        self._turns.report(lane.spec, outcome)
        self.outcomes.put_nowait(outcome)

    def _take_late_outcome(self, cell: Cell, outcome: AskedOutcome) -> bool:
        """Return whether an outcome of a lost worker is still needed; if so, take it."""
        for lane in self._lanes:
            for question in lane.returned:
                if question.cell == cell:
                    lane.returned.remove(question)
                    self.outcomes.put_nowait(outcome)
                    return True
        return False

    def _take_back(self, workers: list[str]) -> None:
        """Close chunks that ended, and requeue unanswered questions of lost workers."""
        for sent in list(self._out.values()):
            status = sent.task.status
            if status == "finished" and not sent.left:
                del self._out[sent.number]
            elif sent.worker not in workers or status in ("lost", "cancelled"):
                self._cluster.drop(sent.task)
                self._return_questions(sent)
            elif status == "error":
                raise self._cluster.failed(sent.task)

    def _return_questions(self, sent: _Sent) -> None:
        del self._out[sent.number]
        for question in reversed(sent.left.values()):
            sent.lane.returned.appendleft(question)
            self._turns.report(sent.lane.spec, None)

    def _all_done(self) -> bool:
        if self._out:
            return False
        if self._turns.exhausted:
            return True
        return all(lane.drawn and not lane.returned for lane in self._lanes)


async def _wait_for_either(*events: asyncio.Event) -> None:
    """Wait until either event is set, at most ``LOOK_EVERY`` seconds."""
    waiting = [asyncio.create_task(event.wait()) for event in events]
    await asyncio.wait(waiting, timeout=LOOK_EVERY, return_when=asyncio.FIRST_COMPLETED)
    for task in waiting:
        task.cancel()


async def ask_cluster(
    cluster: Cluster,
    order: WorkOrder,
    questions: Mapping[str, Iterator[Question]],
    *,
    stop: asyncio.Event,
    turns: QuestionTurns | None = None,
    ready: asyncio.Event | None = None,
    on_call: Callable[[int], None] = lambda more: None,
    remembered: CachedJudges | None = None,
    receipts: Receipts,
) -> AsyncIterator[AskedOutcome]:
    """Yield every question's outcome in the order of arrival; see `engine.grade`.

    ``remembered`` returns a question's outcome from cached answers, if possible. ``receipts`` must
    learn what is recorded; otherwise workers soon stop making calls.

    Raises:
        ClusterGone: the scheduler was lost and did not come back.
    """
    turns = turns or QuestionTurns()
    fan = FanOut(cluster, order, questions, turns, ready, on_call, remembered, receipts)
    work = asyncio.create_task(fan.work(stop))
    try:
        while not (work.done() and fan.outcomes.empty()):
            taking = asyncio.create_task(fan.outcomes.get())
            await asyncio.wait({taking, work}, return_when=asyncio.FIRST_COMPLETED)
            if taking.done():
                yield taking.result()
                while not fan.outcomes.empty():
                    yield fan.outcomes.get_nowait()
            else:
                taking.cancel()
        await work
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
