"""One judge asked twice, with the two answers exchanged: how often right, and how often the same.

Choices are levels (0: the first answer, 1: the second, ...) in the original numbering whatever the
order shown; negative: no answer. Every figure says what it does with those.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.metrics.agreement import cohen_kappa
from core.metrics.figure import Figure
from core.metrics.measure import Ratings

_NOTHING = "There is no item with an answer in both orders."


def accuracy(one: npt.ArrayLike, two: npt.ArrayLike, truth: npt.ArrayLike) -> Figure:
    """The mean over both orders of the share of right choices; no answer is no right one.

    Items without a truth are left out. (Zeng et al. 2024, average accuracy.)

    >>> accuracy([0, 1], [0, -1], [0, 1]).value
    0.75
    """
    a, b, right = (np.asarray(x, np.int64) for x in (one, two, truth))
    known = right >= 0
    if not known.any():
        return Figure.undefined("No item has a label.")
    hits = ((a == right)[known].mean() + (b == right)[known].mean()) / 2
    return Figure.defined(float(hits), int(known.sum()))


def same_choice(one: npt.ArrayLike, two: npt.ArrayLike, *, empty_counts: bool = False) -> Figure:
    """The share of items with the same choice in both orders.

    Items with an answer missing are left out; or, with ``empty_counts``, two missing answers are
    the same choice and one is a different one (the convention of LLMBar's published figures).

    >>> same_choice([0, 1, -1], [0, 0, -1]).value
    0.5
    """
    a, b = _levels(one, two)
    keep = np.ones(len(a), np.bool_) if empty_counts else (a >= 0) & (b >= 0)
    if not keep.any():
        return Figure.undefined(_NOTHING)
    return Figure.defined(float((a == b)[keep].mean()), int(keep.sum()))


def order_kappa(
    one: npt.ArrayLike, two: npt.ArrayLike, k: int = 2, *, empty_is_second: bool = False
) -> Figure:
    """Cohen's kappa between the two orders, on ``k`` levels.

    Items with an answer missing are left out; or, with ``empty_is_second``, only the first answer
    is told from everything else, missing answers included (the convention of LLMBar's figures).
    Undefined where one and the same level was chosen throughout.

    >>> order_kappa([0, 1, 1, 0], [0, 1, 0, 0]).value
    0.5
    """
    a, b = _levels(one, two)
    if empty_is_second:
        a, b, k = (a != 0).astype(np.int64), (b != 0).astype(np.int64), 2
    keep = (a >= 0) & (b >= 0)
    if not keep.any():
        return Figure.undefined(_NOTHING)
    table = np.bincount(a[keep] * k + b[keep], minlength=k * k).reshape(k, k)
    return cohen_kappa(table)


def _levels(one: npt.ArrayLike, two: npt.ArrayLike) -> tuple[Ratings, Ratings]:
    return (
        np.maximum(np.asarray(one, np.int64), -1),
        np.maximum(np.asarray(two, np.int64), -1),
    )
