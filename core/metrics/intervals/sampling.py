"""Estimates for all items from labels of some: unequal sampling, or prediction-powered."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from core.metrics.estimate import USUAL, Estimate
from core.metrics.intervals.finite import upper_bound_of_rest

# Estimates for all items from labels of some, drawn with unequal probability.
#
# A review queue holds the hard items, so its results alone say nothing about the rest. All of its
# items are decided and count once each; a random draw from everything else (the audit) represents
# all of it. If it is too small there is no headline figure.

#: The least number of audited items for a headline figure.
AUDIT = 10


def mean_of_selected(
    values: npt.ArrayLike,
    stands: npt.ArrayLike,
    audited: npt.ArrayLike,
    level: float = USUAL.level,
) -> Estimate:
    """Return the mean over all items, from labelled ones and how many items each stands for.

    It is sum(w y) / sum(w): the audit is post-stratified to its population (Holt and
    Smith 1979). Its variance is the audit's alone, sum(w (w - 1) (y - mean)^2) / sum(w)^2, with t
    on as many items as the weights are worth (Kish 1965: sum(w)^2 / sum(w^2)). Two added items, a 0
    and a 1, at the audit's largest weight, keep the variance of shares from vanishing if all
    audited items are equal (Agresti and Coull 1998 do so for a plain share). If all audited items
    have the same weight and are 0 or 1, the interval is exact instead, as for a simple random draw
    without replacement (``upper_bound_of_rest``).

    Args:
        values: the numbers to average, in [0, 1] (1: right, 0: wrong, or a score), shape
            (labelled,).
        stands: how many items each stands for, itself included: 1 if it was certain to be labelled,
            0 if others stand for it; same shape.
        audited: whether the random audit holds it, same shape.
        level: the probability with which the interval holds the true value.

    Undefined with fewer than 10 audited items. Raises ``ValueError`` for a negative number.

    >>> mean_of_selected([1.0, 0.0], [2, 1], [True, False]).reason
    'Only 1 cell was drawn at random; 10 are needed to speak of all cells.'
    """
    y, weight = np.asarray(values, np.float64), np.asarray(stands, np.float64)
    is_drawn = np.asarray(audited, np.bool_)
    if (weight < 0).any():
        raise ValueError("no item stands for fewer than none")
    audit = int(is_drawn.sum())
    if audit < AUDIT:
        subject = "cell was" if audit == 1 else "cells were"
        reason = (
            f"Only {audit} {subject} drawn at random; {AUDIT} are needed to speak of all cells."
        )
        return Estimate.undefined(reason, len(y))
    mean = float(weight @ y / weight.sum())
    hits, weights = y[is_drawn], weight[is_drawn]
    if np.isin(hits, (0.0, 1.0)).all() and np.ptp(weights) < 1e-9:
        low, high = _exact_ends(y, weight, is_drawn, level)
        return Estimate(mean, min(low, mean), max(high, mean), n=len(y))
    middle = float(weights @ hits / weights.sum())
    hits, weights = np.append(hits, [0.0, 1.0]), np.append(weights, [weights.max()] * 2)
    square = float((weights * np.maximum(weights - 1, 0.0) * (hits - middle) ** 2).sum())
    n_eff = float(weights.sum() ** 2 / (weights**2).sum())
    estimate = _mean_with_interval(mean, sqrt(square) / float(weight.sum()), n_eff, len(y), level)
    # Observed hits and misses are certain, whatever the unlabelled items are.
    counted = weight > 0
    hit, missed = float(y[counted].sum()), float((1 - y[counted]).sum())
    low, high = hit / float(weight.sum()), 1 - missed / float(weight.sum())
    return estimate._replace(
        low=max(estimate.low or 0.0, low), high=min(estimate.high or 1.0, high)
    )


def _exact_ends(
    y: npt.NDArray[np.float64],
    weight: npt.NDArray[np.float64],
    is_drawn: npt.NDArray[np.bool_],
    level: float,
) -> tuple[float, float]:
    """Return the ends if all drawn items, each 0 or 1, have equal weight; others are known."""
    n, right = int(is_drawn.sum()), int(y[is_drawn].sum())
    rest, tail = max(0, round(float(weight[is_drawn].sum())) - n), (1 - level) / 2
    not_drawn, undrawn_weight = float((weight * y)[~is_drawn].sum()), float(weight[~is_drawn].sum())
    least = rest * (1 - upper_bound_of_rest(n - right, n, rest, tail))
    most = rest * upper_bound_of_rest(right, n, rest, tail)
    low, high = (
        (not_drawn + right + extra) / (undrawn_weight + n + rest) for extra in (least, most)
    )
    return low, high


def plain_mean(y: npt.NDArray[np.float64], level: float = USUAL.level) -> Estimate:
    """Return the mean over the labelled items alone, however they were chosen.

    It belongs beside ``mean_of_selected``, never in its place.
    """
    if not len(y):
        return Estimate.undefined("No such item was labelled.")
    mean = float(y.mean())
    padded = np.append(y, [0.0, 1.0])
    error = float(padded.std(ddof=1)) / sqrt(len(padded))
    return _mean_with_interval(mean, error, float(len(padded)), len(y), level)


def _mean_with_interval(mean: float, error: float, n_eff: float, n: int, level: float) -> Estimate:
    half = float(stdtrit(max(n_eff - 1, 1.0), (1 + level) / 2)) * error
    return Estimate(mean, max(0.0, mean - half), min(1.0, mean + half), n=n)


# The mean over all items from judges' values for all and people's for some.
#
# Prediction-powered inference (Angelopoulos, Bates, Fannjiang, Jordan and Zrnic 2023): the mean of
# the judges' values, corrected by their error on labelled items. However wrong the judges are, the
# interval holds; the better they are, the narrower it is.
#
#     estimate = lambda * mean(f over all) + sum(w (y - lambda f)) / sum(w)      w = 1 / chance
#
# ``lambda`` (Angelopoulos, Duchi and Zrnic 2023, PPI++, equation 11 for means) is the weight of the
# judges: 0 is the labels alone, 1 plain prediction-powered inference. It minimises the variance,
# within [0, 1].


class Powered(NamedTuple):
    """A mean, or a mean gap, three ways: ``mean`` uses people and judges, ``labels`` only people,
    ``raw`` only judges. ``listened`` is lambda; ``p`` the two-sided p value of a defined gap.
    """

    mean: Estimate
    labels: Estimate
    raw: float
    listened: float
    p: float | None = None


def powered_mean(
    judge_values: npt.ArrayLike,
    values: npt.ArrayLike,
    labelled: npt.ArrayLike,
    stratum: npt.ArrayLike | None = None,
    *,
    listen: float | None = None,
    level: float = USUAL.level,
) -> Powered:
    """Return the mean of people's values over all items, with its interval.

    Args:
        judge_values: the judges' values, or probabilities of being right, shape (items,).
        values: people's values of the labelled items, in [0, 1], shape (labelled,).
        labelled: which items have one, shape (items,).
        stratum: which items had equal probability, any integers, shape (items,), such as the queue
            and the rest. Within a stratum the labelled items must be a random draw. One by default.
        listen: lambda, in [0, 1]; chosen to minimise the variance by default.
        level: the probability with which intervals hold the true value.

    The items are a finite population, so a fully labelled stratum adds no uncertainty: the variance
    is sum (N_h / N)^2 (1 - n_h / N_h) s_h^2 / n_h with s_h^2 of y - lambda f (Cochran 1977,
    sections 5.4 and 7.2), with t on the degrees of the strata's variances together (Satterthwaite
    1946) minus one for lambda, whose fitting also widens it (``fitting_factor``). If values are
    0 or 1, or all y - lambda f are equal, four more at half a point above and below their mean keep
    s_h from 0 (Agresti and Coull 1998 add four to a share).

    Undefined with fewer than 10 labels drawn at random, or if a stratum has fewer than two. Raises
    ``ValueError`` for shapes that do not fit.

    >>> few = powered_mean([0.5, 1.0], [1.0], [True, False])
    >>> few.mean.reason
    'Only 1 item was drawn at random; 10 are needed to speak of all items.'
    """
    sample = _labelled_sample(judge_values, values, labelled, stratum)
    raw = float(sample.said.mean()) if len(sample.said) else 0.0
    reason = _why_no_mean(sample)
    if reason:
        undefined = Estimate.undefined(reason, len(sample.values))
        return Powered(undefined, undefined, raw, 0.0)
    chosen = _least_variance_lambda(sample) if listen is None else listen
    return Powered(
        _mean_estimate(sample, chosen, level, fitted=listen is None),
        _mean_estimate(sample, 0.0, level),
        raw,
        chosen,
    )


def item_shares(
    items: npt.ArrayLike,
    weights: npt.ArrayLike,
    judge_values: npt.ArrayLike,
    values: npt.ArrayLike,
    strata: npt.ArrayLike,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.int64], float]:
    """Return the arguments of ``powered_mean`` if items were drawn with all of their cells.

    These are the weighted ``judge_values`` and ``values`` of items as shares of the most possible
    points (NaN if a value is unknown), their strata, and the smallest possible share. All arguments
    have one entry per cell; the cells of an item are in one stratum. Items without positive weight
    are left out.

    >>> found = item_shares([7, 7, 9], [3, 1, 1], [0, 1, 1], [1, np.nan, 0], [1, 1, 2])
    >>> [column.tolist() for column in found[:3]]
    [[0.25, 1.0], [nan, 0.0], [1, 2]]
    """
    _, first, item = np.unique(items, return_index=True, return_inverse=True)
    w, f, y = (np.asarray(column, np.float64) for column in (weights, judge_values, values))
    reach = np.bincount(item, np.maximum(w, 0.0))
    reached = reach > 0
    down = np.bincount(item, np.minimum(w, 0.0))[reached] / reach[reached]
    said_points, known_points = (
        np.bincount(item, w * values_)[reached] / reach[reached] for values_ in (f, y)
    )
    strata_reached = np.asarray(strata, np.int64)[first][reached]
    return said_points, known_points, strata_reached, float(down.min(initial=0.0))


class _Part(NamedTuple):
    """A stratum: its share of all items, the judges' values of all, and of the labelled items."""

    share: float
    all: npt.NDArray[np.float64]
    said: npt.NDArray[np.float64]
    values: npt.NDArray[np.float64]

    @property
    def unlabelled_share(self) -> float:
        """Return the unlabelled share of the stratum's items."""
        return 1 - len(self.values) / len(self.all)


class _Sample(NamedTuple):
    said: npt.NDArray[np.float64]
    values: npt.NDArray[np.float64]
    parts: tuple[_Part, ...]

    @property
    def random(self) -> int:
        """Return the number of labels in strata that are not fully labelled."""
        return sum(len(part.values) for part in self.parts if part.unlabelled_share > 0)


def _labelled_sample(
    judge_values: npt.ArrayLike,
    values: npt.ArrayLike,
    labelled: npt.ArrayLike,
    stratum: npt.ArrayLike | None,
) -> _Sample:
    f, y = np.asarray(judge_values, np.float64), np.asarray(values, np.float64)
    has_label = np.asarray(labelled, np.bool_)
    kinds = np.zeros(len(f), np.int64) if stratum is None else np.asarray(stratum, np.int64)
    if f.shape != has_label.shape or f.shape != kinds.shape or len(y) != has_label.sum():
        raise ValueError("one judges' value, mark and stratum per item, one value per label")
    spread_out = np.zeros(len(f))
    spread_out[has_label] = y
    parts = tuple(
        _Part(
            float((kinds == kind).mean()),
            f[kinds == kind],
            f[has_label & (kinds == kind)],
            spread_out[has_label & (kinds == kind)],
        )
        for kind in np.unique(kinds)
    )
    return _Sample(f, y, parts)


def _why_no_mean(sample: _Sample) -> str:
    drawn = sample.random
    complete = bool(sample.parts) and all(part.unlabelled_share == 0 for part in sample.parts)
    if drawn < AUDIT and not complete:
        subject = "item was" if drawn == 1 else "items were"
        return f"Only {drawn} {subject} drawn at random; {AUDIT} are needed to speak of all items."
    for part in sample.parts:
        if part.unlabelled_share > 0 and len(part.values) < 2:
            labels_found = "only 1" if len(part.values) else "none"
            return (
                f"Of a group of {len(part.all)} items {labels_found} is labelled; "
                "2 of each group are needed to speak of all."
            )
    return ""


def _least_variance_lambda(sample: _Sample) -> float:
    """Return the regression coefficient of people's values on judges', within strata, by share."""
    together = alone = 0.0
    for part in sample.parts:
        n = len(part.values)
        if part.unlabelled_share == 0:
            continue
        weight = part.share**2 * part.unlabelled_share / (n * (n - 1))
        gap = part.said - part.said.mean()
        together += weight * float(gap @ (part.values - part.values.mean()))
        alone += weight * float(gap @ gap)
    return min(1.0, max(0.0, together / alone)) if alone > 0 else 0.0


def _mean_estimate(
    sample: _Sample, listen: float, level: float, *, fitted: bool = False
) -> Estimate:
    mean, parts = 0.0, list[tuple[float, int]]()
    open_parts = sum(part.unlabelled_share > 0 for part in sample.parts)
    wider = fitting_factor(sample.random - open_parts) if fitted else 1.0
    for part in sample.parts:
        residuals = part.values - listen * part.said
        mean += part.share * (listen * float(part.all.mean()) + float(residuals.mean()))
        if part.unlabelled_share > 0:
            n = len(residuals)
            parts.append(
                (
                    part.share**2
                    * part.unlabelled_share
                    * _error_variance(residuals, part.values, wider)
                    / n,
                    n - 1,
                )
            )
    variance = sum(square for square, _ in parts)
    degrees = max(1.0, _degrees_of_freedom(parts) - fitted)
    half = float(stdtrit(degrees, (1 + level) / 2)) * sqrt(variance)
    return Estimate(mean, max(0.0, mean - half), min(1.0, mean + half), n=len(sample.values))


def _degrees_of_freedom(parts: list[tuple[float, int]]) -> float:
    """Return the degrees of freedom of a sum of variances with their own (Satterthwaite 1946).

    If few labels of one stratum carry most of the variance, they limit its certainty.

    >>> _degrees_of_freedom([(1.0, 9), (1.0, 9)])
    18.0
    >>> round(_degrees_of_freedom([(1.0, 2), (0.1, 40)]), 2)
    2.42
    """
    squares = sum(square**2 / max(1, degrees) for square, degrees in parts)
    total = sum(square for square, _ in parts)
    return total**2 / squares if squares else float(sum(degrees for _, degrees in parts))


def fitting_factor(spare: int) -> float:
    """Return the factor on the labels' variance if lambda was fitted to them.

    ``spare`` are their degrees before the fit. Fitted labels lie nearer to the line than others
    would, and lambda itself is uncertain (Cochran 1977, chapter 7, of the regression estimator).

    >>> round(fitting_factor(14), 3), round(fitting_factor(200), 3)
    (1.16, 1.01)
    """
    after_fit = max(1, spare - 1)
    return spare / after_fit * (1 + 1 / after_fit)


def _error_variance(
    residuals: npt.NDArray[np.float64], values: npt.NDArray[np.float64], wider: float
) -> float:
    """Return the variance s^2 of the judges' errors."""
    total = float(((residuals - residuals.mean()) ** 2).sum())
    if np.isin(values, (0.0, 1.0)).all() or total <= 1e-12:
        return (total + 4 * 0.25) / (len(residuals) + 3)
    return wider * total / (len(residuals) - 1)
