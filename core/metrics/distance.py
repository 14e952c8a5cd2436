"""How far apart are ratings and reference, in levels? Single ratings first, then distributions."""

from __future__ import annotations

import numpy as np
from scipy.special import stdtr

from core.metrics.measure import Array, measure, ratio, root

ONE = "One difference alone has no spread."
EQUAL = "All differences are equal, so there is no spread to test against."


def _offsets(tables: Array) -> Array:
    """Rated minus reference of every cell, shape (k, k)."""
    levels = np.arange(len(tables), dtype=np.float64)
    return levels[None, :] - levels[:, None]


def _mean(tables: Array, values: Array) -> Array:
    return ratio(np.tensordot(values, tables, 2), tables.sum(axis=(0, 1)))


@measure()
def mae(tables: Array) -> Array:
    """The mean absolute difference in levels, at least 0 (Willmott and Matsuura 2005, equation 1).

    Undefined for n = 0.

    >>> mae([[3, 1, 0], [0, 2, 0], [2, 0, 2]]).value
    0.5
    """
    return _mean(tables, np.abs(_offsets(tables)))


@measure()
def rmse(tables: Array) -> Array:
    """The root of the mean squared difference in levels (Willmott and Matsuura 2005, equation 2).

    Undefined for n = 0.

    >>> round(rmse([[3, 1, 0], [0, 2, 0], [2, 0, 2]]).value, 6)
    0.948683
    """
    return root(_mean(tables, _offsets(tables) ** 2))


@measure()
def bias(tables: Array) -> Array:
    """The mean of rating minus reference, in levels; positive where the rater is higher.

    Bland and Altman (1986). Undefined for n = 0.

    >>> bias([[3, 1, 0], [0, 2, 0], [2, 0, 2]]).value
    -0.3
    """
    return _mean(tables, _offsets(tables))


def _why_no_test(table: Array) -> str:
    return ONE if table.sum() < 2 else EQUAL


@measure(_why_no_test)
def bias_effect_size(tables: Array) -> Array:
    """The bias in standard deviations of the differences: d_z of Cohen (1988), equation 2.3.5.

    Undefined for n < 2 and where all differences are equal.

    >>> round(bias_effect_size([[3, 1, 0], [0, 2, 0], [2, 0, 2]]).value, 4)
    -0.3162
    """
    return ratio(_mean(tables, _offsets(tables)), _deviation(tables))


@measure(_why_no_test)
def bias_p(tables: Array) -> Array:
    """The two-sided p of the paired t-test of no bias (Student 1908).

    Undefined for n < 2 and where all differences are equal: a constant difference has no spread,
    so no test says how likely it is.

    >>> round(bias_p([[3, 1, 0], [0, 2, 0], [2, 0, 2]]).value, 4)
    0.3434
    """
    n = tables.sum(axis=(0, 1))
    t = ratio(_mean(tables, _offsets(tables)) * np.sqrt(n), _deviation(tables))
    return np.asarray(2 * stdtr(np.maximum(n - 1, 1), -np.abs(t)), np.float64)


def _deviation(tables: Array) -> Array:
    """The standard deviation of the differences (n - 1); 0 where there is none."""
    n, offsets = tables.sum(axis=(0, 1)), _offsets(tables)
    # n * sum of squares - square of the sum is exact for counts, so equal differences give 0.
    squares = np.tensordot(offsets**2, tables, 2)
    sums = np.tensordot(offsets, tables, 2)
    return np.nan_to_num(root(ratio(n * squares - sums**2, n * (n - 1))))


def _shares(tables: Array) -> tuple[Array, Array]:
    n = tables.sum(axis=(0, 1))
    return ratio(tables.sum(axis=1), n), ratio(tables.sum(axis=0), n)


def _cumulative_gap(tables: Array) -> Array:
    reference, rated = _shares(tables)
    return np.abs(np.cumsum(reference - rated, axis=0))


@measure()
def emd(tables: Array) -> Array:
    """The work that turns one distribution of levels into the other; its unit is one level.

    The first Wasserstein distance (Rubner, Tomasi and Guibas 2000; on a line, the area between the
    distribution functions: Vallender 1974). Undefined for n = 0.

    >>> round(emd([[3, 1, 0], [0, 2, 0], [2, 0, 2]]).value, 6)
    0.3
    """
    found: Array = _cumulative_gap(tables)[:-1].sum(axis=0)
    return found


@measure()
def ks(tables: Array) -> Array:
    """The largest gap between the two distribution functions, in [0, 1] (Smirnov 1939).

    Undefined for n = 0.

    >>> round(ks([[3, 1, 0], [0, 2, 0], [2, 0, 2]]).value, 6)
    0.2
    """
    found: Array = _cumulative_gap(tables).max(axis=0)
    return found


@measure()
def jensen_shannon(tables: Array) -> Array:
    """How different two distributions of levels are, in bits: 0 (equal) to 1 (disjoint).

    The divergence of Lin (1991), equation 4.1, with equal weights. Undefined for n = 0.

    >>> jensen_shannon([[0, 4], [0, 0]]).value
    1.0
    """
    p, q = _shares(tables)
    middle = (p + q) / 2
    return np.maximum(0.0, (_surprise(p, middle) + _surprise(q, middle)) / 2)


def _surprise(p: Array, q: Array) -> Array:
    """The relative entropy of ``p`` to ``q`` in bits; nothing where ``p`` is 0."""
    share = np.where(p > 0, p, 1.0) / np.where(p > 0, q, 1.0)
    found: Array = (np.where(p > 0, p, 0.0 * p) * np.log2(share)).sum(axis=0)
    return found
