"""Ranks: with ties, in the middle of ties, as ranges that the data allow; and orders compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats

from core.metrics.correlation import TOO_FEW
from core.metrics.figure import Figure
from core.metrics.measure import Array
from core.metrics.near import NEAR, levelled


class RankRange(NamedTuple):
    """The ranks from ``best`` to ``worst`` that a system may have."""

    best: int
    worst: int

    def __str__(self) -> str:
        return str(self.best) if self.best == self.worst else f"{self.best}-{self.worst}"


def competition_ranks(values: npt.ArrayLike, *, within: float = 0.0) -> list[int | None]:
    """Ranks from 1, the highest value first; equals share the smaller rank and the next one skips
    ("1224"). A missing value (NaN) has no rank.

    ``within``: a value as close as this to the best one of its group is equal to it.

    >>> competition_ranks([0.5, 0.9, 0.5, float("nan"), 0.1])
    [2, 1, 2, None, 4]
    """
    given = np.asarray(values, np.float64)
    order = [int(i) for i in np.argsort(-given, kind="stable") if not np.isnan(given[i])]
    ranks: list[int | None] = [None] * len(given)
    leader, rank = np.inf, 0
    for place, system in enumerate(order, start=1):
        # Rounding must not tell apart what was computed from the same counts.
        if leader - given[system] > within + NEAR:
            leader, rank = given[system], place
        ranks[system] = rank
    return ranks


def mid_ranks(values: npt.ArrayLike) -> Array:
    """Ranks from 1, the highest value first; equals share the mean of their places (Kendall 1945).

    The last axis runs over systems. NaN stays NaN and takes no place.

    >>> mid_ranks([0.5, 0.9, 0.5]).tolist()
    [2.5, 1.0, 2.5]
    """
    given = levelled(values)[0]
    ranked = stats.rankdata(-given, axis=-1, nan_policy="omit") if given.size else given
    return np.where(np.isnan(given), np.nan, ranked)


def rank_ranges(better: npt.ArrayLike) -> list[RankRange]:
    """The ranks every system may have. ``better[i, j]``: i is known to be better than j.

    A rank is at least one more than the number of systems known to be better, and at most all but
    those known to be worse. Where ``better`` comes from simultaneous intervals, so are the ranges
    (Mogstad, Romano, Shaikh and Wilhelm 2024).

    >>> [str(r) for r in rank_ranges([[0, 0, 1], [0, 0, 1], [0, 0, 0]])]
    ['1-2', '1-2', '3']
    """
    known = np.asarray(better, np.bool_)
    n = len(known)
    return [RankRange(1 + int(known[:, i].sum()), n - int(known[i].sum())) for i in range(n)]


def kendall_tau(a: npt.ArrayLike, b: npt.ArrayLike) -> Figure:
    """Kendall's tau-b between two orders of the same systems (Kendall 1945); NaN is left out.

    Undefined for fewer than three systems and where either side is constant.

    >>> round(kendall_tau([3, 2, 1], [2, 3, 1]).value, 4)
    0.3333
    """
    return _between(a, b, "kendall")


def spearman_rho(a: npt.ArrayLike, b: npt.ArrayLike) -> Figure:
    """Spearman's correlation of two orders of the same systems, ties at their mid-rank.

    Undefined as ``kendall_tau`` is.

    >>> spearman_rho([3, 2, 1], [2, 3, 1]).value
    0.5
    """
    return _between(a, b, "spearman")


def _between(a: npt.ArrayLike, b: npt.ArrayLike, kind: str) -> Figure:
    x, y = np.asarray(a, np.float64), np.asarray(b, np.float64)
    both = ~(np.isnan(x) | np.isnan(y))
    x, y = levelled(x[both])[0], levelled(y[both])[0]
    if len(x) < 3:
        return Figure.undefined(TOO_FEW, len(x))
    if len(set(x)) < 2 or len(set(y)) < 2:
        return Figure.undefined("One of the two orders puts all systems level.", len(x))
    if kind == "spearman":
        return Figure.defined(float(np.corrcoef(mid_ranks(x), mid_ranks(y))[0, 1]), len(x))
    return Figure.defined(float(stats.kendalltau(x, y).statistic), len(x))


def winners(values: Sequence[float] | Array, *, within: float = 0.0) -> tuple[int, ...]:
    """The systems on rank 1, all of them where they are level; empty where nobody has a value.

    >>> winners([0.2, 0.9, 0.9])
    (1, 2)
    """
    ranks = competition_ranks(values, within=within)
    return tuple(i for i, rank in enumerate(ranks) if rank == 1)
