"""How a run is asked where there is a cluster: models there, whatever needs no network here."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import AsyncExitStack

from core.domain.panel import Judge
from core.domain.votes import AskedOutcome, Vote
from core.errors import InputError
from core.judging.asking.answer_cache import CachedCompletion, ResponseCache
from core.judging.asking.engine import Watch, grade, unwatched
from core.judging.protocol import AskableJudge, Question
from core.judging.providers.base import CallError
from core.judging.turns import QuestionTurns
from core.services.runs.cluster.credit import Receipts
from core.services.runs.cluster.fan_out import asked_on
from core.services.runs.cluster.joining import Cluster, ClusterGone, joined
from core.services.runs.cluster.orders import WorkOrder
from core.services.runs.ready_run import KeptAnswers, Providers


class ClusterDoor:
    """The way to a cluster for all runs of a process; nowhere where no cluster was named."""

    def __init__(self, where: str = "") -> None:
        self.where = where
        self._stack = AsyncExitStack()
        self._cluster: Cluster | None = None
        self._joining = asyncio.Lock()

    async def cluster(self, judges: Iterable[Judge], *, long: bool = False) -> Cluster | None:
        """The cluster, joined when models are first asked, and again where it was lost.

        ``long`` says that there is work for it besides.

        Raises:
            ClusterGone: it cannot be joined.
        """
        if not self.where or not (long or any(judge.kind == "llm" for judge in judges)):
            return None
        async with self._joining:
            if self._cluster is None or self._cluster.closed:
                await self._stack.aclose()
                try:
                    self._cluster = await self._stack.enter_async_context(joined(self.where))
                except InputError as error:
                    raise ClusterGone(str(error)) from None
        return self._cluster

    async def aclose(self) -> None:
        """Leaves the cluster; one of this machine ends."""
        await self._stack.aclose()


#: Everything is asked by this process.
NO_CLUSTER = ClusterDoor()


def outcomes(
    cluster: Cluster | None,
    questions: Mapping[str, Iterator[Question]],
    judges: Mapping[str, AskableJudge],
    *,
    stop: asyncio.Event,
    turns: QuestionTurns | None = None,
    ready: asyncio.Event | None = None,
    kept: KeptAnswers | None = None,
    on_call: Callable[[int], None] = lambda more: None,
    receipts: Receipts,
    watch: Watch = unwatched,
) -> AsyncIterator[AskedOutcome]:
    """Every question's outcome; see `engine.grade`, which asks where there is no cluster.

    ``kept`` are answers of earlier runs; ``receipts`` are told what was recorded; ``watch`` awaits
    what is asked here.

    Raises:
        ClusterGone: there is no cluster any more.
    """
    models = {name for name in questions if judges[name].spec.kind == "llm"}
    if cluster is None or not models:
        return grade(questions, judges, stop=stop, turns=turns, ready=ready, watch=watch)
    return _on_both(
        *(cluster, models, questions, judges),
        stop=stop, turns=turns, ready=ready, kept=kept, on_call=on_call, receipts=receipts,
        watch=watch,
    )  # fmt: skip


async def _on_both(
    cluster: Cluster,
    models: set[str],
    questions: Mapping[str, Iterator[Question]],
    judges: Mapping[str, AskableJudge],
    *,
    stop: asyncio.Event,
    turns: QuestionTurns | None,
    ready: asyncio.Event | None,
    kept: KeptAnswers | None,
    on_call: Callable[[int], None],
    receipts: Receipts,
    watch: Watch,
) -> AsyncIterator[AskedOutcome]:
    """The outcomes of ``models`` from the cluster, and those of all others from here."""
    order = WorkOrder(
        token=f"ask-{secrets.token_hex(8)}",
        topic=cluster.topic,
        judges=tuple(judges[name].spec for name in models),
        keeps=kept is not None,
    )
    found: asyncio.Queue[AskedOutcome | None] = asyncio.Queue()
    looks = kept is not None and await kept.any()
    async with Remembered(kept, order) as remembered:
        there = {name: questions[name] for name in models}
        here = {name: asked for name, asked in questions.items() if name not in models}
        streams: list[AsyncIterator[AskedOutcome]] = [
            asked_on(
                cluster, order, there, stop=stop, turns=turns, ready=ready, on_call=on_call,
                remembered=remembered.outcome if looks else None, receipts=receipts,
            ),
            grade(here, judges, stop=stop, turns=turns, ready=ready, watch=watch),
        ]  # fmt: skip
        tasks = [asyncio.create_task(_into(found, stream)) for stream in streams]
        try:
            ended = 0
            while ended < len(tasks):
                one = await found.get()
                if one is None:
                    ended += 1
                else:
                    yield one
            for task in tasks:
                await task
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def _into(
    found: asyncio.Queue[AskedOutcome | None], stream: AsyncIterator[AskedOutcome]
) -> None:
    """Passes a stream on; ``None`` says that it ended, however it did."""
    try:
        async for outcome in stream:
            found.put_nowait(outcome)
    finally:
        found.put_nowait(None)


class _OnlyKept:
    """A cache beyond which nobody is asked."""

    def __init__(self, kept: ResponseCache) -> None:
        self._kept = kept

    async def get(self, key: str) -> CachedCompletion:
        """The answer; raises ``CallError`` where it is not kept."""
        found = await self._kept.get(key)
        if found is None:
            raise CallError("connection", "This answer is not kept.")
        return found


class Remembered:
    """Judges that answer from kept answers alone, so that what was paid for is not asked again."""

    def __init__(self, kept: ResponseCache | None, order: WorkOrder) -> None:
        self._providers = Providers()
        cache = None if kept is None else _OnlyKept(kept)
        self._judges = {spec.name: self._providers.judge(spec, cache) for spec in order.judges}

    async def __aenter__(self) -> Remembered:
        return self

    async def __aexit__(self, *_: object) -> None:
        for judge in self._judges.values():
            await judge.close()
        await self._providers.close()

    async def outcome(self, judge: str, question: Question) -> AskedOutcome | None:
        """What the kept answers give, or ``None`` where one of them is missing."""
        found = await self._judges[judge].ask(question)
        return found if all(isinstance(one, Vote) for one in found.results) else None
