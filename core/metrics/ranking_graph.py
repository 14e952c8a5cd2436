"""What the graph of contests says: who can be compared at all, who beats whom in a circle, and
whether strengths have finite estimates.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse import csgraph

from core.metrics.measure import Array
from core.metrics.near import NEAR
from core.metrics.ranking import WinMatrix

Flags = npt.NDArray[np.bool_]


class Majorities(NamedTuple):
    """Who beats whom by majority. ``beats[i, j]``: i won more contests against j than it lost.

    ``winner`` beats everybody else (Condorcet 1785), or is ``None``. ``circles`` are groups of
    systems in which everybody can be reached from everybody by "beats", the largest first;
    ``examples`` gives the shortest circle of each, its first system the lowest.
    """

    beats: Flags
    winner: int | None
    circles: tuple[tuple[int, ...], ...]
    examples: tuple[tuple[int, ...], ...]


def components(contests: npt.ArrayLike) -> tuple[tuple[int, ...], ...]:
    """The groups of systems that contests join, the largest first; of different groups nothing
    can be said. ``contests[i, j]`` counts how often i and j met.

    >>> components([[0, 2, 0], [2, 0, 0], [0, 0, 0]])
    ((0, 1), (2,))
    """
    return _groups(np.asarray(contests) > 0, "weak")


def separated(matrix: WinMatrix) -> tuple[tuple[int, ...], ...]:
    """The groups between which strengths have no finite estimate, the strongest first.

    One group: all estimates are finite. Several: no contest between them was lost by the upper
    side, so that no difference is too large. That is so where one side won everything (Zermelo
    1929; Ford 1957; a tie counts for both), and where ties are on one rung or between neighbouring
    ones of a ladder that every win goes down: then differences and the parameter of ties grow
    together without end. Systems must be joined by contests (one of ``components``).
    """
    rungs = _ladder(matrix)
    if rungs is not None:
        return tuple(tuple(np.flatnonzero(rungs == rung).tolist()) for rung in -np.unique(-rungs))
    beaten = (matrix.wins > 0) | (matrix.ties > 0)
    groups = _groups(beaten, "strong")
    met = np.asarray(matrix.contests) > 0
    above = {
        g: [h for h in range(len(groups)) if h != g and _any(beaten & met, groups[h], groups[g])]
        for g in range(len(groups))
    }
    ordered: list[int] = []
    while len(ordered) < len(groups):
        ready = [g for g in above if g not in ordered and set(above[g]) <= set(ordered)]
        ordered.append(min(ready, key=lambda g: groups[g][0]))
    return tuple(groups[g] for g in ordered)


def _ladder(matrix: WinMatrix) -> Array | None:
    """Rungs, the highest for the strongest, such that every win goes down one rung or more and
    every tie at most one, up or down; ``None`` where there are no such rungs, or no win and tie.

    These are differences of a system of constraints: shortest ways (Floyd 1962; Warshall 1962), of
    which none may lead back to its beginning with a gain.
    """
    won, tied = np.asarray(matrix.wins) > 0, np.asarray(matrix.ties) > 0
    if not (won.any() and tied.any()):
        return None
    # bound[i, j]: how far the rung of j may lie above that of i.
    bound = np.where(won, -1.0, np.where(tied, 1.0, np.inf))
    np.fill_diagonal(bound, np.minimum(bound.diagonal(), 0.0))
    for via in range(len(bound)):
        bound = np.minimum(bound, bound[:, via, None] + bound[None, via, :])
        if (bound.diagonal() < 0).any():
            return None
    rungs: Array = bound.min(axis=0)
    return rungs


def majorities(matrix: WinMatrix) -> Majorities:
    """Majorities, their Condorcet winner, and their circles.

    >>> from core.metrics.ranking import tabulate, win_matrix
    >>> table = tabulate([0, 0, 0], [0, 1, 2], [1, 2, 0], [1, 1, 1], systems=3, n_items=1)
    >>> majorities(win_matrix(table)).examples
    ((0, 1, 2),)
    """
    # Wins are weighted by their question, and such sums differ by rounding.
    beats: Flags = matrix.wins - matrix.wins.T > NEAR
    n = len(beats)
    winner = next((i for i in range(n) if beats[i].sum() == n - 1 and n > 1), None)
    circles = tuple(group for group in _groups(beats, "strong") if len(group) > 1)
    return Majorities(beats, winner, circles, tuple(_circle(beats, group) for group in circles))


def _circle(beats: Flags, group: tuple[int, ...]) -> tuple[int, ...]:
    """The shortest circle within a strongly connected group, by breadth-first search."""
    best: tuple[int, ...] = ()
    for start in group:
        came: dict[int, int] = {}
        queue = deque([start])
        while queue and start not in came:
            here = queue.popleft()
            for there in group:
                if beats[here, there] and there not in came:
                    came[there] = here
                    queue.append(there)
        path = [start]
        while came[path[-1]] != start:
            path.append(came[path[-1]])
        found = (start, *reversed(path[1:]))
        if not best or len(found) < len(best):
            best = found
    return best


def _groups(edges: Flags, connection: str) -> tuple[tuple[int, ...], ...]:
    _, labels = csgraph.connected_components(
        sparse.csr_array(edges.astype(np.int8)), directed=True, connection=connection
    )
    found = [tuple(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)]
    return tuple(sorted(found, key=lambda group: (-len(group), group)))


def _any(edges: Flags, above: tuple[int, ...], below: tuple[int, ...]) -> bool:
    return bool(edges[np.ix_(above, below)].any())
