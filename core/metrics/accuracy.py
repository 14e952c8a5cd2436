"""How often ratings match a reference. Counts in, figures out.

Everything but ``confusion`` takes the table of counts, so that a bootstrap over items can resample
the table and need not loop over ratings.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.metrics.figure import Figure

Counts = npt.NDArray[np.int64]
NOTHING = "No item has both a reference and a rating."


def confusion(reference: npt.ArrayLike, rated: npt.ArrayLike, k: int) -> Counts:
    """The table of counts, shape (k, k): rows are the reference, columns the ratings.

    Both arrays have shape (n,) and hold levels 0 .. k-1; a negative level means missing, and the
    pair is left out. Raises ``ValueError`` where the lengths differ or a level is k or more.

    >>> confusion([0, 0, 1, -1], [0, 1, 1, 1], 2).tolist()
    [[1, 1], [0, 1]]
    """
    a, b = np.asarray(reference, dtype=np.int64), np.asarray(rated, dtype=np.int64)
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(f"two arrays of one length are needed, not {a.shape} and {b.shape}")
    both = (a >= 0) & (b >= 0)
    a, b = a[both], b[both]
    if len(a) and max(a.max(), b.max()) >= k:
        raise ValueError(f"a level is {max(a.max(), b.max())}, but there are only {k} levels")
    return np.bincount(a * k + b, minlength=k * k).reshape(k, k)


def accuracy(counts: Counts) -> Figure:
    """The share of ratings equal to the reference, in [0, 1]. Undefined for n = 0."""
    n = int(counts.sum())
    return Figure.defined(np.trace(counts) / n, n) if n else Figure.undefined(NOTHING)


def majority_share(counts: Counts) -> Figure:
    """The accuracy of always answering the reference's commonest level. Undefined for n = 0.

    What any judge must beat before its accuracy means anything.
    """
    n = int(counts.sum())
    return Figure.defined(counts.sum(axis=1).max() / n, n) if n else Figure.undefined(NOTHING)


def adjacent_accuracy(counts: Counts) -> Figure:
    """The share of ratings at most one level from the reference. Only ordered levels have this.

    Undefined for n = 0, and for fewer than three levels, where it is 1 whatever was rated.
    """
    n, k = int(counts.sum()), len(counts)
    if k < 3:
        return Figure.undefined("With two levels every rating is at most one level off.", n)
    if not n:
        return Figure.undefined(NOTHING)
    near = sum(int(np.trace(counts, offset)) for offset in (-1, 0, 1))
    return Figure.defined(near / n, n)
