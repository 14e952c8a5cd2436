"""Spot check: one submission, some judges, now, kept as a small run; two of them side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from core import clock
from core.domain.base import build
from core.domain.dataset import Dataset, Item, Submission
from core.domain.library import DatasetRow
from core.domain.panel import Asking, Judge, Panel, Rules
from core.domain.rubric import Rubric
from core.domain.runs import Run, RunRow
from core.errors import InputError, NotFound, Problem
from core.services.access.allowing import allowed
from core.services.results.item_view import CriterionView, ItemView, item_view
from core.services.runs.lifecycle import start
from core.services.runs.planning import RunRequest
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


class SpotTask(NamedTuple):
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


@allowed("write")
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
        rubric_version=store.rubrics.kept(request.rubric, now=clock.now()).id,
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


@allowed("write")
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


def tasks(store: Store, version_id: int, most: int = 30) -> list[SpotTask]:
    """The distinct prompts (with references) among a dataset's first 500 items, in its order.

    Empty where there is none, or more than ``most``: then they are no choice of tasks.
    """
    head = store.datasets.version(version_id).head
    found = dict[SpotTask, None]()
    for item in islice(store.datasets.items(version_id), 500):
        whole = head.resolved(item)
        task = SpotTask(whole.prompt, tuple(whole.context.items()), whole.reference)
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


@dataclass(frozen=True)
class SpotPair:
    """One criterion in both checks. A label is ``None`` where that check has no verdict.

    ``changed`` is ``None`` where they cannot be compared: one has no verdict, or not the criterion.
    """

    criterion: str
    before: str | None
    after: str | None
    changed: bool | None


@dataclass(frozen=True)
class SpotComparison:
    """What changed between two checks, and ``setup``: what was set differently, in words."""

    before: ItemView
    after: ItemView
    pairs: tuple[SpotPair, ...]
    setup: tuple[str, ...]

    @property
    def changed(self) -> int:
        """Criteria whose verdict is another one."""
        return sum(pair.changed is True for pair in self.pairs)

    @property
    def compared(self) -> int:
        """Criteria that have a verdict in both."""
        return sum(pair.changed is not None for pair in self.pairs)


def earlier(store: Store, run_id: int, limit: int = 200) -> list[RunRow]:
    """Checks of the same submission made before this one, newest first.

    Looks at the latest ``limit`` checks.
    """
    run, item = store.runs.row(run_id), item_of(store, run_id)
    return [
        row
        for row in store.runs.list(kind="spot", limit=limit)
        if row.id < run_id
        and row.dataset_version_id == run.dataset_version_id
        and item_of(store, row.id) == item
    ]


def compare(store: Store, before_id: int, after_id: int) -> SpotComparison:
    """Two checks, criterion by criterion (matched by name), in the later one's order."""
    before = item_view(store, before_id, item_of(store, before_id))
    after = item_view(store, after_id, item_of(store, after_id))
    old = {view.criterion.name: view for view in before.criteria}
    new = {view.criterion.name: view for view in after.criteria}
    names = [*new, *(name for name in old if name not in new)]
    pairs = tuple(_pair(name, old.get(name), new.get(name)) for name in names)
    return SpotComparison(before, after, pairs, tuple(_setup(before.run, after.run)))


def _pair(name: str, old: CriterionView | None, new: CriterionView | None) -> SpotPair:
    before = None if old is None else old.verdict_label
    after = None if new is None else new.verdict_label
    changed = None if before is None or after is None else before != after
    return SpotPair(name, before, after, changed)


def _setup(before: Run, after: Run) -> list[str]:
    found = list[str]()
    if before.rubric_version_id != after.rubric_version_id:
        found.append("another rubric or version")
    old = {judge.name: judge for judge in before.panel.judges}
    new = {judge.name: judge for judge in after.panel.judges}
    if old.keys() != new.keys():
        found.append("other judges")
    elif old != new:
        found.append("other settings of a judge")
    if before.panel.rules != after.panel.rules:
        found.append("other aggregation rules")
    if before.panel.asking != after.panel.asking:
        found.append("asked in another way")
    if before.plan.replicates != after.plan.replicates:
        found.append("another number of replicates")
    if before.plan.calibration != after.plan.calibration:
        found.append("other labelled items to learn from")
    if before.plan.seed != after.plan.seed:
        found.append("another seed")
    return found
