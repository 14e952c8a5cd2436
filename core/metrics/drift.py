"""The same cells asked again and again: has anything moved, however often one looks?

Every look is compared with the first one, cell by cell, so that items cancel. Somebody who looks
every week will some week see 5% by chance: the k-th look may use up 1 / (k (k + 1)) of what is
allowed, which adds up to all of it over any number of looks (a spending of alpha: Lan and DeMets
1983). The limits are Shewhart's control limits (1931), as wide as that takes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from core.metrics.bias.effects import EXACT, FEW
from core.metrics.bias.judge_bias import clustered_mean
from core.metrics.measure import Array

#: At most this share of series in which nothing moves raises any alarm, over any number of looks.
FALSE_ALARMS = 0.01
#: A move of less than this is no drift, however sure.
MATTERS = 0.02


class Look(NamedTuple):
    """One look beside the first, over ``n`` items that both have: means, and control limits.

    ``low`` and ``high`` are what ``now`` stays within as long as nothing moved; ``None`` where
    ``reason`` says why. ``out``: it lies beyond them, and by enough to matter.
    """

    now: float | None
    before: float | None
    low: float | None
    high: float | None
    n: int
    out: bool
    reason: str = ""


def spent(look: int, tests: int, rate: float = FALSE_ALARMS) -> float:
    """What the k-th look at one of so many series may use up, two-sided.

    >>> round(sum(spent(k, 2) for k in range(1, 10_000)), 4)
    0.005
    """
    return rate / tests / (look * (look + 1))


def look_at(now: Array, before: Array, items: npt.NDArray[np.int64], look: int, tests: int) -> Look:
    """The ``look``-th look (from 1) at cells, shape (cells,); NaN where either has no answer.

    A cell's items go together (``clustered_mean``). Undefined for fewer than 20 items.

    >>> first = np.tile([0.0, 1.0], 50)
    >>> found = look_at(np.zeros(100), first, np.arange(100), 1, 1)
    >>> found.now, found.before, found.out
    (0.0, 0.5, True)
    """
    known = np.isfinite(now) & np.isfinite(before)
    found = clustered_mean((now - before)[known], items[known])
    if found.estimate is None:
        return Look(None, None, None, None, found.n, False, found.reason)
    value, centre = float(now[known].mean()), float(before[known].mean())
    if found.low is None or found.high is None:
        # All items show the same: nothing moved, or all of them did.
        moved = abs(found.estimate) > EXACT
        return Look(value, centre, centre, centre, found.n, moved and found.n >= FEW)
    error = (found.high - found.low) / 2 / float(stdtrit(found.n - 1, 0.975))
    reach = float(stdtrit(found.n - 1, 1 - spent(look, tests) / 2)) * error
    out = abs(found.estimate) > max(reach, MATTERS)
    return Look(value, centre, centre - reach, centre + reach, found.n, out)
