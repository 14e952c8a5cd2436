"""Pairwise contests as counts: the win matrix, comparable systems, and both orders.

A contest is between two systems on an item; it is won, lost or tied. Items are the clusters of
every bootstrap here: the contests of an item stay together.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse import csgraph

from core.metrics.agreement.kappa import cohen_kappa
from core.metrics.estimate import Estimate
from core.metrics.measure import NEAR, Array, Ratings, ratio_or_nan

#: Indices on the last axis of ``ContestTable.counts``.
WON, TIED, LOST = 0, 1, 2


class ContestTable(NamedTuple):
    """Counts of contests between systems 0 to ``systems`` - 1.

    ``pairs`` has shape (pairs, 2): all systems that met, the smaller index first. ``counts`` has
    shape (items, pairs, 3): how often the first of the pair won, tied and lost.
    """

    pairs: Ratings
    counts: Array
    systems: int

    @property
    def items(self) -> int:
        """Return the number of items, including those without any contest."""
        return len(self.counts)

    @property
    def contests(self) -> float:
        """Return the number of contests (the sum of their weights)."""
        return float(self.counts.sum())

    def totals(self, weights: Array | None = None) -> Array:
        """Return the counts summed over items, shape (pairs, 3).

        With item weights of shape (items, resamples), the shape is (pairs, 3, resamples).
        """
        if weights is None:
            return np.asarray(self.counts.sum(axis=0), np.float64)
        flat = self.counts.reshape(self.items, -1)
        return np.asarray(flat.T @ weights, np.float64).reshape(*self.counts.shape[1:], -1)


class WinMatrix(NamedTuple):
    """Wins, ties and contests of every pair of systems.

    ``wins[i, j]`` is how often i beat j, ``ties`` is symmetric, ``contests`` how often they met.
    ``share[i, j]`` = (wins + ties / 2) / contests; NaN, as a mask, if they never met.
    """

    wins: Array
    ties: Array
    contests: Array
    share: Array


def contest_table(
    items: npt.ArrayLike,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    points: npt.ArrayLike,
    *,
    systems: int,
    n_items: int,
    weights: npt.ArrayLike = 1.0,
) -> ContestTable:
    """Return the table of contests. ``points`` are those of ``first``: 1, 0.5 (a tie) or 0.

    >>> contest_table([0, 0], [0, 1], [1, 0], [1, 0.5], systems=2, n_items=1).counts.tolist()
    [[[1.0, 1.0, 0.0]]]
    """
    item, a, b = (np.asarray(x, np.int64) for x in (items, first, second))
    points_array = np.asarray(points, np.float64)
    outcome = np.where(
        points_array == 0.5, TIED, np.where((points_array > 0.5) == (a < b), WON, LOST)
    )
    low, high = np.minimum(a, b), np.maximum(a, b)
    key, place = np.unique(low * systems + high, return_inverse=True)
    counts: Array = np.zeros((n_items, len(key), 3))
    np.add.at(counts, (item, place, outcome), np.asarray(weights, np.float64))
    return ContestTable(np.stack([key // systems, key % systems], axis=1), counts, systems)


def win_matrix(table: ContestTable) -> WinMatrix:
    """Return wins, ties, contests and shares of every pair of systems, each of shape (systems,
    systems).

    >>> table = contest_table([0, 1], [0, 0], [1, 1], [1, 0.5], systems=2, n_items=2)
    >>> win_matrix(table).share[0, 1]
    np.float64(0.75)
    """
    n, total = table.systems, table.totals()
    wins, ties = np.zeros((n, n)), np.zeros((n, n))
    a, b = table.pairs.T
    wins[a, b], wins[b, a] = total[:, WON], total[:, LOST]
    ties[a, b] = ties[b, a] = total[:, TIED]
    times_met = wins + wins.T + ties
    return WinMatrix(wins, ties, times_met, ratio_or_nan(wins + ties / 2, times_met))


def win_rates(pairs: Ratings, totals: Array, systems: int) -> Array:
    """Return the mean over opponents of the share of points against each, shape (systems, ...).

    If all pairs met equally often it is wins (ties count half) over contests. A mean over opponents
    does not reward a system for meeting weak ones more often. NaN, as a mask, for a system without
    opponents. ``totals`` has shape (pairs, 3, ...).

    >>> pairs = np.array([[0, 1], [0, 2]])
    >>> win_rates(pairs, np.array([[1.0, 0, 0], [0, 1, 0]]), 3).tolist()
    [0.75, 0.0, 0.5]
    """
    share = ratio_or_nan(totals[:, WON] + totals[:, TIED] / 2, totals.sum(axis=1))
    has_met = ~np.isnan(share)
    shares = np.where(has_met, share, 0.0)
    shape = (systems, *share.shape[1:])
    points, opponents = np.zeros(shape), np.zeros(shape)
    a, b = pairs.T
    np.add.at(points, a, shares)
    np.add.at(points, b, np.where(has_met, 1 - shares, 0.0))
    np.add.at(opponents, a, has_met)
    np.add.at(opponents, b, has_met)
    return ratio_or_nan(points, opponents)


def weighted_win_rates(pairs: Ratings, totals: Array, systems: int) -> Array:
    """Return wins and ties over wins, losses and twice the ties, shape (systems, ...).

    The count of unitxt's ``weighted_win_rate`` (Arena-Hard: Li et al. 2024): a tie is one point of
    two, so it weighs as much as two contests with a winner. NaN for a system without opponents.
    ``totals`` has shape (pairs, 3, ...).

    >>> pairs = np.array([[0, 1], [0, 2]])
    >>> weighted_win_rates(pairs, np.array([[1.0, 0, 0], [0, 1, 0]]), 3).round(3).tolist()
    [0.667, 0.0, 0.5]
    """
    shape = (systems, *totals.shape[2:])
    points, possible = np.zeros(shape), np.zeros(shape)
    for side, won in zip(pairs.T, (WON, LOST), strict=True):
        np.add.at(points, side, totals[:, won] + totals[:, TIED])
        np.add.at(possible, side, totals[:, WON] + totals[:, LOST] + 2 * totals[:, TIED])
    return ratio_or_nan(points, possible)


# The graph of contests: comparable systems, circles of majorities, and whether strengths have
# finite estimates.

Flags = npt.NDArray[np.bool_]


def connected_groups(contests: npt.ArrayLike) -> tuple[tuple[int, ...], ...]:
    """Return the groups of systems connected by contests, the largest first.

    Systems of different groups cannot be compared. ``contests[i, j]`` counts how often i and j met.

    >>> connected_groups([[0, 2, 0], [2, 0, 0], [0, 0, 0]])
    ((0, 1), (2,))
    """
    return _connected_groups(np.asarray(contests) > 0, "weak")


def separated_groups(matrix: WinMatrix) -> tuple[tuple[int, ...], ...]:
    """Return the groups between which strengths have no finite estimate, the strongest first.

    One group: all estimates are finite. Several: the upper side lost no contest between them, so
    the data allow arbitrarily large differences. This happens if one side won everything (Zermelo
    1929; Ford 1957; a tie counts for both), and if systems form a ladder on which every win goes
    down and ties stay on a rung or between neighbouring ones: then differences and the tie
    parameter grow together without limit. Systems must be connected by contests (one of
    ``connected_groups``).
    """
    rungs = _ladder_rungs(matrix)
    if rungs is not None:
        return tuple(tuple(np.flatnonzero(rungs == rung).tolist()) for rung in -np.unique(-rungs))
    beaten = (matrix.wins > 0) | (matrix.ties > 0)
    groups = _connected_groups(beaten, "strong")
    has_met = np.asarray(matrix.contests) > 0
    above = {
        g: [
            h
            for h in range(len(groups))
            if h != g and (beaten & has_met)[np.ix_(groups[h], groups[g])].any()
        ]
        for g in range(len(groups))
    }
    ordered: list[int] = []
    while len(ordered) < len(groups):
        ready = [g for g in above if g not in ordered and set(above[g]) <= set(ordered)]
        ordered.append(min(ready, key=lambda g: groups[g][0]))
    return tuple(groups[g] for g in ordered)


def _ladder_rungs(matrix: WinMatrix) -> Array | None:
    """Return the systems' rungs on a ladder as in ``separated_groups``, the highest for the
    strongest, or ``None``.

    Every win goes down at least one rung and every tie at most one, up or down. ``None`` if there
    is no such ladder, or not both a win and a tie. A system of difference constraints, solved by
    shortest paths (Floyd 1962; Warshall 1962); no path may return to its start with a gain.
    """
    won, tied = np.asarray(matrix.wins) > 0, np.asarray(matrix.ties) > 0
    if not (won.any() and tied.any()):
        return None
    # bound[i, j] is the largest height by which the rung of j may lie above the rung of i.
    bound = np.where(won, -1.0, np.where(tied, 1.0, np.inf))
    np.fill_diagonal(bound, np.minimum(bound.diagonal(), 0.0))
    for via in range(len(bound)):
        bound = np.minimum(bound, bound[:, via, None] + bound[None, via, :])
        if (bound.diagonal() < 0).any():
            return None
    rungs: Array = bound.min(axis=0)
    return rungs


def _majorities(matrix: WinMatrix) -> Flags:
    """Return which system beats which: it won more contests against it than it lost."""
    # Wins are weighted by their question, so sums differ by rounding.
    beats: Flags = matrix.wins - matrix.wins.T > NEAR
    return beats


def majority_winner(matrix: WinMatrix) -> int | None:
    """Return the system that beats every other (Condorcet 1785), or ``None``."""
    beats = _majorities(matrix)
    n = len(beats)
    return next((i for i in range(n) if beats[i].sum() == n - 1 and n > 1), None)


def majority_circles(matrix: WinMatrix) -> tuple[tuple[int, ...], ...]:
    """Return the shortest circle of each group of systems that all reach each other by "beats".

    A circle starts with its lowest system; those of the largest groups come first.

    >>> from core.metrics.ranking.contests import contest_table, win_matrix
    >>> table = contest_table([0, 0, 0], [0, 1, 2], [1, 2, 0], [1, 1, 1], systems=3, n_items=1)
    >>> majority_circles(win_matrix(table))
    ((0, 1, 2),)
    """
    beats = _majorities(matrix)
    groups = (group for group in _connected_groups(beats, "strong") if len(group) > 1)
    return tuple(_shortest_circle(beats, group) for group in groups)


def _shortest_circle(beats: Flags, group: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shortest circle in a strongly connected group, by breadth-first search."""
    best: tuple[int, ...] = ()
    for start in group:
        came: dict[int, int] = {}
        queue = deque([start])
        while queue and start not in came:
            system = queue.popleft()
            for beaten in group:
                if beats[system, beaten] and beaten not in came:
                    came[beaten] = system
                    queue.append(beaten)
        path = [start]
        while came[path[-1]] != start:
            path.append(came[path[-1]])
        circle = (start, *reversed(path[1:]))
        if not best or len(circle) < len(best):
            best = circle
    return best


def _connected_groups(edges: Flags, connection: str) -> tuple[tuple[int, ...], ...]:
    _, labels = csgraph.connected_components(
        sparse.csr_array(edges.astype(np.int8)), directed=True, connection=connection
    )
    groups = [tuple(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)]
    return tuple(sorted(groups, key=lambda group: (-len(group), group)))


# A judge's accuracy and consistency when asked twice, with the two answers swapped.
#
# Choices are levels (0: the first answer, 1: the second, ...) in the original numbering, whatever
# order was shown; negative: no answer. Every figure documents how it treats those.

_NOTHING = "There is no item with an answer in both orders."


def accuracy(
    first_order: npt.ArrayLike, second_order: npt.ArrayLike, labels: npt.ArrayLike
) -> Estimate:
    """Return the mean over both orders of the share of right choices.

    A missing answer is not right. Items without a truth are left out. (Zeng et al. 2024, average
    accuracy.)

    >>> accuracy([0, 1], [0, -1], [0, 1]).value
    0.75
    """
    a, b, right = (np.asarray(x, np.int64) for x in (first_order, second_order, labels))
    has_truth = right >= 0
    if not has_truth.any():
        return Estimate.undefined("No item has a label.")
    hits = ((a == right)[has_truth].mean() + (b == right)[has_truth].mean()) / 2
    return Estimate.defined(float(hits), int(has_truth.sum()))


def same_choice_share(
    first_order: npt.ArrayLike, second_order: npt.ArrayLike, *, empty_counts: bool = False
) -> Estimate:
    """Return the share of items with the same choice in both orders.

    Items with a missing answer are left out; or, with ``empty_counts``, two missing answers are
    the same choice and a single one differs (the convention of LLMBar's published figures).

    >>> same_choice_share([0, 1, -1], [0, 0, -1]).value
    0.5
    """
    a, b = _shared_levels(first_order, second_order)
    counted = np.ones(len(a), np.bool_) if empty_counts else (a >= 0) & (b >= 0)
    if not counted.any():
        return Estimate.undefined(_NOTHING)
    return Estimate.defined(float((a == b)[counted].mean()), int(counted.sum()))


def order_kappa(
    first_order: npt.ArrayLike,
    second_order: npt.ArrayLike,
    k: int = 2,
    *,
    empty_is_second: bool = False,
) -> Estimate:
    """Return Cohen's kappa between the two orders, on ``k`` levels.

    Items with a missing answer are left out; or, with ``empty_is_second``, the first answer is
    contrasted with everything else, missing answers included (the convention of LLMBar's figures).
    Undefined if the same level was chosen throughout.

    >>> order_kappa([0, 1, 1, 0], [0, 1, 0, 0]).value
    0.5
    """
    a, b = _shared_levels(first_order, second_order)
    if empty_is_second:
        a, b, k = (a != 0).astype(np.int64), (b != 0).astype(np.int64), 2
    counted = (a >= 0) & (b >= 0)
    if not counted.any():
        return Estimate.undefined(_NOTHING)
    table = np.bincount(a[counted] * k + b[counted], minlength=k * k).reshape(k, k)
    return cohen_kappa(table)


def _shared_levels(
    first_order: npt.ArrayLike, second_order: npt.ArrayLike
) -> tuple[Ratings, Ratings]:
    return (
        np.maximum(np.asarray(first_order, np.int64), -1),
        np.maximum(np.asarray(second_order, np.int64), -1),
    )
