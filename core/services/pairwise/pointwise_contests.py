"""Compare pointwise scores with contests: find where a run and a contest contradict each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple

from core.errors import InputError
from core.metrics.estimate import Estimate
from core.metrics.measure import NEAR
from core.metrics.ranking.ranks import kendall_tau
from core.services.pairwise.contest_votes import Contests, contests_of_runs, outcome_of_contest
from core.services.pairwise.leaderboard import leaderboard
from core.store.store import Store

#: ``reversed``: different winners. ``contest_tie``, ``score_tie``: that side has no winner.
Kind = Literal["agree", "reversed", "contest_tie", "score_tie"]


class ScoredContest(NamedTuple):
    """A contest with both scores; ``gap`` is the first's score minus the second's."""

    task: str
    question: str
    first: str
    second: str
    kind: Kind
    winner: str | None
    gap: float
    sources: tuple[str, str]


class ScoredContests(NamedTuple):
    """All contests whose two answers have scores, the worst contradictions first.

    ``left_out`` counts those without a winner or a score. ``by_task`` counts reversals per task,
    most first; ``tau`` is Kendall's, between mean scores of the run and strengths of the systems.
    """

    sides: tuple[ScoredContest, ...]
    counts: dict[str, int]
    by_task: tuple[tuple[str, int], ...]
    left_out: int
    tau: Estimate


def side_by_side_with(
    store: Store, contest_runs: Sequence[int], run_id: int, question: str | None = None
) -> ScoredContests:
    """Compare a contest's outcomes with the scores that a run gave the same answers.

    Raises:
        InputError: the run scored none of the contest's answers.
    """
    contests = contests_of_runs(store, contest_runs)
    rows = store.results.items(run_id, limit=10_000_000)
    scores = {row.item_id: row.score for row in rows if row.score is not None}
    sides, left_out = _contest_sides(contests, scores, question)
    if not sides:
        raise InputError(
            f"Run {run_id} has no scores for the answers of this contest. Choose a run over the "
            "same dataset."
        )
    sides.sort(key=lambda s: (_ORDER[s.kind], -abs(s.gap)))
    worst = Counter(s.task for s in sides if s.kind == "reversed")
    return ScoredContests(
        tuple(sides),
        dict(Counter(s.kind for s in sides)),
        tuple(worst.most_common()),
        left_out,
        _rank_correlation(contests, scores, question),
    )


_ORDER: dict[Kind, int] = {"reversed": 0, "contest_tie": 1, "score_tie": 2, "agree": 3}


def _contest_sides(
    contests: Contests, scores: dict[str, float], question: str | None
) -> tuple[list[ScoredContest], int]:
    sides, left_out = [], 0
    for contest in contests.held:
        if question is not None and contest.question != question:
            continue
        points = outcome_of_contest(contests, contest).points
        first_score, second_score = (scores.get(source) for source in contest.sources)
        if points is None or first_score is None or second_score is None:
            left_out += 1
            continue
        winner = {1.0: contest.first, 0.0: contest.second}.get(points)
        sides.append(
            ScoredContest(
                contest.task,
                contest.question,
                contest.first,
                contest.second,
                _contest_kind(points, first_score - second_score),
                winner,
                first_score - second_score,
                contest.sources,
            )
        )
    return sides, left_out


def _contest_kind(points: float, gap: float) -> Kind:
    level = abs(gap) <= NEAR
    if points == 0.5:
        return "agree" if level else "contest_tie"
    if level:
        return "score_tie"
    return "agree" if (points == 1.0) == (gap > 0) else "reversed"


def _rank_correlation(
    contests: Contests, scores: dict[str, float], question: str | None
) -> Estimate:
    by_system: dict[str, dict[str, float]] = {s: {} for s in contests.systems}
    for contest in contests.held:
        for system, source in zip((contest.first, contest.second), contest.sources, strict=True):
            if source in scores:
                by_system[system][source] = scores[source]
    means = [
        sum(system_scores.values()) / len(system_scores) if system_scores else float("nan")
        for system_scores in by_system.values()
    ]
    board = leaderboard(contests, question=question, resamples=0)
    strengths = {s.system: s.strength.value for s in board.standings}
    values = [strengths[s] for s in contests.systems]
    return kendall_tau(means, [float("nan") if v is None else v for v in values])
