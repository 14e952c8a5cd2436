"""The leaderboard of contests, and the next round of pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from core.identity import seeded_random
from core.metrics.estimate import USUAL, Estimate
from core.metrics.measure import Array, Ratings
from core.metrics.ranking.bradley_terry import (
    PRIOR,
    fit_strengths,
    outcome_shares,
    strengths_by_group,
)
from core.metrics.ranking.contests import (
    ContestTable,
    contest_table,
    weighted_win_rates,
    win_matrix,
    win_rates,
)
from core.metrics.ranking.elo import LengthControlled, elo_ratings, length_controlled_strengths
from core.services.pairwise.contest_votes import (
    Contest,
    Contests,
    Counted,
    contests_of_runs,
    outcome_of_contest,
)
from core.services.pairwise.contests import ContestRequest, details_of
from core.services.pairwise.design import Bout, ContestQuestion, Design
from core.services.pairwise.leaderboard_parts import (
    Leaderboard,
    LeaderboardFigures,
    gaps_of,
    notes_of,
    rates_of,
    side_by_side,
    standings_of,
)
from core.services.pairwise.system_answers import ContestField, join_datasets
from core.store.store import Store

RESAMPLES = 1000
_NOTHING = "Nothing is decided yet."


class DecidedContests(NamedTuple):
    """Decided contests as columns; ``points`` are those of ``first``.

    ``item`` numbers tasks; ``lengths`` has shape (contests, 2), in words. ``held`` has the contest
    of each row. ``undecided`` and ``tied_for`` as in ``Leaderboard``.
    """

    item: Ratings
    first: Ratings
    second: Ratings
    points: Array
    weight: Array
    lengths: Array
    held: tuple[Contest, ...]
    undecided: dict[str, int]
    tied_for: dict[str, int]


def decided_contests(
    contests: Contests,
    *,
    question: str | None = None,
    judge: str | None = None,
    counted: Counted = "both",
) -> DecidedContests:
    """Return the contests as columns. Without a question, all questions count by their weight."""
    item = {task: index for index, task in enumerate(contests.tasks)}
    place = {system: index for index, system in enumerate(contests.systems)}
    weights = _question_weights(contests, question)
    rows: list[tuple[float, ...]] = []
    rated: list[Contest] = []
    undecided, tied_for = Counter[str](), Counter[str]()
    for contest in contests.held:
        weight = weights.get(contest.question, 0.0)
        if weight <= 0:
            continue
        result = outcome_of_contest(contests, contest, judge, counted)
        if result.points is None:
            undecided[result.why] += 1
            continue
        if result.why:
            tied_for[result.why] += 1
        rated.append(contest)
        ends = item[contest.task], place[contest.first], place[contest.second]
        rows.append((*ends, result.points, weight, *contest.lengths))
    columns = np.array(rows, np.float64).reshape(-1, 7)
    item_, first, second = columns[:, :3].astype(np.int64).T
    return DecidedContests(
        item_,
        first,
        second,
        columns[:, 3],
        columns[:, 4],
        columns[:, 5:],
        tuple(rated),
        dict(undecided),
        dict(tied_for),
    )


def _question_weights(contests: Contests, question: str | None) -> dict[str, float]:
    """Return the weight of contests by question; if all questions count, the mean weight is 1."""
    if question is not None:
        return {question: 1.0}
    mean = sum(contests.weights.values()) / max(1, len(contests.weights))
    return {name: w / mean if mean else 1.0 for name, w in contests.weights.items()}


def count_table(columns: DecidedContests, systems: int) -> ContestTable:
    """Return decided contests as counts, without tasks that have none."""
    tasks, item = np.unique(columns.item, return_inverse=True)
    return contest_table(
        item,
        columns.first,
        columns.second,
        columns.points,
        systems=systems,
        n_items=len(tasks),
        weights=columns.weight,
    )


def leaderboard(
    contests: Contests,
    *,
    question: str | None = None,
    judge: str | None = None,
    counted: Counted = "both",
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = USUAL.level,
) -> Leaderboard:
    """Return the leaderboard of the panel or of one judge, over one question or all of them.

    ``counted``: count both orders, or only contests that show the earlier listed system first (as
    listed), or only the others. Ranks are decided at 95%, whatever ``level`` the intervals have.
    """
    rows = decided_contests(contests, question=question, judge=judge, counted=counted)
    return leaderboard_of(rows, contests.systems, seed=seed, resamples=resamples, level=level)


def leaderboard_of(
    columns: DecidedContests,
    systems: Sequence[str],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = USUAL.level,
) -> Leaderboard:
    """Return the leaderboard of decided contests."""
    table = count_table(columns, len(systems))
    figures = _leaderboard_figures(columns, table, seed, resamples, level)
    standings = standings_of(figures, systems)
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
        gaps=tuple(gaps_of(figures.groups, systems)),
        methods=methods,
        length=figures.length,
        undecided=columns.undecided,
        tied_for=columns.tied_for,
        decided=len(columns.item),
        items=table.items,
        notes=tuple(notes_of(figures, methods, systems, table.items)),
    )


def _leaderboard_figures(
    contests: DecidedContests, table: ContestTable, seed: int, resamples: int, level: float
) -> LeaderboardFigures:
    n = table.systems
    columns = (contests.first, contests.second, contests.points)
    ratings = [Estimate.undefined("Nothing is decided yet.")] * n
    if len(contests.item):
        rng = np.random.default_rng([seed, 1])
        draws = min(resamples, 200)
        ratings = elo_ratings(
            contests.item, *columns, systems=n, rng=rng, resamples=draws, level=level
        )
    rates, weighted = (
        rates_of(table, np.random.default_rng([seed, 3]), resamples, rate, level)
        for rate in (win_rates, weighted_win_rates)
    )
    return LeaderboardFigures(
        groups=strengths_by_group(
            table, np.random.default_rng([seed, 2]), resamples=resamples, level=level
        ),
        matrix=win_matrix(table),
        rates=rates,
        weighted=weighted,
        elo=ratings,
        length=_length_controlled(contests, n, np.random.default_rng([seed, 4]), resamples, level),
    )


def _length_controlled(
    contests: DecidedContests, systems: int, rng: np.random.Generator, resamples: int, level: float
) -> LengthControlled | str:
    if not len(contests.item):
        return _NOTHING
    return length_controlled_strengths(
        np.unique(contests.item, return_inverse=True)[1],
        contests.first,
        contests.second,
        contests.points,
        contests.lengths,
        systems=systems,
        rng=rng,
        resamples=min(resamples, 200),
        level=level,
    )


def next_round(store: Store, run_ids: Sequence[int], bouts: int) -> ContestRequest | None:
    """Return a request for the next round after these runs, with at most this many bouts.

    A bout is more informative the more open it is (the larger the variance of its points) and the
    fewer were held. Systems that differ significantly do not meet again. Return ``None`` if no
    bouts remain: all systems differ significantly, or all bouts were held.
    """
    run = store.runs.get(run_ids[0])
    details = details_of(store, run_ids[0])
    rubric = store.rubrics.version(run.rubric_version_id).rubric
    contests = contests_of_runs(store, run_ids)
    field = join_datasets(
        [store.datasets.load(v) for v in details["datasets"]],
        contests.systems,
        details.get("join"),
    )
    seed = run.plan.seed + len(run_ids)
    chosen = _chosen_bouts(field, contests, bouts, seed)
    if not chosen:
        return None
    return ContestRequest(
        datasets=tuple(details["datasets"]),
        panel=run.panel,
        systems=contests.systems,
        questions=tuple(ContestQuestion(c.name, c.requirement, c.weight) for c in rubric.criteria),
        design=Design.model_validate(details["design"]),
        guidelines=rubric.guidelines,
        join=details.get("join"),
        name=f"{run.name[:180]}, round {len(run_ids) + 1}",
        seed=seed,
        replicates=run.plan.replicates,
        budget=run.plan.budget,
        bouts=chosen,
        after=tuple(run_ids),
    )


def rounds_of(store: Store, run_id: int) -> list[int]:
    """Return the earlier rounds of a run, followed by the run."""
    return [*details_of(store, run_id).get("after", []), run_id]


def with_first_round(request: ContestRequest) -> ContestRequest:
    """Return an adaptive request with a sampled first round: at least one bout on every task, and
    half of all pairs, so that it connects the systems.
    """
    pairs = max(1, round(0.5 * len(list(combinations(request.systems, 2)))))
    design = request.design.model_copy(update={"per_task": max(request.design.per_task, pairs)})
    return replace(request, design=design)


def _chosen_bouts(
    field: ContestField, contests: Contests, bouts: int, seed: int
) -> tuple[Bout, ...]:
    bouts_held = {Bout(h.task, h.first, h.second) for h in contests.held}
    unpaired: dict[tuple[str, str], list[Bout]] = {}
    for task, answers in field.tasks.items():
        answered = [s for s in contests.systems if s in answers]
        for pair in combinations(answered, 2):
            bout = Bout(task, *pair)
            if bout not in bouts_held:
                unpaired.setdefault(pair, []).append(bout)
    for pair, bouts_left in unpaired.items():
        seeded_random("next round", seed, *pair).shuffle(bouts_left)
    variances = _points_variance(contests)
    times_met = Counter((b.first, b.second) for b in bouts_held)
    chosen: list[Bout] = []
    open_ = [pair for pair in unpaired if variances.get(pair, 1.0) > 0]
    while open_ and len(chosen) < bouts:
        best = max(open_, key=lambda pair: (variances.get(pair, 1.0) / (1 + times_met[pair]), pair))
        chosen.append(unpaired[best].pop())
        times_met[best] += 1
        open_ = [pair for pair in open_ if unpaired[pair]]
    return tuple(chosen)


def _points_variance(contests: Contests) -> dict[tuple[str, str], float]:
    """Return the variance of one contest's points by pair; 0 for significantly different ones."""
    rows = decided_contests(contests)
    systems = contests.systems
    if not len(rows.item):
        return {}
    table = count_table(rows, len(systems))
    strengths, log_tie = fit_strengths(
        table.pairs, table.totals()[:, :, None], len(systems), prior=PRIOR
    )
    gaps = {
        frozenset((gap.better, gap.worse))
        for gap in leaderboard_of(rows, systems, resamples=400).gaps
        if gap.apart
    }
    n_contests = win_matrix(table).contests
    variances = {}
    for i, j in combinations(range(len(systems)), 2):
        pair = (systems[i], systems[j])
        gap = np.asarray(strengths[i, 0] - strengths[j, 0])
        won, _, lost = outcome_shares(gap, log_tie[0])
        variance = float(won + lost - (won - lost) ** 2) / 4
        # A pair that never met keeps its worth whatever its estimated strengths, because it may
        # connect groups.
        variances[pair] = 0.0 if frozenset(pair) in gaps and n_contests[i, j] else variance
    return variances
