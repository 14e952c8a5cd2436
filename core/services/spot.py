"""Spot check: one submission, some judges, now. It is a small run, kept like any other."""

from __future__ import annotations

from dataclasses import dataclass, field

from core.domain.base import build
from core.domain.dataset import Dataset, Item, Submission
from core.domain.panel import Judge, Panel, Rules
from core.domain.rubric import Rubric
from core.errors import InputError
from core.services import clock
from core.services.grading import start
from core.services.planning import RunRequest
from core.store.rows import DatasetRow
from core.store.run_rows import RunRow
from core.store.store import Store

ITEM = "spot"


@dataclass(frozen=True)
class SpotRequest:
    """What to check: a saved item (``dataset_version`` and ``item``), or a typed submission.

    ``rubric`` may be unsaved. ``learn_from`` is the dataset version that offline judges learn
    from; for a saved item it is its own dataset unless another is named.
    """

    rubric: Rubric
    judges: tuple[Judge, ...]
    rules: Rules = field(default_factory=Rules)
    submission: Submission = ""
    prompt: str = ""
    reference: str = ""
    dataset_version: int | None = None
    item: str | None = None
    learn_from: int | None = None
    replicates: int = 1
    seed: int | None = None


def check(store: Store, request: SpotRequest) -> int:
    """Starts a spot check; returns its run's id, to be polled like any run's."""
    if not request.judges:
        raise InputError("No judge is chosen. Choose at least one.")
    rubric = store.rubrics.create(request.rubric, now=clock.now(), hidden=True)
    version, item = request.dataset_version, request.item
    if version is None or item is None:
        version, item = _typed(store, request), ITEM
    panel = build(
        Panel, {"name": "Spot check", "judges": request.judges, "rules": request.rules}, "panel"
    )
    return start(
        store,
        RunRequest(
            rubric_version=rubric.id,
            dataset_version=version,
            panel=panel,
            name=f"Spot check: {request.rubric.name}",
            seed=request.seed,
            replicates=request.replicates,
            label_share=1.0,
            items=(item,),
            learn_from=request.learn_from,
            kind="spot",
        ),
    )


def _typed(store: Store, request: SpotRequest) -> int:
    if not request.submission:
        raise InputError("There is nothing to judge. Paste a submission or pick an item.")
    item = build(
        Item,
        {
            "id": ITEM,
            "submission": request.submission,
            "prompt": request.prompt,
            "reference": request.reference,
        },
        "submission",
    )
    dataset = Dataset(name="Spot check", items=(item,))
    return store.datasets.create(dataset, now=clock.now(), source="spot check", hidden=True).id


def teachers(store: Store, rubric: Rubric) -> list[tuple[DatasetRow, int]]:
    """The datasets that offline judges could learn this rubric from, with the labels that fit.

    The count is of labels whose criterion and option the rubric has, best first.
    """
    found = []
    for row in store.datasets.list():
        counts = store.datasets.label_counts(row.version_id)
        fitting = sum(
            n
            for criterion in rubric.criteria
            for label, n in counts.get(criterion.name, {}).items()
            if criterion.index_of(label) is not None
        )
        if fitting:
            found.append((row, fitting))
    return sorted(found, key=lambda pair: -pair[1])


def recent(store: Store, limit: int = 10) -> list[RunRow]:
    """The latest spot checks, newest first."""
    return store.runs.list(kind="spot", limit=limit)
