"""Faults of a question: different interpretations, options that could be merged, overlap."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from math import sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from core.metrics.agreement.accuracy import accuracy, confusion
from core.metrics.agreement.ratings import MISSING, Patterns, patterns
from core.metrics.agreement.reliability import alpha_nominal, alpha_ordinal, item_agreement
from core.metrics.bias.effects import (
    FEW,
    BiasEffect,
    NullValue,
    effect_of_too_few,
    jackknife_effect,
    normal_p,
)
from core.metrics.estimate import Estimate
from core.metrics.measure import Array, GroupMeasure, Ratings, ratio_or_nan, root_of_nonnegative


class Agreement(NamedTuple):
    """Krippendorff's alpha as an effect, and the share of agreeing pairs of raters."""

    effect: BiasEffect
    alike: Estimate


def agreement(ratings: Ratings, k: int, ordered: bool, null: NullValue) -> Agreement:
    """Return Krippendorff's alpha, with the p of it being on the healthy side of ``null``.

    Ratings have shape (items, raters), levels 0 .. k-1, -1 if missing. Alpha is ordinal for ordered
    levels, otherwise nominal. Interval and p leave out one item at a time. Undefined for fewer than
    20 items rated twice, and if all ratings are the same level.

    >>> ratings = np.array([[0, 0], [1, 1], [0, 1], [1, 0]] * 10)
    >>> round(agreement(ratings, 2, False, NullValue(0.4, "below")).effect.estimate, 4)
    0.0125
    """
    distinct = patterns(ratings)
    return Agreement(
        _alpha_effect(distinct, k, ordered, null), item_agreement(distinct.rows, k, distinct.times)
    )


def _agreement_measure(k: int, ordered: bool) -> GroupMeasure:
    return alpha_ordinal if ordered and k > 2 else alpha_nominal


def _alpha_effect(distinct: Patterns, k: int, ordered: bool, null: NullValue) -> BiasEffect:
    rated = (distinct.rows >= 0).sum(axis=1) >= 2
    rows, times = distinct.rows[rated], distinct.times[rated].astype(np.float64)
    measure = _agreement_measure(k, ordered)
    figure = measure(rows, k, times)
    if figure.value is None:
        return BiasEffect.undefined(figure.reason, figure.n)
    without = measure.as_function_of_weights(rows, k, times)(times[:, None] - np.eye(len(rows)))
    return jackknife_effect(figure.value, without, null, times)


class Merge(NamedTuple):
    """The effect of merging levels ``first`` and ``second``.

    ``apart``: alpha among the ratings of these two levels, which measures whether raters can
    distinguish them (0: no better than chance). ``agreement`` and ``accuracy``: before, after.
    """

    first: int
    second: int
    apart: BiasEffect
    agreement: tuple[Estimate, Estimate]
    accuracy: tuple[Estimate, Estimate]

    @property
    def helps(self) -> bool:
        """Return whether merging raises alpha."""
        before, after = (figure.value for figure in self.agreement)
        return before is not None and after is not None and after > before


def merges(
    ratings: Ratings,
    labels: Ratings,
    k: int,
    ordered: bool,
    null: NullValue,
    *,
    judges: int | None = None,
) -> list[Merge]:
    """Return every merge of two levels: neighbours if levels are ordered, otherwise all pairs.

    It is computed from the ratings, without new calls. With two levels there is nothing to merge.

    Args:
        ratings: shape (items, raters), -1 if missing.
        labels: shape (items,), -1 if unknown; without truth there is no accuracy.
        k: the number of levels.
        ordered: whether levels have an order.
        null: the null value of ``apart``.
        judges: the number of first raters that are scored against the truth (default: all); if the
            truth is a rater itself, it must not be one of them.

    >>> ratings = np.array([[0, 0], [1, 2], [2, 1], [1, 1], [2, 2]] * 8)
    >>> [(m.first, m.second, m.helps) for m in merges(ratings, ratings[:, 0], 3, True, NullValue())]
    [(0, 1, False), (1, 2, True)]
    """
    if k < 3:
        return []
    pairs = [(a, a + 1) for a in range(k - 1)] if ordered else list(combinations(range(k), 2))
    distinct = patterns(np.column_stack([labels, ratings]))
    scored = 1 + (ratings.shape[1] if judges is None else judges)
    return [_merge_of_pair(distinct, k, ordered, pair, null, scored) for pair in pairs]


def _merge_of_pair(
    distinct: Patterns, k: int, ordered: bool, pair: tuple[int, int], null: NullValue, scored: int
) -> Merge:
    a, b = pair
    target = np.arange(k)
    target[b] = a
    target[b + 1 :] -= 1
    rows, times = distinct.rows, distinct.times
    joined = np.where(rows >= 0, target[rows], MISSING)
    of_pair = np.full(k, MISSING)
    of_pair[[a, b]] = 0, 1
    ratings = np.where(rows >= 0, of_pair[rows], MISSING)[:, 1:]
    return Merge(
        a,
        b,
        _alpha_effect(Patterns(ratings, times, distinct.of_item), 2, False, null),
        (
            _agreement_measure(k, ordered)(rows[:, 1:], k, times),
            _agreement_measure(k - 1, ordered)(joined[:, 1:], k - 1, times),
        ),
        (
            _rating_accuracy(rows[:, :scored], times, k),
            _rating_accuracy(joined[:, :scored], times, k - 1),
        ),
    )


def _rating_accuracy(rows: Ratings, times: Ratings, k: int) -> Estimate:
    """Return the share of ratings that equal the truth, which is the first column."""
    truth = np.repeat(np.repeat(rows[:, 0], times), rows.shape[1] - 1)
    return accuracy(confusion(truth, np.repeat(rows[:, 1:], times, axis=0).ravel(), k))


Association = Callable[[Array], Array]
#: The normal quantile of a two-sided 95% interval, and the number of bisections for its end.
_SURE, _HALVINGS = 1.959963984540054, 12


def correlation_of(x: npt.ArrayLike, y: npt.ArrayLike) -> Association:
    """Return Pearson's r of tables for values ``x[i]`` of row i and ``y[j]`` of column j.

    Tables have shape (..., rows, columns) and any total (Pearson 1896). NaN if a side is constant.

    >>> float(correlation_of([0, 1], [0, 1])(np.array([[4.0, 1.0], [1.0, 4.0]])))
    0.6
    """
    across, down = np.asarray(x, np.float64), np.asarray(y, np.float64)

    def correlation_of_tables(tables: Array) -> Array:
        n = tables.sum(axis=(-2, -1))
        rows, columns = tables.sum(axis=-1), tables.sum(axis=-2)
        a = across - ratio_or_nan(rows @ across, n)[..., None]
        b = down - ratio_or_nan(columns @ down, n)[..., None]
        shared = (a * (tables @ b[..., None])[..., 0]).sum(axis=-1)
        spread = (rows * a**2).sum(axis=-1) * (columns * b**2).sum(axis=-1)
        return ratio_or_nan(shared, root_of_nonnegative(np.where(spread > 1e-18, spread, 0.0)))

    return correlation_of_tables


def cramers_v(tables: Array) -> Array:
    """Return the association of two sets of unordered levels, in [0, 1] (Cramer 1946, ch. 21).

    Tables have shape (..., rows, columns); unused levels do not count. NaN if a side is constant.

    >>> float(cramers_v(np.array([[5.0, 0.0, 0.0], [0.0, 5.0, 0.0]])))
    1.0
    """
    n = tables.sum(axis=(-2, -1))
    rows, columns = tables.sum(axis=-1), tables.sum(axis=-2)
    expected = rows[..., :, None] * columns[..., None, :]
    square = np.nan_to_num(ratio_or_nan(tables**2, expected)).sum(axis=(-2, -1)) - (n > 0)
    used = np.minimum((rows > 0).sum(axis=-1), (columns > 0).sum(axis=-1)) - 1
    return root_of_nonnegative(ratio_or_nan(square, used))


def redundancy(table: npt.ArrayLike, association: Association, limit: float) -> BiasEffect:
    """Return how much two questions give the same answer, and the p of it being at most ``limit``.

    ``table`` counts items by the answers to both, shape (rows, columns). The estimate is signed,
    since one question may be the reverse of the other. The p is a score test: its variance is that
    of the table shrunk towards independence until its association is the limit, so that two
    questions that never differed on a few items do not count as equal (Rao 1948). The interval of
    the absolute value starts where that test gives 2.5% and ends at 1 or less. Undefined for fewer
    than 20 items and if a side is constant.

    >>> same = redundancy([[60, 0], [0, 140]], correlation_of([0, 1], [0, 1]), 0.8)
    >>> round(same.estimate, 2), same.p < 0.001, 0.8 < same.low
    (1.0, True, True)
    """
    counts = np.asarray(table, np.float64)
    n = int(counts.sum())
    if n < FEW:
        return effect_of_too_few(n)
    signed = float(association(counts))
    if not np.isfinite(signed):
        return BiasEffect.undefined("One of the two questions has the same answer everywhere.", n)
    size = min(1.0, abs(signed))
    z = _standard_score(counts, association, size, limit) if size > limit else 0.0
    p = normal_p(z, "above") if size > limit else 1.0
    low, high = _interval_ends(counts, association, size)
    ends = (low, high) if signed >= 0 else (-high, -low)
    return BiasEffect(signed, *ends, n, p)


def _standard_score(counts: Array, association: Association, size: float, at: float) -> float:
    """Return how many standard errors the association is above ``at``, assuming ``at`` is true."""
    error = _jackknife_error(_shrunk_table(counts, at / size), association)
    return (size - at) / error if error > 0 else 0.0


def _shrunk_table(counts: Array, share: float) -> Array:
    """Return the table shrunk towards independence; r and V shrink by that share."""
    n = counts.sum()
    independent = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / n
    mixed: Array = share * counts + (1 - share) * independent
    return mixed


def _jackknife_error(counts: Array, association: Association) -> float:
    """Return the standard error by the infinitesimal jackknife (Efron 1982, section 6.3)."""
    n, cells = counts.sum(), counts.size
    step = 1e-5 * n
    nudged = counts + step * np.eye(cells).reshape(cells, *counts.shape)
    slope = (np.abs(association(nudged)) - abs(association(counts))) * n / step
    weight = counts.ravel() / n
    centred = slope - weight @ slope
    return sqrt(float(weight @ centred**2) / n)


def _interval_ends(counts: Array, association: Association, size: float) -> tuple[float, float]:
    high = min(1.0, size + _SURE * _jackknife_error(counts, association))
    if size < 1e-9:
        return 0.0, high
    below, above = 0.0, size
    for _ in range(_HALVINGS):
        middle = (below + above) / 2
        if _standard_score(counts, association, size, middle) > _SURE:
            below = middle
        else:
            above = middle
    return below, high


def item_rest(values: Array, question: int, null: NullValue) -> BiasEffect:
    """Return the correlation of a question's values with the mean of the other questions'.

    The corrected item-total correlation (Henrysson 1963); interval and p leave out items, on
    Fisher's z (1921). ``values`` has shape (items, questions), NaN if missing. An item counts if
    the question and at least two others have a value. Undefined for fewer than 20 items, with
    fewer than three questions, and if a side is constant.

    >>> rng = np.random.default_rng(2)
    >>> values = rng.normal(size=(300, 1)) + rng.normal(size=(300, 4))
    >>> values[:, 3] = rng.normal(size=300)
    >>> [round(item_rest(values, q, NullValue(0.2, "below")).estimate, 1) for q in (0, 3)]
    [0.5, 0.1]
    """
    if values.shape[1] < 3:
        return BiasEffect.undefined("There are fewer than three questions.")
    other_values = np.delete(values, question, axis=1)
    number = (~np.isnan(other_values)).sum(axis=1)
    rows = (number >= 2) & ~np.isnan(values[:, question])
    n = int(rows.sum())
    if n < FEW:
        return effect_of_too_few(n)
    x = values[rows, question]
    y = np.nansum(other_values[rows], axis=1) / number[rows]
    x, y = x - x.mean(), y - y.mean()
    if (x**2).sum() < 1e-12 or (y**2).sum() < 1e-12:
        return BiasEffect.undefined("It has the same answer everywhere, or the others have.", n)
    r = float((x * y).sum() / sqrt(float((x**2).sum() * (y**2).sum())))
    return _fisher_effect(x, y, min(max(r, -0.999999), 0.999999), null)


def _fisher_effect(x: Array, y: Array, r: float, null: NullValue) -> BiasEffect:
    n = len(x)
    a, b = x / sqrt(float((x**2).mean())), y / sqrt(float((y**2).mean()))
    # The influence of each item on r (Devlin, Gnanadesikan and Kettenring 1975), in units of
    # Fisher's z.
    influence = (a * b - r * (a**2 + b**2) / 2) / (1 - r * r)
    on_z = NullValue(float(np.arctanh(null.value)), null.side)
    z = float(np.arctanh(r))
    effect = jackknife_effect(z, z - influence / (n - 1), on_z)
    if effect.low is None or effect.high is None:
        return effect
    low, high = (float(np.tanh(end)) for end in (effect.low, effect.high))
    return effect._replace(estimate=r, low=low, high=high)
