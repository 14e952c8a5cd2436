"""How similarly two raters order items, and how far apart they are in levels."""

from __future__ import annotations

from math import sqrt

import numpy as np
from scipy.special import stdtr, stdtrit

from core.metrics.estimate import Interval
from core.metrics.measure import Array, measure_of, ratio_or_nan, root_of_nonnegative

TOO_FEW = "Two items always correlate perfectly; three or more are needed."
CONSTANT = "One of the two used a single level throughout."


def _why_undefined(table: Array) -> str:
    return TOO_FEW if table.sum() < 3 else CONSTANT


@measure_of(_why_undefined)
def pearson(tables: Array) -> Array:
    """Return the linear correlation of levels, in [-1, 1] (Pearson 1896).

    Undefined for n < 3 and if either side is constant.

    >>> round(pearson([[2, 1, 0], [0, 1, 1], [0, 0, 2]]).value, 4)
    0.8529
    """
    levels = np.arange(len(tables), dtype=np.float64).reshape(-1, *[1] * (tables.ndim - 2))
    return _pearson_of_values(tables, levels, levels)


@measure_of(_why_undefined)
def spearman(tables: Array) -> Array:
    """Return the linear correlation of ranks, ties at their mid-rank, in [-1, 1] (Spearman 1904).

    Undefined for n < 3 and if either side is constant.

    >>> round(spearman([[2, 1, 0], [0, 1, 1], [0, 0, 2]]).value, 4)
    0.87
    """
    return _pearson_of_values(tables, midranks(tables.sum(axis=1)), midranks(tables.sum(axis=0)))


@measure_of(_why_undefined)
def kendall_tau_b(tables: Array) -> Array:
    """Return concordant minus discordant pairs, corrected for ties, in [-1, 1] (Kendall 1945).

    Undefined for n < 3 and if either side is constant.

    >>> round(kendall_tau_b([[2, 1, 0], [0, 1, 1], [0, 0, 2]]).value, 4)
    0.8125
    """
    # Counts of pairs that are later on both sides, and of pairs that are later on one side but
    # earlier on the other.
    below = np.zeros_like(tables)
    below[:-1] = np.cumsum(tables[:0:-1], axis=0)[::-1]
    concordant, discordant = np.zeros_like(tables), np.zeros_like(tables)
    concordant[:, :-1] = np.cumsum(below[:, :0:-1], axis=1)[:, ::-1]
    discordant[:, 1:] = np.cumsum(below[:, :-1], axis=1)
    balance = (tables * (concordant - discordant)).sum(axis=(0, 1))
    n = tables.sum(axis=(0, 1))
    rows, columns = tables.sum(axis=1), tables.sum(axis=0)
    untied = (n**2 - (rows**2).sum(axis=0)) * (n**2 - (columns**2).sum(axis=0))
    return np.where(
        n < 3, np.nan, np.clip(ratio_or_nan(2 * balance, root_of_nonnegative(untied)), -1, 1)
    )


def midranks(counts: Array) -> Array:
    """Return the mid-rank of every level from its counts, shape (k, ...), starting at 1.

    Kendall (1945), section 2.

    >>> midranks(np.array([2.0, 0.0, 1.0])).tolist()
    [1.5, 2.5, 3.0]
    """
    return np.cumsum(counts, axis=0) - counts / 2 + 0.5


def _pearson_of_values(tables: Array, x: Array, y: Array) -> Array:
    """Return Pearson's r for values ``x[i]`` of row i and ``y[j]`` of column j."""
    n = tables.sum(axis=(0, 1))
    rows, columns = tables.sum(axis=1), tables.sum(axis=0)
    # Centre first: sums of squares of large ranks would cancel.
    x = x - ratio_or_nan((rows * x).sum(axis=0), n)
    y = y - ratio_or_nan((columns * y).sum(axis=0), n)
    shared = ((tables * y).sum(axis=1) * x).sum(axis=0)
    spread_x, spread_y = (rows * x**2).sum(axis=0), (columns * y**2).sum(axis=0)
    constant = ((rows > 0).sum(axis=0) < 2) | ((columns > 0).sum(axis=0) < 2)
    value = ratio_or_nan(shared, root_of_nonnegative(spread_x * spread_y))
    return np.where(constant | (n < 3), np.nan, np.clip(value, -1, 1))


ONE = "One difference alone has no spread."
EQUAL = "All differences are equal, so there is no spread to test against."


def _level_differences(tables: Array) -> Array:
    """Return rated minus reference of every cell, shape (k, k)."""
    levels = np.arange(len(tables), dtype=np.float64)
    return levels[None, :] - levels[:, None]


def _mean_value(tables: Array, values: Array) -> Array:
    return ratio_or_nan(np.tensordot(values, tables, 2), tables.sum(axis=(0, 1)))


@measure_of()
def mae(tables: Array) -> Array:
    """Return the mean absolute difference in levels (Willmott and Matsuura 2005, equation 1).

    Undefined for n = 0.

    >>> mae([[3, 1, 0], [0, 2, 0], [2, 0, 2]]).value
    0.5
    """
    return _mean_value(tables, np.abs(_level_differences(tables)))


@measure_of()
def rmse(tables: Array) -> Array:
    """Return the root mean squared difference (Willmott and Matsuura 2005, equation 2).

    Undefined for n = 0.

    >>> round(rmse([[3, 1, 0], [0, 2, 0], [2, 0, 2]]).value, 6)
    0.948683
    """
    return root_of_nonnegative(_mean_value(tables, _level_differences(tables) ** 2))


@measure_of()
def bias(tables: Array) -> Array:
    """Return the mean of rating minus reference, in levels; positive if the rater is higher.

    Bland and Altman (1986). Undefined for n = 0.

    >>> bias([[3, 1, 0], [0, 2, 0], [2, 0, 2]]).value
    -0.3
    """
    return _mean_value(tables, _level_differences(tables))


def bias_interval(table: Array, level: float = 0.95) -> Interval:
    """Return an interval of ``bias`` for few items.

    Student's t of the differences after adding one item rated a level too high and one a level too
    low (Bonett and Price 2012, for paired shares), because a few items, and resamples of them,
    often show no difference in one direction.

    >>> [round(end, 2) for end in bias_interval(np.array([[9.0, 1.0], [0.0, 5.0]]))[:2]]
    [-0.16, 0.27]
    """
    n = float(table.sum()) + 2
    offsets = _level_differences(table)
    mean = float((table * offsets).sum()) / n
    square = (float((table * offsets**2).sum()) + 2) / n - mean**2
    half_width = float(stdtrit(n - 1, (1 + level) / 2)) * sqrt(square / n)
    return Interval(mean - half_width, mean + half_width, "smoothed")


def _why_no_test(table: Array) -> str:
    return ONE if table.sum() < 2 else EQUAL


@measure_of(_why_no_test)
def bias_effect_size(tables: Array) -> Array:
    """Return the bias over the standard deviation of differences: d_z of Cohen (1988), 2.3.5.

    Undefined for n < 2 and if all differences are equal.

    >>> round(bias_effect_size([[3, 1, 0], [0, 2, 0], [2, 0, 2]]).value, 4)
    -0.3162
    """
    return ratio_or_nan(
        _mean_value(tables, _level_differences(tables)), _difference_deviation(tables)
    )


@measure_of(_why_no_test)
def bias_p(tables: Array) -> Array:
    """Return the two-sided p of the paired t-test of no bias (Student 1908).

    Undefined for n < 2 and if all differences are equal: without spread there is no test.

    >>> round(bias_p([[3, 1, 0], [0, 2, 0], [2, 0, 2]]).value, 4)
    0.3434
    """
    n = tables.sum(axis=(0, 1))
    t = ratio_or_nan(
        _mean_value(tables, _level_differences(tables)) * np.sqrt(n), _difference_deviation(tables)
    )
    return np.asarray(2 * stdtr(np.maximum(n - 1, 1), -np.abs(t)), np.float64)


def _difference_deviation(tables: Array) -> Array:
    """Return the standard deviation of the differences (n - 1), or 0."""
    n, offsets = tables.sum(axis=(0, 1)), _level_differences(tables)
    # n * sum of squares - square of the sum is exact for counts, so equal differences give 0.
    squares = np.tensordot(offsets**2, tables, 2)
    sums = np.tensordot(offsets, tables, 2)
    return np.nan_to_num(root_of_nonnegative(ratio_or_nan(n * squares - sums**2, n * (n - 1))))


def _level_shares(tables: Array) -> tuple[Array, Array]:
    n = tables.sum(axis=(0, 1))
    return ratio_or_nan(tables.sum(axis=1), n), ratio_or_nan(tables.sum(axis=0), n)


def _cumulative_gap(tables: Array) -> Array:
    reference, rated = _level_shares(tables)
    return np.abs(np.cumsum(reference - rated, axis=0))


@measure_of()
def emd(tables: Array) -> Array:
    """Return the work, in levels, that turns one distribution of levels into the other.

    The first Wasserstein distance (Rubner, Tomasi and Guibas 2000; on a line, the area between the
    distribution functions: Vallender 1974). Undefined for n = 0.

    >>> round(emd([[3, 1, 0], [0, 2, 0], [2, 0, 2]]).value, 6)
    0.3
    """
    work: Array = _cumulative_gap(tables)[:-1].sum(axis=0)
    return work


@measure_of()
def ks(tables: Array) -> Array:
    """Return the largest gap between the two distribution functions, in [0, 1] (Smirnov 1939).

    Undefined for n = 0.

    >>> round(ks([[3, 1, 0], [0, 2, 0], [2, 0, 2]]).value, 6)
    0.2
    """
    gap: Array = _cumulative_gap(tables).max(axis=0)
    return gap


@measure_of()
def ks_p(tables: Array) -> Array:
    """Return the p of no gap between the two distribution functions (Smirnov 1939), in [0, 1].

    For two samples of n each, in the limit of large n: 2 sum (-1)^(i-1) exp(-2 i^2 D^2 n / 2).
    Levels tie, and both answers are about the same items, so it is an upper bound: conservative.
    Undefined for n = 0.

    >>> round(ks_p([[0, 20], [0, 20]]).value, 6)
    9.1e-05
    """
    return distribution_gap_p(_cumulative_gap(tables).max(axis=0), tables.sum(axis=(0, 1)))


def distribution_gap_p(gap: Array, n: Array) -> Array:
    """Return the p of the largest gap between distribution functions of two samples of ``n``."""
    from scipy.special import kolmogorov

    p_values: Array = np.where(n > 0, kolmogorov(gap * np.sqrt(np.maximum(n, 1) / 2)), np.nan)
    return p_values


@measure_of()
def jensen_shannon(tables: Array) -> Array:
    """Return the divergence of two distributions of levels in bits: 0 (equal) to 1 (disjoint).

    The divergence of Lin (1991), equation 4.1, with equal weights. Undefined for n = 0.

    >>> jensen_shannon([[0, 4], [0, 0]]).value
    1.0
    """
    p, q = _level_shares(tables)
    middle = (p + q) / 2
    return np.maximum(0.0, (_relative_entropy(p, middle) + _relative_entropy(q, middle)) / 2)


def _relative_entropy(p: Array, q: Array) -> Array:
    """Return the relative entropy of ``p`` to ``q`` in bits; 0 if ``p`` is 0."""
    share = np.where(p > 0, p, 1.0) / np.where(p > 0, q, 1.0)
    bits: Array = (np.where(p > 0, p, 0.0 * p) * np.log2(share)).sum(axis=0)
    return bits
