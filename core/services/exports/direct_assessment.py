"""Export a run in the format of unitxt's direct judge, per item, criterion and judge.

docs/exports.md explains each field, and deliberate differences from unitxt.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from statistics import fmean
from typing import Any

from core.domain.dataset import Item
from core.domain.rubric import Criterion
from core.domain.votes import FailureRow, VoteRow
from core.services.exports.judgement_rows import Graded, load_graded
from core.services.exports.unitxt import reply_and_prompts
from core.services.results.item_view import choice_label
from core.store.store import Store


def as_json(store: Store, run_id: int) -> str:
    """Return the results of every judge: ``{"run", "judges": {NAME: {"rows": [ROW], "scores"}}}``.

    ROW is one item and criterion with its first answer; ``scores`` has every criterion's mean main
    score, over the rows that have one.
    """
    source = load_graded(store, run_id)
    replicates = source.run.plan.replicates
    rows: dict[str, list[dict[str, Any]]] = {judge.name: [] for judge in source.run.panel.judges}
    for item in source.items:
        criteria = {c.name: c for c in source.rubric_of(item.id).criteria}
        answers_given: list[VoteRow | FailureRow] = [
            *source.votes(item.id),
            *source.failures(item.id),
        ]
        answers = {(a.cell.judge, a.cell.criterion, a.cell.replicate): a for a in answers_given}
        for judge, name, replicate in answers:
            if replicate == 0:
                answer, reversed_answer = (
                    answers[judge, name, 0],
                    answers.get((judge, name, replicates)),
                )
                rows[judge].append(
                    _result_row(source, item, criteria[name], answer, reversed_answer)
                )
    judges = {
        name: {"rows": judge_rows, "scores": _mean_scores(judge_rows)}
        for name, judge_rows in rows.items()
    }
    data = {"run": run_id, "judges": judges}
    return json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _result_row(
    source: Graded,
    item: Item,
    criterion: Criterion,
    answer: VoteRow | FailureRow,
    turned: VoteRow | FailureRow | None,
) -> dict[str, Any]:
    first, second = (
        _answer_fields(source, criterion, answer),
        _answer_fields(source, criterion, turned),
    )
    name = main_score_name(criterion.name)
    picked, turned_option = first["selected_option"], second["selected_option"]
    both_orders = source.run.panel.asking.flip != "off" and turned is not None
    return {
        "id": item.id,
        "criteria": {
            "name": criterion.name,
            "description": criterion.requirement,
            "options": [
                {"name": option.label, "description": option.description}
                for option in criterion.choices
            ],
            "option_map": {
                criterion.choices[i].label: criterion.values[i] for i in criterion.scored
            },
        },
        "main_score": first["score"],
        "main_score_name": name,
        name: first["score"],
        "selected_option": picked,
        "assessment": first["assessment"],
        "option_selection_completion": first["completion"],
        "summary": first["summary"],
        "positional_bias": picked != turned_option
        if both_orders and picked and turned_option
        else None,
        "positional_bias_selected_option": turned_option if both_orders else None,
        "positional_bias_assessment": second["assessment"] if both_orders else None,
        "positional_bias_option_selection_completion": second["completion"]
        if both_orders
        else None,
        "prompts": {
            "assessment": first["prompts"][0],
            "positional_bias_assessment": second["prompts"][0],
            "option_selection": first["prompts"][1],
            "posional_bias_option_selection": second["prompts"][1],
            "summarization": first["prompts"][2],
        },
        "failure": None if isinstance(answer, VoteRow) else f"{answer.kind}: {answer.message}",
    }


def main_score_name(criterion: str) -> str:
    """Return the criterion's name as a field name of unitxt.

    >>> main_score_name("Cites Sources")
    'cites_sources'
    """
    return "_".join(criterion.lower().split())


_NOTHING: dict[str, Any] = {
    "score": None,
    "selected_option": None,
    "assessment": None,
    "completion": None,
    "summary": None,
    "prompts": (None, None, None),
}


def _answer_fields(
    source: Graded, criterion: Criterion, reply: VoteRow | FailureRow | None
) -> dict[str, Any]:
    if not isinstance(reply, VoteRow):
        return _NOTHING
    call = None if reply.call_id is None else source.store.votes.call(reply.call_id)
    output, prompts = (None, (None, None, None)) if call is None else reply_and_prompts(call, reply)
    return {
        "score": None if reply.option is None else criterion.value_of(reply.option),
        "selected_option": choice_label(criterion, reply.option, reply.abstained),
        "assessment": str(reply.detail.get("assessment") or reply.reason),
        "completion": output,
        "summary": reply.detail.get("summary"),
        "prompts": tuple(part or None for part in prompts),
    }


def _mean_scores(rows: Sequence[dict[str, Any]]) -> dict[str, float]:
    scores: dict[str, list[float]] = {}
    for row in rows:
        if row["main_score"] is not None:
            scores.setdefault(row["main_score_name"], []).append(row["main_score"])
    return {name: fmean(values) for name, values in scores.items()}
