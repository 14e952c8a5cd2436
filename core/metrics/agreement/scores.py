"""How much two sets of numbers on the same items agree: scores, or means of levels.

Items with equal pairs of numbers form one pattern, so that everything is a function of the counts
of pairs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr

from core.metrics.agreement.correlation_distance import (
    CONSTANT,
    EQUAL,
    ONE,
    TOO_FEW,
    distribution_gap_p,
    midranks,
)
from core.metrics.agreement.ratings import patterns
from core.metrics.estimate import Estimate
from core.metrics.measure import (
    ROUNDING,
    Array,
    level_places,
    ratio_or_nan,
    root_of_nonnegative,
    weight_sums,
)

#: The most distinct pairs to rank, since the cost grows with their square.
MOST_PAIRS = 4_000
NOTHING = "No item has both."
TOO_MANY = f"More than {MOST_PAIRS:,} different pairs of scores; tau would take too long."
_LIMIT = 1.96  # Bland and Altman (1986): limits that hold 95% of normal differences

NAMES = (
    "pearson",
    "spearman",
    "kendall_tau_b",
    "rmse",
    "mae",
    "bias",
    "bias_effect_size",
    "bias_p",
    "limit_low",
    "limit_high",
    "emd",
    "ks",
    "ks_p",
)


class Pairs(NamedTuple):
    """Distinct pairs of reference and rated number, and each item's pair (-1: missing)."""

    reference: Array
    rated: Array
    of_item: npt.NDArray[np.int64]

    def times(self) -> Array:
        """Return the count of each pair."""
        counts = np.bincount(self.of_item[self.of_item >= 0], minlength=len(self.rated))
        return counts.astype(np.float64)


def pair_up(
    reference: npt.ArrayLike, rated: npt.ArrayLike, is_known: npt.NDArray[np.bool_] | None = None
) -> Pairs:
    """Return the pairs of two arrays of shape (items,), without items for which ``is_known`` is
    false.

    Numbers that differ only by rounding are equal, also across the two arrays (``levelled``).
    Raises ``ValueError`` if lengths differ or a number that counts is not finite.

    >>> pair_up([1, 1, 2], [3, 3, 4]).of_item.tolist()
    [0, 0, 1]
    """
    x, y = np.asarray(reference, np.float64), np.asarray(rated, np.float64)
    if x.shape != y.shape or x.ndim != 1:
        raise ValueError(f"two arrays of one length are needed, not {x.shape} and {y.shape}")
    complete = np.ones(len(x), bool) if is_known is None else is_known
    if not (np.isfinite(x[complete]).all() and np.isfinite(y[complete]).all()):
        raise ValueError("a number is not finite")
    numbers, (first, second) = level_places(x[complete], y[complete])
    pairs = patterns(np.column_stack([first, second]))
    order = np.lexsort(pairs.rows.T[::-1])
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    of_item = np.full(len(x), -1, dtype=np.int64)
    of_item[complete] = place[pairs.of_item]
    distinct = numbers[pairs.rows[order]]
    return Pairs(distinct[:, 0], distinct[:, 1], of_item)


def score_agreement(reference: npt.ArrayLike, rated: npt.ArrayLike) -> dict[str, Estimate]:
    """Return the figures of ``NAMES`` for two arrays of numbers, shape (items,).

    Pearson (1896), Spearman (1904), Kendall's tau-b (1945), RMSE and MAE (Willmott and Matsuura
    2005), bias (rated minus reference) with the p of the paired t-test (Student 1908) and its size
    in standard deviations of the differences (Cohen 1988, equation 2.3.5), and the limits of
    agreement, bias -/+ 1.96 standard deviations (Bland and Altman 1986). The distributions are
    compared by the earth mover's distance (Vallender 1974), in units of the numbers, and by the
    largest gap of the distribution functions with its p (Smirnov 1939; an upper bound, see
    ``ks_p``).

    >>> figures = score_agreement([0.0, 0.5, 1.0, 1.0], [0.1, 0.4, 1.0, 0.9])
    >>> round(figures["bias"].value, 3), round(figures["limit_high"].value, 3)
    (-0.025, 0.163)
    """
    pairs = pair_up(reference, rated)
    return figures(pairs, pairs.times())


def figures(pairs: Pairs, times: Array) -> dict[str, Estimate]:
    """Return the figures of pairs with these counts."""
    n = int(times.sum())
    values = statistics(pairs)(times[:, None])
    return {
        name: Estimate.defined(float(values[0]), n)
        if np.isfinite(values[0])
        else Estimate.undefined(_why_undefined(name, n, len(times)), n)
        for name, values in values.items()
    }


def _why_undefined(name: str, n: int, pairs: int) -> str:
    if n == 0:
        return NOTHING
    if name in ("kendall_tau_b", *NAMES[-3:]) and pairs > MOST_PAIRS:
        return TOO_MANY
    if name in NAMES[:3]:
        return TOO_FEW if n < 3 else CONSTANT
    return ONE if n < 2 else EQUAL


class PairStatistics:
    """Maps weights of pairs, shape (pairs, resamples), to every figure of ``NAMES``."""

    def __init__(self, pairs: Pairs) -> None:
        x, y = pairs.reference, pairs.rated
        gap = y - x
        # Centre first, since sums of squares of numbers far from 0 would cancel.
        cx, cy = x - x.mean() if len(x) else x, y - y.mean() if len(y) else y
        self._terms = np.stack([np.abs(gap), gap**2, gap, cx, cy, cx**2, cy**2, cx * cy])
        self._x, self._y = _Side(x), _Side(y)
        self._orders: npt.NDArray[np.float32] | None = None
        if len(x) <= MOST_PAIRS:
            signs = np.sign(np.subtract.outer(x, x)) * np.sign(np.subtract.outer(y, y))
            # Integers and their sums up to 2 ** 24 are exact in single precision.
            self._orders = signs.astype(np.float32)

    def __call__(self, weights: Array) -> Mapping[str, Array]:
        """Return every figure of every resample; NaN if undefined."""
        n = weights.sum(axis=0)
        sums = self._terms @ weights
        totals_x, totals_y = self._x.totals(weights), self._y.totals(weights)
        varies = ((totals_x > 0).sum(axis=0) > 1) & ((totals_y > 0).sum(axis=0) > 1) & (n >= 3)
        # Differences that cancel leave a rounding error.
        gaps = np.where(np.abs(sums[2]) <= ROUNDING * sums[0], 0.0, sums[2])
        bias = ratio_or_nan(gaps, n)
        spread = _difference_spread(sums[1], gaps, n)
        t = ratio_or_nan(bias * np.sqrt(n), spread)
        correlations = {
            "pearson": _pearson_r(sums, n),
            "spearman": self._spearman_rho(weights, totals_x, totals_y, n),
            "kendall_tau_b": self._kendall_tau(weights, totals_x, totals_y, n),
        }
        return {
            **{name: np.where(varies, r, np.nan) for name, r in correlations.items()},
            "rmse": root_of_nonnegative(ratio_or_nan(sums[1], n)),
            "mae": ratio_or_nan(sums[0], n),
            "bias": bias,
            "bias_effect_size": ratio_or_nan(bias, spread),
            "bias_p": np.asarray(2 * stdtr(np.maximum(n - 1, 1), -np.abs(t)), np.float64),
            "limit_low": np.where(n < 2, np.nan, bias - _LIMIT * spread),
            "limit_high": np.where(n < 2, np.nan, bias + _LIMIT * spread),
            **self._distribution_distances(weights, n),
        }

    def _distribution_distances(self, weights: Array, n: Array) -> dict[str, Array]:
        """Return how far the two distributions of numbers differ, ignoring items."""
        numbers, place = np.unique(
            np.concatenate([self._x.numbers, self._y.numbers]), return_inverse=True
        )
        if len(numbers) > MOST_PAIRS:
            return dict.fromkeys(("emd", "ks", "ks_p"), np.full(weights.shape[1], np.nan))
        at_x, at_y = place[: len(self._x.numbers)], place[len(self._x.numbers) :]
        counts = weight_sums(at_y[self._y.place], len(numbers), weights)
        counts -= weight_sums(at_x[self._x.place], len(numbers), weights)
        gaps = np.abs(ratio_or_nan(np.cumsum(counts, axis=0), n))
        ks = gaps.max(axis=0, initial=0.0)
        return {
            "emd": np.where(n > 0, np.diff(numbers) @ gaps[:-1], np.nan),
            "ks": np.where(n > 0, ks, np.nan),
            "ks_p": distribution_gap_p(ks, n),
        }

    def _spearman_rho(self, weights: Array, totals_x: Array, totals_y: Array, n: Array) -> Array:
        middle = (n + 1) / 2
        rank_x, rank_y = midranks(totals_x) - middle, midranks(totals_y) - middle
        shared = (weights * rank_x[self._x.place] * rank_y[self._y.place]).sum(axis=0)
        spread = (totals_x * rank_x**2).sum(axis=0) * (totals_y * rank_y**2).sum(axis=0)
        return np.clip(ratio_or_nan(shared, root_of_nonnegative(spread)), -1, 1)

    def _kendall_tau(self, weights: Array, totals_x: Array, totals_y: Array, n: Array) -> Array:
        if self._orders is None:
            return np.full(weights.shape[1], np.nan)
        balance = ((self._orders @ weights.astype(np.float32)) * weights).sum(axis=0)
        untied = [n**2 - (totals**2).sum(axis=0) for totals in (totals_x, totals_y)]
        return np.clip(ratio_or_nan(balance, root_of_nonnegative(untied[0] * untied[1])), -1, 1)


class _Side:
    """The distinct numbers of one side, and each pair's number."""

    def __init__(self, numbers: Array) -> None:
        self.numbers, place = np.unique(numbers, return_inverse=True)
        self._number, self.place = len(self.numbers), place.ravel()

    def totals(self, weights: Array) -> Array:
        """Return the weights per distinct number, in increasing order."""
        return weight_sums(self.place, self._number, weights)


def statistics(pairs: Pairs) -> PairStatistics:
    """Return the function from weights of pairs to statistics, NaN if undefined."""
    return PairStatistics(pairs)


def _difference_spread(squares: Array, sums: Array, n: Array) -> Array:
    """Return the standard deviation (n - 1) of the differences; 0 if they are all equal."""
    remainder = squares - np.nan_to_num(ratio_or_nan(sums**2, n))
    remainder = np.where(remainder <= ROUNDING * squares, 0.0, remainder)
    return np.nan_to_num(root_of_nonnegative(ratio_or_nan(remainder, np.maximum(n - 1, 0))))


def _pearson_r(sums: Array, n: Array) -> Array:
    x, y, xx, yy, xy = sums[3:]
    shared = xy - ratio_or_nan(x * y, n)
    spread = (xx - ratio_or_nan(x**2, n)) * (yy - ratio_or_nan(y**2, n))
    return np.clip(ratio_or_nan(shared, root_of_nonnegative(spread)), -1, 1)
