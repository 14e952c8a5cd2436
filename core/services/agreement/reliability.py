"""Whole groups of raters: how reliable each group is, and how close every rater is to people.

People's agreement with each other is the ceiling for judges, so both are shown together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan

import numpy as np

from core.metrics.agreement.kappa import KAPPAS, NOTHING, SINGLE, pair_cells
from core.metrics.agreement.known_figures import group_measures
from core.metrics.agreement.ratings import majority, patterns
from core.metrics.estimate import USUAL, Confidence, Estimate
from core.metrics.intervals.bootstrap import intervals
from core.metrics.measure import Array, ratio_or_nan, weight_sums
from core.services.agreement.group_figures import Draws, group_intervals
from core.services.agreement.pair_figures import kappa_of
from core.services.agreement.rater_pairs import RESAMPLES, SEED
from core.services.agreement.rating_sheet import Sheet, levels_of_sides, majority_of_all_others
from core.services.agreement.ratings import JUDGE_KINDS, REVIEWED, CriterionRatings, Levels

HUMAN = "human"
KINDS = (HUMAN, *JUDGE_KINDS, REVIEWED)


def alphas_of_kind(
    sheet: Sheet,
    kind: str = "",
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    confidence: Confidence = USUAL,
) -> list[Estimate]:
    """Return Krippendorff's alpha among raters, per criterion of the sheet, by its scale.

    ``kind``: ``human`` for people who graded, ``reviewer`` for those who reviewed, else all judges.
    """
    columns = {HUMAN: sheet.people, REVIEWED: sheet.reviewers}.get(kind, sheet.judges)
    if len(columns) < 2:
        names = {HUMAN: ("person", "people"), REVIEWED: ("reviewer", "reviewers")}
        names_of_raters = names.get(kind, ("judge", "judges"))
        reason = (
            f"There is only one {names_of_raters[0]}."
            if columns
            else f"There are no {names_of_raters[1]}."
        )
        return [Estimate(None, reason=reason) for _ in sheet.criteria]
    draws = Draws(len(sheet.items), resamples, seed, confidence)
    return [
        _alpha_of_criterion(sheet.matrix(ratings, columns), ratings, draws)
        for ratings in sheet.criteria
    ]


def _alpha_of_criterion(ratings: Levels, criterion: CriterionRatings, draws: Draws) -> Estimate:
    distinct, k = patterns(np.maximum(ratings, -1)), len(criterion.labels)
    times = distinct.times.astype(np.float64)
    figure = group_measures()[criterion.alpha](distinct.rows, k, times)
    if figure.value is None:
        return figure
    drawn = draws.of(distinct.of_item, distinct.times)
    ci = group_intervals([criterion.alpha], distinct.rows, times, drawn, k, draws.confidence)
    return figure.with_interval(ci[criterion.alpha])


def kappa_matrix(sheet: Sheet, criterion: str, columns: Sequence[str]) -> list[list[Estimate]]:
    """Return the kappa of every pair of columns, from all tables of counts at once.

    If one column is a group that includes the other, they are compared as in ``sides``.
    """
    ratings = sheet.criterion(criterion)
    k, levels = len(ratings.labels), sheet.matrix(ratings, tuple(columns))
    chosen = (levels[:, :, None] == np.arange(k)).astype(np.float64)
    # Multiply (items, raters, k) by itself: the table of every pair of raters, shape (k, k, raters,
    # raters).
    tables = np.einsum("iak,ibl->klab", chosen, chosen, optimize=True)
    for a, group in enumerate(columns):
        for b, other in enumerate(columns):
            if sheet.overlap(group, other):
                cells = pair_cells(*levels_of_sides(sheet, ratings, group, other), k)
                tables[:, :, a, b] = np.bincount(cells[cells >= 0], minlength=k * k).reshape(k, k)
                tables[:, :, b, a] = tables[:, :, a, b].T
    values = KAPPAS[ratings.weights].many(tables).tolist()
    counts = tables.sum(axis=(0, 1)).astype(np.int64).tolist()
    return [
        [
            Estimate.undefined(SINGLE if n else NOTHING, n)
            if isnan(value)
            else Estimate.defined(value, n)
            for value, n in zip(*row, strict=True)
        ]
        for row in zip(values, counts, strict=True)
    ]


def closeness_to_majority(
    sheet: Sheet, criterion: str, *, confidence: Confidence = USUAL
) -> tuple[Mapping[str, Estimate], Mapping[str, Estimate], int]:
    """Return the kappa of every rater's column with the majority of people, the mean kappa of each
    kind of raters, and the number of items without a majority.

    Kappa depends on the scale. A person is compared with the majority of the other people. A kind's
    mean leaves out raters with an undefined kappa.
    """
    ratings = sheet.criterion(criterion)
    k = len(ratings.labels)
    people = sheet.matrix(ratings, sheet.people)
    other_people, everyone = majority_of_all_others(people, k), majority(people, k)
    other_raters = (*sheet.judges, *sheet.reviewers)
    columns = (*sheet.people, *other_raters)
    cells = np.stack(
        [
            *(
                pair_cells(other_people[:, index], people[:, index], k)
                for index in range(len(sheet.people))
            ),
            *(
                pair_cells(everyone, ratings.column(reviewer, len(sheet.items)), k)
                for reviewer in other_raters
            ),
        ],
        axis=1,
    )
    kinds = [sheet.kind(column) for column in columns]
    draws = Draws(len(sheet.items), RESAMPLES, SEED, confidence)
    ties = int(((people >= 0).any(axis=1) & (everyone < 0)).sum())
    return *_rater_kappas(cells, columns, kinds, ratings, draws), ties


def raters_by_agreement(
    sheet: Sheet,
    criterion: str,
    reference: str,
    *,
    confidence: Confidence = USUAL,
) -> tuple[Mapping[str, Estimate], Mapping[str, Estimate]]:
    """Return the kappa of every rater's column with a reference, the closest first, and the mean of
    each kind of raters.

    Each pair has its own interval. Raters with an undefined kappa come last.
    """
    ratings = sheet.criterion(criterion)
    k = len(ratings.labels)
    everyone = (*sheet.judges, *sheet.people, *sheet.reviewers)
    columns = [name for name in everyone if name != reference]
    cells = np.stack(
        [pair_cells(*levels_of_sides(sheet, ratings, reference, name), k) for name in columns],
        axis=1,
    )
    kinds = [sheet.kind(column) for column in columns]
    draws = Draws(len(sheet.items), RESAMPLES, SEED, confidence)
    kappas, means = _rater_kappas(cells, columns, kinds, ratings, draws)
    return closest_first(kappas), means


def closest_first(kappas: Mapping[str, Estimate]) -> dict[str, Estimate]:
    """Return the kappas from the highest to the lowest, then the undefined ones."""
    return dict(
        sorted(kappas.items(), key=lambda item: (item[1].value is None, -(item[1].value or 0.0)))
    )


def _rater_kappas(
    cells: Levels,
    columns: Sequence[str],
    kinds: Sequence[str],
    criterion: CriterionRatings,
    draws: Draws,
) -> tuple[dict[str, Estimate], dict[str, Estimate]]:
    k, kappa = len(criterion.labels), KAPPAS[criterion.weights]
    distinct = patterns(cells)
    times = distinct.times.astype(np.float64)

    def tables(weights: Array) -> list[Array]:
        return [weight_sums(column, k * k, weights).reshape(k, k, -1) for column in distinct.rows.T]

    full_tables = [table[:, :, 0] for table in tables(times[:, None])]
    figures = [kappa(table) for table in full_tables]
    defined = [index for index, figure in enumerate(figures) if figure.value is not None]

    def bundle(weights: Array) -> dict[str, Array]:
        kappas = tables(weights)
        values = {index: kappa.many(kappas[index]) for index in defined}
        means = {
            kind: _mean_of_kind([values[index] for index in defined if kinds[index] == kind])
            for kind in KINDS
        }
        return {kind: mean for kind, mean in means.items() if mean is not None}

    points = bundle(times[:, None]) if defined else {}
    drawn = draws.of(distinct.of_item, distinct.times)
    ci = (
        intervals(bundle, drawn, times, n=len(cells), confidence=draws.confidence)
        if defined
        else {}
    )
    resampled = tables(drawn)
    kappas = {
        column: kappa_of(criterion.kappa, full_tables[index], resampled[index], draws.confidence)
        for index, column in enumerate(columns)
    }
    means = {}
    for kind in KINDS:
        defined_figures = [figures[index] for index in defined if kinds[index] == kind]
        if defined_figures:
            mean = Estimate.defined(
                float(points[kind][0]), sum(figure.n for figure in defined_figures)
            )
            means[kind] = mean.with_interval(ci.get(kind))
    return kappas, means


def _mean_of_kind(values: Sequence[Array]) -> Array | None:
    if not values:
        return None
    stacked = np.stack(values)
    defined = ~np.isnan(stacked)
    return ratio_or_nan(np.where(defined, stacked, 0.0).sum(axis=0), defined.sum(axis=0))
