"""The leaderboard of contests: strengths, rates, ranges of ranks, and what limits them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from core.metrics.measure import Array, Ratings
from core.metrics.ranking import ContestTable, tabulate, win_matrix
from core.metrics.ranking_elo import elo
from core.metrics.ranking_graph import majorities
from core.metrics.ranking_length import LengthControlled, length_controlled
from core.metrics.ranking_strengths import strengths
from core.services.contest_votes import Contests, Counted, Held, outcome
from core.services.ranking_board import (
    Figures,
    Leaderboard,
    gaps_of,
    notes_of,
    rates_of,
    standings_of,
)
from core.services.ranking_methods import side_by_side

RESAMPLES = 1000
_NOTHING = "Nothing is decided yet."


class Decided(NamedTuple):
    """The contests that came to something, as columns; ``points`` is what ``first`` got.

    ``item`` numbers tasks; ``lengths`` has shape (contests, 2), in words. ``held`` are the contests
    behind the rows. ``undecided`` and ``tied_for`` as in ``Leaderboard``.
    """

    item: Ratings
    first: Ratings
    second: Ratings
    points: Array
    weight: Array
    lengths: Array
    held: tuple[Held, ...]
    undecided: dict[str, int]
    tied_for: dict[str, int]


def decided(
    contests: Contests,
    *,
    question: str | None = None,
    judge: str | None = None,
    counted: Counted = "both",
) -> Decided:
    """The contests as columns. Without a question all count, each by its question's weight."""
    item = {task: at for at, task in enumerate(contests.tasks)}
    place = {system: at for at, system in enumerate(contests.systems)}
    weights = _weights(contests, question)
    rows: list[tuple[float, ...]] = []
    kept: list[Held] = []
    undecided, tied_for = Counter[str](), Counter[str]()
    for held in contests.held:
        weight = weights.get(held.question, 0.0)
        if weight <= 0:
            continue
        found = outcome(contests, held, judge, counted)
        if found.points is None:
            undecided[found.why] += 1
            continue
        if found.why:
            tied_for[found.why] += 1
        kept.append(held)
        ends = item[held.task], place[held.first], place[held.second]
        rows.append((*ends, found.points, weight, *held.lengths))
    columns = np.array(rows, np.float64).reshape(-1, 7)
    item_, first, second = columns[:, :3].astype(np.int64).T
    return Decided(
        item_,
        first,
        second,
        columns[:, 3],
        columns[:, 4],
        columns[:, 5:],
        tuple(kept),
        dict(undecided),
        dict(tied_for),
    )


def _weights(contests: Contests, question: str | None) -> dict[str, float]:
    """How much a contest on each question counts; 1 on average where all are taken together."""
    if question is not None:
        return {question: 1.0}
    mean = sum(contests.weights.values()) / max(1, len(contests.weights))
    return {name: w / mean if mean else 1.0 for name, w in contests.weights.items()}


def table_of(found: Decided, systems: int) -> ContestTable:
    """Decided contests as counts; tasks without any carry nothing and are left out."""
    tasks, item = np.unique(found.item, return_inverse=True)
    return tabulate(
        item,
        found.first,
        found.second,
        found.points,
        systems=systems,
        n_items=len(tasks),
        weights=found.weight,
    )


def leaderboard(
    contests: Contests,
    *,
    question: str | None = None,
    judge: str | None = None,
    counted: Counted = "both",
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Leaderboard:
    """The leaderboard of the panel or of one judge, over one question or all of them.

    ``counted`` says whether both orders count, or only the one in which the system that is listed
    earlier was shown first (as listed), or the other.
    """
    found = decided(contests, question=question, judge=judge, counted=counted)
    return leaderboard_of(found, contests.systems, seed=seed, resamples=resamples)


def leaderboard_of(
    found: Decided, systems: Sequence[str], *, seed: int = 0, resamples: int = RESAMPLES
) -> Leaderboard:
    """The leaderboard of decided contests."""
    table = table_of(found, len(systems))
    figures = _figures(found, table, seed, resamples)
    standings = standings_of(figures, systems)
    graph = majorities(figures.matrix)
    by_name = {s.system: s for s in standings}
    joined = len(figures.groups) == 1
    methods = side_by_side(
        {
            "strength": [by_name[s].strength.value if joined else None for s in systems],
            "win rate": [by_name[s].win_rate.value for s in systems],
            "Elo": [by_name[s].elo.value for s in systems],
            "length-controlled": [by_name[s].length_controlled.value for s in systems],
        },
        systems,
    )
    return Leaderboard(
        systems=tuple(systems),
        standings=tuple(standings),
        matrix=figures.matrix,
        majorities=graph,
        gaps=tuple(gaps_of(figures.groups, systems)),
        methods=methods,
        length=figures.length,
        undecided=found.undecided,
        tied_for=found.tied_for,
        decided=len(found.item),
        items=table.items,
        notes=tuple(notes_of(figures, graph, methods, systems)),
    )


def _figures(found: Decided, table: ContestTable, seed: int, resamples: int) -> Figures:
    n = table.systems
    columns = (found.first, found.second, found.points)
    ratings = None
    if len(found.item):
        rng = np.random.default_rng([seed, 1])
        ratings = elo(found.item, *columns, systems=n, rng=rng, resamples=min(resamples, 200))
    return Figures(
        groups=strengths(table, np.random.default_rng([seed, 2]), resamples=resamples),
        matrix=win_matrix(table),
        rates=rates_of(table, np.random.default_rng([seed, 3]), resamples),
        elo=ratings,
        length=_length(found, n, np.random.default_rng([seed, 4]), resamples),
    )


def _length(
    found: Decided, systems: int, rng: np.random.Generator, resamples: int
) -> LengthControlled | str:
    if not len(found.item):
        return _NOTHING
    return length_controlled(
        np.unique(found.item, return_inverse=True)[1],
        found.first,
        found.second,
        found.points,
        found.lengths,
        systems=systems,
        rng=rng,
        resamples=min(resamples, 200),
    )
