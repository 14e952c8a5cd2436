"""Spot check: one submission and some judges, now, stored as a small run; and a comparison of
two.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any

from core.domain.dataset import Item, Pair, Sections
from core.domain.runs import Run, RunItemRow, RunRow
from core.errors import InputError, NotFound, Problem
from core.services.access.allowing import allowed
from core.services.results.item_view import CriterionView, ItemView, item_view
from core.services.runs.lifecycle import start
from core.services.runs.planning import RunRequest
from core.services.spot import trials
from core.services.spot.request import ITEM, SpotRequest, SpotTurn, trial_of
from core.services.spot.trials import HELP
from core.store.store import Store


@allowed("write")
def check(store: Store, request: SpotRequest) -> int:
    """Start a spot check; return its run's id, to be polled like any run's.

    Raises:
        InputError: the request is incomplete, or offline judges have no labels to learn from.
    """
    trial = trial_of(store, request)
    (item,) = trial.texts.items
    if trial.dataset_version is None and not item.output.strip():
        advice = "Paste a submission, or pick an item of a dataset."
        raise InputError(
            "There is nothing to judge.", (Problem("The submission is empty.", advice),)
        )
    return trials.begin(store, trial)


@allowed("write")
def ask_again(store: Store, run_id: int, seed: int | None = None) -> int:
    """Start the same check with another seed (by default a drawn one); return the new run's id."""
    run = store.runs.get(run_id)
    plan = run.plan
    request = RunRequest(
        rubric_version=plan.rubric_version_id,
        dataset_version=plan.dataset_version_id,
        panel=plan.panel,
        name=plan.name,
        seed=seed,
        replicates=plan.replicates,
        label_share=1.0,
        items=(item_of(store, run_id),),
        learn_from=plan.calibration.get("dataset_version"),
        kind="spot",
    )
    return start(store, request)


def item_of(store: Store, run_id: int) -> str:
    """Return the id of the one item of a spot check. Raises ``NotFound`` for any other run."""
    run = store.runs.get(run_id)
    if run.kind != "spot" or HELP in run.plan.details:
        raise NotFound(f"Run {run_id} is not a spot check. Open it on the Runs page.")
    return store.runs.item_ids(run_id)[0]


def distinct_tasks(store: Store, version_id: int, most: int = 30) -> list[Item]:
    """Return an item for each distinct prompt (with context and reference) among a dataset's first
    500 items, in its order.

    It is empty if there are more than ``most``, which are too many to choose from.
    """
    head = store.datasets.version(version_id).head
    distinct: dict[tuple[object, ...], Item] = {}
    for item in map(head.resolved, islice(store.datasets.items(version_id), 500)):
        task = item.prompt, tuple(item.context.items()), item.reference
        if any(task):
            distinct.setdefault(task, item)
        if len(distinct) > most:
            return []
    return list(distinct.values())


def recent_checks(store: Store, limit: int = 10) -> list[tuple[RunRow, RunItemRow]]:
    """Return the latest spot checks, newest first, each with its text's row."""
    runs = store.runs.list(kind="spot", limit=limit, without=HELP)
    return [(run, store.results.items(run.id, limit=1)[0]) for run in runs]


def request_of(store: Store, run_id: int, request: SpotRequest) -> SpotRequest:
    """Return the request of a check; fields of unused modes stay as they are in ``request``."""
    run, item_id = store.runs.get(run_id), item_of(store, run_id)
    listed = {row.id for row in store.rubrics.list()}
    fields: dict[str, Any] = {
        "rubric": str(run.rubric_id) if run.rubric_id in listed else request.rubric,
        "judges": tuple(judge.name for judge in run.panel.judges),
        "panel": None,
        "rules": run.panel.rules,
        "asking": run.panel.asking,
        "learn_from": run.plan.calibration.get("dataset_version"),
        "replicates": run.plan.replicates,
        "seed": None,
    }
    if item_id != ITEM:
        fields |= {"way": "item", "dataset": run.dataset_version_id, "item": item_id}
        return request.model_copy(update=fields)
    item = store.datasets.item(run.dataset_version_id, item_id)
    fields |= {"prompt": item.prompt, "context": item.context, "reference": item.reference}
    if isinstance(item.submission, str | Pair):
        fields |= {"way": "text", "text": item.output}
    elif isinstance(item.submission, Sections):
        fields |= {"way": "sections", "thinking": item.thinking, "output": item.output}
    else:
        turns = tuple(SpotTurn(role=m.role, content=m.content) for m in item.submission)
        fields |= {"way": "chat", "turns": turns}
    return request.model_copy(update=fields)


@dataclass(frozen=True)
class SpotComparison:
    """What changed between two checks, and ``setup``: the differences of their settings in
    words.

    ``pairs`` are the criteria with the labels of both verdicts; a label is ``None`` if that check
    has no verdict, or not the criterion.
    """

    before: ItemView
    after: ItemView
    pairs: tuple[tuple[str, str | None, str | None], ...]
    setup: tuple[str, ...]

    @property
    def changed(self) -> int:
        """Return the number of criteria with a different verdict."""
        return sum(None not in labels and labels[0] != labels[1] for _, *labels in self.pairs)

    @property
    def compared(self) -> int:
        """Return the number of criteria with a verdict in both."""
        return sum(None not in labels for _, *labels in self.pairs)


def earlier_checks(store: Store, run_id: int) -> list[RunRow]:
    """Return checks of the same submission before this one, newest first; of the latest 200."""
    run, item = store.runs.row(run_id), item_of(store, run_id)
    return [
        row
        for row in store.runs.list(kind="spot", limit=200, without=HELP)
        if row.id < run_id
        and row.dataset_version_id == run.dataset_version_id
        and item_of(store, row.id) == item
    ]


def compare_checks(store: Store, before_id: int, after_id: int) -> SpotComparison:
    """Return two checks, criterion by criterion (matched by name), in the later one's order."""
    before = item_view(store, before_id, item_of(store, before_id))
    after = item_view(store, after_id, item_of(store, after_id))
    old = {view.criterion.name: view for view in before.criteria}
    new = {view.criterion.name: view for view in after.criteria}
    names = [*new, *(name for name in old if name not in new)]
    pairs = tuple((name, _label_in(old.get(name)), _label_in(new.get(name))) for name in names)
    return SpotComparison(before, after, pairs, tuple(_setup_changes(before.run, after.run)))


def _label_in(view: CriterionView | None) -> str | None:
    return None if view is None else view.verdict_label


def _setup_changes(before: Run, after: Run) -> list[str]:
    differences = list[str]()
    if before.rubric_version_id != after.rubric_version_id:
        differences.append("another rubric or version")
    old = {judge.name: judge for judge in before.panel.judges}
    new = {judge.name: judge for judge in after.panel.judges}
    if old.keys() != new.keys():
        differences.append("other judges")
    elif old != new:
        differences.append("other settings of a judge")
    if before.panel.rules != after.panel.rules:
        differences.append("other aggregation rules")
    if before.panel.asking != after.panel.asking:
        differences.append("asked in another way")
    if before.plan.replicates != after.plan.replicates:
        differences.append("another number of replicates")
    if before.plan.calibration != after.plan.calibration:
        differences.append("other labelled items to learn from")
    if before.plan.seed != after.plan.seed:
        differences.append("another seed")
    return differences
