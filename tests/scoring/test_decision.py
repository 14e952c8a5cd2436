"""Pass, fail, review: what decides, in which order, and how it is said."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.gates import Decision
from core.scoring import Texts, Trace, explain, score_item
from core.scoring.score import BeforeDecision, decide_outcome
from tests.scoring.made import answers, binary, rubric

PASS_70: dict[str, Any] = {"pass_at": 0.7}


def known(score: float | None, **changes: Any) -> BeforeDecision:
    plain = BeforeDecision(score, score, score, True, False, False, False)
    return plain._replace(**changes)


@pytest.mark.parametrize(
    ("decision", "total", "outcome", "why"),
    [
        (PASS_70, 0.7, "pass", "score"),
        (PASS_70, 0.1 + 0.2 + 0.4, "pass", "score"),  # 0.7000000000000001
        (PASS_70, 0.7 - 1e-12, "pass", "score"),  # what rounding left below counts as reached
        (PASS_70, 0.699, "fail", "score"),
        ({"pass_at": 0.7, "fail_below": 0.4}, 0.69, "review", "between"),
        ({"pass_at": 0.7, "fail_below": 0.4}, 0.4, "review", "between"),
        ({"pass_at": 0.7, "fail_below": 0.4}, 0.39, "fail", "score"),
        ({"pass_at": 0.7, "review_within": 0.05}, 0.75, "review", "near"),
        ({"pass_at": 0.7, "review_within": 0.05}, 0.65, "review", "near"),
        ({"pass_at": 0.7, "review_within": 0.05}, 0.76, "pass", "score"),
        ({"pass_at": 0.7, "review_within": 0.05}, 0.64, "fail", "score"),
        # Near the lower threshold only.
        ({"pass_at": 0.7, "fail_below": 0.4, "review_within": 0.05}, 0.36, "review", "near"),
    ],
)
def test_a_score_is_held_against_the_thresholds(
    decision: dict[str, float], total: float, outcome: str, why: str
) -> None:
    assert decide_outcome(Decision(**decision), known(total)) == (outcome, why)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"fail": True, "review": True, "undecided": True}, ("fail", "rule")),
        ({"review": True}, ("review", "rule")),
        ({"undecided": True, "low": 0.4, "high": 0.9}, ("review", "straddles")),
        ({"undecided": True, "low": 0.8, "high": 0.9}, ("review", "undecided")),
        ({"complete": False}, ("review", "incomplete")),
        ({"total": None, "low": None, "high": None}, ("review", "no_score")),
    ],
)
def test_what_gates_say_and_what_is_not_known_come_before_the_score(
    changes: dict[str, Any], expected: tuple[str, str]
) -> None:
    # 0.9 alone would pass.
    assert decide_outcome(Decision(pass_at=0.7), known(0.9, **changes)) == expected


def test_without_a_decision_only_gates_decide() -> None:
    assert decide_outcome(None, known(0.9)) == (None, None)
    assert decide_outcome(None, known(0.9, fail=True)) == ("fail", "rule")
    assert decide_outcome(None, known(0.9, undecided=True)) == ("review", "undecided")
    assert decide_outcome(None, known(0.9, complete=False)) == (None, None)


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.floats(0, 0.2), st.floats(0, 1))
def test_a_better_score_never_ends_worse(
    one: float, other: float, more: float, within: float, score: float
) -> None:
    low, high = sorted((one, other))
    decision = Decision(pass_at=high, fail_below=low, review_within=within)
    rank = {"fail": 0, "review": 1, "pass": 2, None: -1}
    before = rank[decide_outcome(decision, known(score))[0]]
    after = rank[decide_outcome(decision, known(min(1.0, score + more)))[0]]
    # Around a threshold "review within" sends both sides to a person, never the wrong way round.
    assert after >= before


GATE = {"name": "core", "when": {"criterion": "c0", "is": "UNMET"}, "then": {"cap": 0.4}}


def said(given: str, decision: dict[str, Any], **rest: Any) -> str:
    made = binary(10, 10, 20, decision=decision, **rest)
    return explain(score_item(made, answers(given)).trace)[-1]


@pytest.mark.parametrize(
    ("given", "decision", "sentence"),
    [
        # 40 of 40, 20 of 40, 30 of 40 points.
        ("MMM", PASS_70, "Passes: 1.00 is at least 0.70."),
        ("MMU", PASS_70, "Fails: 0.50 is below 0.70."),
        ("MMU", {"pass_at": 0.5004}, "Fails: 0.5000 is below 0.5004."),
        (
            "MMU",
            {"pass_at": 0.7, "fail_below": 0.4},
            "For review: it passes from 0.70 on and fails below 0.40.",
        ),
        (
            "UMM",
            {"pass_at": 0.7, "review_within": 0.05},
            "For review: the score is within 0.05 of 0.70.",
        ),
        ("MM-", PASS_70, "For review: a verdict is missing."),
        ("AAA", PASS_70, "For review: there is no grade."),
        ("MMA", PASS_70, "For review: a criterion was not assessed."),
    ],
)
def test_the_outcome_is_said_in_words(given: str, decision: dict[str, Any], sentence: str) -> None:
    assert said(given, decision) == sentence


def test_an_undecided_gate_on_both_sides_of_the_threshold_is_for_review_and_says_so() -> None:
    made = binary(10, 10, 20, decision=PASS_70, gates=[GATE])
    trace = score_item(made, answers("AMM")).trace
    # Without c0 30 of 30 points; if the gate held, 0.4.
    assert (trace.low, trace.high, trace.outcome, trace.why) == (0.4, 1.0, "review", "straddles")
    assert explain(trace)[-1] == "For review: how it ends depends on a gate that cannot be decided."


def test_a_gate_that_fails_wins_over_a_score_that_passes() -> None:
    gate = {"name": "g", "when": {"criterion": "c0", "is": "UNMET"}, "then": {"verdict": "fail"}}
    trace = score_item(binary(10, 10, 80, decision=PASS_70, gates=[gate]), answers("UMM")).trace
    assert (trace.total, trace.outcome, trace.fail, trace.why) == (0.9, "fail", True, "rule")
    assert "The item fails: g ('c0' is 'UNMET')." in explain(trace)


def test_on_points_the_thresholds_are_points() -> None:
    made = binary(
        10, 10, -30, scoring={"normalize": False}, decision={"pass_at": 15, "fail_below": -5}
    )
    outcomes = [score_item(made, answers(given)).trace.outcome for given in ("MMU", "MUU", "MMM")]
    assert outcomes == ["pass", "review", "fail"]  # 20, 10 and -10 points


def test_thresholds_meet_the_score_after_gates_and_length() -> None:
    made = rubric(
        [{}],
        decision={"pass_at": 0.5},
        scoring={"length_penalty": {"free_budget": 1, "max_cap": 2, "penalty_at_cap": 0.6}},
    )
    short = score_item(made, answers("M"), texts=Texts("one"))
    long = score_item(made, answers("M"), texts=Texts("one two"))  # 1 - 0.6
    assert (short.trace.outcome, long.trace.outcome) == ("pass", "fail")


def test_a_decided_trace_survives_json_and_an_old_one_is_still_read() -> None:
    made = binary(10, 10, 20, decision=PASS_70, gates=[GATE])
    trace = score_item(made, answers("UMM")).trace
    data = json.loads(json.dumps(trace.to_dict(), allow_nan=False))
    assert Trace.from_dict(data) == trace
    for new in ("checks", "checked", "decision", "outcome", "why"):
        del data[new]
    old = Trace.from_dict(data)
    assert (old.checked, old.outcome, old.checks) == (trace.gated, None, ())
    assert explain(old)[-1] == "Score 0.40."


@pytest.mark.parametrize("damaged", [{}, {**PASS_70, "more": 1}, {"pass_at": "high"}])
def test_a_damaged_decision_is_a_type_error_like_any_damaged_part_of_a_trace(
    damaged: dict[str, Any],
) -> None:
    made = binary(10, 10, 20, decision=PASS_70, gates=[GATE])
    data = score_item(made, answers("UMM")).trace.to_dict()
    with pytest.raises(TypeError):
        Trace.from_dict({**data, "decision": damaged})
