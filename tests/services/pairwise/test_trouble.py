"""What goes wrong in contests: a budget, calls that fail, answers that lack or are the same."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.domain.base import build_model
from core.domain.dataset import Dataset
from core.domain.panel import Asking
from core.errors import InputError
from core.services.exports.run_export import export
from core.services.pairwise import contest_votes, contests
from core.services.pairwise.system_answers import join_datasets
from core.services.runs import lifecycle
from core.services.runs.runner import work_here
from tests.provider import Answer, Provider, status
from tests.services.pairwise.world import chance, held, honest, start, words_or

#: Tokens of the stand-in's answers: 1,000 in and 50 out, so a call costs $0.10.
PRICED = {"price_in": 100, "price_out": 0}
Answers = dict[str, dict[str, str]]


def undecided(contests_: contest_votes.Contests) -> list[str]:
    """Why contests came to nothing."""
    found = [contest_votes.outcome_of_contest(contests_, one) for one in contests_.held]
    return [one.why for one in found if one.winner is None]


def test_a_budget_stops_a_contest_and_a_new_one_pays_for_the_rest_alone(
    tmp_path: Path, provider: Provider
) -> None:
    store, request = start(tmp_path, provider, ("a", "b"), 5, budget=0.35)
    (judge,) = request.panel.judges
    panel = request.panel.model_copy(
        update={
            "judges": (judge.model_copy(update={**PRICED, "concurrency": 1}),),
            "asking": Asking(),
        }
    )
    request = replace(request, panel=panel)
    first = contests.start(store, request)
    assert work_here(store, first) == "budget"

    # $0.35 is not spent by three calls and is by four; 5 tasks in both orders are 10.
    assert store.runs.row(first).votes == provider.count == 4
    # Four orders are two whole contests; the other three lack their answers.
    assert undecided(contest_votes.contests_of_runs(store, [first])) == ["missing"] * 3

    second = held(store, replace(request, budget=5.0))
    assert provider.count == 10
    assert store.runs.row(second).cost == pytest.approx(0.6)
    assert undecided(contest_votes.contests_of_runs(store, [second])) == []


def test_a_contest_with_a_failed_call_is_undecided_until_it_is_asked_again(
    tmp_path: Path, provider: Provider
) -> None:
    def failing(body: dict[str, Any]) -> Answer:
        return status(400) if chance(body) < 0.3 else words_or(honest)(body)

    provider.rule = failing
    store, request = start(tmp_path, provider, ("a", "b", "c"), 8)
    run_id = held(store, request)
    contests_ = contest_votes.contests_of_runs(store, [run_id])
    hit = [one for one in contests_.held if any(shown.failures for shown in one.shown)]
    assert hit
    assert len(hit) == len(undecided(contests_)) < len(contests_.held)

    provider.rule = words_or(honest)
    failed = store.runs.row(run_id).failures_open
    asked = provider.count
    lifecycle.retry(store, run_id)
    assert work_here(store, run_id) == "done"

    assert provider.count - asked == failed
    assert undecided(contest_votes.contests_of_runs(store, [run_id])) == []


def field_notices(answers: Answers, systems: Sequence[str] = ()) -> tuple[str, ...]:
    """The notices of joining answers, given by task and system."""
    items = [
        {"id": f"{task}/{system}", "prompt": task, "system": system, "submission": text}
        for task, by_system in answers.items()
        for system, text in by_system.items()
    ]
    data = build_model(Dataset, {"name": "answers", "items": items}, "dataset")
    return join_datasets([data], systems).notices


def test_answers_that_lack_and_answers_that_are_the_same_are_said_beforehand() -> None:
    answers = {
        "one": {"a": "yes", "b": "no", "c": "so"},
        "two": {"a": "It  is.\n", "b": "It is.", "c": "It is not."},
        "three": {"a": "yes", "b": "no"},
    }
    lacking, same = field_notices(answers)
    assert lacking == "1 of 3 tasks lack an answer of some system."
    assert same.startswith("In 1 of 3 tasks two systems gave the same answer.")
    # Of the systems that are compared nothing lacks, and nothing is the same.
    assert field_notices({"one": answers["one"], "two": answers["two"]}, ("b", "c")) == ()


def test_names_that_one_would_take_for_one_another_are_said() -> None:
    (said,) = field_notices({"one": {"GPT 4": "x", "gpt  4": "y", "gpt 5": "z"}})
    assert said.startswith("'GPT 4' and 'gpt  4' differ in case or spaces only")


def test_the_same_answer_twice_is_a_tie_for_a_judge_who_looks_at_the_place_alone(
    tmp_path: Path, provider: Provider
) -> None:
    provider.rule = words_or(lambda body: 1)
    store, request = start(tmp_path, provider, ("a", "b"), 1)
    (version,) = request.datasets
    data = store.datasets.load(version)
    twins = tuple(item.model_copy(update={"submission": "the same"}) for item in data.items)
    made = store.datasets.create(data.model_copy(update={"items": twins}), now="2026-01-01")
    contests_ = contest_votes.contests_of_runs(
        store, [held(store, replace(request, datasets=(made.id,)))]
    )
    (only,) = contests_.held
    assert contest_votes.outcome_of_contest(contests_, only) == ("tie", "orders")


def test_a_contest_is_exported_with_its_leaderboard_and_unitxts_fields(
    tmp_path: Path, provider: Provider
) -> None:
    store, request = start(tmp_path, provider, ("a", "b"), 2)
    run_id = held(store, request)
    data = json.loads(export(store, run_id, "contest").text)
    assert data["ranking"]["overall"]["decided"] == 2
    (row, _) = data["rounds"][0]["judges"]["ada"]["rows"]
    assert row["systems"]["b"]["contest_results"] == [True]


def test_only_a_contest_is_exported_as_one(tmp_path: Path, provider: Provider) -> None:
    store, request = start(tmp_path, provider, ("a", "b"), 1)
    run_id = held(store, request)
    plain = replace(store.runs.get(run_id).plan, details={})
    other = store.runs.create(plain, [], now="2026-01-01").id
    with pytest.raises(InputError, match="is not a contest"):
        export(store, other, "contest")
