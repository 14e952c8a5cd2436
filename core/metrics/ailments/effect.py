"""An effect: how large, how sure, from how many items, and how likely without any ailment."""

from __future__ import annotations

from math import sqrt
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import ndtr, stdtr, stdtrit

from core.metrics.measure import Array

#: Which side of the null value ails. ``both``: either.
Side = Literal["both", "above", "below"]

#: With fewer items than this an effect is not judged: its p would rest on the model, not on data.
FEW = 20
#: Differences that should be zero may miss it by this much.
EXACT = 1e-12


class Null(NamedTuple):
    """The value that a healthy rater or question has at most (``above``) or at least (``below``).

    >>> Null(0.4, "below").value
    0.4
    """

    value: float = 0.0
    side: Side = "both"


class BiasEffect(NamedTuple):
    """An estimate with its 95 % interval and the p of the null value.

    ``n`` counts independent units: items, however many answers each has, or answers where a test
    is exact for them. Without an estimate ``reason`` says why; an interval is ``None`` where all
    items show the same, and then ``p`` is 1 or comes from one more item that shows the null.
    """

    estimate: float | None
    low: float | None
    high: float | None
    n: int
    p: float | None
    reason: str = ""

    @classmethod
    def undefined(cls, reason: str, n: int = 0) -> BiasEffect:
        """An effect that cannot be judged, and why.

        >>> BiasEffect.undefined("Nothing was labelled.").p is None
        True
        """
        return cls(None, None, None, n, None, reason)


def too_few(n: int) -> BiasEffect:
    """The effect of fewer than ``FEW`` items: undefined.

    >>> too_few(3).reason
    'Only 3 items can be compared; 20 are needed.'
    """
    return BiasEffect.undefined(f"Only {n} items can be compared; {FEW} are needed.", n)


def normal_p(z: float, side: Side) -> float:
    """The p of a standard normal deviate on the side that ails, in [0, 1].

    >>> round(normal_p(1.959964, "both"), 4), round(normal_p(1.959964, "below"), 4)
    (0.05, 0.975)
    """
    if side == "both":
        return float(2 * ndtr(-abs(z)))
    return float(ndtr(-z if side == "above" else z))


def judged(estimate: float, error: float, n: int, null: Null) -> BiasEffect:
    """The effect of an estimate whose standard error rests on ``n`` independent items.

    Student's t with n - 1 degrees of freedom (Student 1908). ``error`` must be positive.

    >>> effect = judged(0.3, 0.1, 101, Null())
    >>> round(effect.low, 2), round(effect.high, 2), round(effect.p, 4)
    (0.1, 0.5, 0.0034)
    """
    freedom = n - 1
    reach = float(stdtrit(freedom, 0.975)) * error
    t = (estimate - null.value) / error
    if null.side == "both":
        p = 2 * float(stdtr(freedom, -abs(t)))
    else:
        p = float(stdtr(freedom, -t if null.side == "above" else t))
    return BiasEffect(estimate, estimate - reach, estimate + reach, n, min(1.0, p))


def alike(estimate: float, n: int, null: Null) -> BiasEffect:
    """The effect where all ``n`` items show the same, so that nothing tells how it varies.

    There is no interval. The p is that of one item more which shows the null: then the estimate
    lies n + 1 standard errors from it (n values e and one 0 have the standard error e / (n + 1)).

    >>> alike(0.0, 30, Null()).p, alike(1.0, 30, Null()).p < 1e-20
    (1.0, True)
    """
    beyond = estimate - null.value
    if abs(beyond) <= EXACT or (null.side == "above" and beyond < 0):
        return BiasEffect(estimate, None, None, n, 1.0)
    if null.side == "below" and beyond > 0:
        return BiasEffect(estimate, None, None, n, 1.0)
    sides = 2 if null.side == "both" else 1
    return BiasEffect(estimate, None, None, n, sides * float(stdtr(n - 1, -(n + 1))))


def jackknifed(
    estimate: float, left_out: Array, null: Null, times: Array | None = None
) -> BiasEffect:
    """The effect of a statistic from its values without one item each (Tukey 1958).

    ``times`` says how many items each value stands for. Undefined where a value is NaN.

    >>> values = np.arange(21.0)
    >>> effect = jackknifed(10.0, (210 - values) / 20, Null())
    >>> round((effect.high - 10) / 2.086, 3)  # the standard error of the mean, sqrt(38.5 / 21)
    1.354
    """
    number = np.ones(len(left_out)) if times is None else times
    n = int(number.sum())
    if n < FEW:
        return too_few(n)
    if not np.isfinite(estimate) or not np.isfinite(left_out).all():
        return BiasEffect.undefined("One item decides whether it is defined at all.", n)
    gap = left_out - np.average(left_out, weights=number)
    error = sqrt((n - 1) / n * float((number * gap**2).sum()))
    return judged(estimate, error, n, null) if error > EXACT else alike(estimate, n, null)
