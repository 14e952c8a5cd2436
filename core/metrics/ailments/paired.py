"""Does a rater differ from a reference on the same cells? Leniency, extremes, abstention, drift."""

from __future__ import annotations

from math import sqrt

import numpy as np
import numpy.typing as npt

from core.metrics.ailments.effect import EXACT, FEW, BiasEffect, Null, alike, judged, too_few
from core.metrics.measure import Array


def clustered_mean(
    values: npt.ArrayLike, items: npt.ArrayLike, null: Null | None = None
) -> BiasEffect:
    """The mean of ``values``, with an interval that knows that an item's values belong together.

    Args:
        values: shape (cells,), for instance differences from a reference; NaN cells are left out.
        items: the item of each cell, shape (cells,), whole numbers.
        null: what a healthy rater has; 0 on both sides by default.

    The variance is that of a ratio of sums over clusters
    (Cochran 1977, equation 9A.6, without finite correction). Undefined for fewer than 20 items.

    >>> effect = clustered_mean([1, 0] * 30, np.repeat(np.arange(30), 2))
    >>> effect.estimate, effect.n
    (0.5, 30)
    """
    against = null or Null()
    given, of = np.asarray(values, np.float64), np.asarray(items, np.int64)
    known = ~np.isnan(given)
    codes = np.unique(of[known], return_inverse=True)[1]
    sums: Array = np.bincount(codes, given[known]).astype(np.float64)
    sizes: Array = np.bincount(codes).astype(np.float64)
    n = len(sizes)
    if n < FEW:
        return too_few(n)
    mean, error = _ratio(sums, sizes)
    return judged(mean, error, n, against) if error > EXACT else alike(mean, n, against)


def _ratio(sums: Array, sizes: Array) -> tuple[float, float]:
    total, n = float(sizes.sum()), len(sizes)
    mean = float(sums.sum()) / total
    square = float(((sums - mean * sizes) ** 2).sum())
    return mean, sqrt(square * n / (n - 1)) / total


def others_mean(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """For every rater the mean of the others' values, shape (cells, raters); NaN where none.

    The leave-one-out consensus: against a mean that holds its own value, a rater would partly be
    compared with itself.

    >>> others_mean(np.array([[0.0, 1.0, np.nan]]))[0].tolist()
    [1.0, 0.0, 0.5]
    """
    known = ~np.isnan(values)
    number = known.sum(axis=1, keepdims=True) - known
    total = np.where(known, values, 0.0)
    others = total.sum(axis=1, keepdims=True) - total
    return np.where(number > 0, others / np.maximum(number, 1), np.nan)
