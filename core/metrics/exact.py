"""Exact bounds of a share, from a random draw."""

from __future__ import annotations

from math import ceil, log
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv, gammaln

from core.metrics.figure import Figure
from core.metrics.selection import AUDIT, Mean


def upper_bound(wrong: int, n: int, delta: float = 0.05) -> float:
    """The one-sided upper bound of a share at level 1 - delta (Clopper and Pearson 1934).

    >>> round(upper_bound(0, 29), 4), round(upper_bound(1, 46), 4)
    (0.0981, 0.099)
    """
    return 1.0 if wrong >= n else float(betaincinv(wrong + 1, n - wrong, 1 - delta))


class KnownLabels(NamedTuple):
    """``n`` that were not drawn are known all the same, ``wrong`` of them to be wrong.

    However they were chosen: a bound of the whole number holds whatever was looked at later.
    """

    n: int = 0
    wrong: int = 0


NOTHING = KnownLabels()


def upper_bound_of_rest(
    wrong: int, n: int, rest: int, delta: float = 0.05, known: KnownLabels = NOTHING
) -> float:
    """The largest share of the ``rest`` that may be wrong, n of all being drawn at random.

    All are the drawn, the ``known`` and the rest. The largest number of wrong ones among all, w,
    with P(X <= wrong) > delta, X hypergeometric, less those that are known to be wrong. 1 where
    more are known to be wrong than that: then the draw was an unlucky one and bounds nothing. 0
    where nothing is left.

    >>> round(upper_bound_of_rest(0, 30, 10), 2), round(upper_bound_of_rest(0, 30, 10**6), 4)
    (0.2, 0.095)

    Drawn 90 of 300, 14 of them wrong, then 105 others settled, all right. Up to 66 of the 300 may
    be wrong, so 52 of the 105 that are left.

    >>> upper_bound_of_rest(14, 90, 105, known=KnownLabels(105)) == 52 / 105
    True
    """
    if rest == 0:
        return 0.0
    total, least = n + known.n + rest, wrong + known.wrong
    if _at_most(wrong, n, total, least) <= delta:
        return 1.0
    low, high = 0, rest
    while low < high:
        middle = (low + high + 1) // 2
        if _at_most(wrong, n, total, least + middle) > delta:
            low = middle
        else:
            high = middle - 1
    return low / rest


def _at_most(wrong: int, n: int, total: int, bad: int) -> float:
    """P(X <= wrong) of n drawn from ``total`` with ``bad`` bad ones."""
    x = np.arange(max(0, n - (total - bad)), min(wrong, n, bad) + 1)
    if not len(x):
        return 0.0
    logs = _choose(bad, x) + _choose(total - bad, n - x) - _choose(total, np.array(n))
    return float(np.exp(logs).sum())


def _choose(n: int, k: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    found: npt.NDArray[np.float64] = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return found


def fewest(alpha: float, delta: float = 0.05) -> int:
    """How many labels promise ``alpha`` if none disagrees: (1 - alpha)^n <= delta.

    >>> fewest(0.1), fewest(0.05)
    (29, 59)
    """
    return ceil(log(delta) / log(1 - alpha) - 1e-9)


def share_of_rest(
    right: int,
    n: int,
    rest: int,
    *,
    missing: int = 0,
    level: float = 0.95,
    known: KnownLabels = NOTHING,
) -> Mean:
    """The share of right ones among the ``rest``, where n of all were drawn at random.

    All are the drawn, the ``known`` and the rest. The interval is exact, two one-sided bounds of
    the rest (``upper_bound_of_rest``); the value is what is left of the estimate for all. Undefined
    with fewer than 10 drawn, while ``missing`` drawn ones are not known (those known first are not
    a random draw), and where nothing is left.

    >>> few = share_of_rest(9, 9, 100)
    >>> few.figure.reason
    'Only 9 items were drawn at random; 10 are needed to speak of the rest.'
    >>> mean = share_of_rest(18, 20, 200)
    >>> mean.figure.value, mean.low, mean.high
    (0.9, 0.675, 0.99)
    >>> less = share_of_rest(18, 20, 100, known=KnownLabels(100))
    >>> less.figure.value, less.low, less.high
    (0.8, 0.35, 0.98)
    """
    if n < AUDIT or missing or not rest:
        return Mean(Figure.undefined(_why_not(n, rest, missing), n), None, None)
    tail = (1 - level) / 2
    others = KnownLabels(known.n, known.n - known.wrong)
    high = upper_bound_of_rest(right, n, rest, tail, others)
    low = 1 - upper_bound_of_rest(n - right, n, rest, tail, known)
    left = right / n * (n + known.n + rest) - right - others.wrong
    return Mean(Figure.defined(min(high, max(low, left / rest)), n), low, high)


def _why_not(n: int, rest: int, missing: int) -> str:
    if missing:
        return f"{missing} of the {n + missing} drawn at random are still to be decided."
    if not rest:
        return "Nothing is left that nobody looked at."
    what = "item was" if n == 1 else "items were"
    return f"Only {n} {what} drawn at random; {AUDIT} are needed to speak of the rest."
