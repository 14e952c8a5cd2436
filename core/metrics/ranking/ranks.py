"""Ranks with ties and ranges, comparison of orders, and rankings from scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from core.metrics.agreement.correlation_distance import TOO_FEW
from core.metrics.estimate import Estimate
from core.metrics.measure import NEAR, Array, equal_if_near, ratio_or_nan
from core.metrics.ranking.contests import ContestTable, contest_table


def competition_ranks(values: npt.ArrayLike, *, within: float = 0.0) -> list[int | None]:
    """Return ranks from 1, the highest value first; a missing value (NaN) has no rank.

    Equal values share the smaller rank and the next rank is skipped ("1224"). ``within``: values
    this close to the best of their group are equal to it.

    >>> competition_ranks([0.5, 0.9, 0.5, float("nan"), 0.1])
    [2, 1, 2, None, 4]
    """
    scores = np.asarray(values, np.float64)
    order = [int(i) for i in np.argsort(-scores, kind="stable") if not np.isnan(scores[i])]
    ranks: list[int | None] = [None] * len(scores)
    leader, rank = np.inf, 0
    for place, system in enumerate(order, start=1):
        # Rounding must not separate values computed from the same counts.
        if leader - scores[system] > within + NEAR:
            leader, rank = scores[system], place
        ranks[system] = rank
    return ranks


def mid_ranks(values: npt.ArrayLike) -> Array:
    """Return ranks from 1, the highest first; equal values share their mean rank (Kendall 1945).

    The last axis runs over systems. NaN stays NaN and takes no rank.

    >>> mid_ranks([0.5, 0.9, 0.5]).tolist()
    [2.5, 1.0, 2.5]
    """
    from scipy import stats

    scores = equal_if_near(values)[0]
    ranked = stats.rankdata(-scores, axis=-1, nan_policy="omit") if scores.size else scores
    return np.where(np.isnan(scores), np.nan, ranked)


def rank_ranges(better: npt.ArrayLike) -> list[tuple[int, int]]:
    """Return the best and worst possible rank of every system.

    ``better[i, j]``: i is known to be better than j.

    The best rank is one more than the number of systems known to be better, the worst leaves room
    for those known to be worse. If ``better`` comes from simultaneous intervals, the ranges are
    simultaneous, too (Mogstad, Romano, Shaikh and Wilhelm 2024).

    >>> rank_ranges([[0, 0, 1], [0, 0, 1], [0, 0, 0]])
    [(1, 2), (1, 2), (3, 3)]
    """
    is_better = np.asarray(better, np.bool_)
    n = len(is_better)
    return [(1 + int(is_better[:, i].sum()), n - int(is_better[i].sum())) for i in range(n)]


def range_words(best: int, worst: int) -> str:
    """Return a range of ranks in words.

    >>> range_words(1, 2), range_words(3, 3)
    ('1-2', '3')
    """
    return str(best) if best == worst else f"{best}-{worst}"


def kendall_tau(a: npt.ArrayLike, b: npt.ArrayLike) -> Estimate:
    """Return Kendall's tau-b between two orders of the same systems (Kendall 1945).

    NaN is left out. Undefined for fewer than three systems and if either side is constant.

    >>> round(kendall_tau([3, 2, 1], [2, 3, 1]).value, 4)
    0.3333
    """
    return _correlation_between(a, b, "kendall")


def spearman_rho(a: npt.ArrayLike, b: npt.ArrayLike) -> Estimate:
    """Return Spearman's correlation of two orders of the same systems, ties at their mid-rank.

    Undefined in the same cases as ``kendall_tau``.

    >>> spearman_rho([3, 2, 1], [2, 3, 1]).value
    0.5
    """
    return _correlation_between(a, b, "spearman")


def _correlation_between(a: npt.ArrayLike, b: npt.ArrayLike, kind: str) -> Estimate:
    x, y = np.asarray(a, np.float64), np.asarray(b, np.float64)
    complete = ~(np.isnan(x) | np.isnan(y))
    x, y = equal_if_near(x[complete])[0], equal_if_near(y[complete])[0]
    if len(x) < 3:
        return Estimate.undefined(TOO_FEW, len(x))
    if len(set(x)) < 2 or len(set(y)) < 2:
        return Estimate.undefined("One of the two orders puts all systems level.", len(x))
    if kind == "spearman":
        return Estimate.defined(float(np.corrcoef(mid_ranks(x), mid_ranks(y))[0, 1]), len(x))
    from scipy import stats

    return Estimate.defined(float(stats.kendalltau(x, y).statistic), len(x))


def winners(values: Sequence[float] | Array, *, within: float = 0.0) -> tuple[int, ...]:
    """Return the systems on rank 1, several if tied; empty without values.

    >>> winners([0.2, 0.9, 0.9])
    (1, 2)
    """
    ranks = competition_ranks(values, within=within)
    return tuple(i for i, rank in enumerate(ranks) if rank == 1)


# Rankings from scores: a ballot is a judge's scores of several systems on an item.
#
# Ballots have the shape (ballots, systems); NaN marks a system that the ballot does not rank: not
# scored, or excluded because judge and system are related. The others close ranks (compaction): a
# ballot on three of four systems is a ballot of three.


def keys_with_ties_broken(scores: npt.ArrayLike, breaker: npt.ArrayLike | None = None) -> Array:
    """Return scores as keys that also order ties in ``scores`` by ``breaker``.

    The keys are dense levels per ballot, 0 for the lowest; NaN stays. With a gated score and the
    score before gates as ``breaker``, capped answers are ordered only among themselves.

    >>> keys_with_ties_broken([[4.0, 4.0, 6.0]], [[7.2, 6.8, 6.0]]).tolist()
    [[1.0, 0.0, 2.0]]
    """
    levels = equal_if_near(scores)[0]
    second = np.zeros_like(levels) if breaker is None else equal_if_near(breaker)[0]
    keys: Array = np.full(levels.shape, np.nan)
    for row, (main, tie) in enumerate(zip(levels, second, strict=True)):
        scored = np.flatnonzero(~np.isnan(main))
        pairs = [(float(main[i]), float(tie[i])) for i in scored]
        level = {pair: at for at, pair in enumerate(sorted(set(pairs)))}
        keys[row, scored] = [level[pair] for pair in pairs]
    return keys


def borda_points(keys: npt.ArrayLike) -> Array:
    """Return every ballot's points (n - r) / (n - 1), with r the mid-rank among the n it ranks.

    Shape (ballots, systems); NaN if not ranked. A ballot on a single system gives no points. (de
    Borda 1781, normalised.)

    >>> borda_points([[3.0, 2.0, 1.0], [float("nan"), 2.0, 1.0]]).tolist()
    [[1.0, 0.5, 0.0], [nan, 1.0, 0.0]]
    """
    levels = np.asarray(keys, np.float64)
    number = (~np.isnan(levels)).sum(axis=1, keepdims=True)
    return ratio_or_nan(number - mid_ranks(levels), np.where(number > 1, number - 1, 0))


def z_scores(scores: npt.ArrayLike) -> Array:
    """Return scores minus their ballot's mean, over its population standard deviation.

    NaN for a ballot on fewer than three systems, or with all of them equal.

    >>> z_scores([[1.0, 2.0, 3.0], [1.0, 1.0, 1.0]]).round(3).tolist()
    [[-1.225, 0.0, 1.225], [nan, nan, nan]]
    """
    numbers = np.asarray(scores, np.float64)
    scored = ~np.isnan(numbers)
    number = scored.sum(axis=1, keepdims=True)
    mean = ratio_or_nan(np.where(scored, numbers, 0.0).sum(axis=1, keepdims=True), number)
    gap = numbers - mean
    spread = np.sqrt(ratio_or_nan(np.where(scored, gap**2, 0.0).sum(axis=1, keepdims=True), number))
    usable = (number >= 3) & (spread > NEAR)
    return np.where(usable, ratio_or_nan(gap, np.where(usable, spread, 0.0)), np.nan)


def ballot_means(values: npt.ArrayLike) -> Array:
    """Return the mean of every column over the ballots that rank it; NaN without any.

    >>> ballot_means([[1.0, float("nan")], [0.0, float("nan")]]).tolist()
    [0.5, nan]
    """
    numbers = np.asarray(values, np.float64)
    ranked = ~np.isnan(numbers)
    return ratio_or_nan(np.where(ranked, numbers, 0.0).sum(axis=0), ranked.sum(axis=0))


def contests_of_ballots(keys: npt.ArrayLike, items: npt.ArrayLike) -> ContestTable:
    """Return all pairs of systems of a ballot as contests; the higher key wins, equal keys tie.

    ``items[ballot]`` is the ballot's item, from 0.

    >>> contests_of_ballots([[2.0, 1.0, 1.0]], [0]).counts.tolist()
    [[[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]
    """
    levels, item = np.asarray(keys, np.float64), np.asarray(items, np.int64)
    systems = levels.shape[1]
    first, second = np.triu_indices(systems, 1)
    a, b = levels[:, first], levels[:, second]
    ballots, pairs = np.nonzero(~(np.isnan(a) | np.isnan(b)))
    gap = (a - b)[ballots, pairs]
    return contest_table(
        item[ballots],
        first[pairs],
        second[pairs],
        np.where(gap == 0, 0.5, (gap > 0).astype(np.float64)),
        systems=systems,
        n_items=int(item.max()) + 1 if len(item) else 0,
    )
