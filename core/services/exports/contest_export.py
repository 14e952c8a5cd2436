"""Export a contest: JSON (leaderboards and unitxt's fields), CSV of every vote, Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from core.blocks.blocks import Paper
from core.blocks.markdown import markdown_paper
from core.formats.source.csv_writer import csv_bytes, csv_text
from core.services.exports.unitxt import unitxt_result
from core.services.pairwise.arena_people import arenas_of
from core.services.pairwise.contest_votes import (
    WITHDRAWN,
    Contest,
    Contests,
    contests_of_runs,
    outcome_of_contest,
    votes_of,
)
from core.services.pairwise.design import choice_of
from core.services.pairwise.leaderboard import rounds_of
from core.services.reports.rank_report import contest_report
from core.store.store import Store

COLUMNS = (
    "run",
    "task",
    "question",
    "first",
    "second",
    "winner",
    "why",
    "rater",
    "kind",
    "replicate",
    "shown_as_a",
    "shown_as_b",
    "choice",
    "chosen",
    "reason",
    "when",
    "ms",
    "withdrawn",
)


def as_json(store: Store, run_id: int) -> bytes:
    """Return the leaderboards of the contest's rounds, and every round as in docs/contests.md."""
    runs = rounds_of(store, run_id)
    ranking, _ = contest_report(store, runs)
    data = {
        "ranking": ranking,
        "rounds": [unitxt_result(store, round_id) for round_id in runs],
    }
    return json.dumps(data, ensure_ascii=False, indent=1).encode()


def as_csv(store: Store, run_id: int) -> bytes:
    """Return one row per vote of judges and people, with the contest's ``winner`` and ``why``.

    A contest without votes has one row without a rater.
    """
    runs = rounds_of(store, run_id)
    contests = contests_of_runs(store, runs)
    rows = list(_contest_rows(store, contests, {}))
    for arena in arenas_of(store, runs):
        notes = store.runs.get(arena.run_id).notes
        withdrawn = {(item, name): time for item, name, time in notes.get(WITHDRAWN, ())}
        people = contests_of_runs(store, [arena.run_id])
        rows += [row for row in _contest_rows(store, people, withdrawn) if "rater" in row]
    return csv_bytes(csv_text(COLUMNS, ([row.get(name) for name in COLUMNS] for row in rows)))


def _contest_rows(
    store: Store, contests: Contests, withdrawn: Mapping[tuple[str, str], str]
) -> Iterator[dict[str, Any]]:
    kinds = {judge.name: judge.rater_kind for judge in contests.judges}
    for contest in contests.held:
        result = outcome_of_contest(contests, contest)
        names = {"first": contest.first, "second": contest.second}
        head = {
            "run": contest.run_id,
            "task": contest.task,
            "question": contest.question,
            "first": contest.first,
            "second": contest.second,
            "winner": names.get(result.winner or "", result.winner),
            "why": result.why or None,
        }
        votes = list(_vote_rows(store, contests, contest))
        for vote in votes:
            withdrawn_at = withdrawn.get((vote.pop("item"), contest.question))
            yield {**head, **vote, "kind": kinds.get(vote["rater"]), "withdrawn": withdrawn_at}
        if not votes:
            yield head


def _vote_rows(store: Store, contests: Contests, contest: Contest) -> Iterator[dict[str, Any]]:
    criterion = contests.rounds[contest.run_id].criteria[contest.question]
    by_item = votes_of(store, contest)
    for shown in contest.shown:
        a, b = (contest.second, contest.first) if shown.swapped else (contest.first, contest.second)
        for vote in by_item[shown.item_id]:
            choice = choice_of(criterion, vote.option)
            yield {
                "item": shown.item_id,
                "rater": vote.cell.judge,
                "replicate": vote.cell.replicate,
                "shown_as_a": a,
                "shown_as_b": b,
                "choice": choice,
                "chosen": {"A": a, "B": b}.get(choice),
                "reason": vote.reason,
                "when": vote.created,
                "ms": vote.detail.get("ms"),
            }


def as_markdown(store: Store, run_id: int) -> bytes:
    """Return the leaderboard with its limits, methods, wins, and position figures."""
    _, sections = contest_report(store, rounds_of(store, run_id))
    return markdown_paper(Paper(store.runs.row(run_id).name, "", sections)).encode()
