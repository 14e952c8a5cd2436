"""Drift: do answers to the same cells change over time? Checking often adds no false alarms.

The baseline is up to eight earlier repetitions that were within their limits. Every repetition is
compared with it cell by cell, so that items cancel. A weekly check at 5% raises an alarm in 5% of
weeks by chance alone. So the k-th check may use up 1 / (k (k + 1)) of the allowed false alarm rate,
which adds up to that rate over any number of checks (alpha spending: Lan and DeMets 1983). The
limits are Shewhart's control limits (1931), widened accordingly.

A small lasting shift is lost in the noise of a single repetition. So the means of the last two,
four and eight repetitions are compared with the baseline, too, each with its share of the check's
allowance (sums over repetitions find small lasting shifts: Page 1954).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri, stdtrit

from core.metrics.bias.effects import EXACT, FEW, effect_of_too_few
from core.metrics.measure import Array

#: The largest share of stable series that raise any alarm, over any number of checks.
FALSE_ALARMS = 0.01
#: Smaller changes are not drift, however certain.
MATTERS = 0.02
#: The numbers of last repetitions whose means are compared with the baseline.
WINDOWS = (1, 2, 4, 8)
#: The most repetitions in the baseline.
FIRST = 8
#: The statistical power for which ``RepetitionMean.findable`` is computed.
POWER = 0.8


class RepetitionMean(NamedTuple):
    """A repetition, or the mean of the last ``over``, against the baseline (``n`` common items).

    Without drift ``now`` stays within ``low`` and ``high``; they are ``None`` if ``reason`` says
    why. ``out``: ``now`` is outside of them, by enough to matter. ``findable``: the change that
    would have been found with probability ``POWER``.
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


def error_rate_spent(look: int, tests: int, rate: float = FALSE_ALARMS) -> float:
    """Return the two-sided error rate for the k-th check of one of ``tests`` series.

    >>> round(sum(error_rate_spent(k, 2) for k in range(1, 10_000)), 4)
    0.005
    """
    return rate / tests / (look * (look + 1))


def comparisons_of_cells(
    answers: Array,
    items: npt.NDArray[np.int64],
    tests: int,
    windows: Sequence[int] = WINDOWS,
    first: int = FIRST,
) -> list[tuple[RepetitionMean, ...]]:
    """Return the comparisons of cells, shape (1 + repetitions, cells), after the first row.

    NaN is a missing answer. Each repetition is compared by itself, then the means of the last two,
    four and eight, if there are as many. Undefined for fewer than 20 items.

    >>> answers = np.array([np.tile([0.0, 1.0], 50), np.zeros(100)])
    >>> ((alone,),) = comparisons_of_cells(answers, np.arange(100), 1)
    >>> alone.now, alone.before, alone.out
    (0.0, 0.5, True)
    """
    all_looks, within = list[tuple[RepetitionMean, ...]](), [0]
    for k in range(1, len(answers)):
        spans = [window for window in windows if window <= k]
        level = error_rate_spent(k, tests) / len(spans)
        comparisons = []
        for window in spans:
            base = [at for at in within if at <= k - window][:first]
            comparisons.append(
                _compare_repetitions(answers[base], answers[k - window + 1 : k + 1], items, level)
            )
        all_looks.append(tuple(comparisons))
        # A changed repetition must not join the baseline, or drift would soon look normal.
        changed_in = next((look.over for look in comparisons if look.out), 0)
        within = [at for at in (*within, k) if at <= k - changed_in]
    return all_looks


def _compare_repetitions(
    first: Array, last: Array, items: npt.NDArray[np.int64], level: float
) -> RepetitionMean:
    """Compare the mean of the last repetitions with the mean of the first, shape (repetitions,
    cells) each.
    """
    before, now = _mean_of_repetitions(first), _mean_of_repetitions(last)
    answered = np.isfinite(now) & np.isfinite(before)
    n, repetitions = len(np.unique(items[answered])), len(last)
    if n < FEW:
        return RepetitionMean(
            None, None, None, None, n, False, effect_of_too_few(n).reason, repetitions
        )
    value, centre = float(now[answered].mean()), float(before[answered].mean())
    looks = np.concatenate([first, last])[:, answered]
    error, skew = _error_and_skewness(looks, items[answered], 1 / len(first), 1 / repetitions)
    half_width = _skewed_quantile(float(stdtrit(n - 1, 1 - level / 2)), skew) * error
    is_outside = abs(value - centre) > max(half_width, MATTERS)
    findable = max(MATTERS, half_width + float(ndtri(POWER)) * error) if error else None
    return RepetitionMean(
        value,
        centre,
        centre - half_width,
        centre + half_width,
        n,
        is_outside,
        "",
        repetitions,
        findable,
    )


def _mean_of_repetitions(looks: Array) -> Array:
    answered = np.isfinite(looks)
    number = answered.sum(axis=0)
    total = np.where(answered, looks, 0.0).sum(axis=0)
    return np.where(number > 0, total / np.maximum(number, 1), np.nan)


def _error_and_skewness(
    looks: Array, items: npt.NDArray[np.int64], before: float, now: float
) -> tuple[float, float]:
    """Return the standard error and skewness of a mean of repetitions minus another mean.

    Both come from the changes of each item's answers between repetitions. All repetitions are
    pooled, because a single difference that is small by luck would look too certain. ``before`` and
    ``now`` are 1 / the numbers of repetitions.
    """
    k, cells = looks.shape
    deviations = np.nan_to_num(looks - _mean_of_repetitions(looks))
    codes = np.unique(items, return_inverse=True)[1]
    sums = np.stack([np.bincount(codes, row) for row in deviations])
    square = float((sums**2).sum()) / (k - 1) * (before + now) / cells**2
    if square < EXACT:
        return 0.0, 0.0
    cube = float((sums**3).sum()) * k / ((k - 1) * (k - 2)) if k > 2 else 0.0
    return sqrt(square), cube * (now**2 - before**2) / cells**3 / square**1.5


def _skewed_quantile(z: float, skew: float) -> float:
    """Return the quantile of a skewed mean in its longer tail (Cornish and Fisher 1938).

    If few answers change, the mean is skewed, so a repeated run leaves the limits by chance more
    often than the normal distribution predicts.
    """
    return z + (z * z - 1) * abs(skew) / 6
