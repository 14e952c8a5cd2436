"""Do two raters order items alike? Functions of the table of counts: levels are discrete."""

from __future__ import annotations

import numpy as np

from core.metrics.measure import Array, measure, ratio, root

TOO_FEW = "Two items always correlate perfectly; three or more are needed."
CONSTANT = "One of the two used a single level throughout."


def _why(table: Array) -> str:
    return TOO_FEW if table.sum() < 3 else CONSTANT


@measure(_why)
def pearson(tables: Array) -> Array:
    """The linear correlation of levels, in [-1, 1] (Pearson 1896).

    Undefined for n < 3 and where either side is constant.

    >>> round(pearson([[2, 1, 0], [0, 1, 1], [0, 0, 2]]).value, 4)
    0.8529
    """
    levels = np.arange(len(tables), dtype=np.float64).reshape(-1, *[1] * (tables.ndim - 2))
    return _correlation(tables, levels, levels)


@measure(_why)
def spearman(tables: Array) -> Array:
    """The linear correlation of ranks, ties at their mid-rank, in [-1, 1] (Spearman 1904).

    Undefined for n < 3 and where either side is constant.

    >>> round(spearman([[2, 1, 0], [0, 1, 1], [0, 0, 2]]).value, 4)
    0.87
    """
    return _correlation(tables, midranks(tables.sum(axis=1)), midranks(tables.sum(axis=0)))


@measure(_why)
def kendall_tau_b(tables: Array) -> Array:
    """Concordant less discordant pairs, corrected for ties, in [-1, 1] (Kendall 1945).

    Undefined for n < 3 and where either side is constant.

    >>> round(kendall_tau_b([[2, 1, 0], [0, 1, 1], [0, 0, 2]]).value, 4)
    0.8125
    """
    # Pairs with both later (concordant) and with one later, one earlier (discordant).
    below = np.zeros_like(tables)
    below[:-1] = np.cumsum(tables[:0:-1], axis=0)[::-1]
    right, left = np.zeros_like(tables), np.zeros_like(tables)
    right[:, :-1] = np.cumsum(below[:, :0:-1], axis=1)[:, ::-1]
    left[:, 1:] = np.cumsum(below[:, :-1], axis=1)
    balance = (tables * (right - left)).sum(axis=(0, 1))
    n = tables.sum(axis=(0, 1))
    rows, columns = tables.sum(axis=1), tables.sum(axis=0)
    untied = (n**2 - (rows**2).sum(axis=0)) * (n**2 - (columns**2).sum(axis=0))
    return np.where(n < 3, np.nan, np.clip(ratio(2 * balance, root(untied)), -1, 1))


def midranks(counts: Array) -> Array:
    """The mid-rank of every level from its counts, shape (k, ...); ranks start at 1.

    Kendall (1945), section 2.

    >>> midranks(np.array([2.0, 0.0, 1.0])).tolist()
    [1.5, 2.5, 3.0]
    """
    return np.cumsum(counts, axis=0) - counts / 2 + 0.5


def _correlation(tables: Array, x: Array, y: Array) -> Array:
    """Pearson's r where row i stands for ``x[i]`` and column j for ``y[j]``."""
    n = tables.sum(axis=(0, 1))
    rows, columns = tables.sum(axis=1), tables.sum(axis=0)
    # Centred first: sums of squares of large ranks would cancel.
    x = x - ratio((rows * x).sum(axis=0), n)
    y = y - ratio((columns * y).sum(axis=0), n)
    shared = ((tables * y).sum(axis=1) * x).sum(axis=0)
    spread_x, spread_y = (rows * x**2).sum(axis=0), (columns * y**2).sum(axis=0)
    constant = ((rows > 0).sum(axis=0) < 2) | ((columns > 0).sum(axis=0) < 2)
    value = ratio(shared, root(spread_x * spread_y))
    return np.where(constant | (n < 3), np.nan, np.clip(value, -1, 1))
