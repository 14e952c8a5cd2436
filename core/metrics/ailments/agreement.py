"""Do raters understand a question alike, and which of its options could be one?"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from core.metrics.accuracy import accuracy, confusion
from core.metrics.ailments.effect import BiasEffect, Null, jackknifed
from core.metrics.figure import Figure
from core.metrics.group import alpha_nominal, alpha_ordinal, item_agreement
from core.metrics.measure import GroupMeasure, Ratings
from core.metrics.ratings import MISSING, Patterns, patterns


class Agreement(NamedTuple):
    """Krippendorff's alpha as an effect, and the share of pairs of raters that answer alike."""

    effect: BiasEffect
    alike: Figure


def agreement(ratings: Ratings, k: int, ordered: bool, null: Null) -> Agreement:
    """Krippendorff's alpha with the p of it being on the healthy side of ``null``.

    Ratings have shape (items, raters), levels 0 .. k-1, -1 where there is none; the ordinal alpha
    where levels are ordered, else the nominal one. Interval and p leave out one item at a time.
    Undefined for fewer than 20 items rated twice, and where all ratings are the same level.

    >>> ratings = np.array([[0, 0], [1, 1], [0, 1], [1, 0]] * 10)
    >>> round(agreement(ratings, 2, False, Null(0.4, "below")).effect.estimate, 4)
    0.0125
    """
    seen = patterns(ratings)
    return Agreement(_alpha(seen, k, ordered, null), item_agreement(seen.rows, k, seen.times))


def _measure(k: int, ordered: bool) -> GroupMeasure:
    return alpha_ordinal if ordered and k > 2 else alpha_nominal


def _alpha(seen: Patterns, k: int, ordered: bool, null: Null) -> BiasEffect:
    rated = (seen.rows >= 0).sum(axis=1) >= 2
    rows, times = seen.rows[rated], seen.times[rated].astype(np.float64)
    measure = _measure(k, ordered)
    figure = measure(rows, k, times)
    if figure.value is None:
        return BiasEffect.undefined(figure.reason, figure.n)
    without = measure.over(rows, k, times)(times[:, None] - np.eye(len(rows)))
    return jackknifed(figure.value, without, null, times)


class Merge(NamedTuple):
    """What if levels ``first`` and ``second`` were one.

    ``apart``: alpha among the ratings that are one of the two, which says whether raters can tell
    them apart (0: no better than chance). ``agreement`` and ``accuracy`` are before and after.
    """

    first: int
    second: int
    apart: BiasEffect
    agreement: tuple[Figure, Figure]
    accuracy: tuple[Figure, Figure]

    @property
    def helps(self) -> bool:
        """Whether alpha is higher with the two as one."""
        before, after = (figure.value for figure in self.agreement)
        return before is not None and after is not None and after > before


def merges(
    ratings: Ratings,
    truth: Ratings,
    k: int,
    ordered: bool,
    null: Null,
    *,
    judges: int | None = None,
) -> list[Merge]:
    """Every what-if of two levels as one: neighbours where levels are ordered, else all pairs.

    Recomputed from the ratings; nothing is asked again. With two levels there is nothing to merge.

    Args:
        ratings: shape (items, raters), -1 where there is none.
        truth: shape (items,), -1 where unknown; without truth there is no accuracy.
        k: the number of levels.
        ordered: whether levels have an order.
        null: what ``apart`` is judged against.
        judges: the first so many raters are scored against the truth (default: all); where the
            truth is a rater itself, it must not be one of them.

    >>> ratings = np.array([[0, 0], [1, 2], [2, 1], [1, 1], [2, 2]] * 8)
    >>> [(m.first, m.second, m.helps) for m in merges(ratings, ratings[:, 0], 3, True, Null())]
    [(0, 1, False), (1, 2, True)]
    """
    if k < 3:
        return []
    pairs = [(a, a + 1) for a in range(k - 1)] if ordered else list(combinations(range(k), 2))
    seen = patterns(np.column_stack([truth, ratings]))
    scored = 1 + (ratings.shape[1] if judges is None else judges)
    return [_merge(seen, k, ordered, pair, null, scored) for pair in pairs]


def _merge(
    seen: Patterns, k: int, ordered: bool, pair: tuple[int, int], null: Null, scored: int
) -> Merge:
    a, b = pair
    target = np.arange(k)
    target[b] = a
    target[b + 1 :] -= 1
    rows, times = seen.rows, seen.times
    joined = np.where(rows >= 0, target[rows], MISSING)
    of_pair = np.full(k, MISSING)
    of_pair[[a, b]] = 0, 1
    two = np.where(rows >= 0, of_pair[rows], MISSING)[:, 1:]
    return Merge(
        a,
        b,
        _alpha(Patterns(two, times, seen.of_item), 2, False, null),
        (
            _measure(k, ordered)(rows[:, 1:], k, times),
            _measure(k - 1, ordered)(joined[:, 1:], k - 1, times),
        ),
        (
            _accuracy(rows[:, :scored], times, k),
            _accuracy(joined[:, :scored], times, k - 1),
        ),
    )


def _accuracy(rows: Ratings, times: Ratings, k: int) -> Figure:
    """The share of all ratings that equal the truth, which stands in the first column."""
    truth = np.repeat(np.repeat(rows[:, 0], times), rows.shape[1] - 1)
    return accuracy(confusion(truth, np.repeat(rows[:, 1:], times, axis=0).ravel(), k))
