"""Exact bounds of a share, from a random draw."""

from __future__ import annotations

from math import ceil, log

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


def upper_bound_of_rest(wrong: int, n: int, rest: int, delta: float = 0.05) -> float:
    """The largest share of the ``rest`` that may be wrong, n of n + rest being drawn at random.

    The largest u with P(X <= wrong) > delta, X hypergeometric: the wrong among n drawn of n + rest
    that hold wrong + u of them. 0 where nothing is left.

    >>> round(upper_bound_of_rest(0, 30, 10), 2), round(upper_bound_of_rest(0, 30, 10**6), 4)
    (0.2, 0.095)
    """
    if rest == 0:
        return 0.0
    low, high = 0, rest
    while low < high:
        middle = (low + high + 1) // 2
        if _at_most(wrong, n, n + rest, wrong + middle) > delta:
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


def share_of_rest(right: int, n: int, rest: int, *, missing: int = 0, level: float = 0.95) -> Mean:
    """The share of right ones among the ``rest``, of n + rest of which n were drawn at random.

    The interval is exact, two one-sided bounds of the rest (``upper_bound_of_rest``). Undefined
    with fewer than 10 drawn, and while ``missing`` drawn ones are not known: those known first are
    not a random draw.

    >>> few = share_of_rest(9, 9, 100)
    >>> few.figure.reason
    'Only 9 items were drawn at random; 10 are needed to speak of the rest.'
    >>> mean = share_of_rest(18, 20, 200)
    >>> mean.figure.value, mean.low, mean.high
    (0.9, 0.675, 0.99)
    """
    if n < AUDIT or missing:
        what = "item was" if n == 1 else "items were"
        reason = f"Only {n} {what} drawn at random; {AUDIT} are needed to speak of the rest."
        if missing:
            reason = f"{missing} of the {n + missing} drawn at random are still to be decided."
        return Mean(Figure.undefined(reason, n), None, None)
    tail = (1 - level) / 2
    high = upper_bound_of_rest(right, n, rest, tail)
    low = 1 - upper_bound_of_rest(n - right, n, rest, tail)
    return Mean(Figure.defined(right / n, n), low, high)
