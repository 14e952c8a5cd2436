"""The matrix of ratings, shape (items, raters): levels 0 .. k-1, and -1 if missing."""

from __future__ import annotations

from enum import IntEnum
from math import prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from core.metrics.estimate import Estimate
from core.metrics.measure import Array, Ratings

MISSING = -1


def level_counts(ratings: Ratings, k: int) -> npt.NDArray[np.int64]:
    """Return how many raters chose each level, per item; shape (items, k).

    The table n_ij of Fleiss (1971).

    >>> level_counts(np.array([[0, 1, 1], [2, -1, -1]]), 3).tolist()
    [[1, 2, 0], [0, 0, 1]]
    """
    return np.stack([(ratings == level).sum(axis=1) for level in range(k)], axis=1)


def mode_of(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the level with most votes along the last axis; -1 for a tie or without votes.

    >>> mode_of(np.array([[1, 2, 0], [1, 1, 0], [0, 0, 0]])).tolist()
    [1, -1, -1]
    """
    most = counts.max(axis=-1, keepdims=True)
    unique = (counts == most).sum(axis=-1) == 1
    return np.where(unique & (most[..., 0] > 0), counts.argmax(axis=-1), MISSING)


def majority(ratings: Ratings, k: int) -> npt.NDArray[np.int64]:
    """Return the unique mode of every item; -1 for a tie or without ratings.

    >>> majority(np.array([[0, 1, 1], [0, 1, -1]]), 2).tolist()
    [1, -1]
    """
    return mode_of(level_counts(ratings, k))


def majority_of_others(ratings: Ratings, k: int) -> npt.NDArray[np.int64]:
    """Return for every rater the unique mode of the others, shape (items, raters); -1 without one.

    Group members are compared with this, since a majority that includes their own vote would
    compare them partly with themselves.

    >>> majority_of_others(np.array([[0, 1, 1], [0, 1, -1]]), 2).tolist()
    [[1, -1, -1], [1, 0, -1]]
    """
    chosen = ratings[:, :, None] == np.arange(k)
    return mode_of(level_counts(ratings, k)[:, None, :] - chosen)


class Means(NamedTuple):
    """The mean level of every item, and which items have one."""

    values: Array
    known: npt.NDArray[np.bool_]


def mean_level(ratings: Ratings) -> Means:
    """Return the mean level of every item, for ordered levels.

    ``values`` is 0 where ``known`` is false.

    >>> mean_level(np.array([[0, 1], [2, -1], [-1, -1]])).values.tolist()
    [0.5, 2.0, 0.0]
    """
    rated = ratings >= 0
    number = rated.sum(axis=1)
    total = np.where(rated, ratings, 0).sum(axis=1)
    return Means(total / np.maximum(number, 1), number > 0)


def mean_of_others(ratings: Ratings) -> Means:
    """Return for every rater the mean level of the others, shape (items, raters).

    >>> mean_of_others(np.array([[0, 1, 2]])).values.tolist()
    [[1.5, 1.0, 0.5]]
    """
    rated = ratings >= 0
    levels = np.where(rated, ratings, 0)
    number = rated.sum(axis=1, keepdims=True) - rated
    total = levels.sum(axis=1, keepdims=True) - levels
    return Means(total / np.maximum(number, 1), number > 0)


#: The most possible rows to encode as numbers.
MOST_CODES = 1_000_000


class Patterns(NamedTuple):
    """Distinct rows: ``rows`` (p, columns), their counts, and each item's pattern."""

    rows: npt.NDArray[np.int64]
    times: npt.NDArray[np.int64]
    of_item: npt.NDArray[np.int64]


def patterns(columns: npt.NDArray[np.int64]) -> Patterns:
    """Return the distinct rows of a matrix of integers.

    Items with equal ratings are interchangeable, so every figure is a function of the patterns'
    counts, and resampling items is a multinomial draw of patterns.

    >>> patterns(np.array([[0, 1], [2, 2], [0, 1]])).times.tolist()
    [2, 1]
    """
    if not columns.size:
        number = len(columns)
        added = min(number, 1)
        return Patterns(columns[:added], np.full(added, number), np.zeros(number, np.int64))
    rows = np.ascontiguousarray(columns, dtype=np.int64)
    low = rows.min(axis=0)
    spans = (rows.max(axis=0) - low + 1).tolist()
    if prod(spans) > MOST_CODES:
        _, first, of_item, times = np.unique(
            _rows_as_bytes(rows), return_index=True, return_inverse=True, return_counts=True
        )
        return Patterns(rows[first], times.astype(np.int64), of_item.astype(np.int64))
    # Few possible rows: encode each as a number and count, instead of sorting.
    code = np.ravel_multi_index(tuple((rows - low).T), spans)
    counts = np.bincount(code, minlength=prod(spans))
    present = np.flatnonzero(counts)
    distinct = np.stack(np.unravel_index(present, spans), axis=1) + low
    order = np.argsort(_rows_as_bytes(distinct))
    place = np.empty(prod(spans), np.int64)
    place[present[order]] = np.arange(len(present))
    return Patterns(distinct[order], counts[present[order]], place[code])


def _rows_as_bytes(rows: npt.NDArray[np.int64]) -> npt.NDArray[np.void]:
    """Return each row as one value, for comparisons."""
    contiguous = np.ascontiguousarray(rows)
    return contiguous.view(
        np.dtype((np.void, contiguous.dtype.itemsize * contiguous.shape[1]))
    ).ravel()


class State(IntEnum):
    """The state of a question to a rater."""

    NOT_ASKED = -1
    ANSWERED = 0
    ABSTAINED = 1
    FAILED = 2


NONE = "There is no label."


def normalised_entropy(counts: npt.ArrayLike) -> Estimate:
    """Return how evenly labels are spread over the options, in [0, 1].

    Shannon's entropy (1948) over the logarithm of the number of options, used or not: 0 if all
    labels are equal, 1 if all options are equally frequent. n counts labels. Undefined without
    labels, and for fewer than two options.

    >>> normalised_entropy([5, 5]).value, normalised_entropy([7, 0, 0]).value
    (1.0, 0.0)
    """
    label_counts = np.asarray(counts, dtype=np.float64)
    n = int(label_counts.sum())
    if not n:
        return Estimate.undefined(NONE)
    if len(label_counts) < 2:
        return Estimate.undefined("There is only one option.", n)
    shares = label_counts[label_counts > 0] / n
    entropy = -float((shares * np.log(shares)).sum()) / float(np.log(len(label_counts)))
    return Estimate.defined(min(1.0, max(0.0, entropy)), n)


def majority_baseline(counts: npt.ArrayLike) -> Estimate:
    """Return the accuracy of always giving the commonest label, in [0, 1], or undefined.

    Undefined without labels.

    >>> majority_baseline([2, 6]).value
    0.75
    """
    label_counts = np.asarray(counts, dtype=np.float64)
    n = int(label_counts.sum())
    return Estimate.defined(float(label_counts.max()) / n, n) if n else Estimate.undefined(NONE)


def label_entropy(counts: npt.ArrayLike) -> float | None:
    """Return how evenly labels are used, 0 (only one) to 1 (equally often); ``None`` without
    labels.

    Shannon's entropy (1948) over its maximum, ln k; with one level it is 0.

    >>> label_entropy([2, 2]), label_entropy([3, 0]), label_entropy([0, 0])
    (1.0, 0.0, None)
    """
    label_counts = np.asarray(counts, np.float64)
    if not label_counts.sum():
        return None
    shares = label_counts[label_counts > 0] / label_counts.sum()
    spread = -float((shares * np.log(shares)).sum())
    return max(0.0, spread / float(np.log(len(label_counts)))) if len(label_counts) > 1 else 0.0
