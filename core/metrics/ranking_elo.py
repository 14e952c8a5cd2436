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
#: So many contests of every pass are laid out at a time: few enough to stay in the cache.
_BLOCK = 256


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
    passes = [rng.permutation(contests) for _ in range(orders)]
    number = len(np.unique(item))
    if number >= FEWEST and resamples:
        passes += _resampled(item, resamples, rng)
    # All passes at once: a step costs the same for one of them and for all.
    played = _played(_filled(passes), (a, b, won), systems, step)
    ratings, drawn = played[:orders], played[orders:]
    if len(drawn):
        found = tuple(percentile(column) for column in drawn.T)
    else:
        reason = f"There are {number} items; intervals need at least {FEWEST}."
        found = (Interval(None, None, "percentile", reason),) * systems
    return Elo(ratings.mean(axis=0), ratings.std(axis=0), found)


def _resampled(
    item: npt.NDArray[np.int64], resamples: int, rng: np.random.Generator
) -> list[npt.NDArray[np.int64]]:
    """The contests of resampled items, each time in another order."""
    _, index = np.unique(item, return_inverse=True)
    members = [np.flatnonzero(index == i) for i in range(int(index.max()) + 1)]
    found = []
    for _ in range(resamples):
        drawn = np.concatenate([members[i] for i in rng.integers(0, len(members), len(members))])
        found.append(rng.permutation(drawn))
    return found


def _filled(passes: list[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    """Passes as rows of one table; -1 fills up the shorter ones."""
    table = np.full((len(passes), max(map(len, passes))), -1)
    for row, contests in zip(table, passes, strict=True):
        row[: len(contests)] = contests
    return table


def _played(
    orders: npt.NDArray[np.int64],
    contests: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Array],
    systems: int,
    step: float,
) -> Array:
    """Ratings of shape (orders, systems) after the contests in each order."""
    a, b, won = contests
    ratings = np.full((len(orders), systems), START)
    flat, power = ratings.ravel(), np.log(10) / SCALE
    starts = systems * np.arange(len(orders))
    for begin in range(0, orders.shape[1], _BLOCK):
        contest = orders[:, begin : begin + _BLOCK].T
        # Places of both in the flat ratings; -1 takes a step of 0.
        ones, twos, points = a[contest] + starts, b[contest] + starts, won[contest]
        steps = np.where(contest >= 0, step, 0.0)
        for one, two, got, far in zip(ones, twos, points, steps, strict=True):
            better, worse = flat[one], flat[two]
            change = far * (got - 1 / (1 + np.exp(power * (worse - better))))
            flat[one] = better + change
            flat[two] = worse - change
    return ratings
