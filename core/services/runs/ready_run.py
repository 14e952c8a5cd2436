"""Prepare a claimed run: its remaining questions, its judges, and cached answers."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.domain.dataset import Item
from core.domain.panel import CODE_KINDS, Judge
from core.domain.rubric import Criterion, Rubric
from core.domain.runs import Derive, Run, RunPlan
from core.domain.votes import Cell
from core.judging.asking.answer_cache import ResponseCache, as_completion
from core.judging.asking.batch_judge import BatchJudge
from core.judging.asking.llm_judge import LLMJudge
from core.judging.checks.desk import CheckDesk
from core.judging.checks.judge import CheckJudge
from core.judging.function_judge import FunctionJudge
from core.judging.known_providers import provider_of
from core.judging.pace import PaceTimes
from core.judging.protocol import AskableJudge
from core.judging.providers.base import Completion, ModelProvider
from core.judging.providers.choice import Way, open_provider, provider_for
from core.judging.providers.openai_provider import OpenAIProvider
from core.judging.rate_limits import ProviderGate
from core.judging.writing.writer import Writer
from core.services.access.providers import require_allowed
from core.services.judges.panel_setup import key_of, values_of_secrets
from core.services.judges.readiness import NO_FUNCTIONS, Functions, require_functions
from core.services.results.scored_items import (
    calibration_items,
    derive_of_run,
    labels_of,
    resolved_items,
    rubric_in_force,
)
from core.services.runs.batches.lanes import is_batched
from core.services.runs.questions import QuestionBuilder
from core.store.store import Store

if TYPE_CHECKING:
    from core.judging.offline import TrainingReport
    from core.judging.offline.trained import Trained


class NotAsked(set[Cell]):
    """Cells to skip: those in the set, and all cells of the items in ``whole``.

    >>> done = NotAsked({"a"}, {Cell("b", "c", "j", 0)})
    >>> [Cell(item, "c", "j", 0) in done for item in "abx"]
    [True, True, False]
    """

    def __init__(self, items: Collection[str] = (), cells: Iterable[Cell] = ()) -> None:
        super().__init__(cells)
        self.whole = frozenset(items)

    def __contains__(self, cell: object) -> bool:
        return (isinstance(cell, Cell) and cell.item in self.whole) or super().__contains__(cell)


@dataclass(frozen=True)
class Job:
    """A run with everything needed to process it. ``done`` has the cells to skip.

    ``rubric`` is the version that judges see; ``derive`` scores by the version that the run
    follows.
    """

    run: Run
    plan: RunPlan
    rubric: Rubric
    items: tuple[Item, ...]
    calibration: tuple[Item, ...]
    done: NotAsked
    derive: Derive

    @property
    def asker(self) -> QuestionBuilder:
        """Return the builder of the run's questions."""
        return QuestionBuilder(self.rubric, self.plan, self.items, self.calibration)


def load_job(store: Store, run_id: int) -> Job:
    """Return the job of a run: its planned cells without those that have votes or open failures."""
    run = store.runs.get(run_id)
    plan = run.plan
    rubric = store.rubrics.version(plan.rubric_version_id).rubric
    items = resolved_items(store, plan.dataset_version_id, store.runs.item_ids(run_id))
    return Job(
        run=run,
        plan=plan,
        rubric=rubric,
        items=items,
        calibration=calibration_items(store, plan),
        done=NotAsked(*store.votes.begun(run_id)),
        derive=derive_of_run(store, run, items),
    )


class Providers:
    """What a process can call: providers, processes for ``checks``, and Python ``functions`` by
    judge name.

    All runs of the process share connections and gates. Processes share the limits per minute
    through the folder ``pace``. ``elsewhere``: this is a cluster's worker, and the run's owner has
    checked that the judges are allowed.
    """

    def __init__(
        self,
        functions: Functions = NO_FUNCTIONS,
        pace: Path | None = None,
        *,
        elsewhere: bool = False,
    ) -> None:
        self.functions, self._pace, self._elsewhere = functions, pace, elsewhere
        self._providers: dict[str, ModelProvider] = {}
        self._gates: dict[str, ProviderGate] = {}
        self.checks = CheckDesk()

    def judge(
        self,
        spec: Judge,
        cache: ResponseCache | None = None,
        on_call: Callable[[int], None] = lambda more: None,
    ) -> LLMJudge:
        """Return an LLM judge with its key, read from the environment now."""
        return LLMJudge(
            spec,
            *self._connect(spec),
            cache=cache,
            on_call=on_call,
            known_replies=values_of_secrets(spec),
        )

    def batch_judge(self, spec: Judge, cache: ResponseCache | None = None) -> BatchJudge:
        """Return an LLM judge that answers in batches."""
        # Batches need a key, although litellm may know other ways to sign in.
        provider, key, _ = self._connect(spec, provider_for(spec))
        assert isinstance(provider, OpenAIProvider)  # Plans with another provider are rejected.
        return BatchJudge(spec, provider, key, cache, values_of_secrets(spec))

    def function(self, spec: Judge) -> FunctionJudge:
        """Return a judge that is a function of this process; ``InputError`` if it is unknown."""
        require_functions([spec], self.functions)
        return FunctionJudge(spec, self.functions[spec.name])

    def writer(self, spec: Judge) -> Writer:
        """Return the same model behind the same gate, as a writer of texts."""
        return Writer(spec, *self._connect(spec), known_replies=values_of_secrets(spec))

    def _connect(
        self, spec: Judge, kind: Way | None = None
    ) -> tuple[ModelProvider, str | None, tuple[ProviderGate, ...]]:
        if not self._elsewhere:
            require_allowed([spec])
        kind = kind or provider_for(spec, os.environ)
        if kind not in self._providers:
            self._providers[kind] = open_provider(kind, os.environ)
        # Judges with the same address or provider share its rate limit, so they share a gate.
        shared = spec.api_base.rstrip("/") or provider_of(spec.model) or "openai"
        places = (shared, *(address.rstrip("/") for address in spec.replicas))
        return self._providers[kind], key_of(spec), tuple(map(self._gate_at, places))

    def _gate_at(self, place: str) -> ProviderGate:
        if place not in self._gates:
            self._gates[place] = ProviderGate(times=PaceTimes(self._pace, place))
        return self._gates[place]

    async def close(self) -> None:
        """Close the connections."""
        for gate in self._gates.values():
            gate.pacer.times.close()
        for provider in self._providers.values():
            await provider.close()
        await self.checks.close()


async def ready_judges(
    job: Job,
    providers: Providers,
    cache: ResponseCache | None = None,
    on_call: Callable[[int], None] = lambda more: None,
    train: Callable[[Judge, Job], Awaitable[TrainedJudge]] | None = None,
) -> tuple[dict[str, AskableJudge], dict[str, Any]]:
    """Return the run's judges by name, and notes on training. ``train`` trains offline judges."""
    judges: dict[str, AskableJudge] = {}
    training: dict[str, Any] = {}
    for spec in job.plan.panel.judges:
        if spec.kind in CODE_KINDS:
            judges[spec.name] = providers.function(spec)
        elif spec.kind == "check":
            judges[spec.name] = CheckJudge(spec, providers.checks)
        elif spec.learns:
            judges[spec.name], training[spec.name] = await (train or trained_here)(spec, job)
        elif is_batched(spec, job.plan.details):
            judges[spec.name] = providers.batch_judge(spec, cache)
        else:
            judges[spec.name] = providers.judge(spec, cache, on_call)
    return judges, {"training": training} if training else {}


#: The note of a run with its call counts per address.
ADDRESSES = "addresses"


def address_counts(judges: Mapping[str, AskableJudge], before: Mapping[str, Any]) -> dict[str, Any]:
    """Return call counts per address for judges with several addresses, added to earlier counts.

    ``before`` is the same note, left by earlier workers of the run.
    """
    return {
        name: {
            address: {**counts, **_count_sums(counts, before.get(name, {}).get(address, {}))}
            for address, counts in by_address.items()
        }
        for name, judge in judges.items()
        if isinstance(judge, LLMJudge) and (by_address := judge.address_states())
    }


def _count_sums(counts: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, int]:
    return {name: counts[name] + before.get(name, 0) for name in ("answered", "lost")}


#: An offline judge, with a training report per criterion.
TrainedJudge = tuple[AskableJudge, dict[str, Any]]


async def trained_here(spec: Judge, job: Job) -> TrainedJudge:
    """Train an offline judge for a run, in another thread."""
    return await asyncio.to_thread(
        trained_judge, spec, job.rubric, job.calibration, job.items, job.plan.seed
    )


def trained_judge(
    spec: Judge,
    rubric: Rubric,
    calibration: Sequence[Item],
    items: Sequence[Item],
    seed: int,
) -> TrainedJudge:
    """Train an offline judge on labelled items; return it with a report per criterion."""
    from core.judging.offline import OfflineJudge

    models = {
        criterion.name: trained_model(spec, criterion, rubric, calibration, items, seed)
        for criterion in rubric.criteria
    }
    judge = OfflineJudge(spec, models)
    judge.prepare(items)
    return judge, judge.reports()


def trained_model(
    spec: Judge,
    criterion: Criterion,
    rubric: Rubric,
    calibration: Sequence[Item],
    items: Sequence[Item],
    seed: int,
) -> Trained | TrainingReport:
    """Return an offline judge's model of one criterion. The texts of ``calibration`` and ``items``
    show which words are rare.
    """
    from core.judging.offline import train

    labelled = _labelled_items(calibration, criterion, rubric)
    return train(spec, criterion, labelled, [*calibration, *items], seed=seed)


def _labelled_items(
    items: Sequence[Item], criterion: Criterion, rubric: Rubric
) -> list[tuple[Item, int]]:
    pairs = [
        (item, labels_of(item, rubric_in_force(item, rubric)).get(criterion.name)) for item in items
    ]
    return [(item, index) for item, index in pairs if index is not None]


# Cached answers of the data file, as judges use them during a run.
#
# Reads are grouped in a thread of their own, so that neither the loop nor the writer waits for
# them. New answers are not written here, but recorded with their votes.


class KeptAnswers:
    """A ``ResponseCache`` of the store. Use it on one event loop, and close it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="kept-answers")
        self._wanted: list[tuple[str, asyncio.Future[Completion | None]]] = []
        self._reading: asyncio.Task[None] | None = None
        #: The keys of the cached answers used, in order.
        self.used: dict[str, None] = {}

    async def get(self, key: str) -> Completion | None:
        """Return the answer of ``key``, or ``None``."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Completion | None] = loop.create_future()
        self._wanted.append((key, answer))
        if self._reading is None or self._reading.done():
            self._reading = loop.create_task(self._read_items())
        return await answer

    async def any(self) -> bool:
        """Return whether the cache has any answers."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._reader, self._store.responses.any)

    async def close(self) -> None:
        """Close the thread and its connection."""
        if self._reading is not None:
            await self._reading
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._reader, self._store.close)
        self._reader.shutdown()

    async def _read_items(self) -> None:
        loop = asyncio.get_running_loop()
        while self._wanted:
            batch, self._wanted = self._wanted, []
            keys = [key for key, _ in batch]
            try:
                stored = await loop.run_in_executor(self._reader, self._store.responses.get, keys)
            except Exception as error:
                for _, answer in batch:
                    if not answer.done():
                        answer.set_exception(error)
                continue
            self.used |= dict.fromkeys(key for key in keys if key in stored)
            for key, answer in batch:
                if not answer.done():
                    answer.set_result(as_completion(stored[key]) if key in stored else None)
