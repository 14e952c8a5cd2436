"""A share of cells if the cells of an item are correlated and cells have weights."""

from __future__ import annotations

from math import sqrt

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from core.metrics.estimate import USUAL, Estimate, Interval

ONE_ITEM = "A single item tells nothing of others."


def clustered_share(
    hits: npt.ArrayLike,
    items: npt.ArrayLike,
    weights: npt.ArrayLike | None = None,
    level: float = USUAL.level,
) -> Estimate:
    """Return the share of cells that hit, with an interval like that of resampled items.

    The interval is Wilson's (1927) on the effective number of cells: the number of independent
    cells with the variance that sums over items show, with t on items - 1 degrees (Korn and
    Graubard 1998; Dean and Pagano 2015). If all cells hit, or none does, an item counts once.

    Args:
        hits: whether each cell hits, shape (cells,).
        items: the number of each cell's item, shape (cells,).
        weights: how many cells each stands for, shape (cells,); equal by default.
        level: the probability with which the interval holds the true share.

    Undefined without cells; no interval with a single item.

    >>> share = clustered_share([1, 1, 0, 1], [0, 1, 2, 3])
    >>> share.value, round(share.low, 2), round(share.high, 2)
    (0.75, 0.16, 0.98)
    """
    right, item_of = np.asarray(hits, np.float64), np.asarray(items, np.int64)
    weight = np.ones(len(right)) if weights is None else np.asarray(weights, np.float64)
    n = len(right)
    if not n:
        return Estimate.undefined("There is no such cell.")
    share = float((weight * right).sum() / weight.sum())
    hit = int(right.sum()) if weights is None else None
    _, place = np.unique(item_of, return_inverse=True)
    clusters = int(place.max()) + 1
    totals = np.bincount(place, weight).astype(np.float64)
    effective_n = float(weight.sum() ** 2 / _exact_sum(totals**2))
    if clusters > 1 and 0 < share < 1:
        deviations = np.bincount(place, weight * right) - share * totals
        error = _exact_sum(deviations**2) / float(weight.sum()) ** 2
        effective_n = min(share * (1 - share) / error, float(n)) if error > 0 else effective_n
    estimate = Estimate(share, n=n, hits=hit)
    return estimate.with_interval(share_interval(share, effective_n, clusters, level))


def _exact_sum(values: npt.NDArray[np.float64]) -> float:
    """Return the sum, exact to the last digit in any order of items."""
    return float(np.sort(values).sum())


def share_interval(
    share: float, effective_n: float, items: int, level: float = USUAL.level
) -> Interval:
    """Return Wilson's interval of a share worth this many independent observations.

    ``effective_n`` need not be an integer. Uses t with ``items`` - 1 degrees; none for one item.

    >>> low, high, *_ = share_interval(0.75, 4.0, 4)
    >>> round(low, 2), round(high, 2)
    (0.16, 0.98)
    """
    if items < 2:
        return Interval(None, None, "wilson", ONE_ITEM)
    half_width = float(stdtrit(items - 1, (1 + level) / 2))
    spread = half_width * half_width / effective_n
    middle, half = (
        share + spread / 2,
        half_width * sqrt(share * (1 - share) / effective_n + spread / 4 / effective_n),
    )
    low, high = (middle - half) / (1 + spread), (middle + half) / (1 + spread)
    # Rounding must neither leave [0, 1] nor exclude the share.
    return Interval(max(0.0, min(low, share)), min(1.0, max(high, share)), "wilson")
