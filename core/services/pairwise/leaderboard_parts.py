"""Rows, gaps and limits of a leaderboard, and a comparison of several ranking methods."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np

from core.metrics.estimate import USUAL, Estimate, Interval, wilson
from core.metrics.intervals.bootstrap import SMALL, percentile
from core.metrics.intervals.draws import resample_items
from core.metrics.intervals.means import jackknife_error, t_interval
from core.metrics.measure import Array, Ratings
from core.metrics.ranking.bradley_terry import FEWEST, Strengths, further_contests, item_counts
from core.metrics.ranking.contests import ContestTable, WinMatrix, majority_circles, win_rates
from core.metrics.ranking.elo import LengthControlled
from core.metrics.ranking.ranks import (
    competition_ranks,
    kendall_tau,
    rank_ranges,
    winners,
)


class RankingMethod(NamedTuple):
    """One ranking method: its value and competition rank per system, and the winners.

    Value and rank are ``None`` for a system that the method cannot rank.
    """

    name: str
    values: tuple[float | None, ...]
    ranks: tuple[int | None, ...]
    winners: tuple[str, ...]


#: All ways to rank the same systems.
Methods = tuple[RankingMethod, ...]


def winner_differs(methods: Methods) -> bool:
    """Return whether no system is first in all methods that rank at all."""
    sets = [set(method.winners) for method in methods if method.winners]
    return bool(sets) and not set.intersection(*sets)


def accords_of(methods: Methods) -> Iterator[tuple[str, str, Estimate, bool]]:
    """Yield every two methods: their names, Kendall's tau-b, and whether they share a winner."""
    for first, second in combinations(methods, 2):
        tau = kendall_tau(*(np.array(method.values, np.float64) for method in (first, second)))
        yield first.name, second.name, tau, bool(set(first.winners) & set(second.winners))


def side_by_side(values: Mapping[str, Sequence[float | None]], systems: Sequence[str]) -> Methods:
    """Rank ``systems`` by several methods; higher values are better.

    >>> methods = side_by_side({"a": [3, 2, 1], "b": [2, 3, 1]}, ["x", "y", "z"])
    >>> ((_, _, tau, _),) = accords_of(methods)
    >>> winner_differs(methods), round(tau.value, 3)
    (True, 0.333)
    """
    arrays = {
        name: np.array([np.nan if v is None else v for v in scores], np.float64)
        for name, scores in values.items()
    }
    return tuple(
        RankingMethod(
            name,
            tuple(None if np.isnan(v) else float(v) for v in scores),
            tuple(competition_ranks(scores)),
            tuple(systems[i] for i in winners(scores)),
        )
        for name, scores in arrays.items()
    )


_ALONE = "It has no contests."


@dataclass(frozen=True)
class RankedSystem:
    """One system. ``rank`` is by strength, and equals share the better rank. ``range`` has the
    best and worst ranks that the intervals allow, if any. ``strength`` is in natural log units, and
    ``regularised`` if there is no finite estimate; ``elo`` is in points. ``group`` numbers the
    systems connected by contests; different groups cannot be compared.
    """

    system: str
    group: int
    rank: int | None
    range: tuple[int, int] | None
    strength: Estimate
    regularised: bool
    win_rate: Estimate
    weighted_win_rate: Estimate
    elo: Estimate
    length_controlled: Estimate
    contests: float
    wins: float
    ties: float
    losses: float


class RankGap(NamedTuple):
    """Two systems of a group. ``further`` is the number of contests needed to tell them apart, or
    0.
    """

    better: str
    worse: str
    difference: float
    error: float | None
    apart: bool
    further: Estimate


@dataclass(frozen=True)
class Leaderboard:
    """Systems by strength, best first (groups one after the other), with all figures.

    ``undecided`` counts contests without an outcome, and ``tied_for`` those counted as ties, by
    cause: ``orders`` or ``judges`` disagree, a judge ``abstained``, an answer is ``missing``.
    """

    systems: tuple[str, ...]
    standings: tuple[RankedSystem, ...]
    matrix: WinMatrix
    gaps: tuple[RankGap, ...]
    methods: Methods
    length: LengthControlled | str
    undecided: Mapping[str, int]
    tied_for: Mapping[str, int]
    decided: int
    items: int
    notes: tuple[str, ...]


class LeaderboardFigures(NamedTuple):
    """All figures of one table of contests; the entries of arrays are systems."""

    groups: Sequence[Strengths]
    matrix: WinMatrix
    rates: Sequence[Estimate]
    weighted: Sequence[Estimate]
    elo: Sequence[Estimate]
    length: LengthControlled | str


#: Computes the win rate of every system from pairs, totals and the number of systems.
Rate = Callable[[Ratings, Array, int], Array]


def rates_of(
    table: ContestTable,
    rng: np.random.Generator,
    resamples: int,
    rate: Rate = win_rates,
    level: float = USUAL.level,
) -> list[Estimate]:
    """Return win rates with intervals over items: by t for few items, else by resampling."""
    rates = rate(table.pairs, table.totals(), table.systems)
    if table.items < FEWEST or not resamples:
        reason = f"There are {table.items} items; intervals need at least {FEWEST}."
        unknown = Interval(None, None, "percentile", reason)
        return [_estimate_or_reason(rate, unknown, _ALONE) for rate in rates]
    if table.items < SMALL:
        without = rate(table.pairs, table.totals(1.0 - np.eye(table.items)), table.systems)
        intervals = [
            t_interval(float(value), error, number, level, (0.0, 1.0))
            for value, error, number in zip(
                rates, jackknife_error(without).tolist(), item_counts(table).tolist(), strict=True
            )
        ]
        return [_estimate_or_reason(r, i, _ALONE) for r, i in zip(rates, intervals, strict=True)]
    weights = resample_items(table.items, resamples, rng)
    drawn = rate(table.pairs, table.totals(weights), table.systems)
    return [
        _estimate_or_reason(r, _resampled_interval(d, level), _ALONE)
        for r, d in zip(rates, drawn, strict=True)
    ]


def standings_of(figures: LeaderboardFigures, systems: Sequence[str]) -> list[RankedSystem]:
    """Return the systems by strength, group after group."""
    rows = []
    for number, group in enumerate(figures.groups):
        ranks = competition_ranks(group.value, within=1e-6)
        ranges = rank_ranges(group.better)
        has_errors = np.isfinite(group.error).all() and len(group.members) > 1
        for index, system in enumerate(group.members):
            matrix = figures.matrix
            rows.append(
                RankedSystem(
                    system=systems[system],
                    group=number,
                    rank=ranks[index],
                    range=ranges[index] if has_errors else None,
                    strength=_estimate_or_reason(
                        group.value[index], group.intervals[index], group.reason
                    ),
                    regularised=group.regularised,
                    win_rate=figures.rates[system],
                    weighted_win_rate=figures.weighted[system],
                    elo=figures.elo[system],
                    length_controlled=_length_estimate(figures.length, system),
                    contests=float(matrix.contests[system].sum()),
                    wins=float(matrix.wins[system].sum()),
                    ties=float(matrix.ties[system].sum()),
                    losses=float(matrix.wins[:, system].sum()),
                )
            )
    return sorted(rows, key=lambda s: (s.group, s.rank or 0, systems.index(s.system)))


def gaps_of(groups: Sequence[Strengths], systems: Sequence[str]) -> Iterator[RankGap]:
    """Yield every pair of systems connected by contests, the better first."""
    for group in groups:
        for i, j in combinations(range(len(group.members)), 2):
            a, b = (i, j) if group.value[i] >= group.value[j] else (j, i)
            gap = float(group.value[a] - group.value[b])
            error = float(group.error[a, b])
            finite = np.isfinite(error)
            further = (
                further_contests(gap, error, group.log_tie, critical=float(group.critical[a, b]))
                if finite and not group.regularised
                else Estimate.undefined(_unknown_reason(group))
            )
            yield RankGap(
                systems[group.members[a]],
                systems[group.members[b]],
                gap,
                error if finite else None,
                bool(group.better[a, b]),
                further,
            )


def notes_of(
    figures: LeaderboardFigures,
    methods: Methods,
    systems: Sequence[str],
    items: int,
) -> Iterator[str]:
    """Yield what to know before quoting a leaderboard of this many tasks."""
    joined = [group for group in figures.groups if len(group.members) > 1]
    if len(figures.groups) > 1:
        parts = "; ".join(_join_names(group.members, systems) for group in figures.groups)
        yield (
            f"The contests do not join all systems: {parts}. Strengths hold within a group only; "
            "hold contests between the groups to compare them."
        )
    for group in joined:
        if group.regularised:
            parts = " above ".join(_join_names(part, systems) for part in group.groups)
            yield (
                f"No contest between these was lost by the upper side: {parts}. Such a lead has no "
                "finite estimate, so strengths are regularised (half a win and half a loss for "
                "each system) and depend on that."
            )
        elif group.reason:
            yield group.reason
    yield from _length_notes(figures, systems)
    for circle in majority_circles(figures.matrix):
        names = " beats ".join(systems[i] for i in (*circle, circle[0]))
        edges = pairwise((*circle, circle[0]))
        if all(_surely_beats(figures.matrix, i, j, items) for i, j in edges):
            yield f"A circle: {names}. No order agrees with all of its majorities."
        else:
            yield f"A circle by bare majorities, which chance makes, too: {names}."
    if winner_differs(methods):
        by_method = "; ".join(f"{w.name}: {', '.join(w.winners)}" for w in methods if w.winners)
        yield f"The winner depends on the method. {by_method}."


def _surely_beats(matrix: WinMatrix, i: int, j: int, items: int) -> bool:
    """Return whether a majority is more than chance; contests on one task count as one."""
    contests = float(matrix.wins[i, j] + matrix.wins[j, i])
    n = round(min(contests, items))
    return wilson(round(n * float(matrix.wins[i, j]) / contests), n)[0] > 0.5


def _length_notes(figures: LeaderboardFigures, systems: Sequence[str]) -> Iterator[str]:
    """Yield a note if the leader may lead only because of the length of its answers: length has a
    significant effect, and the lead is significant without correction for length but not with it.
    """
    length = figures.length
    if isinstance(length, str) or not length.leads or length.slope.low is None:
        return
    low, high = length.slope.low, length.slope.high or 0.0
    leader = int(length.ignored.argmax())
    group = next(joined for joined in figures.groups if leader in joined.members)
    index = group.members.index(leader)
    unsure = [
        system
        for place, system in enumerate(group.members)
        if group.better[index, place] and (length.leads[system].low or 0.0) <= 0
    ]
    if low <= 0 <= high or not unsure:
        return
    direction = "longer" if low > 0 else "shorter"
    yield (
        f"{systems[leader]} may be first by length alone: {direction} answers win significantly "
        f"more, and at equal length its lead over {_join_names(unsure, systems)} is not sure."
    )


def _unknown_reason(group: Strengths) -> str:
    if group.regularised:
        return "One side won every contest, so the size of its lead is unknown."
    return group.reason or "The standard error of the difference is not known."


def _join_names(members: Sequence[int], systems: Sequence[str]) -> str:
    return ", ".join(systems[i] for i in members)


def _length_estimate(length: LengthControlled | str, system: int) -> Estimate:
    if isinstance(length, str):
        return Estimate.undefined(length)
    return Estimate(float(length.strengths[system])).with_interval(length.intervals[system])


def _estimate_or_reason(value: float, interval: Interval, reason: str) -> Estimate:
    if not np.isfinite(value):
        return Estimate.undefined(reason)
    return Estimate(float(value)).with_interval(interval)


def _resampled_interval(resampled_values: Array, level: float) -> Interval:
    if np.isnan(resampled_values).all():
        return Interval(None, None, "percentile", _ALONE)
    return percentile(resampled_values, level)
