"""Exact bounds for the rest of a finite population after a random draw."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln


class KnownLabels(NamedTuple):
    """Labels outside the draw: ``n`` known verdicts, of which ``wrong`` are wrong.

    Their selection does not matter: a bound of the population holds whatever was labelled later.
    """

    n: int = 0
    wrong: int = 0


NOTHING = KnownLabels()


def upper_bound_of_rest(
    n_wrong: int, n: int, n_rest: int, delta: float = 0.05, known_labels: KnownLabels = NOTHING
) -> float:
    """Return the largest share of the ``n_rest`` that may be wrong, given a random draw of n.

    The population is the drawn, the ``known_labels`` and the rest. From w, the largest number of
    wrong ones in it with P(X <= wrong) > delta, X hypergeometric, those known to be wrong are
    subtracted. 1 if more are known to be wrong: the draw was unlucky and bounds nothing. 0 if there
    is no rest.

    >>> round(upper_bound_of_rest(0, 30, 10), 2), round(upper_bound_of_rest(0, 30, 10**6), 4)
    (0.2, 0.095)

    90 of 300 were drawn, 14 of them wrong; then 105 others were settled, all right. Up to 66 of the
    300 may be wrong, so 52 of the remaining 105.

    >>> upper_bound_of_rest(14, 90, 105, known_labels=KnownLabels(105)) == 52 / 105
    True
    """
    if n_rest == 0:
        return 0.0
    total, least = n + known_labels.n + n_rest, n_wrong + known_labels.wrong
    if _probability_at_most(n_wrong, n, total, least) <= delta:
        return 1.0
    low, high = 0, n_rest
    while low < high:
        middle = (low + high + 1) // 2
        if _probability_at_most(n_wrong, n, total, least + middle) > delta:
            low = middle
        else:
            high = middle - 1
    return low / n_rest


def _probability_at_most(n_wrong: int, n: int, total: int, bad: int) -> float:
    """Return P(X <= n_wrong) for n cells drawn from ``total`` cells, of which ``bad`` are wrong."""
    x = np.arange(max(0, n - (total - bad)), min(n_wrong, n, bad) + 1)
    if not len(x):
        return 0.0
    logs = _log_choose(bad, x) + _log_choose(total - bad, n - x) - _log_choose(total, np.array(n))
    return float(np.exp(logs).sum())


def _log_choose(n: int, k: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    log_ways: npt.NDArray[np.float64] = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return log_ways
