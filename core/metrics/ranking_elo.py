"""Elo ratings, averaged over orders: a running average that depends on who played last.

Elo (1978) updates after each contest, so one pass over the same contests in another order gives
other ratings. Here every figure is a mean over seeded orders, and all orders run side by side.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from core.metrics.bootstrap import Interval, percentile
from core.metrics.measure import Array
from core.metrics.ranking_strengths import FEWEST

START, SCALE, STEP = 1000.0, 400.0, 4.0
#: Passes cost time for every contest; beyond this many contests fewer orders are as good.
_WORK = 4_000_000


class Elo(NamedTuple):
    """Mean rating per system over orders, its spread (standard deviation) over orders, and its
    interval by bootstrap over items, in Elo points: 400 points are odds of 10 to 1.
    """

    rating: Array
    spread: Array
    intervals: tuple[Interval, ...]


def elo(
    items: npt.ArrayLike,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    points: npt.ArrayLike,
    *,
    systems: int,
    rng: np.random.Generator,
    orders: int = 200,
    resamples: int = 200,
    step: float = STEP,
) -> Elo:
    """Ratings after all contests; ``points`` is what ``first`` got: 1, 0.5 or 0.

    Systems that met nobody keep ``START``. An interval holds what the order of contests adds, too.
    """
    item, a, b = (np.asarray(x, np.int64) for x in (items, first, second))
    won = np.asarray(points, np.float64)
    contests = len(item)
    orders = max(10, min(orders, _WORK // max(1, contests)))
    resamples = max(50, min(resamples, _WORK // max(1, contests))) if resamples else 0
    shuffled = rng.permuted(np.tile(np.arange(contests), (orders, 1)), axis=1)
    ratings = _played(shuffled, (a, b, won), systems, step)
    number = len(np.unique(item))
    if number < FEWEST or not resamples:
        reason = f"There are {number} items; intervals need at least {FEWEST}."
        unknown = (Interval(None, None, "percentile", reason),) * systems
        return Elo(ratings.mean(axis=0), ratings.std(axis=0), unknown)
    drawn = _played(_resampled(item, resamples, rng), (a, b, won), systems, step)
    found = tuple(percentile(column) for column in drawn.T)
    return Elo(ratings.mean(axis=0), ratings.std(axis=0), found)


def _resampled(
    item: npt.NDArray[np.int64], resamples: int, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Orders of contests of resampled items; -1 fills up the shorter ones."""
    _, index = np.unique(item, return_inverse=True)
    members = [np.flatnonzero(index == i) for i in range(int(index.max()) + 1)]
    found = []
    for _ in range(resamples):
        drawn = np.concatenate([members[i] for i in rng.integers(0, len(members), len(members))])
        found.append(rng.permutation(drawn))
    longest = max(map(len, found))
    return np.stack([np.pad(row, (0, longest - len(row)), constant_values=-1) for row in found])


def _played(
    orders: npt.NDArray[np.int64],
    contests: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Array],
    systems: int,
    step: float,
) -> Array:
    """Ratings of shape (orders, systems) after the contests in each order."""
    a, b, won = contests
    ratings = np.full((len(orders), systems), START)
    rows = np.arange(len(orders))
    for contest in orders.T:
        there = contest >= 0
        one, two = a[contest], b[contest]
        gap = ratings[rows, two] - ratings[rows, one]
        expected = 1 / (1 + 10 ** (gap / SCALE))
        change = np.where(there, step * (won[contest] - expected), 0.0)
        ratings[rows, one] += change
        ratings[rows, two] -= change
    return ratings
