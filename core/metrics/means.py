"""The mean of numbers on items, with an interval by resampling the items."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from core.metrics.bootstrap import SMALL, Interval, intervals, percentile, resample_patterns
from core.metrics.figure import Figure
from core.metrics.measure import Array

#: Weights held at once (40 MB); more resamples are drawn in parts.
_AT_ONCE = 5_000_000
ONE_ITEM = "One item alone cannot tell how far off it may be."


class MeanFigure(NamedTuple):
    """A mean and its 95 % interval; ``interval.reason`` says why there is none."""

    figure: Figure
    interval: Interval


def mean_of(values: npt.ArrayLike, *, resamples: int = 1000, seed: int = 0) -> MeanFigure:
    """The mean of one number per item; the items are independent.

    BCa below ``SMALL`` items, percentile from there on. Items with equal numbers are one pattern.
    Undefined for no items; one item has a mean and no interval.

    >>> mean_of([1.0, 0.0]).figure
    Figure(value=0.5, n=2, reason='')
    >>> mean_of([]).figure.reason
    'There is no item with a value.'
    """
    numbers = np.asarray(values, dtype=np.float64)
    n = len(numbers)
    if not n:
        reason = "There is no item with a value."
        return MeanFigure(Figure.undefined(reason), Interval(None, None, "percentile", reason))
    figure = Figure.defined(float(numbers.mean()), n)
    if n == 1:
        return MeanFigure(figure, Interval(None, None, "bca", ONE_ITEM))
    return MeanFigure(figure, _interval(numbers, resamples, np.random.default_rng(seed)))


def _interval(numbers: Array, resamples: int, rng: np.random.Generator) -> Interval:
    distinct, times = np.unique(numbers, return_counts=True)
    n = len(numbers)

    def bundle(weights: Array) -> Mapping[str, Array]:
        # Leaving one of two items out leaves weights that add up to less than n.
        return {"mean": (distinct @ weights) / weights.sum(axis=0)}

    if n < SMALL:
        return intervals(bundle, resample_patterns(times, resamples, rng), times)["mean"]
    part = max(1, _AT_ONCE // len(distinct))
    sizes = [min(part, resamples - start) for start in range(0, resamples, part)]
    means = [bundle(resample_patterns(times, size, rng))["mean"] for size in sizes]
    return percentile(np.concatenate(means))
