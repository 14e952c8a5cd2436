"""The same cells asked again and again: has anything moved, however often one looks?

Every look is compared with how it was at first, cell by cell, so that items cancel. Somebody who
looks every week will some week see 5% by chance: the k-th look may use up 1 / (k (k + 1)) of what
is allowed, which adds up to all of it over any number of looks (a spending of alpha: Lan and DeMets
1983). The limits are Shewhart's control limits (1931), as wide as that takes.

What has moved a little and stays so is lost in the noise of a single look. So the means of the last
two, four and eight looks are held against the first ones, too, each at its part of what the look
may use up (a sum over looks is what finds a small lasting shift: Page 1954); and the first ones are
up to eight looks, of those before it that lay within their limits.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri, stdtrit

from core.metrics.bias.effects import EXACT, FEW, too_few
from core.metrics.measure import Array

#: At most this share of series in which nothing moves raises any alarm, over any number of looks.
FALSE_ALARMS = 0.01
#: A move of less than this is no drift, however sure.
MATTERS = 0.02
#: Of how many last looks means are held against the first.
WINDOWS = (1, 2, 4, 8)
#: How many first looks they are held against at most.
FIRST = 8
#: The power that ``Look.findable`` is about.
POWER = 0.8


class Look(NamedTuple):
    """One look, or the mean of the last ``over``, beside the first ones, over ``n`` items of both.

    ``low`` and ``high`` are what ``now`` stays within as long as nothing moved; ``None`` where
    ``reason`` says why. ``out``: it lies beyond them, and by enough to matter. ``findable``: how
    large a move would have been found with a chance of ``POWER``.
    """

    now: float | None
    before: float | None
    low: float | None
    high: float | None
    n: int
    out: bool
    reason: str = ""
    over: int = 1
    findable: float | None = None


def spent(look: int, tests: int, rate: float = FALSE_ALARMS) -> float:
    """What the k-th look at one of so many series may use up, two-sided.

    >>> round(sum(spent(k, 2) for k in range(1, 10_000)), 4)
    0.005
    """
    return rate / tests / (look * (look + 1))


def looks_at(
    answers: Array,
    items: npt.NDArray[np.int64],
    tests: int,
    windows: Sequence[int] = WINDOWS,
    first: int = FIRST,
) -> list[tuple[Look, ...]]:
    """All looks after the first at cells, shape (1 + looks, cells); NaN where there is no answer.

    Of each look itself, and then the means of the last two, four and eight as far as there are so
    many. Undefined for fewer than 20 items.

    >>> answers = np.array([np.tile([0.0, 1.0], 50), np.zeros(100)])
    >>> ((alone,),) = looks_at(answers, np.arange(100), 1)
    >>> alone.now, alone.before, alone.out
    (0.0, 0.5, True)
    """
    found, within = list[tuple[Look, ...]](), [0]
    for k in range(1, len(answers)):
        there = [over for over in windows if over <= k]
        level = spent(k, tests) / len(there)
        looks = []
        for over in there:
            base = [at for at in within if at <= k - over][:first]
            looks.append(_beside(answers[base], answers[k - over + 1 : k + 1], items, level))
        found.append(tuple(looks))
        # What has moved is no measure of how it was, or else it would soon look as if nothing had.
        moved = next((one.over for one in looks if one.out), 0)
        within = [at for at in (*within, k) if at <= k - moved]
    return found


def _beside(first: Array, last: Array, items: npt.NDArray[np.int64], level: float) -> Look:
    """The mean of the last looks beside that of the first, each of shape (looks, cells)."""
    before, now = _mean(first), _mean(last)
    known = np.isfinite(now) & np.isfinite(before)
    n, over = len(np.unique(items[known])), len(last)
    if n < FEW:
        return Look(None, None, None, None, n, False, too_few(n).reason, over)
    value, centre = float(now[known].mean()), float(before[known].mean())
    looks = np.concatenate([first, last])[:, known]
    error, skew = _noise(looks, items[known], 1 / len(first), 1 / over)
    reach = _far(float(stdtrit(n - 1, 1 - level / 2)), skew) * error
    out = abs(value - centre) > max(reach, MATTERS)
    findable = max(MATTERS, reach + float(ndtri(POWER)) * error) if error else None
    return Look(value, centre, centre - reach, centre + reach, n, out, "", over, findable)


def _mean(looks: Array) -> Array:
    known = np.isfinite(looks)
    number = known.sum(axis=0)
    total = np.where(known, looks, 0.0).sum(axis=0)
    return np.where(number > 0, total / np.maximum(number, 1), np.nan)


def _noise(
    looks: Array, items: npt.NDArray[np.int64], before: float, now: float
) -> tuple[float, float]:
    """The standard error of the mean of some looks less that of others, and its skewness.

    From how far an item's answers, its cells together, move from one look to the next: that of
    all looks is known better than that of a single difference, which looks surest where it is small
    by luck. ``before`` and ``now`` are one divided by the numbers of looks.
    """
    k, cells = looks.shape
    away = np.nan_to_num(looks - _mean(looks))
    codes = np.unique(items, return_inverse=True)[1]
    sums = np.stack([np.bincount(codes, row) for row in away])
    square = float((sums**2).sum()) / (k - 1) * (before + now) / cells**2
    if square < EXACT:
        return 0.0, 0.0
    cube = float((sums**3).sum()) * k / ((k - 1) * (k - 2)) if k > 2 else 0.0
    return sqrt(square), cube * (now**2 - before**2) / cells**3 / square**1.5


def _far(z: float, skew: float) -> float:
    """A quantile for a mean with that skewness, on the side that reaches farther (Cornish and
    Fisher 1938): where few answers move a look is out by chance more often than a normal one.
    """
    return z + (z * z - 1) * abs(skew) / 6
