"""Cohen's kappa over all pairs of a group of raters."""

from __future__ import annotations

from functools import partial
from itertools import combinations

import numpy as np
import numpy.typing as npt

from core.metrics.agreement import KAPPAS, WEIGHTS, Weights
from core.metrics.measure import Array, GroupMeasure, Ratings, Statistic, ratio

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


def pair_cells(a: npt.NDArray[np.int64], b: npt.NDArray[np.int64], k: int) -> Array:
    """Which cell of the table each item falls in, shape (items, k * k); a row of 0: in none."""
    cell = np.where((a >= 0) & (b >= 0), a * k + b, -1)
    return np.asarray(cell[:, None] == np.arange(k * k), np.float64)


def _mean_kappa(ratings: Ratings, k: int, times: Array, *, weights_of: Weights) -> Statistic:
    pairs = sharing_pairs(ratings, times)

    def of(weights: Array) -> Array:
        # Many raters have many pairs: a few at a time, so that the tables stay small.
        step = max(1, _CELLS // (len(weights) * k * k))
        total, known = np.zeros(len(weights)), np.zeros(len(weights))
        for start in range(0, len(pairs), step):
            some = pairs[start : start + step]
            cells = np.concatenate(
                [pair_cells(ratings[:, a], ratings[:, b], k) for a, b in some], axis=1
            )
            tables = (weights @ cells).reshape(len(weights), len(some), k, k)
            kappas = KAPPAS[weights_of].many(tables)
            defined = ~np.isnan(kappas)
            total += np.where(defined, kappas, 0.0).sum(axis=1)
            known += defined.sum(axis=1)
        return ratio(total, known)

    return of


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
