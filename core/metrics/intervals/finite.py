"""Exact bounds of what is left of a finite number of which some were drawn at random."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln


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
