"""Are two figures of the same items different? Paired differences and many of them at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from core.metrics.bootstrap import Interval, intervals
from core.metrics.figure import Figure
from core.metrics.measure import Array, Statistic
from core.metrics.near import near_zero


class Difference(NamedTuple):
    """Second minus first, its interval, and the p of no difference."""

    value: Figure
    interval: Interval
    p: Figure


def paired_difference(
    first: Statistic,
    second: Statistic,
    draws: Array,
    times: npt.ArrayLike,
    *,
    level: float = 0.95,
) -> Difference:
    """How far the second statistic lies above the first, both over the same items.

    Both see the same resamples, so what they share cancels (Efron and Tibshirani 1993, section
    10.3). ``p`` is twice the smaller share of resamples on either side of no difference, with one
    added to both counts (Davison and Hinkley 1997, equation 4.11); it can be no less than
    2 / (resamples + 1). Undefined where either statistic is.

    >>> hits = lambda column: lambda weights: column @ weights / weights.sum(axis=0)
    >>> draws = np.random.default_rng(1).multinomial(100, [0.5, 0.3, 0.2], size=999).T * 1.0
    >>> both = hits(np.array([1.0, 0, 0])), hits(np.array([1.0, 1, 0]))
    >>> paired_difference(*both, draws, [50, 30, 20]).value.value
    0.30000000000000004
    """
    base = np.asarray(times, dtype=np.float64)
    n = int(base.sum())

    def difference(weights: Array) -> Array:
        return near_zero(second(weights) - first(weights))

    value = float(difference(base[:, None])[0])
    if np.isnan(value):
        reason = "One of the two figures is undefined."
        nothing = Interval(None, None, "percentile", reason)
        return Difference(Figure.undefined(reason, n), nothing, Figure.undefined(reason, n))
    resampled = difference(draws)
    interval = intervals(lambda w: {"": difference(w)}, draws, base, level=level)[""]
    return Difference(Figure.defined(value, n), interval, _p(resampled, n))


def _p(differences: Array, n: int) -> Figure:
    known = differences[~np.isnan(differences)]
    if not len(known) or (known == known[0]).all():
        return Figure.undefined("All resamples give the same difference.", n)
    tail = min((known <= 0).sum(), (known >= 0).sum())
    return Figure.defined(min(1.0, 2 * (tail + 1) / (len(known) + 1)), n)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """The p values corrected for how many there are, in [0, 1] (Holm 1979).

    Sorted, the i-th smallest of m is multiplied by m - i + 1, and none may fall below a smaller
    one. ``None`` (an undefined test) stays ``None`` and is not counted.

    >>> holm([0.01, None, 0.04, 0.03])
    [0.03, None, 0.06, 0.06]
    """
    order = sorted((p, index) for index, p in enumerate(p_values) if p is not None)
    found: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, index) in enumerate(order):
        largest = max(largest, min(1.0, p * (len(order) - rank)))
        found[index] = largest
    return found
