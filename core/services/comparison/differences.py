"""Compute the differences between two runs on shared items, all on the same resamples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from core.metrics.agreement import reliability
from core.metrics.agreement.kappa import KAPPAS, pair_cells
from core.metrics.agreement.ratings import Patterns, patterns
from core.metrics.agreement.scores import pair_up
from core.metrics.estimate import USUAL, Confidence, Estimate
from core.metrics.intervals.bootstrap import holm, mcnemar_exact
from core.metrics.intervals.means import LEVEL, paired_difference
from core.metrics.measure import Array, Measure, Statistic, ratio_or_nan, weight_sums
from core.services.agreement.group_figures import Draws
from core.services.comparison.paired_runs import CriterionPair, PairedRuns
from core.text.numbers import Form, forms_of_change

NO_CELL = "No item has a label and an answer of both runs."
NO_SCORE = "No item has a score in both runs."
ONE_JUDGE = "One of the runs has a single judge."
NO_RESAMPLES = "No resamples were asked for."
Test = Literal["mcnemar", "t", "bootstrap"]


@dataclass(frozen=True)
class FigureDelta:
    """A figure of both runs and its difference (second minus first), on the same items.

    ``p`` tests whether there is a difference: by McNemar's exact test, by t or from the resamples.
    ``p_holm`` is corrected for the number of criteria. A difference without an interval says why.
    """

    first: Estimate
    second: Estimate
    difference: Estimate
    p: Estimate
    test: Test = "bootstrap"
    p_holm: float | None = None

    @property
    def n(self) -> int:
        """Return the number of items behind the figure."""
        return self.difference.n

    @property
    def significant(self) -> bool:
        """Return whether the p value, corrected if there is a correction, is below ``LEVEL``.

        The interval does not decide. It is about this figure alone, and may exclude zero although
        the correction, or an exact test, does not.
        """
        p = self.p.value if self.p_holm is None else self.p_holm
        return p is not None and p < LEVEL

    def forms(self, *, share: bool = False) -> tuple[Form, Form]:
        """Return the formats of both figures, and of their difference, so that they fit."""
        first, second, gap = (
            figure.value or 0.0 for figure in (self.first, self.second, self.difference)
        )
        return forms_of_change(first, second, gap, share=share)


@dataclass(frozen=True)
class CriterionDelta:
    """One criterion. On ``decided`` items both runs answered, on ``same`` items equally.

    Of the labelled items, ``only_first`` are right in the first run only.
    """

    name: str
    decided: int
    same: int
    only_first: int
    only_second: int
    accuracy: FigureDelta
    kappa: FigureDelta
    agreement: FigureDelta


class DecidedCells(NamedTuple):
    """The ``labelled`` cells, and how many of them each run decided, and decided rightly."""

    labelled: int
    decided: tuple[int, int]
    right: tuple[int, int]


@dataclass(frozen=True)
class Deltas:
    """All compared figures. ``accuracy`` is over all cells that both runs decided."""

    criteria: tuple[CriterionDelta, ...]
    accuracy: FigureDelta
    score: FigureDelta
    decided: DecidedCells


def run_deltas(
    paired: PairedRuns, bootstrap: int, seed: int, confidence: Confidence = USUAL
) -> Deltas:
    """Return all differences, on the same resamples of items; 0 resamples draw none."""
    draws = Draws(len(paired.match.both), bootstrap, seed, confidence) if bootstrap else None
    rows = [_criterion_delta(sides, draws) for sides in paired.criteria]
    for name in ("accuracy", "kappa", "agreement"):
        corrected = holm([getattr(row, name).p.value for row in rows])
        rows = [
            replace(row, **{name: replace(getattr(row, name), p_holm=p)})
            for row, p in zip(rows, corrected, strict=True)
        ]
    labelled = [row.accuracy for row in rows if row.accuracy.n]
    total = labelled[0] if len(labelled) == 1 else _accuracy_delta(paired, draws)
    accuracy = replace(total, p_holm=None)
    return Deltas(tuple(rows), accuracy, _score_delta(paired, draws), decided_cells(paired))


def decided_cells(paired: PairedRuns) -> DecidedCells:
    """Return how many labelled cells each run decided, and how many correctly."""
    labelled, decided, right = 0, [0, 0], [0, 0]
    for sides in paired.criteria:
        labelled_cells = sides.gold >= 0
        labelled += int(labelled_cells.sum())
        for index, verdicts in enumerate(sides.verdicts):
            decided[index] += int((labelled_cells & (verdicts >= 0)).sum())
            right[index] += int((labelled_cells & (verdicts == sides.gold)).sum())
    return DecidedCells(labelled, (decided[0], decided[1]), (right[0], right[1]))


def _criterion_delta(sides: CriterionPair, draws: Draws | None) -> CriterionDelta:
    first, second = sides.verdicts
    columns = np.column_stack([sides.gold, first, second, *sides.judges])
    distinct = patterns(columns)
    gold, before, after = distinct.rows[:, :3].T
    compared_items = (gold >= 0) & (before >= 0) & (after >= 0)
    right = (compared_items & (gold == before), compared_items & (gold == after))
    only_right = [int(distinct.times[a & ~b].sum()) for a, b in (right, right[::-1])]
    n = int(distinct.times[compared_items].sum())
    compared = _Compared(distinct, draws, n)
    accuracy = compared.shares(right, compared_items)
    decided = (first >= 0) & (second >= 0)
    return CriterionDelta(
        name=sides.name,
        decided=int(decided.sum()),
        same=int((decided & (first == second)).sum()),
        only_first=only_right[0],
        only_second=only_right[1],
        accuracy=replace(
            accuracy,
            p=mcnemar_exact(*only_right) if n else Estimate.undefined(NO_CELL),
            test="mcnemar",
        ),
        kappa=compared.tables(
            KAPPAS[sides.weights],
            [
                pair_cells(np.where(compared_items, gold, -1), side, len(sides.labels))
                for side in (before, after)
            ],
            len(sides.labels),
        ),
        agreement=_agreement_delta(sides, compared, distinct),
    )


def _agreement_delta(sides: CriterionPair, compared: _Compared, distinct: Patterns) -> FigureDelta:
    """Compute Krippendorff's alpha among the judges of each run, by the scale."""
    split = 3 + sides.judges[0].shape[1]
    rows = distinct.rows[:, 3:split], distinct.rows[:, split:]
    if min(side.shape[1] for side in rows) < 2:
        return _undefined_delta(ONE_JUDGE)
    measure = reliability.alpha_ordinal if sides.scale == "ordinal" else reliability.alpha_nominal
    k, times = len(sides.labels), distinct.times.astype(np.float64)
    figures = [measure(side, k, times) for side in rows]
    before, after = (measure.as_function_of_weights(side, k, times) for side in rows)
    rated = [(side >= 0).sum(axis=1) >= 2 for side in rows]
    return compared.delta(figures, (before, after), rated[0] | rated[1])


class _Compared:
    """Patterns of one table of answers with their resamples, for differences of any figure."""

    def __init__(self, patterns: Patterns, draws: Draws | None, n: int) -> None:
        self._times = patterns.times.astype(np.float64)
        self._drawn = None if draws is None else draws.of(patterns.of_item, patterns.times)
        self._confidence = USUAL if draws is None else draws.confidence
        self._n = n

    def shares(
        self, right: tuple[npt.NDArray[np.bool_], ...], mask: npt.NDArray[np.bool_]
    ) -> FigureDelta:
        """Return the difference of two shares of the same rows."""
        return self.means([side.astype(np.float64) for side in right], mask.astype(np.float64))

    def means(self, sums: Sequence[Array], counts: Array, reason: str = NO_CELL) -> FigureDelta:
        """Return the difference of two ratios of sums; both ratios have the same denominator."""

        def mean(side: Array) -> Statistic:
            return lambda weights: ratio_or_nan(side @ weights, counts @ weights)

        first, second = (mean(side) for side in sums)
        points = [float(side(self._times[:, None])[0]) for side in (first, second)]
        figures = [
            Estimate.defined(value, self._n) if self._n else Estimate.undefined(reason)
            for value in points
        ]
        return self.delta(figures, (first, second), counts > 0)

    def tables(
        self, measure: Measure, cells: Sequence[npt.NDArray[np.int64]], k: int
    ) -> FigureDelta:
        """Return the difference of two figures of count tables."""

        def of(cell: npt.NDArray[np.int64]) -> Statistic:
            return lambda weights: measure.many(weight_sums(cell, k * k, weights).reshape(k, k, -1))

        figures = [
            measure(weight_sums(cell, k * k, self._times[:, None]).reshape(k, k)) for cell in cells
        ]
        first, second = (of(cell) for cell in cells)
        return self.delta(figures, (first, second), cells[0] >= 0)

    def delta(
        self,
        figures: Sequence[Estimate],
        statistics: tuple[Statistic, Statistic],
        mask: npt.NDArray[np.bool_],
    ) -> FigureDelta:
        """Return the difference of two figures over the rows ``mask``.

        With resamples it has an interval.
        """
        first, second = figures
        if first.value is None or second.value is None:
            return _undefined_delta(first.reason or second.reason, first, second)
        if self._drawn is None:
            gap = Estimate(second.value - first.value, reason=NO_RESAMPLES, n=first.n)
            return FigureDelta(first, second, gap, Estimate.undefined(NO_RESAMPLES))
        result = paired_difference(
            *statistics, self._drawn, self._times, mask=mask, confidence=self._confidence
        )
        return FigureDelta(
            first,
            second,
            result.value._replace(n=min(first.n, second.n)),
            result.p._replace(n=min(first.n, second.n)),
            result.test,
        )


def _undefined_delta(
    reason: str, first: Estimate | None = None, second: Estimate | None = None
) -> FigureDelta:
    undefined = Estimate.undefined(reason)
    return FigureDelta(first or undefined, second or undefined, undefined, undefined)


def _accuracy_delta(paired: PairedRuns, draws: Draws | None) -> FigureDelta:
    """Return accuracy over labelled cells that both runs decided; an item's cells stay together."""
    counts = np.zeros((len(paired.match.both), 3), dtype=np.int64)
    for sides in paired.criteria:
        first, second = sides.verdicts
        decided = (sides.gold >= 0) & (first >= 0) & (second >= 0)
        hits = decided & (sides.gold == first), decided & (sides.gold == second)
        counts += np.column_stack([*hits, decided])
    distinct = patterns(counts)
    before, after, labelled = distinct.rows.T.astype(np.float64)
    return _Compared(distinct, draws, int(counts[:, 2].sum())).means([before, after], labelled)


def _score_delta(paired: PairedRuns, draws: Draws | None) -> FigureDelta:
    """Return the mean score over the items with a score in both runs."""
    first, second = paired.scores
    pairs = pair_up(first, second, ~(np.isnan(first) | np.isnan(second)))
    number = len(pairs.rated)
    # Items that lack a score in either run are resampled as well, with weight 0.
    of_item = np.where(pairs.of_item < 0, number, pairs.of_item)
    times = np.bincount(of_item, minlength=number + 1).astype(np.int64)
    used = number + int(times[number] > 0)
    distinct = Patterns(np.empty((used, 0), np.int64), times[:used], of_item)
    sums = [np.append(side, 0.0)[:used] for side in (pairs.reference, pairs.rated)]
    counted = np.append(np.ones(number), 0.0)[:used]
    return _Compared(distinct, draws, int(times[:number].sum())).means(sums, counted, NO_SCORE)
