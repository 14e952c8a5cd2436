"""Means of one number per item, and the difference of two figures of the same items.

With few items the spread is uncertain, too. Resampling takes it as known: it calls two equal runs
different in 11 of 100 comparisons of ten items (bench/means.py). So below ``SMALL`` items both use
Student's t, and from there on resampled items.
"""

from __future__ import annotations

from math import sqrt
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr, stdtrit

from core.metrics.estimate import USUAL, Confidence, Estimate, Interval
from core.metrics.intervals.bootstrap import ONE_ITEM, SMALL, intervals, percentile
from core.metrics.intervals.draws import resample_patterns
from core.metrics.measure import NEAR, Array, Statistic, zero_rounding_errors

ALIKE = "All items have the same value, so they cannot tell how far off the mean may be."
ALIKE_GAP = "All items give the same difference, so they cannot tell how far off it may be."
UNMOVED = "No single item changes it, so they cannot tell how far off it may be."
#: A p below this is significant.
LEVEL = 0.05
#: The most weights in memory at once (40 MB); more resamples are drawn in parts.
_AT_ONCE = 5_000_000


def mean_of(
    values: npt.ArrayLike,
    *,
    resamples: int = 1000,
    seed: int = 0,
    confidence: Confidence = USUAL,
    ends: tuple[float, float] = (-np.inf, np.inf),
) -> Estimate:
    """Return the mean of one number per item; the items are independent.

    Below ``SMALL`` items the interval is by t with a correction for skewness (``mean_interval``),
    otherwise by percentiles of resamples. ``ends`` are the smallest and largest possible numbers.
    Undefined for no items; a single item has a mean and no interval.

    >>> mean_of([1.0, 0.0]).value
    0.5
    >>> mean_of([]).reason
    'There is no item with a value.'
    """
    numbers = np.asarray(values, dtype=np.float64)
    n = len(numbers)
    if not n:
        return Estimate.undefined("There is no item with a value.")
    mean = Estimate.defined(float(numbers.mean()), n)
    if n == 1:
        return mean._replace(reason=ONE_ITEM)
    if confidence.method == "auto" and n < SMALL:
        return mean.with_interval(mean_interval(numbers, confidence.level, ends))
    return mean.with_interval(
        _resampled_interval(numbers, resamples, np.random.default_rng(seed), confidence)
    )


def mean_interval(
    numbers: Array, level: float = 0.95, ends: tuple[float, float] = (-np.inf, np.inf)
) -> Interval:
    """Return the interval of the mean of two or more numbers, by t with n - 1 degrees.

    On the side of the longer tail it reaches further by skewness (2 t^2 + 1) / (6 n) standard
    deviations (the Edgeworth expansion inverted, Hall 1983, with t for the normal quantile). With
    scores near an end of their scale a symmetric interval misses the mean on that side.

    >>> low, high, *_ = mean_interval(np.array([1.0, 2.0, 3.0]))    # 2 and 4.303 / sqrt(3)
    >>> round(low, 3), round(high, 3)
    (-0.484, 4.484)
    """
    n, mean = len(numbers), float(numbers.mean())
    deviations = numbers - mean
    spread = sqrt(float((deviations**2).sum()) / (n - 1))
    if spread <= NEAR * max(1.0, abs(mean)):
        return Interval(None, None, "t", ALIKE)
    t = float(stdtrit(n - 1, (1 + level) / 2))
    skewness = n * float((deviations**3).sum()) / ((n - 1) * (n - 2) * spread**3) if n > 2 else 0.0
    half_width, further = t * spread / sqrt(n), skewness * (2 * t**2 + 1) / (6 * n) * spread
    low, high = mean - half_width + min(0.0, further), mean + half_width + max(0.0, further)
    return Interval(max(ends[0], low), min(ends[1], high), "t")


def _resampled_interval(
    numbers: Array, resamples: int, rng: np.random.Generator, confidence: Confidence
) -> Interval:
    """Return the interval by resampling; items with equal numbers are one pattern."""
    distinct, times = np.unique(numbers, return_counts=True)

    def bundle(weights: Array) -> dict[str, Array]:
        # If an item is missing, the weights add up to less than n.
        return {"mean": (distinct @ weights) / weights.sum(axis=0)}

    if confidence.method not in ("auto", "percentile"):
        drawn = resample_patterns(times, resamples, rng)
        return intervals(bundle, drawn, times, confidence=confidence)["mean"]
    part = max(1, _AT_ONCE // len(distinct))
    sizes = [min(part, resamples - start) for start in range(0, resamples, part)]
    means = [bundle(resample_patterns(times, size, rng))["mean"] for size in sizes]
    return percentile(np.concatenate(means), confidence.level)


class Difference(NamedTuple):
    """The second figure minus the first, its interval and p value, by t or from resamples."""

    value: Estimate
    p: Estimate
    test: Literal["t", "bootstrap"]

    @property
    def significant(self) -> bool:
        """Return whether the p value is below ``LEVEL``. The interval does not decide."""
        return self.p.value is not None and self.p.value < LEVEL


def paired_difference(
    first: Statistic,
    second: Statistic,
    draws: Array,
    times: npt.ArrayLike,
    *,
    mask: npt.NDArray[np.bool_] | None = None,
    confidence: Confidence = USUAL,
) -> Difference:
    """Return the second statistic minus the first, both over the same items.

    ``mask`` are the rows that either uses; all by default. Below ``SMALL`` such items the test and
    the interval use the jackknife standard error and t with n - 1 degrees (Tukey 1958); for means
    that is the paired t-test (Student 1908). From there on both statistics use the same resamples,
    so what they share cancels (Efron and Tibshirani 1993, section 10.3), and ``p`` is twice the
    smaller share of resamples on either side of zero, with one added to both counts (Davison and
    Hinkley 1997, equation 4.11), at least 2 / (resamples + 1). With few items p is by t, whichever
    interval method ``confidence`` asks for. Undefined if either statistic is.

    >>> hits = lambda column: lambda weights: column @ weights / weights.sum(axis=0)
    >>> draws = np.random.default_rng(1).multinomial(100, [0.5, 0.3, 0.2], size=999).T * 1.0
    >>> both = hits(np.array([1.0, 0, 0])), hits(np.array([1.0, 1, 0]))
    >>> found = paired_difference(*both, draws, [50, 30, 20])
    >>> round(found.value.value, 3), round(found.value.low, 3)    # .3 and t of 99 degrees
    (0.3, 0.209)
    """
    base = np.asarray(times, dtype=np.float64)
    n = int(base.sum())
    counted = base > 0 if mask is None else mask & (base > 0)

    def difference(weights: Array) -> Array:
        return zero_rounding_errors(second(weights) - first(weights))

    is_small = float(base[counted].sum()) < SMALL
    value = float(difference(base[:, None])[0])
    if np.isnan(value):
        undefined = Estimate.undefined("One of the two figures is undefined.", n)
        return Difference(undefined, undefined, "t" if is_small else "bootstrap")
    defined = Estimate.defined(value, n)

    def resampled_estimate() -> Estimate:
        return defined.with_interval(
            intervals(lambda w: {"": difference(w)}, draws, base, confidence=confidence)[""]
        )

    if is_small:
        left_out = difference(base[:, None] - np.eye(len(base))[:, counted])
        by_t = _jackknife_difference(defined, left_out, base[counted], confidence.level)
        return by_t if confidence.method == "auto" else by_t._replace(value=resampled_estimate())
    return Difference(resampled_estimate(), _p_of_differences(difference(draws), n), "bootstrap")


def _jackknife_difference(
    value: Estimate, left_out: Array, times: Array, level: float
) -> Difference:
    """Return the difference with interval and p by the jackknife.

    ``left_out[p]`` is the difference without one item of row p, which has ``times[p]`` items. A
    single item, or the same difference on every item, gives no error to test with.
    """
    items = float(times.sum())
    if items < 2:
        return _unknown_difference(value, ONE_ITEM)
    if np.isnan(left_out).any():
        return _unknown_difference(value, "Without one of the items it is undefined.")
    error = float(jackknife_error(left_out, times))
    if error <= NEAR:
        return _unknown_difference(value, ALIKE_GAP)
    point = value.value or 0.0
    p = min(1.0, 2 * float(stdtr(items - 1, -abs(point) / error)))
    interval = t_interval(point, error, items, level)
    return Difference(value.with_interval(interval), Estimate.defined(p, value.n), "t")


def jackknife_error(left_out: Array, times: Array | None = None) -> Array:
    """Return the standard errors of statistics from their values without one item (Tukey 1958).

    Items are on the last axis; ``times`` is the number of items with the same value.

    >>> numbers = np.array([1.0, 2.0, 4.0])
    >>> round(float(jackknife_error((numbers.sum() - numbers) / 2)), 4)    # s / sqrt(3)
    0.8819
    """
    weights = np.ones(left_out.shape[-1]) if times is None else times
    n = float(weights.sum())
    deviations = left_out - (left_out @ weights / n)[..., None]
    return np.asarray(np.sqrt((n - 1) / n * (deviations**2 @ weights)), np.float64)


def t_interval(
    point: float,
    error: float,
    items: float,
    level: float = 0.95,
    ends: tuple[float, float] = (-np.inf, np.inf),
) -> Interval:
    """Return a figure's interval from its standard error and number of items; none without one.

    >>> t_interval(2.0, 0.5, 5)[:2] == (2 - 0.5 * stdtrit(4, 0.975), 2 + 0.5 * stdtrit(4, 0.975))
    True
    """
    if items < 2 or not NEAR < error < np.inf:
        return Interval(None, None, "t", ONE_ITEM if items < 2 else UNMOVED)
    half_width = float(stdtrit(items - 1, (1 + level) / 2)) * error
    return Interval(max(ends[0], point - half_width), min(ends[1], point + half_width), "t")


def critical_error_count(statements: int, items: float = np.inf) -> float:
    """Return the standard errors that each of ``statements`` needs for significance.

    Of 100 sets of statements, 95 then contain no false one (Bonferroni); by t if the error comes
    from few items.

    >>> round(critical_error_count(2), 2), round(critical_error_count(10), 2)
    (1.96, 2.58)
    >>> round(critical_error_count(10, 20), 2)
    2.86
    """
    return float(stdtrit(max(1.0, items - 1), 1 - 0.05 / statements))


def _unknown_difference(value: Estimate, reason: str) -> Difference:
    return Difference(value._replace(reason=reason), Estimate.undefined(reason, value.n), "t")


def _p_of_differences(differences: Array, n: int) -> Estimate:
    defined = differences[~np.isnan(differences)]
    if not len(defined) or (defined == defined[0]).all():
        return Estimate.undefined("All resamples give the same difference.", n)
    tail = min((defined <= 0).sum(), (defined >= 0).sum())
    return Estimate.defined(min(1.0, 2 * (tail + 1) / (len(defined) + 1)), n)
