"""``rank``: systems of a contest run, of a pointwise run, or of a folder, as plain data and
blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from core.blocks.blocks import Section, Sentences
from core.errors import InputError
from core.metrics.estimate import USUAL, Estimate
from core.metrics.ranking.contests import majority_circles, majority_winner
from core.metrics.ranking.ranks import range_words
from core.services.agreement.load_ratings import read_source, run_number_of, run_ratings
from core.services.agreement.ratings import Rated
from core.services.pairwise import system_gaps
from core.services.pairwise.contest_votes import contests_of_runs
from core.services.pairwise.contests import is_contest
from core.services.pairwise.leaderboard import (
    DecidedContests,
    leaderboard,
    leaderboard_of,
    rounds_of,
)
from core.services.pairwise.leaderboard_parts import (
    Leaderboard,
    Methods,
    RankedSystem,
    accords_of,
    winner_differs,
)
from core.services.pairwise.pointwise_ranks import (
    EXCLUDED,
    Ballots,
    Listwise,
    ballots_of,
    compare_methods,
)
from core.services.pairwise.position_bias import SwappedOrderCheck, position_figures
from core.services.pairwise.unmatched_tasks import unmatched_report, unmatched_sections
from core.services.reports import leaderboard_blocks as blocks
from core.store.store import Store

#: The report of ``rank --json``, and its text for people.
RankReport = tuple[dict[str, Any], tuple[Section, ...]]


def rank_answers(
    open_store: Callable[[], Store],
    source: str,
    *,
    note_key: str | None = None,
    exclude: Sequence[str] = EXCLUDED,
    seed: int = 0,
    resamples: int = 1000,
    level: float = USUAL.level,
) -> RankReport:
    """Return the ranked systems of a run or a folder.

    A contest run is ranked together with its earlier rounds; any other run, or a folder in the
    common layout, by the scores of its judges (``note_key`` joins items to tasks).

    Raises:
        InputError: items without a system or a task.
        NotFound: the run does not exist.
    """
    run_id = run_number_of(source)
    if run_id is not None:
        store = open_store()
        if is_contest(store, run_id):
            return contest_report(store, rounds_of(store, run_id), seed, resamples, level)
        run = store.runs.get(run_id)
        models = {j.name: j.model or j.name for j in run.panel.judges}
        rated = run_ratings(store, run.id)
        data, sections = pointwise_report(rated, note_key, exclude, models, seed, resamples, level)
        corrected = system_gaps.corrected_data(store, run, level)
        sentences = [line for line in (corrected.get("in_words"),) if line]
        people = Section("Systems as people would grade them", (Sentences(tuple(sentences)),))
        return {**data, "corrected": corrected}, (*sections, *([people] if sentences else []))
    rated = read_source(open_store, source)
    return pointwise_report(rated, note_key, exclude, {}, seed, resamples, level)


def contest_report(
    store: Store,
    run_ids: Sequence[int],
    seed: int = 0,
    resamples: int = 1000,
    level: float = USUAL.level,
) -> RankReport:
    """Return a contest's leaderboards: for all questions together, for each, and for each judge.

    The text shows the leaderboard for all together, with its limits.
    """
    contests = contests_of_runs(store, run_ids)

    def panel_leaderboard(**of: Any) -> Leaderboard:
        return leaderboard(contests, seed=seed, resamples=resamples, level=level, **of)

    overall, places = panel_leaderboard(), position_figures(contests)
    several_questions = len(contests.questions) > 1
    panel = len(contests.judges) > 1
    names = [judge.name for judge in contests.judges]
    data = {
        "kind": "contest",
        "level": level,
        "runs": list(run_ids),
        "systems": list(contests.systems),
        "overall": board_data(overall),
        "questions": {
            q: board_data(panel_leaderboard(question=q))
            for q in contests.questions * several_questions
        },
        "judges": {name: board_data(panel_leaderboard(judge=name)) for name in names * panel},
        "positions": [position.as_data() for position in places],
    }
    return data, contest_sections(overall, places, level)


def contest_sections(
    board: Leaderboard, places: Sequence[SwappedOrderCheck], level: float
) -> tuple[Section, ...]:
    """Return a contest's leaderboard, with its limits."""
    return (
        Section(
            "",
            (
                blocks.count_values(board),
                blocks.limit_sentences(board),
                blocks.bias_sentences(places),
            ),
        ),
        blocks.standings_section(board, level),
        blocks.methods_section(board.methods, board.systems, board),
        blocks.gaps_section(board),
        blocks.wins_section(board),
        blocks.position_section(places),
        blocks.length_section(board),
    )


def pointwise_report(
    rated: Rated,
    note_key: str | None,
    exclude: Sequence[str],
    models: dict[str, str],
    seed: int = 0,
    resamples: int = 1000,
    level: float = USUAL.level,
) -> RankReport:
    """Return systems by the scores of judges: methods compared, and strengths from the same
    ballots.

    Without shared tasks and without ``note_key``, systems are ranked by mean scores alone.
    """
    try:
        ballots = ballots_of(rated, note_key=note_key, exclude=exclude, models=models)
    except InputError as error:
        if note_key is not None:
            raise
        data = unmatched_report(rated, error.message, exclude, models, seed, resamples, level)
        return data, unmatched_sections(data)
    ranked = compare_methods(ballots)
    board = ballots_board(ballots, seed, resamples, level)
    sections = (
        Section("", (Sentences((*ranked.notices, *board.notes), listed=True, kind="warning"),)),
        blocks.standings_section(board, level),
        blocks.methods_section(ranked.methods, ballots.systems, board),
    )
    data = {
        "kind": "pointwise",
        "matched": True,
        "level": level,
        "systems": list(ballots.systems),
        "ballots": len(ballots.scores),
        "excluded": ballots.excluded,
        "incomplete": ballots.incomplete,
        "ungraded": ballots.ungraded,
        **methods_data(ranked.methods, ballots.systems),
        "judges": _judges_data(ranked),
        "likeness": [
            {
                "one": one,
                "other": other,
                "spearman": _figure_data(spearman),
                "kendall_tau": _figure_data(kendall),
            }
            for one, other, spearman, kendall in ranked.likeness
        ],
        "strengths": board_data(board),
        "notes": list(ranked.notices),
    }
    return data, sections


def ballots_board(
    ballots: Ballots, seed: int = 0, resamples: int = 1000, level: float = USUAL.level
) -> Leaderboard:
    """Return the leaderboard from the ballots' comparisons of every pair of systems; items are the
    tasks.
    """
    first, second = np.triu_indices(len(ballots.systems), 1)
    keys = ballots.keys
    a, b = keys[:, first], keys[:, second]
    row, pair = np.nonzero(~(np.isnan(a) | np.isnan(b)))
    gap = (a - b)[row, pair]
    contests = DecidedContests(
        item=ballots.task[row],
        first=first[pair],
        second=second[pair],
        points=np.where(gap == 0, 0.5, (gap > 0).astype(np.float64)),
        weight=np.ones(len(row)),
        lengths=np.zeros((len(row), 2)),
        held=(),
        undecided={},
        tied_for={},
    )
    return leaderboard_of(contests, ballots.systems, seed=seed, resamples=resamples, level=level)


def board_data(board: Leaderboard) -> dict[str, Any]:
    """Return a leaderboard as plain data; ``null`` with a reason for undefined values."""
    matrix, winner = board.matrix, majority_winner(board.matrix)
    return {
        "standings": [_standing_data(s) for s in board.standings],
        "matrix": {
            "systems": list(board.systems),
            "wins": matrix.wins.tolist(),
            "ties": matrix.ties.tolist(),
            "contests": matrix.contests.tolist(),
        },
        "condorcet_winner": None if winner is None else board.systems[winner],
        "circles": [[board.systems[i] for i in circle] for circle in majority_circles(matrix)],
        "gaps": [
            {
                "better": g.better,
                "worse": g.worse,
                "difference": g.difference,
                "error": g.error,
                "apart": g.apart,
                "further_contests": g.further.value,
                "reason": g.further.reason,
            }
            for g in board.gaps
        ],
        **methods_data(board.methods, board.systems),
        "length": board.length
        if isinstance(board.length, str)
        else {"slope": board.length.slope.value, "ci": board.length.slope.ci},
        "decided": board.decided,
        "items": board.items,
        "undecided": dict(board.undecided),
        "tied_for": dict(board.tied_for),
        "notes": list(board.notes),
    }


def methods_data(methods: Methods, systems: Sequence[str]) -> dict[str, Any]:
    """Return the comparison of ranking methods as plain data."""
    return {
        "methods": {
            method.name: {
                "values": dict(zip(systems, method.values, strict=True)),
                "ranks": dict(zip(systems, method.ranks, strict=True)),
                "winners": list(method.winners),
            }
            for method in methods
        },
        "taus": [
            {"one": one, "other": other, **_figure_data(tau), "same_winner": same_winner}
            for one, other, tau, same_winner in accords_of(methods)
        ],
        "winner_differs": winner_differs(methods),
    }


def _standing_data(s: RankedSystem) -> dict[str, Any]:
    return {
        "system": s.system,
        "rank": s.rank,
        "range": None if s.range is None else range_words(*s.range),
        "group": s.group,
        "strength": s.strength.data,
        "regularised": s.regularised,
        "win_rate": s.win_rate.data,
        "weighted_win_rate": s.weighted_win_rate.data,
        "elo": s.elo.data,
        "length_controlled": s.length_controlled.data,
        "contests": s.contests,
        "wins": s.wins,
        "ties": s.ties,
        "losses": s.losses,
    }


def _judges_data(ranking: Listwise) -> dict[str, Any]:
    systems = ranking.ballots.systems
    return {
        view.judge: {
            "kind": view.kind,
            "scores": dict(zip(systems, view.scores, strict=True)),
            "ranks": dict(zip(systems, view.ranks, strict=True)),
            "offset": _figure_data(view.offset),
        }
        for view in ranking.judges
    }


def _figure_data(figure: Estimate) -> dict[str, Any]:
    reason = {"reason": figure.reason} if figure.reason else {}
    return {"value": figure.value, "n": figure.n, **reason}
