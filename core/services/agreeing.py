"""How far two raters of a run agree, criterion by criterion, and the items behind every count.

Raters are named by columns: ``LABELS``, ``PANEL``, and ``judge:NAME`` for one judge.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from core.domain.rules import Scale
from core.metrics.accuracy import confusion as counted
from core.metrics.agreement import Weights, cohen_kappa
from core.metrics.figure import Figure
from core.metrics.measure import tally
from core.metrics.pairwise import pair_cells
from core.metrics.ratings import patterns
from core.services.measuring import panel_levels
from core.services.measuring_figures import Draws
from core.services.measuring_groups import group_figures
from core.services.measuring_pairs import pair_figures
from core.services.rated import of_run
from core.services.rated_matrix import ABSTAINED, Levels, Rated, RatedCriterion
from core.store.store import Store

__all__ = [
    "FEW",
    "LABELS",
    "PANEL",
    "Asked",
    "Confusion",
    "Estimate",
    "Line",
    "Sheet",
    "alphas",
    "compare",
    "confusion",
    "items_in",
    "kappas",
    "name_of",
    "sheet_of",
    "spread",
]

LABELS, PANEL = "labels", "panel"
_JUDGE = "judge:"
RESAMPLES, SEED = 500, 0
#: With fewer items a share of one half is uncertain by 14 points or more (1.96 * .5 / sqrt(50)).
FEW = 50


class Estimate(NamedTuple):
    """A figure with its 95 % interval.

    ``reason`` says why the value is missing or, where there is one, why the interval is.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str = ""


@dataclass(frozen=True)
class Asked:
    """One criterion: per column a level for every item of the sheet, coded as ``Rated`` does."""

    name: str
    scale: Scale
    labels: tuple[str, ...]
    columns: Mapping[str, Levels]

    @property
    def weights(self) -> Weights:
        """How kappa weighs a disagreement on this scale."""
        return "quadratic" if self.scale == "ordinal" else "none"

    @property
    def alpha(self) -> str:
        """The difference function of Krippendorff's alpha on this scale."""
        return "ordinal" if self.scale == "ordinal" else "nominal"

    def column(self, name: str, items: int) -> Levels:
        """A column's levels; all missing where that rater was not asked."""
        return self.columns.get(name, np.full(items, -1))


@dataclass(frozen=True)
class Sheet:
    """The ratings of a run as plain data. ``judges`` are the columns of its judges."""

    items: tuple[str, ...]
    judges: tuple[str, ...]
    criteria: tuple[Asked, ...]

    @property
    def labelled(self) -> bool:
        """Whether any item has a label."""
        return any((asked.columns[LABELS] >= 0).any() for asked in self.criteria)

    @property
    def references(self) -> tuple[str, ...]:
        """What a rater can be compared with, the best first."""
        return (LABELS, PANEL) if self.labelled else (PANEL,)

    def raters(self, reference: str) -> tuple[str, ...]:
        """Who can be compared with that reference."""
        return (PANEL, *self.judges) if reference != PANEL else self.judges

    def criterion(self, name: str) -> Asked:
        """The criterion of that name, which must be there."""
        return next(asked for asked in self.criteria if asked.name == name)


@dataclass(frozen=True)
class Line:
    """One criterion's figures for a rater against a reference.

    ``n`` items have an answer from both; ``abstained`` have one from the reference, and an
    abstention from the rater. ``commonest`` is the accuracy of always giving the commonest answer
    of the reference on the same ``n`` items.
    """

    name: str
    scale: Scale
    n: int
    abstained: int
    accuracy: Estimate
    commonest: Estimate
    kappa: Estimate
    weights: Weights

    @property
    def small(self) -> bool:
        """Whether so few items say little."""
        return 0 < self.n < FEW


@dataclass(frozen=True)
class Confusion:
    """Counts of items: rows are the reference's answers, columns the rater's.

    The last column is "abstained" where the rater abstained at all, so that no item is lost.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


def name_of(column: str) -> str:
    """What a column is called.

    >>> name_of("labels"), name_of("judge:labels")
    ('Labels', 'labels')
    """
    return {LABELS: "Labels", PANEL: "Panel"}.get(column, column.removeprefix(_JUDGE))


def sheet_of(store: Store, run_id: int) -> Sheet:
    """The ratings of a run. Raises ``NotFound`` for an unknown run."""
    return sheet(of_run(store, run_id))


def sheet(rated: Rated) -> Sheet:
    """Ratings that are at hand, as a sheet."""
    judges = tuple(_JUDGE + rater.name for rater in rated.raters)
    items = tuple(item.id for item in rated.items)
    return Sheet(items, judges, tuple(map(_asked, rated.criteria)))


def _asked(criterion: RatedCriterion) -> Asked:
    coded = criterion.coded
    columns = {LABELS: criterion.coded_gold, PANEL: panel_levels(criterion)}
    columns |= {_JUDGE + rater.name: coded[:, at] for at, rater in enumerate(criterion.raters)}
    return Asked(criterion.name, criterion.scale, criterion.labels, columns)


def compare(
    sheet: Sheet, reference: str, rater: str, *, resamples: int = RESAMPLES, seed: int = SEED
) -> list[Line]:
    """A line per criterion; intervals are made by resampling items, ``resamples`` times."""
    draws = Draws(len(sheet.items), resamples, seed)
    return [_line(asked, reference, rater, len(sheet.items), draws) for asked in sheet.criteria]


def _line(asked: Asked, reference: str, rater: str, items: int, draws: Draws) -> Line:
    pair = np.column_stack([asked.column(reference, items), asked.column(rater, items)])
    found = patterns(pair)
    k = len(asked.labels)
    cells = pair_cells(found.rows[:, 0], found.rows[:, 1], k)
    table = tally(cells, k * k, found.times[:, None].astype(np.float64)).reshape(k, k)
    drawn = tally(cells, k * k, draws.of(found.of_item, found.times)).reshape(k, k, -1)
    figures = pair_figures(table, drawn, asked.labels, ordered=asked.scale != "nominal", positive=0)
    kappa = "kappa_quadratic" if asked.weights == "quadratic" else "cohen_kappa"
    return Line(
        name=asked.name,
        scale=asked.scale,
        n=figures["n"],
        abstained=int(((pair[:, 0] >= 0) & (pair[:, 1] == ABSTAINED)).sum()),
        accuracy=_estimate(figures, "accuracy"),
        commonest=_estimate(figures["more"], "majority_share"),
        kappa=_estimate(figures, kappa),
        weights=asked.weights,
    )


def alphas(sheet: Sheet, *, resamples: int = RESAMPLES, seed: int = SEED) -> list[Estimate]:
    """Krippendorff's alpha among the judges, per criterion of the sheet, by its scale."""
    draws = Draws(len(sheet.items), resamples, seed)
    found = []
    for asked in sheet.criteria:
        columns = [asked.column(judge, len(sheet.items)) for judge in sheet.judges]
        if len(columns) < 2:
            found.append(Estimate(None, reason="There is only one judge."))
            continue
        seen = patterns(np.column_stack(columns))
        figures = group_figures(
            seen.rows,
            seen.times,
            draws.of(seen.of_item, seen.times),
            len(asked.labels),
            ordered=asked.scale != "nominal",
        )
        found.append(_estimate(figures, f"krippendorff_alpha_{asked.alpha}"))
    return found


def _estimate(figures: Mapping[str, Any], name: str) -> Estimate:
    low, high = figures.get("ci", {}).get(name) or (None, None)
    why = figures.get("undefined", {})
    return Estimate(figures[name], low, high, why.get(name) or why.get(f"ci.{name}") or "")


def confusion(sheet: Sheet, criterion: str, reference: str, rater: str) -> Confusion:
    """How the rater's answers to a criterion fall beside the reference's."""
    asked = sheet.criterion(criterion)
    k = len(asked.labels)
    true, given = _sides(sheet, asked, reference, rater)
    both = (true >= 0) & (given >= 0)
    counts = np.bincount(true[both] * (k + 1) + given[both], minlength=k * (k + 1))
    table = counts.reshape(k, k + 1)
    columns = asked.labels
    if table[:, k].any():
        columns = (*columns, "abstained")
    else:
        table = table[:, :k]
    return Confusion(asked.labels, columns, tuple(tuple(row) for row in table.tolist()))


def items_in(
    sheet: Sheet, criterion: str, reference: str, rater: str, row: int, column: int
) -> tuple[str, ...]:
    """The items behind one count of ``confusion``, in the run's order."""
    true, given = _sides(sheet, sheet.criterion(criterion), reference, rater)
    inside = (true == row) & (given == column) & (true >= 0) & (given >= 0)
    return tuple(sheet.items[at] for at in np.flatnonzero(inside))


def _sides(sheet: Sheet, asked: Asked, reference: str, rater: str) -> tuple[Levels, Levels]:
    """Both columns; an abstention of the rater is one level more."""
    true, given = (asked.column(name, len(sheet.items)) for name in (reference, rater))
    return true, np.where(given == ABSTAINED, len(asked.labels), given)


def kappas(sheet: Sheet, criterion: str) -> tuple[tuple[str, ...], list[list[Figure]]]:
    """The columns of labels and judges, and kappa of every two of them."""
    asked = sheet.criterion(criterion)
    columns = (*((LABELS,) if sheet.labelled else ()), *sheet.judges)
    levels = [asked.column(name, len(sheet.items)) for name in columns]
    k = len(asked.labels)

    def kappa(one: Levels, other: Levels) -> Figure:
        both = (one >= 0) & (other >= 0)
        found = cohen_kappa(counted(one[both], other[both], k), asked.weights)
        return found._replace(n=int(both.sum()))

    return columns, [[kappa(one, other) for other in levels] for one in levels]


def spread(sheet: Sheet, criterion: str) -> dict[str, tuple[tuple[int, ...], int]]:
    """Per column that answered: how often each level was given, and how often it abstained."""
    asked = sheet.criterion(criterion)
    found = {}
    for name, levels in asked.columns.items():
        counts = np.bincount(levels[levels >= 0], minlength=len(asked.labels))
        abstained = int((levels == ABSTAINED).sum())
        if counts.any() or abstained:
            found[name] = (tuple(counts.tolist()), abstained)
    return found
