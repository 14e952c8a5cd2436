"""Contests between systems as counts, and what needs nothing but counting: the win matrix.

A contest is between two systems on one item; it is won, lost or tied. Items are the clusters of
every bootstrap here: the contests of an item stay together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from core.metrics.measure import Array, Ratings, ratio

#: The places of the last axis of ``ContestTable.counts``.
WON, TIED, LOST = 0, 1, 2


class ContestTable(NamedTuple):
    """Counts of contests. ``pairs`` has shape (pairs, 2): every two systems that met, the smaller
    index first. ``counts`` has shape (items, pairs, 3): how often the first of the pair won, tied
    and lost. Systems are numbered from 0 to ``systems`` - 1.
    """

    pairs: Ratings
    counts: Array
    systems: int

    @property
    def items(self) -> int:
        """The number of items, those without any contest among them."""
        return len(self.counts)

    @property
    def contests(self) -> float:
        """The number of contests (their weights added up)."""
        return float(self.counts.sum())

    def totals(self, weights: Array | None = None) -> Array:
        """The counts added up over items, shape (pairs, 3), or (pairs, 3, resamples) for item
        weights of shape (items, resamples).
        """
        if weights is None:
            return np.asarray(self.counts.sum(axis=0), np.float64)
        flat = self.counts.reshape(self.items, -1)
        return np.asarray(flat.T @ weights, np.float64).reshape(*self.counts.shape[1:], -1)


class WinMatrix(NamedTuple):
    """``wins[i, j]`` is how often i beat j, ``ties`` is symmetric, ``contests`` how often they met.

    ``share[i, j]`` = (wins + ties / 2) / contests; NaN, as a mask, where they never met.
    """

    wins: Array
    ties: Array
    contests: Array
    share: Array


def tabulate(
    items: npt.ArrayLike,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    points: npt.ArrayLike,
    *,
    systems: int,
    n_items: int,
    weights: npt.ArrayLike = 1.0,
) -> ContestTable:
    """The table of contests. ``points`` is what ``first`` got: 1, 0.5 (a tie) or 0.

    >>> tabulate([0, 0], [0, 1], [1, 0], [1, 0.5], systems=2, n_items=1).counts.tolist()
    [[[1.0, 1.0, 0.0]]]
    """
    item, a, b = (np.asarray(x, np.int64) for x in (items, first, second))
    given = np.asarray(points, np.float64)
    outcome = np.where(given == 0.5, TIED, np.where((given > 0.5) == (a < b), WON, LOST))
    low, high = np.minimum(a, b), np.maximum(a, b)
    key, place = np.unique(low * systems + high, return_inverse=True)
    counts: Array = np.zeros((n_items, len(key), 3))
    np.add.at(counts, (item, place, outcome), np.asarray(weights, np.float64))
    return ContestTable(np.stack([key // systems, key % systems], axis=1), counts, systems)


def win_matrix(table: ContestTable) -> WinMatrix:
    """Wins, ties, contests and shares of every two systems, each of shape (systems, systems).

    >>> table = tabulate([0, 1], [0, 0], [1, 1], [1, 0.5], systems=2, n_items=2)
    >>> win_matrix(table).share[0, 1]
    np.float64(0.75)
    """
    n, total = table.systems, table.totals()
    wins, ties = np.zeros((n, n)), np.zeros((n, n))
    a, b = table.pairs.T
    wins[a, b], wins[b, a] = total[:, WON], total[:, LOST]
    ties[a, b] = ties[b, a] = total[:, TIED]
    met = wins + wins.T + ties
    return WinMatrix(wins, ties, met, ratio(wins + ties / 2, met))


def win_rates(pairs: Ratings, totals: Array, systems: int) -> Array:
    """The mean over opponents met of the share of points against each, shape (systems, ...).

    With all pairs held equally often it is wins (ties count half) over contests. A mean over
    opponents does not reward a system for having met the weak ones more often. NaN, as a mask,
    where a system met nobody. ``totals`` has shape (pairs, 3, ...).

    >>> pairs = np.array([[0, 1], [0, 2]])
    >>> win_rates(pairs, np.array([[1.0, 0, 0], [0, 1, 0]]), 3).tolist()
    [0.75, 0.0, 0.5]
    """
    share = ratio(totals[:, WON] + totals[:, TIED] / 2, totals.sum(axis=1))
    met = ~np.isnan(share)
    known = np.where(met, share, 0.0)
    shape = (systems, *share.shape[1:])
    points, opponents = np.zeros(shape), np.zeros(shape)
    a, b = pairs.T
    np.add.at(points, a, known)
    np.add.at(points, b, np.where(met, 1 - known, 0.0))
    np.add.at(opponents, a, met)
    np.add.at(opponents, b, met)
    return ratio(points, opponents)
