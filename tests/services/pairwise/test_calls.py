"""The calls that are announced are the calls that are made, and all of unitxt's fields come out."""

from __future__ import annotations

from math import comb
from pathlib import Path

import pytest

from core.services.exports.unitxt import ARRAYS, PROMPTS, unitxt_result
from core.services.pairwise import contests
from core.services.pairwise.design import Design
from tests.provider import Provider
from tests.services.pairwise.world import held, start

#: The fields that unitxt 1.26.9 gives per system (unitxt_evalassist.md 2.2).
FIELDS = {
    "contest_results", "selections", "compared_to", "assessments", "positional_bias_assessments",
    "option_selection_outputs", "positional_bias", "positional_bias_selection", "summaries",
    "prompts", "winrate", "llm_as_judge", "ranking", "response_name",
}  # fmt: skip


@pytest.mark.parametrize("n", [3, 10])
@pytest.mark.parametrize("summaries", [False, True])
@pytest.mark.parametrize("orders", ["both", "one"])
def test_the_calls_announced_are_made(
    n: int, summaries: bool, orders: str, tmp_path: Path, provider: Provider
) -> None:
    systems = [f"System {i}" for i in range(n)]
    design = Design.model_validate({"summaries": summaries, "orders": orders})
    tasks = 2
    store, request = start(
        tmp_path, provider, systems, tasks, asking={"mode": "two_step"}, design=design
    )
    # unitxt: two calls for each of n(n-1)/2 contests, twice with the order exchanged, and one
    # more per contest for its summary: 12 + 3 for three systems, 180 + 45 for ten.
    turns = 2 if orders == "both" else 1
    expected = tasks * (2 * turns * comb(n, 2) + summaries * comb(n, 2))
    announced = contests.estimate_contest(store, request).calls
    assert announced == expected
    run_id = held(store, request)
    assert provider.count == expected
    run = store.runs.row(run_id)
    assert (run.calls, run.failures_open) == (expected, 0)
    result = unitxt_result(store, run_id)
    (judge,) = result["judges"].values()
    assert len(judge["rows"]) == tasks
    row = judge["rows"][0]
    assert {"criteria", "main_score", "main_score_name"} <= row.keys()
    for place, system in enumerate(systems):
        found = row["systems"][system]
        assert found.keys() >= FIELDS
        assert all(len(found[name]) == n - 1 for name in ARRAYS)
        assert all(len(found["prompts"][name]) == n - 1 for name in PROMPTS)
        assert found["ranking"] == n - place  # the later the better
        assert found["winrate"] == pytest.approx(place / (n - 1))
        assert all(s is not None for s in found["summaries"]) == summaries
        assert all(s is not None for s in found["positional_bias_selection"]) == (turns == 2)
        assert found["compared_to"] == [s for s in systems if s != system]


@pytest.mark.parametrize("mode", ["criterion", "rubric"])
def test_one_call_per_order_and_question_or_for_all_questions(
    mode: str, tmp_path: Path, provider: Provider
) -> None:
    from core.services.pairwise.design import free_question
    from tests.provider import ok, said
    from tests.services.pairwise.world import honest

    def rule(body):  # type: ignore[no-untyped-def]
        import json

        properties = body["response_format"]["json_schema"]["schema"]["properties"]
        if "option" in properties:
            return ok(honest(body))
        one = {"evidence": [], "reason": "r", "option": honest(body)}
        return said(json.dumps(dict.fromkeys(properties, one)))

    provider.rule = rule
    questions = (
        free_question("clear: Which is clearer?"),
        free_question("short: Which is shorter?"),
    )
    store, request = start(
        tmp_path, provider, ["x", "y", "z"], 2, asking={"mode": mode}, questions=questions
    )
    expected = 2 * 3 * 2 * (2 if mode == "criterion" else 1)
    assert contests.estimate_contest(store, request).calls == expected
    run_id = held(store, request)
    assert provider.count == expected
    assert len(unitxt_result(store, run_id)["judges"]["ada"]["rows"]) == 4


def test_systems_with_spaces_in_their_names_win(tmp_path: Path, provider: Provider) -> None:
    # unitxt takes the last word of "Response big model" for the name, so nobody ever wins.
    store, request = start(tmp_path, provider, ["small model", "big model"], 1)
    (judge,) = unitxt_result(store, held(store, request))["judges"].values()
    systems = judge["rows"][0]["systems"]
    assert systems["big model"]["winrate"] == 1.0
    assert systems["big model"]["selections"] == ["big model"]
    assert systems["small model"]["contest_results"] == [False]
    assert systems["big model"]["positional_bias"] == [False]


def test_an_unreadable_reply_is_no_verdict(tmp_path: Path, provider: Provider) -> None:
    # unitxt maps any text to the closest option; here the contest stays undecided.
    from tests.provider import malformed

    provider.rule = lambda body: malformed()
    store, request = start(tmp_path, provider, ["x", "y"], 1)
    run_id = held(store, request)
    assert store.runs.row(run_id).failures_open == 2
    (judge,) = unitxt_result(store, run_id)["judges"].values()
    found = judge["rows"][0]["systems"]["x"]
    assert found["outcomes"] == ["undecided"]
    assert found["contest_results"] == [None]
    assert found["winrate"] is None
    assert found["ranking"] is None


def test_the_prompts_show_letters_and_not_names(tmp_path: Path, provider: Provider) -> None:
    store, request = start(tmp_path, provider, ["Acme", "Zeta"], 1)
    held(store, request)
    for request_ in provider.requests:
        text = str(request_.body)
        assert "Acme" not in text
        assert "Zeta" not in text
