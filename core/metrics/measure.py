"""A measure: one formula for both a single figure and thousands of resamples.

A kernel takes counts (or item weights), optionally with a last axis over resamples, and returns one
number per resample. Resamples come last so that sums run along memory. NaN marks "undefined" only
inside these arrays; results of the package are an ``Estimate`` with its reason.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper

import numpy as np
import numpy.typing as npt
from scipy import sparse

from core.metrics.estimate import Estimate

Array = npt.NDArray[np.float64]
Ratings = npt.NDArray[np.int64]
#: Maps item weights (items, resamples) to one value per resample; NaN if undefined.
Statistic = Callable[[Array], Array]

#: Maps ratings, the number of levels, and the number of items of each row to a statistic.
Prepare = Callable[[Ratings, int, Array], Statistic]

NOTHING = "No item has both a reference and a rating."
NO_OVERLAP = "No item was rated by two raters or more."
#: Sums of exact counts that should cancel may differ from zero by this share of their size.
ROUNDING = 1e-12


class Measure:
    """A figure of a table of counts (rows: reference, columns: rating)."""

    def __init__(
        self, kernel: Callable[[Array], Array], reason: Callable[[Array], str], if_empty: str
    ) -> None:
        self._kernel, self._reason, self._if_empty = kernel, reason, if_empty
        update_wrapper(self, kernel)

    def __call__(self, counts: npt.ArrayLike) -> Estimate:
        """Return the figure of one table of shape (k, k)."""
        table = np.asarray(counts, dtype=np.float64)
        return self.figure(table, float(self.many(table)))

    def figure(self, table: Array, value: float) -> Estimate:
        """Return the figure for a value that ``many`` computed for ``table``."""
        n = int(table.sum())
        if np.isfinite(value):
            return Estimate.defined(value, n)
        return Estimate.undefined(self._reason(table) if n else self._if_empty, n)

    def many(self, tables: Array) -> Array:
        """Return one value per table of ``tables``, shape (k, k, ...); NaN if undefined."""
        return np.asarray(self._kernel(tables), dtype=np.float64)


def measure_of(
    reason_of: str | Callable[[Array], str] = NOTHING, empty_reason: str = NOTHING
) -> Callable[[Callable[[Array], Array]], Measure]:
    """Make a ``Measure`` from a kernel.

    ``reason_of`` says why a non-empty table has no value; ``empty_reason`` is for an empty one.
    """
    reason = (lambda _: reason_of) if isinstance(reason_of, str) else reason_of
    return lambda kernel: Measure(kernel, reason, empty_reason)


class GroupMeasure:
    """A figure of ratings of shape (items, raters), levels 0 .. k-1, negative: missing.

    Items with equal ratings may share a row: ``times`` of shape (rows,) is the number of items of
    each row.
    """

    def __init__(self, prepare: Prepare, reason_of: Callable[[Ratings, Array], str]) -> None:
        self._prepare, self._why = prepare, reason_of
        update_wrapper(self, prepare)

    def __call__(
        self, ratings: npt.ArrayLike, k: int, times: npt.ArrayLike | None = None
    ) -> Estimate:
        """Return the figure; its n counts the items with two or more ratings."""
        matrix = as_ratings(ratings, k)
        number = np.ones(len(matrix)) if times is None else np.asarray(times, np.float64)
        n = int(number[(matrix >= 0).sum(axis=1) >= 2].sum())
        if not n:
            return Estimate.undefined(NO_OVERLAP)
        value = float(self.as_function_of_weights(matrix, k, number)(number[:, None])[0])
        if np.isfinite(value):
            return Estimate.defined(value, n)
        return Estimate.undefined(self._why(matrix, number), n)

    def as_function_of_weights(self, ratings: Ratings, k: int, times: Array) -> Statistic:
        """Return the function from row weights to values, which counts the ratings only once."""
        return self._prepare(ratings, k, times)


def group_measure(
    reason_of: str | Callable[[Ratings, Array], str],
) -> Callable[[Prepare], GroupMeasure]:
    """Make a ``GroupMeasure``; ``reason_of`` says why ratings with some overlap have no value."""
    reason = (lambda _ratings, _times: reason_of) if isinstance(reason_of, str) else reason_of
    return lambda prepare: GroupMeasure(prepare, reason)


def as_ratings(ratings: npt.ArrayLike, k: int) -> Ratings:
    """Return the ratings as an integer matrix; raises ``ValueError`` for levels of ``k`` or
    more.
    """
    matrix = np.asarray(ratings, dtype=np.int64)
    if matrix.ndim != 2:
        raise ValueError(f"ratings have the shape (items, raters), not {matrix.shape}")
    if matrix.size and matrix.max() >= k:
        raise ValueError(f"a level is {matrix.max()}, but there are only {k} levels")
    return matrix


def ratio_or_nan(above: npt.ArrayLike, below: npt.ArrayLike) -> Array:
    """Return ``above / below``; NaN if ``below`` is zero."""
    top, bottom = np.broadcast_arrays(np.asarray(above, np.float64), np.asarray(below, np.float64))
    quotient: Array = np.full(top.shape, np.nan)
    np.divide(top, bottom, out=quotient, where=bottom != 0)
    return quotient


def root_of_nonnegative(square: npt.ArrayLike) -> Array:
    """Return the square root; negative rounding errors count as zero."""
    roots: Array = np.sqrt(np.maximum(np.asarray(square, np.float64), 0.0))
    return roots


def weight_sums(groups: npt.ArrayLike, number: int, weights: Array) -> Array:
    """Return the sums of row weights by group, shape (number, resamples).

    ``groups`` holds each row's group; rows with a negative number belong to no group.

    >>> weight_sums([1, 0, 1, -1], 2, np.array([[1.0], [5.0], [2.0], [9.0]])).tolist()
    [[5.0], [3.0]]
    """
    group = np.asarray(groups, dtype=np.int64)
    order = np.argsort(group, kind="stable")
    order = order[np.searchsorted(group[order], 0) :]
    starts = np.searchsorted(group[order], np.arange(number + 1))
    return weight_sums_of_runs(order, starts, weights)


def weight_sums_of_runs(
    rows: npt.NDArray[np.int64], starts: npt.NDArray[np.int64], weights: Array
) -> Array:
    """Return the sums of the weights of ``rows[starts[i]:starts[i + 1]]`` for every i."""
    shape = (len(starts) - 1, len(weights))
    members = sparse.csr_array((np.ones(len(rows)), rows, starts), shape=shape)
    return np.asarray(members @ weights, np.float64)


# The rule for when two numbers are equal, for comparing and ranking.
#
# Means and weighted sums of the same numbers differ by rounding, depending on the order of the
# sum. A difference between two numbers is real if it is larger than ``NEAR``.

#: Numbers at most this far apart are equal; for numbers above 1, relative to their size.
NEAR = 1e-9


def equal_if_near(*columns: npt.ArrayLike) -> tuple[Array, ...]:
    """Return the columns, with numbers that differ only by rounding made equal.

    Equal numbers are equal across all columns. Numbers are joined along gaps of at most ``NEAR``,
    not rounded to a grid, which could separate neighbours; each becomes the smallest of its group.
    NaN stays.

    >>> [column.tolist() for column in equal_if_near([0.1 + 0.2, 1.0], [0.3, float("nan")])]
    [[0.3, 1.0], [0.3, nan]]
    """
    arrays = [np.asarray(column, np.float64) for column in columns]
    numbers, places = level_places(*arrays)
    return tuple(
        numbers[place].reshape(array.shape) for place, array in zip(places, arrays, strict=True)
    )


def level_places(*arrays: Array) -> tuple[Array, tuple[npt.NDArray[np.int64], ...]]:
    """Return the distinct numbers of ``equal_if_near``, rising, and each entry's index in them.

    >>> numbers, (places,) = level_places(np.array([1.0, 0.1 + 0.2, 0.3]))
    >>> numbers.tolist(), places.tolist()
    ([0.3, 1.0], [1, 0, 0])
    """
    flat = [array.ravel() for array in arrays]
    distinct = np.unique(np.concatenate(flat))
    is_boundary = ~(np.diff(distinct) <= NEAR * np.maximum(1.0, np.abs(distinct[1:])))
    starts = np.concatenate([np.ones(min(1, len(distinct)), np.bool_), is_boundary])
    same = np.cumsum(starts) - 1
    return distinct[starts], tuple(same[np.searchsorted(distinct, array)] for array in flat)


def zero_rounding_errors(values: Array) -> Array:
    """Return the values, with 0 for those that differ from 0 only by rounding.

    >>> zero_rounding_errors(np.array([0.1 + 0.2 - 0.3, 0.1])).tolist()
    [0.0, 0.1]
    """
    return np.where(np.abs(values) <= NEAR, 0.0, values)
