"""A run as a grid: the verdict of every cell, and means by criterion and system.

A cell earns a share of the criterion's best value: for a positive weight its value divided by the
best value of any option; for a penalty the part that was avoided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from core.domain.rubric import Criterion, Rubric
from core.domain.runs import Run, RunItemRow
from core.domain.votes import ADJUDICATED, Verdict
from core.metrics.estimate import Estimate
from core.services.results.scored_items import rubric_in_force, score_in_place, scored_rubric
from core.store.store import Store


class GridCell(NamedTuple):
    """A cell as shown in a grid. ``label`` is empty without an answer.

    ``earned`` is ``None`` without a verdict that has a value. ``between``: the verdict is the
    nearest option, but no vote chose it. ``judged`` is the label by the votes (or an abstention's),
    whatever people settled on.
    """

    criterion: Criterion
    label: str
    earned: float | None
    abstained: bool
    split: bool
    abstentions: int
    failures: int
    settled: bool
    between: bool
    judged: str


class GridItem(NamedTuple):
    """An item with its cells by criterion name, and its title.

    ``own`` is the score by a person's labels of an item on which all judges abstained.
    """

    row: RunItemRow
    cells: Mapping[str, GridCell]
    title: str
    own: float | None = None


class SystemMeans(NamedTuple):
    """The mean score and mean share earned on each criterion, of a system or (``""``) of all
    items.
    """

    system: str
    score: Estimate
    criteria: Mapping[str, Estimate]


def earned_share(criterion: Criterion, value: float | None) -> float | None:
    """Return the share of the criterion's best that a value earns; ``None`` if all values are 0.

    >>> late = Criterion(name="Late", requirement="It came late.", weight=-5)
    >>> earned_share(late, 1.0), earned_share(late, 0.0), earned_share(late, None)
    (0.0, 1.0, None)
    """
    best = max(criterion.values[i] or 0.0 for i in criterion.scored)
    if value is None or not best:
        return None
    share = value / best
    return share if criterion.weight >= 0 else 1 - share


def grid_items(store: Store, run: Run, rows: Sequence[RunItemRow]) -> list[GridItem]:
    """Return these items of a run with their cells, each under its own rubric if it has one."""
    ids = [row.item_id for row in rows]
    rubric = scored_rubric(store, run)
    verdicts = {(id_, v.criterion): v for id_, v in store.results.verdicts_of(run.id, ids)}
    failed = store.votes.failed_cells(run.id, ids)
    loaded = {item.id: item for item in store.datasets.items(run.dataset_version_id, ids)}
    rubrics = {item.id: rubric_in_force(item, rubric) for item in loaded.values()}

    def cells_of_item(item_id: str) -> dict[str, GridCell]:
        criteria = rubrics.get(item_id, rubric).criteria
        keys = {c.name: (item_id, c.name) for c in criteria}
        return {
            c.name: grid_cell(c, verdicts.get(keys[c.name]), failed.get(keys[c.name], 0))
            for c in criteria
        }

    def whole_item(row: RunItemRow) -> GridItem:
        item = loaded.get(row.item_id)
        if item is None:
            return GridItem(row, cells_of_item(row.item_id), row.item_id)
        score = score_in_place(row, item, rubrics[item.id])
        return GridItem(row, cells_of_item(item.id), item.title, score)

    return [whole_item(row) for row in rows]


def grid_cell(criterion: Criterion, verdict: Verdict | None, failures: int) -> GridCell:
    """Return a cell of an item; ``failures`` counts its open failures."""
    if verdict is None:
        return GridCell(criterion, "", None, False, False, 0, failures, False, False, "")
    settled = verdict.rule == ADJUDICATED
    label, share = "", None
    if verdict.option is not None and not verdict.abstained:
        label = criterion.choices[verdict.option].label
        share = earned_share(criterion, criterion.values[verdict.option])
    is_between = bool(label) and not settled and verdict.votes > 0 and verdict.agreement == 0.0
    return GridCell(
        criterion,
        label,
        share,
        verdict.abstained,
        verdict.split,
        verdict.abstentions,
        max(failures, verdict.failures),
        settled,
        is_between,
        "" if verdict.judged is None else criterion.choices[verdict.judged].label,
    )


def system_means(
    store: Store, run: Run, rubric: Rubric, only: Sequence[str] | None = None
) -> list[SystemMeans]:
    """Return the means over all items and, if there are several systems, over each system's.

    ``only``: the items that count, if not all.

    A criterion's mean is over the items whose verdict has a value. An item with its own rubric
    counts if that rubric has a criterion of this name.
    """
    import numpy as np

    from core.services.results import run_columns
    from core.services.results.run_columns import cell_columns, kinds_of, score_columns

    kinds, of_item = kinds_of(store, run)
    systems = sorted({kinds[kind][0] for kind in set(of_item.tolist())} - {""})
    place = {name: index for index, name in enumerate(["", *systems])}
    system = np.array([place.get(name, 0) for name, *_ in kinds], np.int64)[of_item]
    counted = np.full(len(of_item), only is None)
    if only is not None:
        row_of = run_columns.places_of_items(store, run)
        counted[[row_of[item] for item in only]] = True

    def mean_over(rows: Any, values: Any) -> list[Estimate]:
        scored = counted[rows] & ~np.isnan(values)
        index, scored_values = system[rows][scored], values[scored]
        totals = np.bincount(index, scored_values, len(place)).tolist()
        counts = np.bincount(index, minlength=len(place)).tolist()
        # Index 0 holds the totals of all items, with or without a system.
        totals[0], counts[0] = sum(totals), sum(counts)
        return [Estimate(t / n if n else None, n=n) for t, n in zip(totals, counts, strict=True)]

    scores = mean_over(np.arange(len(of_item)), score_columns(store, run).score)
    each = {
        column.criterion: mean_over(column.rows, column.value)
        for column in cell_columns(store, run)
    }
    return [
        SystemMeans(
            name,
            scores[place[name]],
            {c.name: _mean_earned(c, each.get(c.name), place[name]) for c in rubric.criteria},
        )
        for name in ["", *(systems if len(systems) > 1 else ())]
    ]


def _mean_earned(criterion: Criterion, means: Sequence[Estimate] | None, place: int) -> Estimate:
    mean = Estimate(None) if means is None else means[place]
    return mean._replace(value=earned_share(criterion, mean.value))
