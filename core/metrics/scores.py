"""How far two sets of numbers on the same items agree: scores, or a mean of levels.

Numbers may be any; n items with equal pairs of numbers are one pattern, so that everything is a
function of how often each pair occurs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr

from core.metrics.correlation import CONSTANT, TOO_FEW
from core.metrics.distance import EQUAL, ONE
from core.metrics.figure import Figure
from core.metrics.measure import ROUNDING, Array, ratio, root

#: Ranking all pairs of pairs needs their number squared.
MOST_PAIRS = 4_000
NOTHING = "No item has both."
TOO_MANY = f"More than {MOST_PAIRS:,} different pairs of scores; tau would take too long."
_LIMIT = 1.96  # Bland and Altman (1986): limits that hold 95 % of normal differences

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
)


class Pairs(NamedTuple):
    """Distinct pairs of reference and rated number, and which pair each item has (-1: none)."""

    reference: Array
    rated: Array
    of_item: npt.NDArray[np.int64]

    def times(self) -> Array:
        """How often each pair occurs."""
        counts = np.bincount(self.of_item[self.of_item >= 0], minlength=len(self.rated))
        return counts.astype(np.float64)

    def membership(self) -> Array:
        """Which pair each item has, shape (items, pairs); a row of 0 where it has none."""
        there = self.of_item[:, None] == np.arange(len(self.rated))
        return np.asarray(there, np.float64)


def pair_up(
    reference: npt.ArrayLike, rated: npt.ArrayLike, known: npt.NDArray[np.bool_] | None = None
) -> Pairs:
    """The pairs of two arrays of shape (items,); items where ``known`` is false have none.

    Raises ``ValueError`` where lengths differ or a number that counts is not finite.

    >>> pair_up([1, 1, 2], [3, 3, 4]).of_item.tolist()
    [0, 0, 1]
    """
    x, y = np.asarray(reference, np.float64), np.asarray(rated, np.float64)
    if x.shape != y.shape or x.ndim != 1:
        raise ValueError(f"two arrays of one length are needed, not {x.shape} and {y.shape}")
    both = np.ones(len(x), bool) if known is None else known
    if not (np.isfinite(x[both]).all() and np.isfinite(y[both]).all()):
        raise ValueError("a number is not finite")
    distinct, inverse = np.unique(np.stack([x[both], y[both]], 1), axis=0, return_inverse=True)
    of_item = np.full(len(x), -1, dtype=np.int64)
    of_item[both] = inverse.ravel()
    return Pairs(distinct[:, 0], distinct[:, 1], of_item)


def score_agreement(reference: npt.ArrayLike, rated: npt.ArrayLike) -> dict[str, Figure]:
    """The figures of ``NAMES`` for two arrays of numbers, shape (items,).

    Pearson (1896), Spearman (1904), Kendall's tau-b (1945), RMSE and MAE (Willmott and Matsuura
    2005), bias (rated minus reference) with the p of the paired t-test (Student 1908) and its size
    in standard deviations of the differences (Cohen 1988, equation 2.3.5), and the limits of
    agreement, bias -/+ 1.96 standard deviations (Bland and Altman 1986).

    >>> found = score_agreement([0.0, 0.5, 1.0, 1.0], [0.1, 0.4, 1.0, 0.9])
    >>> round(found["bias"].value, 3), round(found["limit_high"].value, 3)
    (-0.025, 0.163)
    """
    pairs = pair_up(reference, rated)
    return figures(pairs, pairs.times())


def figures(pairs: Pairs, times: Array) -> dict[str, Figure]:
    """The figures of pairs that occur so often."""
    n = int(times.sum())
    found = statistics(pairs)(times[None])
    return {
        name: Figure.defined(float(values[0]), n)
        if np.isfinite(values[0])
        else Figure.undefined(_why(name, n, len(times)), n)
        for name, values in found.items()
    }


def _why(name: str, n: int, pairs: int) -> str:
    if n == 0:
        return NOTHING
    if name == "kendall_tau_b" and pairs > MOST_PAIRS:
        return TOO_MANY
    if name in NAMES[:3]:
        return TOO_FEW if n < 3 else CONSTANT
    return ONE if n < 2 else EQUAL


class PairStatistics:
    """Weights of pairs, shape (resamples, pairs), to every figure of ``NAMES``."""

    def __init__(self, pairs: Pairs) -> None:
        self._x, self._y = pairs.reference, pairs.rated
        self._gap = self._y - self._x
        self._terms = np.column_stack([np.abs(self._gap), self._gap**2, self._gap])
        if len(self._x) <= MOST_PAIRS:
            signs = np.sign(np.subtract.outer(self._x, self._x))
            self._orders = signs * np.sign(np.subtract.outer(self._y, self._y))

    def __call__(self, weights: Array) -> Mapping[str, Array]:
        """Every figure of every resample; NaN where undefined."""
        n = weights.sum(axis=1)
        mean = ratio(weights @ self._terms, n[:, None])
        bias, spread = mean[:, 2], self._spread(weights, mean[:, 2], n)
        t = ratio(bias * np.sqrt(n), spread)
        ranks_x, ranks_y = _ranks(weights, self._x), _ranks(weights, self._y)
        return {
            "pearson": _correlation(weights, self._x[None], self._y[None], n),
            "spearman": _correlation(weights, ranks_x, ranks_y, n),
            "kendall_tau_b": self._tau(weights, n),
            "rmse": root(mean[:, 1]),
            "mae": mean[:, 0],
            "bias": bias,
            "bias_effect_size": ratio(bias, spread),
            "bias_p": np.asarray(2 * stdtr(np.maximum(n - 1, 1), -np.abs(t)), np.float64),
            "limit_low": np.where(n < 2, np.nan, bias - _LIMIT * spread),
            "limit_high": np.where(n < 2, np.nan, bias + _LIMIT * spread),
        }

    def _spread(self, weights: Array, bias: Array, n: Array) -> Array:
        """The standard deviation (n - 1) of the differences; 0 where they are all equal."""
        squares = (weights * (self._gap - bias[:, None]) ** 2).sum(axis=1)
        size = (weights * self._gap**2).sum(axis=1)
        squares = np.where(squares <= ROUNDING * size, 0.0, squares)
        return np.nan_to_num(root(ratio(squares, np.maximum(n - 1, 0))))

    def _tau(self, weights: Array, n: Array) -> Array:
        if len(self._x) > MOST_PAIRS:
            return np.full(len(weights), np.nan)
        balance = ((weights @ self._orders) * weights).sum(axis=1)
        untied = [n**2 - (_totals(weights, side) ** 2).sum(axis=1) for side in (self._x, self._y)]
        value = ratio(balance, root(untied[0] * untied[1]))
        return np.where(n < 3, np.nan, np.clip(value, -1, 1))


def statistics(pairs: Pairs) -> PairStatistics:
    """The function from weights of pairs to statistics, NaN where undefined."""
    return PairStatistics(pairs)


def _totals(weights: Array, numbers: Array) -> Array:
    """The weights added up per distinct number, in rising order."""
    distinct, place = np.unique(numbers, return_inverse=True)
    member = np.asarray(place[:, None] == np.arange(len(distinct)), np.float64)
    return np.asarray(weights @ member, np.float64)


def _ranks(weights: Array, numbers: Array) -> Array:
    """The mid-rank of every pair's number under the weights, shape (resamples, pairs)."""
    totals = _totals(weights, numbers)
    middle = np.cumsum(totals, axis=1) - totals / 2 + 0.5
    return middle[:, np.unique(numbers, return_inverse=True)[1]]


def _correlation(weights: Array, x: Array, y: Array, n: Array) -> Array:
    there = weights > 0
    x = x - ratio((weights * x).sum(axis=1), n)[:, None]
    y = y - ratio((weights * y).sum(axis=1), n)[:, None]
    spread_x, spread_y = (weights * x**2).sum(axis=1), (weights * y**2).sum(axis=1)
    value = np.clip(ratio((weights * x * y).sum(axis=1), root(spread_x * spread_y)), -1, 1)
    varies = _range(x, there) & _range(y, there)
    return np.where(varies & (n >= 3), value, np.nan)


def _range(values: Array, there: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Whether the numbers that occur differ."""
    shape = there.shape
    high = np.where(there, np.broadcast_to(values, shape), -np.inf).max(axis=1, initial=-np.inf)
    low = np.where(there, np.broadcast_to(values, shape), np.inf).min(axis=1, initial=np.inf)
    return np.asarray(high - low > ROUNDING, np.bool_)
