"""How much a group of raters agrees: Fleiss and Krippendorff; ICC over a complete block.

Ratings have shape (items, raters), levels 0 .. k-1, -1 if missing (abstentions and failures are not
ratings). Every coefficient is a function of sums over items, so its bootstrap is a product of item
weights and per-item terms.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from core.metrics.agreement.correlation_distance import midranks
from core.metrics.agreement.kappa import Weights, disagreement_weights
from core.metrics.agreement.ratings import level_counts
from core.metrics.measure import ROUNDING, Array, Ratings, Statistic, group_measure, ratio_or_nan

Metric = Literal["nominal", "ordinal", "interval"]
SINGLE = "All ratings are the same single level, so no disagreement was possible."


def _level_and_rating_counts(ratings: Ratings, k: int) -> tuple[Array, Array]:
    counts = level_counts(ratings, k).astype(np.float64)
    return counts, counts.sum(axis=1)


@group_measure(SINGLE)
def item_agreement(ratings: Ratings, k: int, times: Array) -> Statistic:
    """Return the mean over items of the share of agreeing pairs of raters, in [0, 1].

    Items count equally, however many raters they have: the mean P_i of Fleiss (1971), equation 2,
    over items with two or more ratings. Undefined without such items.

    >>> item_agreement([[0, 0, 1], [1, 1, -1], [0, -1, -1]], 2).value == (1 / 3 + 1) / 2
    True
    """
    counts, number = _level_and_rating_counts(ratings, k)
    share = np.nan_to_num(ratio_or_nan((counts * (counts - 1)).sum(axis=1), number * (number - 1)))
    terms = np.stack([share, number >= 2], axis=1)

    def value_of_weights(weights: Array) -> Array:
        sums = terms.T @ weights
        return ratio_or_nan(sums[0], sums[1])

    return value_of_weights


def _krippendorff_alpha(ratings: Ratings, k: int, metric: Metric) -> Statistic:
    """Return 1 - observed / expected disagreement, from the coincidences of pairable values."""
    counts, number = _level_and_rating_counts(ratings, k)
    pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(k)
    share = np.nan_to_num(ratio_or_nan(1.0, number - 1)) * (number >= 2)
    terms = (pairs * share[:, None, None]).reshape(len(ratings), k * k)

    def value_of_weights(weights: Array) -> Array:
        coincidences = (terms.T @ weights).reshape(k, k, -1)
        values = coincidences.sum(axis=1)
        total = values.sum(axis=0)
        distance = _squared_distance(values, metric)
        observed = (coincidences * distance).sum(axis=(0, 1))
        expected = (values[:, None] * values * distance).sum(axis=(0, 1))
        # A single division keeps n (n - 1) / n exact in 1 - (n - 1) D_o / D_e.
        used = (values > 1e-9).sum(axis=0)
        return np.where(used < 2, np.nan, 1 - ratio_or_nan((total - 1) * observed, expected))

    return value_of_weights


def _squared_distance(values: Array, metric: Metric) -> Array:
    """Return squared differences of levels, shape (k, k, resamples)."""
    if metric == "ordinal":
        place = np.cumsum(values, axis=0) - values / 2
        return np.asarray((place[:, None] - place) ** 2, np.float64)
    weights: Weights = "none" if metric == "nominal" else "quadratic"
    return disagreement_weights(len(values), weights)[:, :, None]


@group_measure(SINGLE)
def alpha_nominal(ratings: Ratings, k: int, times: Array) -> Statistic:
    """Return Krippendorff's alpha for unordered levels, at most 1 (Krippendorff 2011, section B).

    Items with one rating are left out. Undefined without pairs, and if all pairable ratings are
    equal: without variation, reliability is unknown (Krippendorff 2011, section E).

    >>> round(alpha_nominal([[0, 0], [1, 1], [0, 1]], 2).value, 4)
    0.4444
    """
    return _krippendorff_alpha(ratings, k, "nominal")


@group_measure(SINGLE)
def alpha_ordinal(ratings: Ratings, k: int, times: Array) -> Statistic:
    """Return Krippendorff's alpha for ordered levels (Krippendorff 2011, metric of section D).

    The distance of two levels is the squared number of ratings between them, counting half of their
    own; unused levels do not matter. Undefined like ``alpha_nominal``.

    >>> round(alpha_ordinal([[0, 0], [2, 2], [0, 1]], 3).value, 4)
    0.7778
    """
    return _krippendorff_alpha(ratings, k, "ordinal")


@group_measure(SINGLE)
def alpha_interval(ratings: Ratings, k: int, times: Array) -> Statistic:
    """Return Krippendorff's alpha for levels at equal distances (Krippendorff 2011, section D).

    Undefined like ``alpha_nominal``.

    >>> round(alpha_interval([[0, 0], [2, 2], [0, 1]], 3).value, 4)
    0.8276
    """
    return _krippendorff_alpha(ratings, k, "interval")


def modal_number(ratings: Ratings, times: Array) -> int:
    """Return the most common number of ratings per item among those with two or more, or 0.

    In a tie, it is the larger number. ``times`` is the number of items of each row.

    >>> modal_number(np.array([[0, 0, 1], [0, 1, -1]]), np.array([2.0, 1.0]))
    3
    """
    number = (ratings >= 0).sum(axis=1)
    shared = number >= 2
    item_counts = np.bincount(number[shared], times[shared], minlength=1)
    return int(len(item_counts) - 1 - item_counts[::-1].argmax()) if item_counts.any() else 0


@group_measure(SINGLE)
def fleiss_kappa(ratings: Ratings, k: int, times: Array) -> Statistic:
    """Return agreement beyond chance of any number of raters, in [-1, 1] (Fleiss 1971, equation 7).

    The formula needs one number of ratings for all items: items with a different number than the
    most common (``modal_number``) are left out. Undefined without remaining items, or with a single
    used level.

    >>> round(fleiss_kappa([[0, 0], [1, 1], [0, 1], [0, -1]], 2).value, 6)
    0.333333
    """
    size = modal_number(ratings, times)
    counts, number = _level_and_rating_counts(ratings, k)
    used = (number == size) & (number >= 2)
    share = np.nan_to_num(ratio_or_nan((counts**2).sum(axis=1) - number, number * (number - 1)))
    terms = np.column_stack([share, np.ones(len(share)), counts]) * used[:, None]

    def value_of_weights(weights: Array) -> Array:
        sums = terms.T @ weights
        observed = ratio_or_nan(sums[0], sums[1])
        levels = sums[2:]
        chance = ratio_or_nan((levels**2).sum(axis=0), levels.sum(axis=0) ** 2)
        single = (levels > 0).sum(axis=0) < 2
        return np.where(single, np.nan, ratio_or_nan(observed - chance, 1 - chance))

    return value_of_weights


def _gwet_coefficient(ratings: Ratings, k: int, weights_of: Weights) -> Statistic:
    """Return Gwet's coefficient (2008), with partial credit by ``weights_of``.

    Items may have any number of ratings.
    """
    counts, number = _level_and_rating_counts(ratings, k)
    gap = disagreement_weights(k, weights_of)
    credit = 1 - gap / gap.max()
    agreeing = (counts * (counts @ credit - 1)).sum(axis=1)
    share = np.nan_to_num(ratio_or_nan(agreeing, number * (number - 1))) * (number >= 2)
    used = np.nan_to_num(ratio_or_nan(counts, number[:, None]))
    terms = np.column_stack([share, number >= 2, number >= 1, used])

    def value_of_weights(weights: Array) -> Array:
        sums = terms.T @ weights
        observed = ratio_or_nan(sums[0], sums[1])
        levels = ratio_or_nan(sums[3:], sums[2])
        chance = credit.sum() / (k * (k - 1)) * (levels * (1 - levels)).sum(axis=0)
        return ratio_or_nan(observed - chance, 1 - chance)

    return value_of_weights


@group_measure(SINGLE)
def gwet_ac1(ratings: Ratings, k: int, times: Array) -> Statistic:
    """Return agreement beyond chance that is meaningful if one level prevails (Gwet 2008, eq. 7).

    Observed agreement as in ``item_agreement``; items with one rating count for the frequency of
    levels. All k levels of the scale count. Undefined without an item rated twice.

    >>> gwet_ac1([[0, 0], [1, 1], [0, 1], [0, 0]], 2).value == (0.75 - 0.46875) / (1 - 0.46875)
    True
    """
    return _gwet_coefficient(ratings, k, "none")


@group_measure(SINGLE)
def gwet_ac2(ratings: Ratings, k: int, times: Array) -> Statistic:
    """Return AC1 with partial credit 1 - (distance / (k - 1))^2 for ordered levels (Gwet 2014, ch.
    3).

    Undefined without an item rated twice.

    >>> round(gwet_ac2([[0, 0], [2, 2], [0, 1], [1, 1]], 3).value, 4)
    0.8182
    """
    return _gwet_coefficient(ratings, k, "quadratic")


def rated_by_all(ratings: Ratings) -> npt.NDArray[np.bool_]:
    """Return which items were rated by every rater; none if there are fewer than two raters."""
    if ratings.shape[1] < 2:
        return np.zeros(len(ratings), np.bool_)
    return np.asarray(np.all(ratings >= 0, axis=1), np.bool_)


def _why_undefined(ratings: Ratings, times: Array) -> str:
    complete_items = int(times[rated_by_all(ratings)].sum())
    if complete_items < 2:
        subject = f"{complete_items} item was" if complete_items else "No item was"
        return f"{subject} rated by all {ratings.shape[1]} raters; two items are needed."
    if len({tuple(row) for row in ratings[rated_by_all(ratings)].tolist()}) > 1:
        return "Items differ so much less than their ratings that no variance is left to share."
    return "All complete items were rated the same, so nothing varies."


class _Squares(NamedTuple):
    """Mean squares of the two-way layout, with n items and m raters."""

    items: Array
    raters: Array
    error: Array
    n: Array
    m: int


def _mean_squares(ratings: Ratings) -> Statistic:
    """Return the function from item weights to mean squares, stacked (Shrout and Fleiss 1979, table
    2).
    """
    whole_items = rated_by_all(ratings)
    levels = np.where(whole_items[:, None], ratings, 0).astype(np.float64)
    m = ratings.shape[1]
    terms = np.column_stack(
        [
            whole_items,
            levels.sum(axis=1) ** 2,
            (levels**2).sum(axis=1),
            levels * whole_items[:, None],
        ]
    )

    def value_of_weights(weights: Array) -> Array:
        sums = terms.T @ weights
        n, columns = sums[0], sums[3:]
        centre = ratio_or_nan(columns.sum(axis=0) ** 2, n * m)
        between_items = sums[1] / m - centre
        between_raters = ratio_or_nan((columns**2).sum(axis=0), n) - centre
        residual = sums[2] - centre - between_items - between_raters
        # Rounding errors in terms that should cancel would make a perfect panel 0.999...
        parts = np.stack([between_items, between_raters, residual])
        parts[np.abs(parts) <= ROUNDING * sums[2]] = 0.0
        degrees_of_freedom = np.stack([n - 1, np.full_like(n, m - 1), (n - 1) * (m - 1)])
        return np.vstack([ratio_or_nan(parts, np.maximum(degrees_of_freedom, 0)), n])

    return value_of_weights


def _split_squares(stacked: Array, m: int) -> _Squares:
    return _Squares(stacked[0], stacked[1], stacked[2], stacked[3], m)


def _variance_share(s: _Squares, total: Array) -> Array:
    """Return the variance between items as a share of ``total``; NaN if that is 0 or negative.

    The variances are estimated by differences, so their sum may be zero or negative.
    """
    size = s.items + s.raters + s.error
    return ratio_or_nan(s.items - s.error, np.where(total <= ROUNDING * size, 0.0, total))


@group_measure(_why_undefined)
def icc_2_1(ratings: Ratings, k: int, times: Array) -> Statistic:
    """Return the absolute agreement of one rater's levels, two-way random, at most 1: ICC(2,1).

    Shrout and Fleiss (1979), equation for ICC(2,1), on the items that all rated. Undefined with
    fewer than two such items or two raters, without variation, and if the estimated variances add
    up to zero or less.

    >>> round(icc_2_1([[0, 1], [1, 1], [2, 3], [3, 3]], 4).value, 4)
    0.8421
    """
    squares = _mean_squares(ratings)

    def value_of_weights(weights: Array) -> Array:
        s = _split_squares(squares(weights), ratings.shape[1])
        rater_effect = ratio_or_nan(s.raters - s.error, s.n)
        return _variance_share(s, s.items + (s.m - 1) * s.error + s.m * rater_effect)

    return value_of_weights


@group_measure(_why_undefined)
def icc_2_k(ratings: Ratings, k: int, times: Array) -> Statistic:
    """Return the absolute agreement of the mean of these raters, at most 1: ICC(2,k).

    Two-way random. Shrout and Fleiss (1979), equation for ICC(2,k). Undefined like ``icc_2_1``.

    >>> round(icc_2_k([[0, 1], [1, 1], [2, 3], [3, 3]], 4).value, 4)
    0.9143
    """
    squares = _mean_squares(ratings)

    def value_of_weights(weights: Array) -> Array:
        s = _split_squares(squares(weights), ratings.shape[1])
        return _variance_share(s, s.items + ratio_or_nan(s.raters - s.error, s.n))

    return value_of_weights


@group_measure(_why_undefined)
def kendall_w(ratings: Ratings, k: int, times: Array) -> Statistic:
    """Return the concordance of the raters' rankings of the items, corrected for ties, in [0, 1].

    Kendall and Babington Smith (1939); ties: Kendall (1948), chapter 6. On the items that all
    rated; undefined with fewer than two of them or two raters, and if every rater used one level.

    >>> kendall_w([[0, 0], [1, 1], [2, 2]], 3).value
    1.0
    """
    whole_items = rated_by_all(ratings)
    block = ratings[whole_items]
    m = ratings.shape[1]
    # One column per level and rater: 1 where the rater gave the item that level, else 0.
    chosen = (block[:, None, :] == np.arange(k)[:, None]).reshape(len(block), k * m) * 1.0

    def value_of_weights(weights: Array) -> Array:
        used = weights[whole_items]
        counts = (chosen.T @ used).reshape(k, m, -1)
        n = used.sum(axis=0)
        ranks = midranks(counts).reshape(k * m, -1)
        sums = chosen @ ranks - m * (n + 1) / 2
        spread = 12 * (used * sums**2).sum(axis=0)
        ties = (counts**3 - counts).sum(axis=(0, 1))
        most = m**2 * (n**3 - n) - m * ties
        return np.where(n < 2, np.nan, np.clip(ratio_or_nan(spread, most), 0, 1))

    return value_of_weights
