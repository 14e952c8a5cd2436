"""On a worker: grade the questions of a chunk, and send each outcome back at once.

A chunk is a Dask task, so Dask's dashboard shows it. The task watches its own state. It makes no
more calls once the owner no longer waits for it (the run was stopped, or the owner was lost).
"""

from __future__ import annotations

import asyncio
import hashlib
import pickle
import platform
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from core.domain.panel import Judge
from core.domain.votes import AskedOutcome
from core.judging.asking.engine import grade
from core.judging.prompts.wording import PROMPT_VERSION
from core.judging.protocol import AskableJudge, Question
from core.judging.providers.base import Completion
from core.services.runs.cluster.credit import Counts, Credit
from core.services.runs.cluster.orders import Chunk, Versions, WorkerMessage, WorkOrder
from core.services.runs.ready_run import Providers

#: Seconds between sends, and between a task's checks whether the owner still waits for it.
SEND_EVERY, LOOK_EVERY = 0.02, 0.02
#: The states of a task in which the owner waits for it.
_WANTED = ("executing", "long-running")
#: A worker keeps the states of at most this many runs.
MOST_RUN_STATES = 8


@cache
def _code_hash() -> str:
    """Return a short hash of the code, since the code may change without its version number."""
    digest = hashlib.sha256()
    core = Path(__file__).parents[3]
    for path in sorted(core.rglob("*.py")):
        digest.update(path.relative_to(core).as_posix().encode())
        digest.update(path.read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()[:8]


def own_versions() -> Versions:
    """Return the versions of this process."""
    import distributed

    try:
        program = version("rubric-studio")
    except PackageNotFoundError:
        program = "not installed"
    python = ".".join(platform.python_version_tuple()[:2])
    return Versions(
        f"{program} ({_code_hash()})", PROMPT_VERSION, python, str(distributed.__version__)
    )


class EmptyCache:
    """An empty cache: its judges send their answers to the owner, which caches them."""

    async def get(self, key: str) -> Completion | None:
        """Return ``None``: the cache is empty."""
        return None


class RunState:
    """A worker's state of one run: its judges, their gates, and free slots for their calls.

    ``recorded`` fetches the counts that the owner published.
    """

    def __init__(self, order: WorkOrder, recorded: Callable[[str], Awaitable[Counts]]) -> None:
        self.order = order
        self.name = secrets.token_hex(8)
        self.went_out = 0
        self._recorded = recorded
        self._providers = Providers(elsewhere=True)
        self._judges: dict[str, tuple[int, SharedJudge]] = {}
        self._credits: dict[str, Credit] = {}

    async def judge(self, name: str, share: int) -> SharedJudge:
        """Return the judge with this worker's part of its limits, rebuilt if the part changed."""
        held_share, judge = self._judges.get(name, (0, None))
        if judge is None or held_share != share:
            if judge is not None:
                await judge.close()
            spec = self.order.judge(name, share)
            cache = EmptyCache() if self.order.keeps else None
            credit = self._credits.setdefault(name, Credit(0, partial(self.looked, name)))
            credit.at_once = spec.concurrency
            judge = SharedJudge(self._providers.judge(spec, cache, self._count_calls), credit)
            self._judges[name] = (share, judge)
        return judge

    def take_calls(self) -> int:
        """Return how many calls went out since the last call of this method."""
        calls, self.went_out = self.went_out, 0
        return calls

    async def close(self) -> None:
        """Close the connections."""
        for _, judge in self._judges.values():
            await judge.close()
        await self._providers.close()

    def _count_calls(self, count: int) -> None:
        self.went_out += count

    async def looked(self, judge: str) -> int:
        """Return how many outcomes of this worker and judge the owner has recorded."""
        counts = await self._recorded(self.order.token)
        return counts.get(self.name, {}).get(judge, 0)


class SharedJudge:
    """A judge whose concurrency limit covers all chunks together.

    ``credit`` limits how far it may get ahead of the owner's recording.
    """

    def __init__(self, judge: AskableJudge, credit: Credit) -> None:
        self.spec: Judge = judge.spec
        self._judge, self._credit = judge, credit
        self._room = asyncio.Semaphore(judge.spec.concurrency)

    async def ask(self, question: Question) -> AskedOutcome:
        """Return the judge's outcome, after waiting for a free slot and for credit."""
        async with self._room:
            await self._credit.take()
            try:
                return await self._judge.ask(question)
            except BaseException:
                self._credit.cut_off()
                raise

    async def close(self) -> None:
        """Release the judge's limits."""
        await self._judge.close()


_run_states: dict[str, RunState] = {}


async def run_state(order: WorkOrder, worker: Any) -> RunState:
    """Return this worker's state of a run, created if needed."""
    if order.token not in _run_states:
        while len(_run_states) >= MOST_RUN_STATES:
            await _run_states.pop(next(iter(_run_states))).close()

        async def recorded_counts(token: str) -> Counts:
            if token not in _run_states:
                # The owner of a forgotten run has deleted the variable, and the scheduler would
                # wait for it.
                return {}
            variable = await worker.scheduler.variable_get(name=token, timeout=1)
            counts: Counts = variable["value"]
            return counts

        _run_states[order.token] = RunState(order, recorded_counts)
    return _run_states[order.token]


async def grade_chunk(order: bytes, chunk: bytes, key: str) -> int:
    """Grade a chunk; return how many outcomes were sent. ``key`` is the key of this task."""
    from distributed import get_worker

    worker, work = get_worker(), pickle.loads(chunk)
    assert isinstance(work, Chunk)
    state = await run_state(pickle.loads(order), worker)
    judge = await state.judge(work.judge, work.share)
    stop = asyncio.Event()
    async with _watch_owner(worker, key, stop), _Sender(worker, state, work.number) as sender:
        async for outcome in grade(
            {work.judge: iter(work.questions)}, {work.judge: judge}, stop=stop
        ):
            sender.waiting.append(outcome)
    return sender.sent


async def forget_run(token: str) -> None:
    """Forget a run that ended."""
    state = _run_states.pop(token, None)
    if state is not None:
        await state.close()


@asynccontextmanager
async def _watch_owner(worker: Any, key: str, stop: asyncio.Event) -> AsyncIterator[None]:
    """Set ``stop`` once the owner no longer waits for the task."""

    async def look_for_owner() -> None:
        while True:
            await asyncio.sleep(LOOK_EVERY)
            task = worker.state.tasks.get(key)
            if task is None or task.state not in _WANTED:
                stop.set()

    looking = asyncio.create_task(look_for_owner())
    try:
        yield
    finally:
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)


class _Sender:
    """Sends waiting outcomes at short intervals."""

    def __init__(self, worker: Any, state: RunState, chunk: int) -> None:
        self.waiting: list[AskedOutcome] = []
        self.sent = 0
        self._worker, self._state, self._chunk = worker, state, chunk

    async def __aenter__(self) -> _Sender:
        self._task = asyncio.create_task(self._grade_questions())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        self._send_outcomes()

    async def _grade_questions(self) -> None:
        while True:
            await asyncio.sleep(SEND_EVERY)
            self._send_outcomes()

    def _send_outcomes(self) -> None:
        calls = self._state.take_calls()
        if not self.waiting and not calls:
            return
        order, outcomes = self._state.order, tuple(self.waiting)
        self.waiting.clear()
        self.sent += len(outcomes)
        news = WorkerMessage(order.token, self._state.name, self._chunk, outcomes, calls)
        self._worker.log_event(order.topic, pickle.dumps(news))
