"""When two numbers are one: the only place that says so for whatever is compared or ranked.

Means and weighted sums of the same things come out a rounding apart, by the order in which they
were added up. A step between two numbers is real where it is larger than ``NEAR``.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.metrics.measure import Array

#: Numbers no further apart are one; of numbers beyond 1 that share of their size.
NEAR = 1e-9


def levelled(*columns: npt.ArrayLike) -> tuple[Array, ...]:
    """The columns with every number that rounding alone tells from another made that other one.

    All columns together, so that what is equal across them is equal. Numbers are joined along
    steps of at most ``NEAR``, not rounded to a grid, on which neighbours may fall to both sides of
    a step; each becomes the smallest of its kind. NaN stays.

    >>> [column.tolist() for column in levelled([0.1 + 0.2, 1.0], [0.3, float("nan")])]
    [[0.3, 1.0], [0.3, nan]]
    """
    arrays = [np.asarray(column, np.float64) for column in columns]
    distinct, place = np.unique(
        np.concatenate([array.ravel() for array in arrays]), return_inverse=True
    )
    if not len(distinct):
        return tuple(arrays)
    far = ~(np.diff(distinct) <= NEAR * np.maximum(1.0, np.abs(distinct[1:])))
    starts = np.concatenate([[True], far])
    same = distinct[starts][np.cumsum(starts) - 1][place.ravel()]
    cuts = np.cumsum([array.size for array in arrays])[:-1]
    parts = np.split(same, cuts)
    return tuple(part.reshape(array.shape) for part, array in zip(parts, arrays, strict=True))


def near_zero(values: Array) -> Array:
    """The values, 0 where rounding alone tells them from it.

    >>> near_zero(np.array([0.1 + 0.2 - 0.3, 0.1])).tolist()
    [0.0, 0.1]
    """
    return np.where(np.abs(values) <= NEAR, 0.0, values)
