"""What a leaderboard is made of, and the sentences that limit it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from core.metrics.bootstrap import Interval, percentile, resample_items
from core.metrics.figure import Figure
from core.metrics.measure import Array
from core.metrics.ranking import ContestTable, WinMatrix, win_rates
from core.metrics.ranking_elo import Elo
from core.metrics.ranking_graph import Majorities
from core.metrics.ranking_length import LengthControlled
from core.metrics.ranking_ranks import RankRange, competition_ranks, rank_ranges
from core.metrics.ranking_strengths import FEWEST, Strengths, further_contests
from core.services.ranking_methods import Methods

NO_INTERVAL = Interval(None, None, "percentile", "Nothing is decided yet.")
_ALONE = "It met nobody."


class Measured(NamedTuple):
    """A figure with its interval."""

    value: float | None
    interval: Interval
    reason: str = ""


@dataclass(frozen=True)
class Standing:
    """One system. ``rank`` is by strength, equals sharing the better one; ``range`` holds the ranks
    that the contests allow, ``None`` without intervals. ``strength`` is in natural log units and
    ``regularised`` where no finite estimate exists; ``elo`` is in points. ``group`` numbers the
    systems that contests join: of different groups nothing can be said.
    """

    system: str
    group: int
    rank: int | None
    range: RankRange | None
    strength: Measured
    regularised: bool
    win_rate: Measured
    elo: Measured
    length_controlled: Measured
    contests: float
    wins: float
    ties: float
    losses: float


class Gap(NamedTuple):
    """Two systems of a group. ``further``: contests that would tell them apart; 0 if they are."""

    better: str
    worse: str
    difference: float
    error: float | None
    apart: bool
    further: Figure


@dataclass(frozen=True)
class Leaderboard:
    """Systems by strength, best first (groups one after the other), and all that is behind it.

    ``undecided`` counts contests that came to nothing, and ``tied_for`` those taken as ties, by
    why: ``orders`` or ``judges`` disagree, a judge ``abstained``, an answer is ``missing``.
    """

    systems: tuple[str, ...]
    standings: tuple[Standing, ...]
    matrix: WinMatrix
    majorities: Majorities
    gaps: tuple[Gap, ...]
    methods: Methods
    length: LengthControlled | str
    undecided: Mapping[str, int]
    tied_for: Mapping[str, int]
    decided: int
    items: int
    notes: tuple[str, ...]


class Figures(NamedTuple):
    """All that was computed of one table of contests; arrays run along systems."""

    groups: Sequence[Strengths]
    matrix: WinMatrix
    rates: Sequence[Measured]
    elo: Elo | None
    length: LengthControlled | str


def rates_of(table: ContestTable, rng: np.random.Generator, resamples: int) -> list[Measured]:
    """The win rate of every system with its bootstrap interval."""
    rates = win_rates(table.pairs, table.totals(), table.systems)
    if table.items < FEWEST or not resamples:
        reason = f"There are {table.items} items; intervals need at least {FEWEST}."
        unknown = Interval(None, None, "percentile", reason)
        return [_measured(rate, unknown, _ALONE) for rate in rates]
    weights = resample_items(table.items, resamples, rng)
    drawn = win_rates(table.pairs, table.totals(weights), table.systems)
    return [_measured(r, _interval(d), _ALONE) for r, d in zip(rates, drawn, strict=True)]


def standings_of(figures: Figures, systems: Sequence[str]) -> list[Standing]:
    """The systems by strength, group after group."""
    found = []
    for number, group in enumerate(figures.groups):
        ranks = competition_ranks(group.value, within=1e-6)
        ranges = rank_ranges(group.better)
        known = np.isfinite(group.error).all() and len(group.members) > 1
        for at, system in enumerate(group.members):
            matrix = figures.matrix
            found.append(
                Standing(
                    system=systems[system],
                    group=number,
                    rank=ranks[at],
                    range=ranges[at] if known else None,
                    strength=_measured(group.value[at], group.intervals[at], group.reason),
                    regularised=group.regularised,
                    win_rate=figures.rates[system],
                    elo=_elo(figures.elo, system),
                    length_controlled=_length(figures.length, system),
                    contests=float(matrix.contests[system].sum()),
                    wins=float(matrix.wins[system].sum()),
                    ties=float(matrix.ties[system].sum()),
                    losses=float(matrix.wins[:, system].sum()),
                )
            )
    return sorted(found, key=lambda s: (s.group, s.rank or 0, systems.index(s.system)))


def gaps_of(groups: Sequence[Strengths], systems: Sequence[str]) -> Iterator[Gap]:
    """Every two systems that contests join, the better first."""
    for group in groups:
        for i, j in combinations(range(len(group.members)), 2):
            a, b = (i, j) if group.value[i] >= group.value[j] else (j, i)
            apart = float(group.value[a] - group.value[b])
            error = float(group.error[a, b])
            known = np.isfinite(error)
            further = (
                further_contests(apart, error, group.log_tie, critical=group.critical)
                if known and not group.regularised
                else Figure.undefined(_unknown(group))
            )
            yield Gap(
                systems[group.members[a]],
                systems[group.members[b]],
                apart,
                error if known else None,
                bool(group.better[a, b]),
                further,
            )


def notes_of(
    figures: Figures, majorities: Majorities, methods: Methods, systems: Sequence[str]
) -> Iterator[str]:
    """What somebody must know before they quote the leaderboard."""
    joined = [group for group in figures.groups if len(group.members) > 1]
    if len(figures.groups) > 1:
        parts = "; ".join(_named(group.members, systems) for group in figures.groups)
        yield (
            f"The contests do not join all systems: {parts}. Strengths hold within a group only; "
            "hold contests between the groups to compare them."
        )
    for group in joined:
        if group.regularised:
            parts = " above ".join(_named(part, systems) for part in group.groups)
            yield (
                f"No contest between these was lost by the upper side: {parts}. Such a lead has no "
                "finite estimate, so strengths are regularised (half a win and half a loss for "
                "each system) and depend on that."
            )
        elif group.reason:
            yield group.reason
    for circle in majorities.examples:
        names = " beats ".join(systems[i] for i in (*circle, circle[0]))
        yield f"A circle: {names}. No order agrees with all of its majorities."
    if methods.winner_differs:
        said = "; ".join(f"{w.name}: {', '.join(w.winners)}" for w in methods.ways if w.winners)
        yield f"The winner depends on the method. {said}."


def _unknown(group: Strengths) -> str:
    if group.regularised:
        return "One side won every contest, so nobody knows by how much it leads."
    return group.reason or "The standard error of the difference is not known."


def _named(members: Sequence[int], systems: Sequence[str]) -> str:
    return ", ".join(systems[i] for i in members)


def _elo(elo: Elo | None, system: int) -> Measured:
    if elo is None:
        return Measured(None, NO_INTERVAL, "Nothing is decided yet.")
    return Measured(float(elo.rating[system]), elo.intervals[system])


def _length(length: LengthControlled | str, system: int) -> Measured:
    if isinstance(length, str):
        return Measured(None, Interval(None, None, "percentile", length), length)
    return Measured(float(length.strengths[system]), length.intervals[system])


def _measured(value: float, interval: Interval, reason: str) -> Measured:
    if not np.isfinite(value):
        return Measured(None, Interval(None, None, "percentile", reason), reason)
    return Measured(float(value), interval)


def _interval(drawn: Array) -> Interval:
    if np.isnan(drawn).all():
        return Interval(None, None, "percentile", _ALONE)
    return percentile(drawn)
