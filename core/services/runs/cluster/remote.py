"""On a worker: grade the questions of a chunk, and send each outcome back at once.

A chunk is a Dask task, so that Dask's dashboard shows it. The task watches its own state. Once the
owner does not wait for it any more (it stopped the run, or was lost), the task makes no more calls.
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
from core.services.runs.cluster.orders import Chunk, News, Versions, WorkOrder
from core.services.runs.ready_run import Providers

#: Seconds between sends, and between a task's checks whether the owner still waits for it.
SEND_EVERY, LOOK_EVERY = 0.02, 0.02
#: In these states of a task the owner waits for it.
_WANTED = ("executing", "long-running")
#: A worker keeps the state of at most this many runs.
MOST_DESKS = 8


@cache
def _code() -> str:
    """Return a short hash of the code, since one version number covers many states of it."""
    digest = hashlib.sha256()
    core = Path(__file__).parents[3]
    for path in sorted(core.rglob("*.py")):
        digest.update(path.relative_to(core).as_posix().encode())
        digest.update(path.read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()[:8]


def versions() -> Versions:
    """Return the versions of this process."""
    import distributed

    try:
        program = version("rubric-studio")
    except PackageNotFoundError:
        program = "not installed"
    python = ".".join(platform.python_version_tuple()[:2])
    return Versions(f"{program} ({_code()})", PROMPT_VERSION, python, str(distributed.__version__))


class NoneKept:
    """An empty cache: its judges send their answers along, to be cached by the owner."""

    async def get(self, key: str) -> Completion | None:
        """Return nothing."""
        return None


class Desk:
    """A worker's state of one run: its judges, their gates, and room for their calls.

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
        """Return the judge with this worker's part of its limits, replaced if the part changed."""
        held, judge = self._judges.get(name, (0, None))
        if judge is None or held != share:
            if judge is not None:
                await judge.close()
            spec = self.order.judge(name, share)
            cache = NoneKept() if self.order.keeps else None
            credit = self._credits.setdefault(name, Credit(0, partial(self.looked, name)))
            credit.at_once = spec.concurrency
            judge = SharedJudge(self._providers.judge(spec, cache, self._called), credit)
            self._judges[name] = (share, judge)
        return judge

    def take_calls(self) -> int:
        """Return how many calls went out since this was last called."""
        calls, self.went_out = self.went_out, 0
        return calls

    async def close(self) -> None:
        """Close the connections."""
        for _, judge in self._judges.values():
            await judge.close()
        await self._providers.close()

    def _called(self, more: int) -> None:
        self.went_out += more

    async def looked(self, judge: str) -> int:
        """Return how many of this worker's outcomes of a judge the owner has recorded."""
        counts = await self._recorded(self.order.token)
        return counts.get(self.name, {}).get(judge, 0)


class SharedJudge:
    """A judge whose concurrency holds for all chunks together.

    Its ``credit`` bounds how far it gets ahead of what the owner records.
    """

    def __init__(self, judge: AskableJudge, credit: Credit) -> None:
        self.spec: Judge = judge.spec
        self._judge, self._credit = judge, credit
        self._room = asyncio.Semaphore(judge.spec.concurrency)

    async def ask(self, question: Question) -> AskedOutcome:
        """Return the judge's outcome, after waiting for room for another call."""
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


_desks: dict[str, Desk] = {}


async def desk_of(order: WorkOrder, worker: Any) -> Desk:
    """Return this worker's state of a run, created if needed."""
    if order.token not in _desks:
        while len(_desks) >= MOST_DESKS:
            await _desks.pop(next(iter(_desks))).close()

        async def recorded(token: str) -> Counts:
            if token not in _desks:
                return {}  # forgotten: the scheduler would wait for a variable that is deleted
            variable = await worker.scheduler.variable_get(name=token, timeout=1)
            counts: Counts = variable["value"]
            return counts

        _desks[order.token] = Desk(order, recorded)
    return _desks[order.token]


async def ask(order: bytes, chunk: bytes, key: str) -> int:
    """Grade a chunk; return how many outcomes were sent. ``key`` is the key of the task itself."""
    from distributed import get_worker

    worker, work = get_worker(), pickle.loads(chunk)
    assert isinstance(work, Chunk)
    desk = await desk_of(pickle.loads(order), worker)
    judge = await desk.judge(work.judge, work.share)
    stop = asyncio.Event()
    async with _watched(worker, key, stop), _Sender(worker, desk, work.number) as sender:
        async for outcome in grade(
            {work.judge: iter(work.questions)}, {work.judge: judge}, stop=stop
        ):
            sender.waiting.append(outcome)
    return sender.sent


async def put_down(token: str) -> None:
    """Forget a run that ended."""
    desk = _desks.pop(token, None)
    if desk is not None:
        await desk.close()


@asynccontextmanager
async def _watched(worker: Any, key: str, stop: asyncio.Event) -> AsyncIterator[None]:
    """Set ``stop`` once the owner does not wait for the task any more."""

    async def look() -> None:
        while True:
            await asyncio.sleep(LOOK_EVERY)
            task = worker.state.tasks.get(key)
            if task is None or task.state not in _WANTED:
                stop.set()

    looking = asyncio.create_task(look())
    try:
        yield
    finally:
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)


class _Sender:
    """Sends waiting outcomes at short intervals."""

    def __init__(self, worker: Any, desk: Desk, chunk: int) -> None:
        self.waiting: list[AskedOutcome] = []
        self.sent = 0
        self._worker, self._desk, self._chunk = worker, desk, chunk

    async def __aenter__(self) -> _Sender:
        self._task = asyncio.create_task(self._work())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        self._send()

    async def _work(self) -> None:
        while True:
            await asyncio.sleep(SEND_EVERY)
            self._send()

    def _send(self) -> None:
        calls = self._desk.take_calls()
        if not self.waiting and not calls:
            return
        order, outcomes = self._desk.order, tuple(self.waiting)
        self.waiting.clear()
        self.sent += len(outcomes)
        news = News(order.token, self._desk.name, self._chunk, outcomes, calls)
        self._worker.log_event(order.topic, pickle.dumps(news))
