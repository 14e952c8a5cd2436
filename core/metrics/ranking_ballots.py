"""Rankings from scores: a ballot is what one judge gave to several systems on one item.

Ballots have the shape (ballots, systems); NaN marks a system that the ballot does not rank: not
scored, or excluded because judge and system are related. The rest moves together (compaction): a
ballot on three of four systems is a ballot of three.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.metrics.measure import Array, ratio
from core.metrics.near import NEAR, levelled
from core.metrics.ranking import ContestTable, tabulate
from core.metrics.ranking_ranks import mid_ranks


def ordered(scores: npt.ArrayLike, breaker: npt.ArrayLike | None = None) -> Array:
    """Scores as keys that also order what is level in ``scores`` by ``breaker``.

    The keys are dense levels per ballot, 0 for the lowest; NaN stays. A gated score with the score
    before gates as ``breaker`` orders capped answers among themselves and lifts none above another.

    >>> ordered([[4.0, 4.0, 6.0]], [[7.2, 6.8, 6.0]]).tolist()
    [[1.0, 0.0, 2.0]]
    """
    given = levelled(scores)[0]
    second = np.zeros_like(given) if breaker is None else levelled(breaker)[0]
    keys: Array = np.full(given.shape, np.nan)
    for row, (main, tie) in enumerate(zip(given, second, strict=True)):
        known = np.flatnonzero(~np.isnan(main))
        pairs = [(float(main[i]), float(tie[i])) for i in known]
        level = {pair: at for at, pair in enumerate(sorted(set(pairs)))}
        keys[row, known] = [level[pair] for pair in pairs]
    return keys


def borda(keys: npt.ArrayLike) -> Array:
    """Every ballot's points (n - r) / (n - 1), with r the mid-rank among the n it ranks.

    Shape (ballots, systems); NaN where not ranked. A ballot on a single system ranks nothing and
    gives no points. (de Borda 1781, normalised.)

    >>> borda([[3.0, 2.0, 1.0], [float("nan"), 2.0, 1.0]]).tolist()
    [[1.0, 0.5, 0.0], [nan, 1.0, 0.0]]
    """
    given = np.asarray(keys, np.float64)
    number = (~np.isnan(given)).sum(axis=1, keepdims=True)
    return ratio(number - mid_ranks(given), np.where(number > 1, number - 1, 0))


def z_scores(scores: npt.ArrayLike) -> Array:
    """Scores less their ballot's mean over its population standard deviation.

    A ballot on fewer than three systems, or on which all are level, says nothing here: NaN.

    >>> z_scores([[1.0, 2.0, 3.0], [1.0, 1.0, 1.0]]).round(3).tolist()
    [[-1.225, 0.0, 1.225], [nan, nan, nan]]
    """
    given = np.asarray(scores, np.float64)
    there = ~np.isnan(given)
    number = there.sum(axis=1, keepdims=True)
    mean = ratio(np.where(there, given, 0.0).sum(axis=1, keepdims=True), number)
    gap = given - mean
    spread = np.sqrt(ratio(np.where(there, gap**2, 0.0).sum(axis=1, keepdims=True), number))
    usable = (number >= 3) & (spread > NEAR)
    return np.where(usable, ratio(gap, np.where(usable, spread, 0.0)), np.nan)


def means(values: npt.ArrayLike) -> Array:
    """The mean of every column over the ballots that rank it; NaN where none does.

    >>> means([[1.0, float("nan")], [0.0, float("nan")]]).tolist()
    [0.5, nan]
    """
    given = np.asarray(values, np.float64)
    there = ~np.isnan(given)
    return ratio(np.where(there, given, 0.0).sum(axis=0), there.sum(axis=0))


def as_contests(keys: npt.ArrayLike, items: npt.ArrayLike) -> ContestTable:
    """Every two systems of a ballot as a contest, won by the higher key; equal keys tie.

    ``items[ballot]`` is the ballot's item, from 0.

    >>> as_contests([[2.0, 1.0, 1.0]], [0]).counts.tolist()
    [[[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]
    """
    given, item = np.asarray(keys, np.float64), np.asarray(items, np.int64)
    systems = given.shape[1]
    first, second = np.triu_indices(systems, 1)
    a, b = given[:, first], given[:, second]
    ballots, pairs = np.nonzero(~(np.isnan(a) | np.isnan(b)))
    gap = (a - b)[ballots, pairs]
    return tabulate(
        item[ballots],
        first[pairs],
        second[pairs],
        np.where(gap == 0, 0.5, (gap > 0).astype(np.float64)),
        systems=systems,
        n_items=int(item.max()) + 1 if len(item) else 0,
    )
