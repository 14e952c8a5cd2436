"""Grade a run on a cluster, if one is set: models there, offline judges in this process."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import AsyncExitStack

from core.domain.panel import Judge
from core.domain.votes import AskedOutcome, Vote
from core.errors import InputError
from core.judging.asking.answer_cache import ResponseCache
from core.judging.asking.engine import Watch, await_unwatched, grade
from core.judging.protocol import AskableJudge, Question
from core.judging.providers.base import CallError, Completion
from core.judging.turns import QuestionTurns
from core.services.runs.cluster.credit import Receipts
from core.services.runs.cluster.fan_out import ask_cluster
from core.services.runs.cluster.joining import Cluster, ClusterGone, joined_cluster
from core.services.runs.cluster.orders import WorkOrder
from core.services.runs.ready_run import KeptAnswers, Providers


class ClusterConnection:
    """A process's connection to the cluster, if one is set; all its runs share it."""

    def __init__(self, address: str = "") -> None:
        self.where = address
        self._stack = AsyncExitStack()
        self._cluster: Cluster | None = None
        self._joining = asyncio.Lock()

    async def cluster(self, judges: Iterable[Judge], *, long: bool = False) -> Cluster | None:
        """Return the cluster, joined when models are first called, and again after it was lost.

        ``long``: other work needs the cluster too. Without work for it, return ``None``.

        Raises:
            ClusterGone: joining failed.
        """
        if not self.where or not (long or any(judge.kind == "llm" for judge in judges)):
            return None
        async with self._joining:
            if self._cluster is None or self._cluster.closed:
                await self._stack.aclose()
                try:
                    self._cluster = await self._stack.enter_async_context(
                        joined_cluster(self.where)
                    )
                except InputError as error:
                    raise ClusterGone(str(error)) from None
        return self._cluster

    async def aclose(self) -> None:
        """Leave the cluster. A local cluster then stops."""
        await self._stack.aclose()


#: Everything runs in this process.
NO_CLUSTER = ClusterConnection()


def outcomes_of(
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
    watch: Watch = await_unwatched,
) -> AsyncIterator[AskedOutcome]:
    """Yield every question's outcome; without a cluster, from `engine.grade`.

    ``kept`` has answers of earlier runs. ``receipts`` learns what was recorded. ``watch`` awaits
    the calls of this process.

    Raises:
        ClusterGone: the cluster was lost.
    """
    models = {name for name in questions if judges[name].spec.kind == "llm"}
    if cluster is None or not models:
        return grade(questions, judges, stop=stop, turns=turns, ready=ready, watch=watch)
    return _ask_cluster_and_here(
        *(cluster, models, questions, judges),
        stop=stop, turns=turns, ready=ready, kept=kept, on_call=on_call, receipts=receipts,
        watch=watch,
    )  # fmt: skip


async def _ask_cluster_and_here(
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
    """Yield the outcomes of ``models`` from the cluster, and of other judges from this process."""
    order = WorkOrder(
        token=f"ask-{secrets.token_hex(8)}",
        topic=cluster.topic,
        judges=tuple(judges[name].spec for name in models),
        keeps=kept is not None,
    )
    outcomes: asyncio.Queue[AskedOutcome | None] = asyncio.Queue()
    has_earlier = kept is not None and await kept.any()
    async with CachedJudges(kept, order) as remembered:
        remote = {name: questions[name] for name in models}
        local = {name: remaining for name, remaining in questions.items() if name not in models}
        streams: list[AsyncIterator[AskedOutcome]] = [
            ask_cluster(
                cluster, order, remote, stop=stop, turns=turns, ready=ready, on_call=on_call,
                remembered=remembered.outcome if has_earlier else None, receipts=receipts,
            ),
            grade(local, judges, stop=stop, turns=turns, ready=ready, watch=watch),
        ]  # fmt: skip
        tasks = [asyncio.create_task(_forward_stream(outcomes, stream)) for stream in streams]
        try:
            ended = 0
            while ended < len(tasks):
                outcome = await outcomes.get()
                if outcome is None:
                    ended += 1
                else:
                    yield outcome
            for task in tasks:
                await task
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def _forward_stream(
    queue: asyncio.Queue[AskedOutcome | None], stream: AsyncIterator[AskedOutcome]
) -> None:
    """Forward a stream into a queue. ``None`` marks its end, even after an error."""
    try:
        async for outcome in stream:
            queue.put_nowait(outcome)
    finally:
        queue.put_nowait(None)


class _CacheOnly:
    """A cache whose judges never call a model."""

    def __init__(self, cache: ResponseCache) -> None:
        self._kept = cache

    async def get(self, key: str) -> Completion:
        """Return the cached answer; raise ``CallError`` if the cache has none."""
        answer = await self._kept.get(key)
        if answer is None:
            raise CallError("connection", "This answer is not kept.")
        return answer


class CachedJudges:
    """Judges that only read the cache, so that no cached answer is paid for twice."""

    def __init__(self, kept: ResponseCache | None, order: WorkOrder) -> None:
        self._providers = Providers()
        cache = None if kept is None else _CacheOnly(kept)
        self._judges = {spec.name: self._providers.judge(spec, cache) for spec in order.judges}

    async def __aenter__(self) -> CachedJudges:
        return self

    async def __aexit__(self, *_: object) -> None:
        for judge in self._judges.values():
            await judge.close()
        await self._providers.close()

    async def outcome(self, judge: str, question: Question) -> AskedOutcome | None:
        """Return the outcome from cached answers, or ``None`` if one is missing."""
        outcome = await self._judges[judge].ask(question)
        return outcome if all(isinstance(result, Vote) for result in outcome.results) else None
