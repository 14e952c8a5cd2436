"""Spot check: one submission, some judges, now. It is a small run, kept like any other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from core.domain.base import build
from core.domain.dataset import Dataset, Item, Submission
from core.domain.library import DatasetRow
from core.domain.panel import Asking, Judge, Panel, Rules
from core.domain.rubric import Rubric
from core.domain.runs import RunRow
from core.errors import InputError, NotFound, Problem
from core.services import clock
from core.services.grading import start
from core.services.planning import RunRequest
from core.store.content import noun_hash
from core.store.store import Store

#: The detail of runs that are part of a task of a model's help: they are no spot checks.
HELP = "help"
#: The id of a typed submission in the dataset of one item that is made for it.
ITEM = "spot"


@dataclass(frozen=True)
class SpotRequest:
    """What to check: a saved item (``dataset_version`` and ``item``), or a typed submission.

    ``rubric`` may be unsaved. ``learn_from`` is the dataset version that offline judges learn
    and few-shot examples come from; for a saved item it is its own dataset unless another is
    named. Every judge is asked and counts: stages and shadows are for runs.
    """

    rubric: Rubric
    judges: tuple[Judge, ...]
    rules: Rules = field(default_factory=Rules)
    asking: Asking = field(default_factory=Asking)
    submission: Submission = ""
    prompt: str = ""
    context: Mapping[str, str] = field(default_factory=dict)
    reference: str = ""
    dataset_version: int | None = None
    item: str | None = None
    learn_from: int | None = None
    replicates: int = 1
    seed: int | None = None


@dataclass(frozen=True)
class Teacher:
    """A dataset that offline judges could learn a rubric from.

    ``labels`` counts the labels whose criterion and option the rubric has; ``untaught`` names the
    criteria without any, on which offline judges will abstain.
    """

    row: DatasetRow
    labels: int
    untaught: tuple[str, ...]


class Task(NamedTuple):
    """What the items of a dataset were about: the same prompt, context (name, text), reference."""

    prompt: str
    context: tuple[tuple[str, str], ...]
    reference: str


@dataclass(frozen=True)
class Recent:
    """A spot check in a list. ``score`` is ``None`` where there is none (yet)."""

    row: RunRow
    item_id: str
    preview: str
    score: float | None


def check(store: Store, request: SpotRequest) -> int:
    """Starts a spot check; returns its run's id, to be polled like any run's.

    Raises:
        InputError: there is no judge or nothing to judge, or offline judges have no labels to
            learn from.
    """
    if not request.judges:
        raise InputError("No judge is chosen. Choose at least one.")
    seats = [judge.model_copy(update={"stage": 0, "shadow": False}) for judge in request.judges]
    panel = build(
        Panel,
        {
            "name": "Spot check",
            "judges": seats,
            "rules": request.rules,
            "asking": request.asking,
        },
        "panel",
    )
    version, item = request.dataset_version, request.item
    if version is None or item is None:
        version, item = _typed(store, request), ITEM
    run = RunRequest(
        rubric_version=_rubric_version(store, request.rubric),
        dataset_version=version,
        panel=panel,
        name=f"Spot check: {request.rubric.name}",
        seed=request.seed,
        replicates=request.replicates,
        label_share=1.0,
        items=(item,),
        learn_from=request.learn_from,
        kind="spot",
    )
    return start(store, run)


def ask_again(store: Store, run_id: int, seed: int | None = None) -> int:
    """The same check with another seed (drawn where none is given); returns the new run's id."""
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
    """The id of the one item of a spot check. Raises ``NotFound`` for any other run."""
    run = store.runs.get(run_id)
    if run.kind != "spot" or HELP in run.plan.details:
        raise NotFound(f"Run {run_id} is not a spot check. Open it on the Runs page.")
    return store.runs.item_ids(run_id)[0]


def teachers(store: Store, rubric: Rubric) -> list[Teacher]:
    """The datasets that offline judges could learn this rubric from, most labels first."""
    found = list[Teacher]()
    for row in store.datasets.list():
        if not row.labelled:
            continue
        counts = store.datasets.label_counts(row.version_id)
        fitting = {
            criterion.name: sum(
                n
                for label, n in counts.get(criterion.name, {}).items()
                if criterion.index_of(label) is not None
            )
            for criterion in rubric.criteria
        }
        if any(fitting.values()):
            untaught = tuple(name for name, n in fitting.items() if not n)
            found.append(Teacher(row, sum(fitting.values()), untaught))
    return sorted(found, key=lambda teacher: -teacher.labels)


def tasks(store: Store, version_id: int, most: int = 30) -> list[Task]:
    """The distinct prompts (with references) among a dataset's first 500 items, in its order.

    Empty where there is none, or more than ``most``: then they are no choice of tasks.
    """
    head = store.datasets.version(version_id).head
    found = dict[Task, None]()
    for item in islice(store.datasets.items(version_id), 500):
        whole = head.resolved(item)
        task = Task(whole.prompt, tuple(whole.context.items()), whole.reference)
        if any(task):
            found[task] = None
        if len(found) > most:
            return []
    return list(found)


def recent(store: Store, limit: int = 10) -> list[Recent]:
    """The latest spot checks, newest first."""
    found = list[Recent]()
    for row in store.runs.list(kind="spot", limit=limit, without=HELP):
        (item,) = store.results.items(row.id, limit=1)
        found.append(Recent(row, item.item_id, item.preview, item.score))
    return found


def _rubric_version(store: Store, rubric: Rubric) -> int:
    """The saved version with this content, or a hidden one made for it."""
    same = store.rubrics.find_by_hash(noun_hash(rubric))
    if same is not None:
        return same.id
    return store.rubrics.create(rubric, now=clock.now(), hidden=True).id


def _typed(store: Store, request: SpotRequest) -> int:
    item = build(
        Item,
        {
            "id": ITEM,
            "submission": request.submission,
            "prompt": request.prompt,
            "context": {name: text for name, text in request.context.items() if text.strip()},
            "reference": request.reference,
        },
        "submission",
    )
    if not item.output.strip():
        mend = "Paste a submission, or pick an item of a dataset."
        raise InputError("There is nothing to judge.", (Problem("The submission is empty.", mend),))
    dataset = Dataset(name="Spot check", items=(item,))
    return store.datasets.create(dataset, now=clock.now(), source="spot check", hidden=True).id
