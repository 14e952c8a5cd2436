"""Bias of a rater: leniency, extremes, drift, halo, position of options, length of texts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import sqrt
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from core.metrics.bias.effects import (
    EXACT,
    FEW,
    BiasEffect,
    NullValue,
    effect_of_equal_items,
    effect_of_estimate,
    effect_of_too_few,
    jackknife_effect,
    normal_p,
)
from core.metrics.estimate import wilson
from core.metrics.measure import ROUNDING, Array, ratio_or_nan, root_of_nonnegative

#: The smallest correlation used as a divisor.
TOGETHER = 0.1


class Halo(NamedTuple):
    """A rater's halo: the effect is ``own`` minus ``reference``.

    ``own`` is the mean correlation of a rater's answers, ``reference`` the expected one.
    """

    effect: BiasEffect
    own: float | None
    reference: float | None


def halo(
    own: Array, reference: Array, null: NullValue | None = None, other_levels: Array | None = None
) -> Halo:
    """Return how much more a rater's answers to different questions correlate than they should.

    The mean Pearson correlation over pairs of questions, of the rater minus the reference, on the
    same items (Cooper 1981: a halo is observed correlation above the true one); interval and p
    leave out items. A rater's random errors only lower its correlations. Null: 0, above.

    The reference's errors lower its correlations too, and a rater with fewer errors has no halo.
    ``other_levels`` measure how well both see a question (Spearman 1904, correction for
    attenuation): the rater's correlation of a and b should be the reference's, times r(own, others)
    / r(reference, others) on each. Without others, it is r(a, b') r(b, a') / r(a', b'), with dashes
    for the reference's. The larger of both is what the rater is compared with.

    Args:
        own: the rater's values, shape (items, questions); NaN if missing.
        reference: the reference's, same shape.
        null: the value of a healthy rater.
        other_levels: the mean values of other raters, same shape.

    A pair counts with 20 items that all answered and no constant column. Undefined without such a
    pair.

    >>> rng = np.random.default_rng(1)
    >>> truth = rng.normal(size=(200, 3))
    >>> coloured = truth + 2 * rng.normal(size=(200, 1))
    >>> round(halo(coloured, truth).own, 1)
    0.8
    """
    sides = [own, reference] if other_levels is None else [own, reference, other_levels]
    complete: npt.NDArray[np.bool_] = np.all(np.isfinite(sides), axis=0)
    total, used, pairs = np.zeros((3, 1 + len(own))), np.zeros(len(own), np.bool_), 0
    for a, b in combinations(range(own.shape[1]), 2):
        rows = complete[:, a] & complete[:, b]
        if rows.sum() < FEW:
            continue
        parts = _correlations_of_two(sides, a, b, rows)
        if np.isnan(parts).any():
            continue
        pairs, used, total = pairs + 1, used | rows, total + parts
    if not pairs:
        items = int((complete.sum(axis=1) >= 2).sum())
        short = effect_of_too_few(items) if items < FEW else None
        reason = "No two questions vary enough on items that both answered."
        return Halo(short or BiasEffect.undefined(reason, items), None, None)
    own_r, reference_r, accounted = total / pairs
    least = reference_r if reference_r[0] >= accounted[0] else accounted
    excess = own_r - least
    effect = jackknife_effect(float(excess[0]), excess[1:][used], null or NullValue(0.0, "above"))
    return Halo(effect, float(own_r[0]), float(least[0]))


def _correlations_of_two(
    sides: Sequence[Array], a: int, b: int, rows: npt.NDArray[np.bool_]
) -> Array:
    """Return two questions' correlations, shape (3, 1 + items): for all items, then without each.

    The rows are the rater's, the reference's, and the expected correlation.
    """

    def r(x: Array, at: int, y: Array, to: int) -> Array:
        return _r_without_each(x[:, at], y[:, to], rows)

    own, reference, *others = sides
    own_r, reference_r = r(own, a, own, b), r(reference, a, reference, b)
    # A divisor near 0 would explain any correlation.
    if others:
        shared = np.array([r(own, at, others[0], at) for at in (a, b)])
        seen_by_reference = np.array([r(reference, at, others[0], at) for at in (a, b)])
        accounted = reference_r * (shared / np.maximum(seen_by_reference, TOGETHER)).prod(axis=0)
    else:
        across = r(own, a, reference, b) * r(reference, a, own, b)
        accounted = across / np.maximum(np.abs(reference_r), TOGETHER) * np.sign(reference_r)
    return np.array([own_r, reference_r, np.clip(accounted, -1.0, 1.0)])


def _r_without_each(x: Array, y: Array, rows: npt.NDArray[np.bool_]) -> Array:
    """Return Pearson's r of some rows, then without each item; other items do not change it.

    NaN if a column is constant.
    """
    point, without = _r_and_without_each(x[rows], y[rows])
    correlations = np.full(1 + len(x), point)
    correlations[1:][rows] = without
    return correlations


def _r_and_without_each(x: Array, y: Array) -> tuple[float, Array]:
    """Return Pearson's r, and r without each item; NaN if a column is constant."""
    x, y = x - x.mean(), y - y.mean()
    terms = np.stack([np.ones(len(x)), x, y, x * x, y * y, x * y])
    totals = terms.sum(axis=1, keepdims=True)
    return float(_r_from_sums(totals)[0]), _r_from_sums(totals - terms)


def _r_from_sums(sums: Array) -> Array:
    n, x, y, xx, yy, xy = sums
    spread_x, spread_y = n * xx - x * x, n * yy - y * y
    flat = (spread_x <= ROUNDING * n * xx) | (spread_y <= ROUNDING * n * yy)
    r = ratio_or_nan(n * xy - x * y, root_of_nonnegative(spread_x * spread_y))
    return np.where(flat, np.nan, r)


def clustered_mean(
    values: npt.ArrayLike, items: npt.ArrayLike, null: NullValue | None = None
) -> BiasEffect:
    """Return the mean of ``values``, with an interval for cells clustered by item.

    Args:
        values: shape (cells,), for instance differences from a reference; NaN cells are left out.
        items: the item of each cell, shape (cells,), whole numbers.
        null: the value of a healthy rater; 0 on both sides by default.

    The variance is that of a ratio of sums over clusters (Cochran 1977, equation 9A.6, without
    finite correction). Undefined for fewer than 20 items.

    >>> effect = clustered_mean([1, 0] * 30, np.repeat(np.arange(30), 2))
    >>> effect.estimate, effect.n
    (0.5, 30)
    """
    against = null or NullValue()
    cells, item_of = np.asarray(values, np.float64), np.asarray(items, np.int64)
    present = ~np.isnan(cells)
    codes = np.unique(item_of[present], return_inverse=True)[1]
    sums: Array = np.bincount(codes, cells[present]).astype(np.float64)
    sizes: Array = np.bincount(codes).astype(np.float64)
    n = len(sizes)
    if n < FEW:
        return effect_of_too_few(n)
    mean, error = _ratio_and_error(sums, sizes)
    return (
        effect_of_estimate(mean, error, n, against)
        if error > EXACT
        else effect_of_equal_items(mean, n, against)
    )


def _ratio_and_error(sums: Array, sizes: Array) -> tuple[float, float]:
    total, n = float(sizes.sum()), len(sizes)
    mean = float(sums.sum()) / total
    square = float(((sums - mean * sizes) ** 2).sum())
    return mean, sqrt(square * n / (n - 1)) / total


def mean_of_others(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return for every rater the mean of the others' values, shape (cells, raters), or NaN.

    The leave-one-out consensus: a mean that includes a rater's own value would compare the rater
    partly with itself.

    >>> mean_of_others(np.array([[0.0, 1.0, np.nan]]))[0].tolist()
    [1.0, 0.0, 0.5]
    """
    present = ~np.isnan(values)
    number = present.sum(axis=1, keepdims=True) - present
    total = np.where(present, values, 0.0)
    sums = total.sum(axis=1, keepdims=True) - total
    return np.where(number > 0, sums / np.maximum(number, 1), np.nan)


ONE_ORDER = "The options were always shown in one order, so place and option cannot be told apart."


#: The answers to one question with k options, shape (k, k) each: ``first[o, f]`` counts the answers
#: that chose option o while option f was shown first, ``last`` while it was shown last. Abstentions
#: are excluded, wherever they are shown.
ShownOrders = tuple[Array, Array]


class PositionPull(NamedTuple):
    """A position's pull: the share of answers that chose it because of its position.

    ``share`` of the answers chose the option there, ``expected`` would without position bias. The
    effect's estimate is (share - expected) / (1 - expected), negative if the position is avoided.
    """

    place: Literal["first", "last"]
    effect: BiasEffect
    share: float
    expected: float


def position_effect(questions: Sequence[ShownOrders]) -> PositionPull | BiasEffect:
    """Return the pull of the first or the last position, whichever is less likely by chance.

    Orders are drawn independently of the item, so without position bias any order could have been
    shown with any other answer of the same question. The number of answers that chose the first
    option is compared with its exact mean and variance over all such exchanges (Hoeffding 1951,
    theorem 2), by the normal distribution with continuity correction. p covers both positions if
    they differ (more than two options). If orders do not vary, or with fewer than 20 answers, the
    effect is undefined. n counts answers.

    >>> orders = np.array([[40, 20], [10, 30]]), np.array([[20, 40], [30, 10]])
    >>> pull = position_effect([orders])
    >>> pull.place, pull.share, round(pull.effect.estimate, 3)
    ('first', 0.7, 0.4)
    """
    varied = [(first, last) for first, last in questions if first.sum() > 1]
    n = int(sum(first.sum() for first, _ in varied))
    if not n:
        return BiasEffect.undefined("No order in which options were shown is known of its answers.")
    if n < FEW:
        return BiasEffect.undefined(f"Only {n} answers were shown an order; {FEW} are needed.", n)
    ends = [_pull_of_place("first", [first for first, _ in varied], n)]
    if any(len(first) > 2 for first, _ in varied):
        ends.append(_pull_of_place("last", [last for _, last in varied], n))
    pulls = [end for end in ends if end is not None]
    if not pulls:
        return BiasEffect.undefined(ONE_ORDER, n)
    least = min(pulls, key=lambda end: end.effect.p or 0.0)
    p = min(1.0, (least.effect.p or 0.0) * len(pulls))
    return least._replace(effect=least.effect._replace(p=p))


def _pull_of_place(
    place: Literal["first", "last"], tables: Sequence[Array], n: int
) -> PositionPull | None:
    chosen = sum(float(np.trace(table)) for table in tables)
    moments = [_trace_moments(table) for table in tables]
    mean, variance = sum(m for m, _ in moments), sum(v for _, v in moments)
    expected = mean / n
    if variance < 0.25 or expected >= 1:
        return None
    z = max(0.0, abs(chosen - mean) - 0.5) / sqrt(variance)
    low, high = (_excess_share(end, expected) for end in wilson(round(chosen), n))
    effect = BiasEffect(_excess_share(chosen / n, expected), low, high, n, normal_p(z, "both"))
    return PositionPull(place, effect, chosen / n, expected)


def _excess_share(share: float, expected: float) -> float:
    return (share - expected) / (1 - expected)


def _trace_moments(table: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Return mean and variance of the trace if orders are exchanged between answers."""
    n = float(table.sum())
    chosen, shown = table.sum(axis=1) / n, table.sum(axis=0) / n
    mean = float(chosen @ shown)
    centred = np.eye(len(table)) - shown[:, None] - chosen[None, :] + mean
    spread = float((np.outer(chosen, shown) * centred**2).sum())
    return n * mean, n * n / (n - 1) * spread


# Do longer texts get higher values at the same true level? The slope within strata answers this,
# but does not prove a cause.


def length_slope(
    values: npt.ArrayLike,
    log_length: npt.ArrayLike,
    strata: npt.ArrayLike,
    items: npt.ArrayLike,
    null: NullValue | None = None,
) -> BiasEffect:
    """Return how much a value rises per unit of ``log_length`` among cells of the same stratum.

    With strata (question x true level) and lengths as log2, the estimate is the effect of doubling
    the length among texts of the same level. A judge whose errors depend only on the level has
    slope 0, however truth and length are related. If the level is a label with errors, or is
    coarser than the judge's view, longer texts that are better have a slope without any length
    bias. Least squares with a fixed effect per stratum; the standard error leaves out one item at a
    time (Cameron and Miller 2015, section VI.B, the jackknife form), so cells of one item may be
    correlated.

    Args:
        values: the value of each answer, shape (cells,).
        log_length: the logarithm of the text's length, shape (cells,).
        strata: the question and its true level, shape (cells,), whole numbers.
        items: the item of each cell, shape (cells,), whole numbers.
        null: the value of a healthy rater; 0 on both sides by default.

    Undefined for fewer than 20 items, and if lengths do not vary within any stratum.

    >>> length = np.tile(np.arange(10.0), 10)
    >>> noise = np.tile([0.1, -0.1, -0.1, 0.1, 0.0], 20)
    >>> effect = length_slope(0.2 * length + noise, length, np.zeros(100, int), np.arange(100))
    >>> round(effect.estimate, 2), effect.p < 1e-9
    (0.2, True)
    """
    stratum = np.unique(np.asarray(strata), return_inverse=True)[1]
    codes = np.unique(np.asarray(items), return_inverse=True)[1]
    n = int(codes.max()) + 1 if len(codes) else 0
    if n < FEW:
        return effect_of_too_few(n)
    x = _centred_in_strata(np.asarray(log_length, np.float64), stratum)
    y = _centred_in_strata(np.asarray(values, np.float64), stratum)
    cross, square = np.bincount(codes, x * y), np.bincount(codes, x * x)
    if square.sum() - square.max() <= EXACT:
        return BiasEffect.undefined("Answers that deserve the same do not differ in it.", n)
    slope = float(cross.sum() / square.sum())
    left_out = (cross.sum() - cross) / (square.sum() - square)
    error = float(np.sqrt((n - 1) / n * ((left_out - left_out.mean()) ** 2).sum()))
    against = null or NullValue()
    return (
        effect_of_estimate(slope, error, n, against)
        if error > EXACT
        else effect_of_equal_items(slope, n, against)
    )


def _centred_in_strata(
    values: npt.NDArray[np.float64], stratum: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    means = np.bincount(stratum, values) / np.maximum(np.bincount(stratum), 1)
    deviations: npt.NDArray[np.float64] = values - means[stratum]
    return deviations
