"""A trial: some texts and some judges, now, in a small run that the list of runs hides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from core import clock
from core.domain.base import build_model
from core.domain.dataset import Dataset, Item
from core.domain.library import DatasetRow
from core.domain.panel import Asking, Judge, Panel, Rules
from core.domain.rubric import Rubric
from core.domain.runs import RunPlan
from core.services.access.allowing import allowed
from core.services.runs.cost_estimate import CostEstimate, estimate_planned
from core.services.runs.lifecycle import start
from core.services.runs.planning import Planned, RunRequest
from core.store.store import Store

#: The plan detail of other features' trial runs, which are not spot checks.
HELP = "help"
#: The most example items that an estimate reads.
_EXAMPLES = 400


@dataclass(frozen=True)
class Trial:
    """The texts to ask about, and how. ``rubric`` need not be saved.

    ``texts`` are stored in a hidden dataset, unless they are items of ``dataset_version``. Offline
    judges learn from the dataset version ``learn_from``, and few-shot examples come from it. For
    saved texts it is their own version unless another is named.
    """

    name: str
    rubric: Rubric
    panel: Panel
    texts: Dataset
    source: str = ""
    dataset_version: int | None = None
    learn_from: int | None = None
    replicates: int = 1
    seed: int | None = None
    budget: float | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


def panel_of(
    name: str, judges: tuple[Judge, ...], asking: Asking, rules: Rules | None = None
) -> Panel:
    """Return a panel that asks all judges at once; stages and shadows are for runs.

    Raises:
        InputError: the judges make no valid panel.
    """
    seats = [judge.model_copy(update={"stage": 0, "shadow": False}) for judge in judges]
    data = {"name": name, "judges": seats, "rules": rules or Rules(), "asking": asking}
    return build_model(Panel, data, "panel")


def estimate_trial(
    store: Store, trial: Trial, examples: tuple[Item, ...] | None = None
) -> CostEstimate:
    """Return the estimate of a trial; nothing is stored. ``examples`` replaces those of its
    dataset.
    """
    plan = RunPlan("", 0, 0, trial.panel, "spot", trial.seed or 0, trial.replicates)
    shown = _example_items(store, trial) if examples is None else examples
    return estimate_planned(store, Planned(plan, trial.rubric, trial.texts.items, shown))


def _example_items(store: Store, trial: Trial) -> tuple[Item, ...]:
    version = trial.learn_from or trial.dataset_version
    if version is None or not trial.panel.asking.few_shot:
        return ()
    items = (item for item in store.datasets.items(version) if item.labels)
    return tuple(islice(items, _EXAMPLES))


@allowed("write")
def begin(store: Store, trial: Trial) -> int:
    """Start a trial; return its run's id.

    Raises:
        InputError: there is nothing to judge, or offline judges have no labels to learn from.
    """
    version = trial.dataset_version
    if version is None:
        version = hidden_dataset(store, trial.texts, trial.source)
    request = RunRequest(
        rubric_version=store.rubrics.version_with_content(trial.rubric, now=clock.now()).id,
        dataset_version=version,
        panel=trial.panel,
        name=trial.name[:200],
        seed=trial.seed,
        replicates=trial.replicates,
        budget=trial.budget,
        label_share=1.0,
        items=tuple(item.id for item in trial.texts.items),
        learn_from=trial.learn_from,
        kind="spot",
        details=trial.details,
    )
    return start(store, request)


@allowed("write")
def hidden_dataset(store: Store, texts: Dataset, source: str) -> int:
    """Store these texts as a hidden dataset, unless it is stored, and return its version."""
    return store.datasets.create(texts, now=clock.now(), source=source, hidden=True).id


@dataclass(frozen=True)
class Teacher:
    """A dataset from which offline judges could learn a rubric.

    ``labels`` counts the labels whose criterion and option the rubric has; ``untaught`` names the
    criteria without labels, on which offline judges will abstain.
    """

    row: DatasetRow
    labels: int
    untaught: tuple[str, ...]


def teaching_datasets(store: Store, rubric: Rubric) -> list[Teacher]:
    """Return the datasets from which offline judges could learn this rubric, most labels first."""
    fit = list[Teacher]()
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
            fit.append(Teacher(row, sum(fitting.values()), untaught))
    return sorted(fit, key=lambda teacher: -teacher.labels)
