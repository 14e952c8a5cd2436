"""Reliability over a complete block: the items that every rater of the group rated."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from core.metrics.correlation import midranks
from core.metrics.measure import ROUNDING, Array, Ratings, Statistic, grouped, ratio


def complete(ratings: Ratings) -> npt.NDArray[np.bool_]:
    """Which items were rated by every rater; none where there are fewer than two raters."""
    if ratings.shape[1] < 2:
        return np.zeros(len(ratings), np.bool_)
    return np.asarray(np.all(ratings >= 0, axis=1), np.bool_)


def _why(ratings: Ratings, times: Array) -> str:
    whole = int(times[complete(ratings)].sum())
    if whole < 2:
        return f"Only {whole} items were rated by all {ratings.shape[1]} raters; two are needed."
    if len({tuple(row) for row in ratings[complete(ratings)].tolist()}) > 1:
        return "Items differ so much less than their ratings that no variance is left to share."
    return "All complete items were rated the same, so nothing varies."


class _Squares(NamedTuple):
    """Mean squares of the two-way layout, the items n and the raters m."""

    items: Array
    raters: Array
    error: Array
    n: Array
    m: int


def _mean_squares(ratings: Ratings) -> Statistic:
    """Item weights to mean squares, one below the other (Shrout and Fleiss 1979, table 2)."""
    kept = complete(ratings)
    levels = np.where(kept[:, None], ratings, 0).astype(np.float64)
    m = ratings.shape[1]
    terms = np.column_stack(
        [kept, levels.sum(axis=1) ** 2, (levels**2).sum(axis=1), levels * kept[:, None]]
    )

    def of(weights: Array) -> Array:
        sums = terms.T @ weights
        n, columns = sums[0], sums[3:]
        centre = ratio(columns.sum(axis=0) ** 2, n * m)
        between_items = sums[1] / m - centre
        between_raters = ratio((columns**2).sum(axis=0), n) - centre
        rest = sums[2] - centre - between_items - between_raters
        # What should cancel and only nearly does would make a perfect panel 0.999...
        parts = np.stack([between_items, between_raters, rest])
        parts[np.abs(parts) <= ROUNDING * sums[2]] = 0.0
        free = np.stack([n - 1, np.full_like(n, m - 1), (n - 1) * (m - 1)])
        return np.vstack([ratio(parts, np.maximum(free, 0)), n])

    return of


def _squares(found: Array, m: int) -> _Squares:
    return _Squares(found[0], found[1], found[2], found[3], m)


def _share(s: _Squares, whole: Array) -> Array:
    """What is between items, as a share of ``whole``; NaN where nothing, or less, is left of that.

    The variances are estimates by differences, so that their sum may be zero or below.
    """
    size = s.items + s.raters + s.error
    return ratio(s.items - s.error, np.where(whole <= ROUNDING * size, 0.0, whole))


@grouped(_why)
def icc_2_1(ratings: Ratings, k: int, times: Array) -> Statistic:
    """Absolute agreement of one rater's levels, two-way random, at most 1: ICC(2,1).

    Shrout and Fleiss (1979), equation for ICC(2,1). On the items that all rated; undefined with
    fewer than two of them or two raters, where nothing varies, and where the estimated variances
    add up to nothing or less.

    >>> round(icc_2_1([[0, 1], [1, 1], [2, 3], [3, 3]], 4).value, 4)
    0.8421
    """
    squares = _mean_squares(ratings)

    def of(weights: Array) -> Array:
        s = _squares(squares(weights), ratings.shape[1])
        between = ratio(s.raters - s.error, s.n)
        return _share(s, s.items + (s.m - 1) * s.error + s.m * between)

    return of


@grouped(_why)
def icc_2_k(ratings: Ratings, k: int, times: Array) -> Statistic:
    """Absolute agreement of the mean of these raters, two-way random, at most 1: ICC(2,k).

    Shrout and Fleiss (1979), equation for ICC(2,k). Undefined as ``icc_2_1``.

    >>> round(icc_2_k([[0, 1], [1, 1], [2, 3], [3, 3]], 4).value, 4)
    0.9143
    """
    squares = _mean_squares(ratings)

    def of(weights: Array) -> Array:
        s = _squares(squares(weights), ratings.shape[1])
        return _share(s, s.items + ratio(s.raters - s.error, s.n))

    return of


@grouped(_why)
def kendall_w(ratings: Ratings, k: int, times: Array) -> Statistic:
    """Concordance of the raters' rankings of the items, corrected for ties, in [0, 1].

    Kendall and Babington Smith (1939); ties: Kendall (1948), chapter 6. On the items that all
    rated; undefined with fewer than two of them or two raters, and where every rater used one
    level.

    >>> kendall_w([[0, 0], [1, 1], [2, 2]], 3).value
    1.0
    """
    kept = complete(ratings)
    block = ratings[kept]
    m = ratings.shape[1]
    # One column per level and rater: which level an item has from each rater.
    chosen = (block[:, None, :] == np.arange(k)[:, None]).reshape(len(block), k * m) * 1.0

    def of(weights: Array) -> Array:
        used = weights[kept]
        counts = (chosen.T @ used).reshape(k, m, -1)
        n = used.sum(axis=0)
        ranks = midranks(counts).reshape(k * m, -1)
        sums = chosen @ ranks - m * (n + 1) / 2
        spread = 12 * (used * sums**2).sum(axis=0)
        ties = (counts**3 - counts).sum(axis=(0, 1))
        most = m**2 * (n**3 - n) - m * ties
        return np.where(n < 2, np.nan, np.clip(ratio(spread, most), 0, 1))

    return of
