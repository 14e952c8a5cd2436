"""Gets a claimed run ready: what is left to ask, and judges that can be asked."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from core.domain.dataset import Item
from core.domain.panel import Judge
from core.domain.rubric import Criterion, Rubric
from core.domain.runs import Derive, Run, RunPlan
from core.domain.votes import Cell
from core.judging.authoring import Writer
from core.judging.caching import ResponseCache
from core.judging.doors import Door
from core.judging.gate import ProviderGate
from core.judging.llm import LLMJudge
from core.judging.opening import door_for, open_door
from core.judging.protocol import AskableJudge
from core.judging.providers import provider_of
from core.services.asking import Asker
from core.services.judge_settings import known_values
from core.services.preparing import calibration_items, derive_of_run, resolved_items
from core.services.truth import effective, labels_of
from core.store.store import Store


@dataclass(frozen=True)
class Job:
    """A run with everything that working it off needs. ``done`` are cells not to be asked.

    ``rubric`` is what judges are asked; ``derive`` scores under the version that the run follows.
    """

    run: Run
    plan: RunPlan
    rubric: Rubric
    items: tuple[Item, ...]
    calibration: tuple[Item, ...]
    done: set[Cell]
    derive: Derive

    @property
    def asker(self) -> Asker:
        """Makes the run's questions."""
        return Asker(self.rubric, self.plan, self.items, self.calibration)


def load_job(store: Store, run_id: int) -> Job:
    """The job of a run: its plan minus its votes and open failures."""
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
        done=store.votes.present(run_id) | store.votes.failed(run_id),
        derive=derive_of_run(store, run, items),
    )


class Doors:
    """The open connections to providers and their gates, shared by all runs of a process."""

    def __init__(self) -> None:
        self._doors: dict[str, Door] = {}
        self._gates: dict[str, ProviderGate] = {}

    def judge(
        self,
        spec: Judge,
        cache: ResponseCache | None = None,
        on_call: Callable[[int], None] = lambda more: None,
    ) -> LLMJudge:
        """An LLM judge that can be asked; its key comes from the environment, here and now."""
        return LLMJudge(
            spec, *self._way(spec), cache=cache, on_call=on_call, known=known_values(spec)
        )

    def writer(self, spec: Judge) -> Writer:
        """The same model behind the same gate, to be asked for a piece of writing."""
        return Writer(spec, *self._way(spec), known=known_values(spec))

    def _way(self, spec: Judge) -> tuple[Door, str | None, ProviderGate]:
        kind = door_for(spec)
        if kind not in self._doors:
            self._doors[kind] = open_door(kind)
        # Judges behind one address, or of one provider, share its rate limit and so its gate.
        shared = spec.api_base.rstrip("/") or provider_of(spec.model) or "openai"
        gate = self._gates.setdefault(shared, ProviderGate())
        key = os.environ.get(spec.key_env) if spec.key_env else None
        return self._doors[kind], key, gate

    async def close(self) -> None:
        """Closes the connections."""
        for door in self._doors.values():
            await door.close()


async def ready_judges(
    job: Job,
    doors: Doors,
    cache: ResponseCache | None = None,
    on_call: Callable[[int], None] = lambda more: None,
) -> tuple[dict[str, AskableJudge], dict[str, Any]]:
    """The run's judges by name, and notes on how offline judges were trained."""
    judges: dict[str, AskableJudge] = {}
    training: dict[str, Any] = {}
    for spec in job.plan.panel.judges:
        if spec.offline:
            judges[spec.name], training[spec.name] = await asyncio.to_thread(
                trained_judge, spec, job.rubric, job.calibration, job.items, job.plan.seed
            )
        else:
            judges[spec.name] = doors.judge(spec, cache, on_call)
    return judges, {"training": training} if training else {}


def trained_judge(
    spec: Judge,
    rubric: Rubric,
    calibration: Sequence[Item],
    items: Sequence[Item],
    seed: int,
) -> tuple[AskableJudge, dict[str, Any]]:
    """An offline judge trained per criterion on labelled items, with its report per criterion."""
    from core.judging.offline import OfflineJudge, train

    unlabelled = [*calibration, *items]
    models = {
        criterion.name: train(
            spec, criterion, _labelled(calibration, criterion, rubric), unlabelled, seed=seed
        )
        for criterion in rubric.criteria
    }
    judge = OfflineJudge(spec, models)
    judge.prepare(items)
    return judge, {name: model.report.to_dict() for name, model in models.items()}


def _labelled(
    items: Sequence[Item], criterion: Criterion, rubric: Rubric
) -> list[tuple[Item, int]]:
    pairs = [(item, labels_of(item, effective(item, rubric)).get(criterion.name)) for item in items]
    return [(item, index) for item, index in pairs if index is not None]
