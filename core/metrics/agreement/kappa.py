"""How much two raters agree: percent agreement, Cohen's kappa, and means over a group's pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations
from typing import Literal

import numpy as np
import numpy.typing as npt

from core.metrics.estimate import Estimate
from core.metrics.measure import (
    Array,
    GroupMeasure,
    Ratings,
    Statistic,
    measure_of,
    ratio_or_nan,
    weight_sums_of_runs,
)

Weights = Literal["none", "linear", "quadratic"]
WEIGHTS: tuple[Weights, ...] = ("none", "linear", "quadratic")
NOTHING = "No item was rated by both."
SINGLE = "Both raters used the same single level throughout."


@measure_of(empty_reason=NOTHING)
def percent_agreement(tables: Array) -> Array:
    """Return the share of items on which two raters chose the same level, in [0, 1].

    Tables have shape (k, k), one rater per axis: p_o of Cohen (1960). Undefined for n = 0.

    >>> percent_agreement([[3, 1], [0, 4]]).value
    0.875
    """
    return ratio_or_nan(np.trace(tables), tables.sum(axis=(0, 1)))


def cohen_kappa(counts: npt.ArrayLike, weights: Weights = "none") -> Estimate:
    """Return Cohen's kappa of two raters, in [-1, 1] (Cohen 1960; weighted: Cohen 1968).

    1 - sum(w * observed) / sum(w * expected), with w the disagreement weight of two levels: 0 or 1
    ("none"), their distance ("linear") or its square ("quadratic"). Distances use all k levels of
    the scale, since dropping an unused level would make its neighbours adjacent. Undefined for n =
    0, and if both raters used only one and the same level.

    >>> round(cohen_kappa(np.array([[20, 5], [10, 15]])).value, 3)
    0.4
    """
    return KAPPAS[weights](counts)


@measure_of(SINGLE, NOTHING)
def kappa_unweighted(tables: Array) -> Array:
    """Return Cohen's kappa with equal weights for all disagreements (Cohen 1960, equation 1).

    >>> round(kappa_unweighted([[20, 5], [10, 15]]).value, 3)
    0.4
    """
    return _weighted_kappa(tables, "none")


@measure_of(SINGLE, NOTHING)
def kappa_linear(tables: Array) -> Array:
    """Return Cohen's kappa weighted by the distance in levels (Cohen 1968; weights: Cicchetti
    1971).

    >>> kappa_linear([[1, 0, 1], [0, 0, 0], [0, 0, 2]]).value
    0.5
    """
    return _weighted_kappa(tables, "linear")


@measure_of(SINGLE, NOTHING)
def kappa_quadratic(tables: Array) -> Array:
    """Return Cohen's kappa weighted by the squared distance in levels (Fleiss and Cohen 1973).

    >>> kappa_quadratic([[1, 0, 1], [0, 0, 0], [0, 0, 2]]).value
    0.5
    """
    return _weighted_kappa(tables, "quadratic")


KAPPAS = {"none": kappa_unweighted, "linear": kappa_linear, "quadratic": kappa_quadratic}


def _weighted_kappa(tables: Array, weights: Weights) -> Array:
    weight = disagreement_weights(len(tables), weights)
    observed = np.tensordot(weight, tables, 2)
    rows, columns = tables.sum(axis=1), tables.sum(axis=0)
    expected = (np.tensordot(weight, rows, 1) * columns).sum(axis=0)
    return 1 - ratio_or_nan(observed * rows.sum(axis=0), expected)


def disagreement_weights(k: int, weights: Weights) -> npt.NDArray[np.float64]:
    """Return the disagreement weight of every pair of ``k`` levels, shape (k, k).

    Cohen (1968), with the weights of Cicchetti (1971) and of Fleiss and Cohen (1973).

    >>> disagreement_weights(3, "quadratic")[0].tolist()
    [0.0, 1.0, 4.0]
    """
    distance = np.abs(np.subtract.outer(np.arange(k), np.arange(k))).astype(np.float64)
    if weights == "linear":
        return distance
    return distance**2 if weights == "quadratic" else (distance > 0).astype(np.float64)


#: The least number of items rated by both raters of a pair.
SHARED = 2
_CELLS = 4_000_000


def pairs_with_common_items(ratings: Ratings, times: Array) -> list[tuple[int, int]]:
    """Return the pairs of raters with two or more items in common.

    ``times`` is the number of items of each row.

    >>> pairs_with_common_items(np.array([[0, 0, -1], [1, 0, 1]]), np.ones(2))
    [(0, 1)]
    """
    rated = (ratings >= 0).astype(np.float64)
    shared = (rated * times[:, None]).T @ rated
    return [(a, b) for a, b in combinations(range(ratings.shape[1]), 2) if shared[a, b] >= SHARED]


def pair_cells(a: npt.NDArray[np.int64], b: npt.NDArray[np.int64], k: int) -> npt.NDArray[np.int64]:
    """Return the index of each item's cell in the flattened table; -1 if a rating is missing.

    >>> pair_cells(np.array([1, 0]), np.array([0, -1]), 2).tolist()
    [2, -1]
    """
    return np.where((a >= 0) & (b >= 0), a * k + b, -1)


def mean_kappas(
    ratings: Ratings, k: int, times: Array, wanted: Sequence[Weights]
) -> Callable[[Array], dict[Weights, Array]]:
    """Return several weightings of ``mean_pairwise_cohen`` from the same tables."""
    pairs = pairs_with_common_items(ratings, times)

    def kappa_mean(weights: Array) -> dict[Weights, Array]:
        # Many raters have many pairs: process a few at a time, so that the tables stay small.
        resamples = weights.shape[1]
        step = max(1, _CELLS // (resamples * k * k))
        totals = {name: np.zeros((2, resamples)) for name in wanted}
        for start in range(0, len(pairs), step):
            tables = _pair_tables(ratings, k, pairs[start : start + step], weights)
            for name in wanted:
                kappas = KAPPAS[name].many(tables)
                defined = ~np.isnan(kappas)
                totals[name] += [np.where(defined, kappas, 0.0).sum(axis=0), defined.sum(axis=0)]
        return {name: ratio_or_nan(total, defined) for name, (total, defined) in totals.items()}

    return kappa_mean


def _pair_tables(
    ratings: Ratings, k: int, pairs: Sequence[tuple[int, int]], weights: Array
) -> Array:
    """Return the tables of some pairs, shape (k, k, pairs, resamples)."""
    first, second = np.array(pairs).T
    cells = pair_cells(ratings[:, first], ratings[:, second], k)
    rows, columns = np.nonzero(cells >= 0)
    cell = cells[rows, columns] * len(pairs) + columns
    order = np.argsort(cell, kind="stable")
    starts = np.searchsorted(cell[order], np.arange(k * k * len(pairs) + 1))
    return weight_sums_of_runs(rows[order], starts, weights).reshape(k, k, len(pairs), -1)


def _mean_kappa(ratings: Ratings, k: int, times: Array, *, weights_of: Weights) -> Statistic:
    all_of = mean_kappas(ratings, k, times, [weights_of])
    return lambda weights: all_of(weights)[weights_of]


def _why_undefined(ratings: Ratings, times: Array) -> str:
    if not pairs_with_common_items(ratings, times):
        return f"No two raters have {SHARED} items in common."
    return "Every pair of raters used one and the same single level."


def mean_pairwise_cohen(weights: Weights) -> GroupMeasure:
    """Return the mean of Cohen's kappa over the pairs of raters with two or more items in common.

    Light (1971); ``weights`` as in ``agreement.cohen_kappa``, on all levels of the scale. Pairs
    with an undefined kappa are left out. Undefined without any pair.

    >>> mean_pairwise_cohen("none")([[0, 0, 0], [1, 1, 0], [0, 0, 0], [1, 1, 1]], 2).value
    0.6666666666666666
    """
    return _MEASURES[weights]


_MEASURES: dict[Weights, GroupMeasure] = {
    name: GroupMeasure(partial(_mean_kappa, weights_of=name), _why_undefined) for name in WEIGHTS
}
