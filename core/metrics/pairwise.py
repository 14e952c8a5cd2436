"""Cohen's kappa over all pairs of a group of raters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations

import numpy as np
import numpy.typing as npt

from core.metrics.agreement import KAPPAS, WEIGHTS, Weights
from core.metrics.measure import Array, GroupMeasure, Ratings, Statistic, ratio, summed

#: A pair takes part from this many items rated by both.
SHARED = 2
_CELLS = 4_000_000


def sharing_pairs(ratings: Ratings, times: Array) -> list[tuple[int, int]]:
    """The pairs of raters with two or more items in common.

    ``times`` says how many items each row stands for.

    >>> sharing_pairs(np.array([[0, 0, -1], [1, 0, 1]]), np.ones(2))
    [(0, 1)]
    """
    rated = (ratings >= 0).astype(np.float64)
    shared = (rated * times[:, None]).T @ rated
    return [(a, b) for a, b in combinations(range(ratings.shape[1]), 2) if shared[a, b] >= SHARED]


def pair_cells(a: npt.NDArray[np.int64], b: npt.NDArray[np.int64], k: int) -> npt.NDArray[np.int64]:
    """Which cell of the table each item falls in, row by row; -1 where one did not rate it.

    >>> pair_cells(np.array([1, 0]), np.array([0, -1]), 2).tolist()
    [2, -1]
    """
    return np.where((a >= 0) & (b >= 0), a * k + b, -1)


def mean_kappas(
    ratings: Ratings, k: int, times: Array, wanted: Sequence[Weights]
) -> Callable[[Array], dict[Weights, Array]]:
    """Several weightings of ``mean_pairwise_cohen`` from the same tables."""
    pairs = sharing_pairs(ratings, times)

    def of(weights: Array) -> dict[Weights, Array]:
        # Many raters have many pairs: a few at a time, so that the tables stay small.
        resamples = weights.shape[1]
        step = max(1, _CELLS // (resamples * k * k))
        totals = {name: np.zeros((2, resamples)) for name in wanted}
        for start in range(0, len(pairs), step):
            tables = _tables(ratings, k, pairs[start : start + step], weights)
            for name in wanted:
                kappas = KAPPAS[name].many(tables)
                defined = ~np.isnan(kappas)
                totals[name] += [np.where(defined, kappas, 0.0).sum(axis=0), defined.sum(axis=0)]
        return {name: ratio(total, known) for name, (total, known) in totals.items()}

    return of


def _tables(ratings: Ratings, k: int, pairs: Sequence[tuple[int, int]], weights: Array) -> Array:
    """The tables of some pairs, shape (k, k, pairs, resamples)."""
    first, second = np.array(pairs).T
    cells = pair_cells(ratings[:, first], ratings[:, second], k)
    rows, columns = np.nonzero(cells >= 0)
    cell = cells[rows, columns] * len(pairs) + columns
    order = np.argsort(cell, kind="stable")
    starts = np.searchsorted(cell[order], np.arange(k * k * len(pairs) + 1))
    return summed(rows[order], starts, weights).reshape(k, k, len(pairs), -1)


def _mean_kappa(ratings: Ratings, k: int, times: Array, *, weights_of: Weights) -> Statistic:
    all_of = mean_kappas(ratings, k, times, [weights_of])
    return lambda weights: all_of(weights)[weights_of]


def _why(ratings: Ratings, times: Array) -> str:
    if not sharing_pairs(ratings, times):
        return f"No two raters have {SHARED} items in common."
    return "Every pair of raters used one and the same single level."


def mean_pairwise_cohen(weights: Weights) -> GroupMeasure:
    """The mean of Cohen's kappa over the pairs of raters with two or more items in common.

    Light (1971); ``weights`` as ``agreement.cohen_kappa``, on all levels of the scale. Pairs whose
    kappa is undefined are left out. Undefined where no pair is left.

    >>> mean_pairwise_cohen("none")([[0, 0, 0], [1, 1, 0], [0, 0, 0], [1, 1, 1]], 2).value
    0.6666666666666666
    """
    return _MEASURES[weights]


_MEASURES: dict[Weights, GroupMeasure] = {
    name: GroupMeasure(partial(_mean_kappa, weights_of=name), _why) for name in WEIGHTS
}
