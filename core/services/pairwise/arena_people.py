"""People and judges on the same contests: a person's arenas, and the agreement of raters.

A withdrawn vote is kept, with the time. It does not count, and its contest is not shown to that
person again, because the names were revealed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np

from core import clock
from core.metrics.agreement.kappa import cohen_kappa
from core.metrics.estimate import Estimate
from core.services.access.allowing import allowed
from core.services.pairwise.contest_votes import (
    WITHDRAWN,
    ContestKey,
    Contests,
    contests_of_runs,
    outcome_of_contest,
)
from core.services.pairwise.contests import details_of
from core.store.store import Store

PANEL = "Judges together"
_LEVELS = {1.0: 0, 0.5: 1, 0.0: 2}


class Arena(NamedTuple):
    """A person's arena for a contest. ``votes`` includes withdrawn votes."""

    run_id: int
    person: str
    votes: int
    planned: int
    withdrawn: int


class ArenaRater(NamedTuple):
    """A rater of contests: a person, a judge, or the judges together.

    ``rates`` is each system's share of points over its decided contests with this rater, or
    ``None``; ``contests`` counts the decided ones.
    """

    name: str
    kind: Literal["person", "panel", "judge"]
    contests: int
    rates: Mapping[str, float | None]


#: Agreement of two raters on the contests that both decided: the share of equal answers, and
#: Cohen's kappa over win, tie, loss.
RaterAgreement = tuple[Estimate, Estimate]


def arenas_of(store: Store, run_ids: Sequence[int]) -> list[Arena]:
    """Return the arenas of these contests, newest first."""
    arenas = []
    for row in store.runs.list(detail="contest", limit=10_000):
        if row.panel.judges[0].kind != "person":
            continue
        if details_of(store, row.id).get("arena") in run_ids:
            withdrawn = len(store.runs.get(row.id).notes.get(WITHDRAWN, ()))
            person = row.panel.judges[0].name
            arenas.append(Arena(row.id, person, row.votes, row.planned, withdrawn))
    return arenas


def votes_so_far(store: Store, arena: int) -> tuple[int, int, int]:
    """Return the votes in an arena, the withdrawn votes, and the judges' votes: all affect
    figures.
    """
    run = store.runs.get(arena)
    contest = store.runs.row(details_of(store, arena)["arena"])
    return run.votes, len(run.notes.get(WITHDRAWN, ())), contest.votes


@allowed("review")
def withdraw(store: Store, arena: int, item_id: str, question: str) -> bool:
    """Withdraw a person's vote, which is kept but no longer counts; return ``False`` if there is
    none.
    """
    with store.write():
        votes = {(cell.item, cell.criterion) for cell in store.votes.present(arena)}
        withdrawals = list(store.runs.get(arena).notes.get(WITHDRAWN, ()))
        withdrawn = any((item, name) == (item_id, question) for item, name, *_ in withdrawals)
        if withdrawn or (item_id, question) not in votes:
            return False
        note = {WITHDRAWN: [*withdrawals, [item_id, question, clock.now()]]}
        store.runs.set_notes(arena, note)
    return True


def rater_agreement(
    store: Store, run_ids: Sequence[int], contests: Contests | None = None
) -> tuple[tuple[ArenaRater, ...], dict[tuple[int, int], RaterAgreement]]:
    """Return the raters of a contest and its earlier rounds, people first, and how much every two
    agree, by their indices.

    ``contests`` is the result of ``contest_votes.read`` for these runs, if already loaded.
    """
    contests = contests or contests_of_runs(store, run_ids)
    columns: list[tuple[str, Literal["person", "panel", "judge"], dict[ContestKey, float]]] = []
    for arena in arenas_of(store, run_ids):
        votes = contests_of_runs(store, [arena.run_id])
        if points := _first_points(votes, None):
            columns.append((arena.person, "person", points))
    if len(contests.judges) > 1:
        columns.append((PANEL, "panel", _first_points(contests, None)))
    columns += [(j.name, "judge", _first_points(contests, j.name)) for j in contests.judges]
    raters = tuple(
        ArenaRater(name, kind, len(points), _win_rates(points, contests.systems))
        for name, kind, points in columns
    )
    points_by_rater = [points for *_, points in columns]
    pairs = dict[tuple[int, int], RaterAgreement]()
    for first, second in combinations(range(len(points_by_rater)), 2):
        shared_points = (
            (points_by_rater[first][key], points_by_rater[second][key])
            for key in points_by_rater[first].keys() & points_by_rater[second]
        )
        pairs[first, second] = agreement_of_raters(shared_points)
    return raters, pairs


def _first_points(contests: Contests, judge: str | None) -> dict[ContestKey, float]:
    """Return the first system's points in every decided contest."""
    by_contest = {
        contest.key: outcome_of_contest(contests, contest, judge).points
        for contest in contests.held
    }
    return {key: points for key, points in by_contest.items() if points is not None}


def _win_rates(
    points: Mapping[ContestKey, float], systems: Sequence[str]
) -> dict[str, float | None]:
    got: dict[str, list[float]] = {system: [] for system in systems}
    for (_, _, first, second), value in points.items():
        got[first].append(value)
        got[second].append(1 - value)
    return {s: sum(values) / len(values) if values else None for s, values in got.items()}


def agreement_of_raters(shared_points: Iterable[tuple[float, float]]) -> RaterAgreement:
    """Return the agreement of two raters, given both points of every contest."""
    table = np.zeros((3, 3))
    for first_verdict, second_verdict in shared_points:
        table[_LEVELS[first_verdict], _LEVELS[second_verdict]] += 1
    same = Estimate.share(int(np.trace(table)), int(table.sum()))
    return same, cohen_kappa(table)
