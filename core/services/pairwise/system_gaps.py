"""Systems of one run that answered the same tasks: their items side by side, and how far apart.

Two systems are compared on the tasks that both answered, criterion by criterion, so that what a
task makes easy or hard cancels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from core.domain.dataset import Dataset
from core.domain.runs import Run
from core.errors import InputError
from core.metrics.estimate import Estimate
from core.metrics.intervals.bootstrap import holm, paired_difference
from core.metrics.measure import Array, Statistic, ratio
from core.services.agreement.group_figures import Draws
from core.services.pairwise.system_answers import join
from core.services.results import grid, scored_items
from core.store.store import Store

RESAMPLES = 1000
#: A corrected p below this decides.
LEVEL = 0.05
NO_TASK = "No task has a value of both."


class SharedTask(NamedTuple):
    """A task with the item of each system that answered it."""

    id: str
    prompt: str
    items: Mapping[str, str]


class SharedTasks(NamedTuple):
    """The tasks that several systems of a run answered; ``why`` says what keeps them apart."""

    systems: tuple[str, ...]
    tasks: tuple[SharedTask, ...]
    why: str = ""


class Gap(NamedTuple):
    """How far the second system earns more than the first on the tasks of both, as a mean.

    ``name`` is the criterion's, empty for the score. ``p`` is corrected for the number of criteria.
    """

    name: str
    difference: Estimate
    p: float | None

    @property
    def decided(self) -> bool:
        """Whether one of the two is higher by more than chance."""
        return self.p is not None and self.p < LEVEL


def shared_tasks(store: Store, run: Run) -> SharedTasks:
    """The tasks of a run's items, joined by their prompts as the leaderboard joins them."""
    if len(store.results.systems(run.id)) < 2:
        return SharedTasks((), ())
    asked = set(store.runs.item_ids(run.id))
    found = scored_items.resolved_items(store, run.dataset_version_id, None)
    try:
        field = join([Dataset(name="run", items=tuple(i for i in found if i.id in asked))])
    except InputError as error:
        return SharedTasks((), (), error.message)
    tasks = (
        SharedTask(task.id, task.prompt, {s: item.id for s, item in task.answers.items()})
        for task in field.tasks
    )
    return SharedTasks(field.systems, tuple(tasks))


def gaps(
    store: Store,
    run: Run,
    shared: SharedTasks,
    first: str,
    second: str,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[Gap]:
    """The score's gap and then every criterion's, on the same resamples of tasks.

    Intervals and p are those of ``compare`` (paired resampling of tasks); p is corrected over the
    criteria (Holm 1979), the score's stands alone.
    """
    both = [t.items for t in shared.tasks if first in t.items and second in t.items]
    rubric = scored_items.scored_rubric(store, run)
    values = {
        (row.item_id, criterion.name): grid.earned(criterion, row.value)
        for criterion in rubric.criteria
        for row in store.results.all_cells(run.id, criterion.name)
    }
    scores = {row.item_id: row.score for row in store.results.items(run.id, limit=run.items)}
    draws = Draws(len(both), resamples, seed) if both else None

    def gap(name: str) -> Gap:
        sides = [
            _array([(values.get((t[s], name)) if name else scores.get(t[s])) for t in both])
            for s in (first, second)
        ]
        return _gap(name, sides, draws)

    found = [gap(criterion.name) for criterion in rubric.criteria]
    corrected = holm([one.p for one in found])
    return [
        gap(""),
        *(one._replace(p=p) for one, p in zip(found, corrected, strict=True)),
    ]


def _array(values: Sequence[float | None]) -> Array:
    return np.array([np.nan if v is None else v for v in values], dtype=np.float64)


def _gap(name: str, sides: Sequence[Array], draws: Draws | None) -> Gap:
    there = ~np.isnan(sides[0] + sides[1]) if len(sides[0]) else np.zeros(0, dtype=np.bool_)
    n = int(there.sum())
    if draws is None or not n:
        return Gap(name, Estimate.undefined(NO_TASK), None)
    among = there.astype(np.float64)

    def mean(side: Array) -> Statistic:
        kept = np.where(there, side, 0.0)
        return lambda weights: ratio(kept @ weights, among @ weights)

    tasks = np.arange(len(there), dtype=np.int64)
    times = np.ones(len(there), dtype=np.int64)
    drawn = draws.of(tasks, times)
    found = paired_difference(mean(sides[0]), mean(sides[1]), drawn, times)
    return Gap(name, found.value._replace(n=n), found.p.value)
