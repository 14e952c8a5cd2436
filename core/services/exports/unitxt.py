"""Export a contest run in the format of unitxt's pairwise judge, per row and system.

docs/contests.md explains each field, and deliberate differences from unitxt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from core.domain.votes import CallRow, Segment, VoteRow
from core.metrics.ranking.ranks import competition_ranks
from core.services.pairwise.contest_votes import (
    Contest,
    ContestOutcome,
    Contests,
    contests_of_runs,
    outcome_of_contest,
    winner_of,
)
from core.services.pairwise.design import Choice, choice_of
from core.store.store import Store

#: Fields with one entry per opponent, in the order of ``compared_to``.
ARRAYS = (
    "contest_results",
    "outcomes",
    "selections",
    "compared_to",
    "assessments",
    "positional_bias_assessments",
    "option_selection_outputs",
    "positional_bias_option_selection_outputs",
    "positional_bias",
    "positional_bias_selection",
    "summaries",
)
PROMPTS = (
    "assessment",
    "positional_bias_assessment",
    "option_selection",
    "positional_bias_option_selection",
    "summary",
)


class _Turn(NamedTuple):
    """One judge's answer to one order, as text."""

    choice: Choice
    swapped: bool
    assessment: str
    output: str
    summary: str | None
    prompts: tuple[list[dict[str, str]], list[dict[str, str]], list[dict[str, str]]]


def unitxt_result(store: Store, run_id: int) -> dict[str, Any]:
    """Return every judge's result: ``{"run", "systems", "questions", "judges": {NAME: JUDGE}}``.

    JUDGE is ``{"rows": [ROW], "winrates": {SYSTEM: mean or null}}``; ROW is ``{"id", "criteria",
    "main_score", "main_score_name", "systems": {SYSTEM: fields}}``, one per task and question. Only
    the first replicate is reported.
    """
    contests = contests_of_runs(store, [run_id])
    rows: dict[tuple[str, str], list[Contest]] = {}
    for contest in contests.held:
        rows.setdefault((contest.task, contest.question), []).append(contest)
    votes = {
        item: [v for v in store.votes.for_item(run_id, item) if v.cell.replicate == 0]
        for item in {shown.item_id for contest in contests.held for shown in contest.shown}
    }
    judges = {}
    for judge in contests.judges:
        judge_rows = [
            _bouts_row(store, contests, key, bouts, judge.name, votes)
            for key, bouts in rows.items()
        ]
        judges[judge.name] = {
            "rows": judge_rows,
            "winrates": _mean_winrates(judge_rows, contests.systems),
        }
    return {
        "run": run_id,
        "systems": list(contests.systems),
        "questions": list(contests.questions),
        "judges": judges,
    }


def _bouts_row(
    store: Store,
    contests: Contests,
    key: tuple[str, str],
    bouts: Sequence[Contest],
    judge: str,
    votes: Mapping[str, Sequence[VoteRow]],
) -> dict[str, Any]:
    present = [s for s in contests.systems if any(s in (b.first, b.second) for b in bouts)]
    fields: dict[str, dict[str, Any]] = {s: _empty_entry(s) for s in present}
    for contest in bouts:
        result = outcome_of_contest(contests, contest, judge)
        turns = _answers_in_both_orders(store, contests, contest, judge, votes)
        for system, opponent in ((contest.first, contest.second), (contest.second, contest.first)):
            _add_contest(fields[system], contest, system, opponent, result, turns)
    for entry in fields.values():
        points = [_POINTS[o] for o in entry["outcomes"] if o in _POINTS]
        entry["winrate"] = entry["llm_as_judge"] = fmean(points) if points else None
    rates = [fields[s]["winrate"] for s in present]
    rate_values = [float("nan") if rate is None else rate for rate in rates]
    for system, rank in zip(present, competition_ranks(rate_values), strict=True):
        fields[system]["ranking"] = rank
    return {
        "id": key[0],
        "criteria": key[1],
        "main_score": fields[present[0]]["winrate"],
        "main_score_name": f"{present[0]}_winrate",
        "systems": fields,
    }


_POINTS = {"won": 1.0, "tied": 0.5, "both_bad": 0.5, "lost": 0.0}


def _empty_entry(system: str) -> dict[str, Any]:
    return {
        "response_name": system,
        **{name: [] for name in ARRAYS},
        "prompts": {name: [] for name in PROMPTS},
        "winrate": None,
        "llm_as_judge": None,
        "ranking": None,
    }


def _add_contest(
    entry: dict[str, Any],
    contest: Contest,
    system: str,
    opponent: str,
    decided: ContestOutcome,
    turns: tuple[_Turn | None, _Turn | None],
) -> None:
    lead, swapped = turns
    result = _win_or_loss(decided, system == contest.first)
    picked, swapped_pick = _selected_system(contest, lead), _selected_system(contest, swapped)
    entries = {
        "contest_results": None if result == "undecided" else result == "won",
        "outcomes": result,
        "selections": picked,
        "compared_to": opponent,
        "assessments": lead and lead.assessment,
        "positional_bias_assessments": swapped and swapped.assessment,
        "option_selection_outputs": lead and lead.output,
        "positional_bias_option_selection_outputs": swapped and swapped.output,
        "positional_bias": None
        if picked is None or swapped_pick is None
        else picked != swapped_pick,
        "positional_bias_selection": swapped_pick,
        "summaries": lead and lead.summary,
    }
    for name, value in entries.items():
        entry[name].append(value)
    shown: dict[str, Any] = {
        "assessment": lead and lead.prompts[0],
        "positional_bias_assessment": swapped and swapped.prompts[0],
        "option_selection": lead and lead.prompts[1],
        "positional_bias_option_selection": swapped and swapped.prompts[1],
        "summary": (lead and lead.prompts[2]) or None,
    }
    for name, value in shown.items():
        entry["prompts"][name].append(value)


def _win_or_loss(came: ContestOutcome, is_first: bool) -> str:
    if came.winner is None:
        return "undecided"
    if came.winner == "tie":
        return "tied"
    if came.winner == "both_bad":
        return "both_bad"
    return "won" if (came.winner == "first") == is_first else "lost"


def _selected_system(contest: Contest, turn: _Turn | None) -> str | None:
    """Return the chosen system, ``tie`` or ``both_bad``; ``None`` without an answer."""
    if turn is None:
        return None
    winner = winner_of(turn.choice, turn.swapped).winner
    return {"first": contest.first, "second": contest.second}.get(winner or "", winner)


def _answers_in_both_orders(
    store: Store,
    contests: Contests,
    contest: Contest,
    judge: str,
    votes: Mapping[str, Sequence[VoteRow]],
) -> tuple[_Turn | None, _Turn | None]:
    """Return the answers to the leading order, and to the other order."""
    turns: list[_Turn | None] = []
    for order in contest.shown:
        vote = next(
            (
                v
                for v in votes[order.item_id]
                if v.cell.judge == judge and v.cell.criterion == contest.question
            ),
            None,
        )
        turns.append(
            None if vote is None else _order_answer(store, contests, contest, vote, order.swapped)
        )
    return (turns[0], turns[1] if len(turns) > 1 else None)


def _order_answer(
    store: Store, contests: Contests, contest: Contest, vote: VoteRow, swapped: bool
) -> _Turn:
    criterion = contests.rounds[contest.run_id].criteria[contest.question]
    call = None if vote.call_id is None else store.votes.call(vote.call_id)
    output, prompts = ("", ([], [], [])) if call is None else reply_and_prompts(call, vote)
    return _Turn(
        choice_of(criterion, vote.option),
        swapped,
        str(vote.detail.get("assessment") or vote.reason),
        output,
        str(vote.detail.get("summary") or "") or None,
        prompts,
    )


def reply_and_prompts(call: CallRow, vote: VoteRow) -> tuple[str, Any]:
    """Return the reply with the choice, and the prompts to assess, to choose and to summarise."""
    sent = list(call.prompt)
    summary: list[Segment] = []
    output = call.reply
    if "summary" in vote.detail or "summary_failed" in vote.detail:
        summary, output = sent, sent[-2].text
        sent = sent[:-2]
    answers = [index for index, segment in enumerate(sent) if segment.role == "assistant"]
    if call.params.get("mode") == "two_step" and answers:
        parts = (sent[: answers[0]], sent, summary)
    else:
        parts = (sent, sent, summary)
    return output, tuple([{"role": s.role, "content": s.text} for s in part] for part in parts)


def _mean_winrates(
    rows: Sequence[Mapping[str, Any]], systems: Sequence[str]
) -> dict[str, float | None]:
    means: dict[str, float | None] = {}
    for system in systems:
        rates = [
            row["systems"][system]["winrate"]
            for row in rows
            if system in row["systems"] and row["systems"][system]["winrate"] is not None
        ]
        means[system] = fmean(rates) if rates else None
    return means
