"""Several ways to rank the same systems, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from core.metrics.figure import Figure
from core.metrics.ranking_ranks import competition_ranks, kendall_tau, winners


class Way(NamedTuple):
    """One way to rank: its value and competition rank per system, and who is first.

    ``None`` where a system has no value.
    """

    name: str
    values: tuple[float | None, ...]
    ranks: tuple[int | None, ...]
    winners: tuple[str, ...]


class Accord(NamedTuple):
    """Kendall's tau-b between two ways, and whether they have the same winner."""

    one: str
    other: str
    tau: Figure
    same_winner: bool


class Methods(NamedTuple):
    """All ways, every two of them compared, and whether some name different winners."""

    ways: tuple[Way, ...]
    accords: tuple[Accord, ...]

    @property
    def winner_differs(self) -> bool:
        """Whether no system is first under every way that ranks at all."""
        sets = [set(way.winners) for way in self.ways if way.winners]
        return bool(sets) and not set.intersection(*sets)


def side_by_side(values: Mapping[str, Sequence[float | None]], systems: Sequence[str]) -> Methods:
    """Ways to rank ``systems``; higher values are better.

    >>> found = side_by_side({"a": [3, 2, 1], "b": [2, 3, 1]}, ["x", "y", "z"])
    >>> found.winner_differs, round(found.accords[0].tau.value, 3)
    (True, 0.333)
    """
    arrays = {
        name: np.array([np.nan if v is None else v for v in given], np.float64)
        for name, given in values.items()
    }
    ways = tuple(
        Way(
            name,
            tuple(None if np.isnan(v) else float(v) for v in given),
            tuple(competition_ranks(given)),
            tuple(systems[i] for i in winners(given)),
        )
        for name, given in arrays.items()
    )
    accords = tuple(
        Accord(
            one.name,
            other.name,
            kendall_tau(arrays[one.name], arrays[other.name]),
            bool(set(one.winners) & set(other.winners)),
        )
        for one, other in combinations(ways, 2)
    )
    return Methods(ways, accords)
