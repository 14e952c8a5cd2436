"""The trace as data, and in sentences."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.domain.rubric import Rubric
from core.scoring import Trace, explain, score_item
from tests.scoring.made import answers, binary

GATES: list[dict[str, Any]] = [
    {
        "name": "core",
        "when": {"criterion": "c0", "is": "UNMET"},
        "then": {"cap": 0.5, "verdict": "fail", "flag": "unsafe", "reason": "The core is wrong."},
    },
    {"name": "form", "when": {"criterion": "c1", "is": "UNMET"}, "then": {"multiply": 0.5}},
]
PENALTY = {"free_budget": 10, "max_cap": 20, "penalty_at_cap": 0.1, "exponent": 1}


def made(**scoring: Any) -> Rubric:
    return binary(10, 10, 20, gates=GATES, scoring=scoring)


@pytest.mark.parametrize("given", ["MMM", "UMM", "AUM", "-AM", "AA-", "---"])
def test_a_trace_survives_json(given: str) -> None:
    trace = score_item(made(length_penalty=PENALTY), answers(given), texts=15).trace
    assert Trace.from_dict(json.loads(json.dumps(trace.to_dict(), allow_nan=False))) == trace


def test_a_trace_shows_what_every_criterion_gave() -> None:
    # 10 of 40 were assessed.
    trace = score_item(made(abstention="partial", min_coverage=0.25), answers("MA-")).trace
    assert [tuple(part) for part in trace.criteria] == [
        # name, weight, value, points, counted, abstained, missing
        ("c0", 10.0, 1.0, 10.0, True, False, False),
        ("c1", 10.0, None, 5.0, True, True, False),
        ("c2", 20.0, None, 0.0, False, False, True),
    ]
    assert (trace.raw, trace.possible, trace.base) == (15.0, 20.0, 0.75)


def said(given: str, **scoring: Any) -> list[str]:
    texts = 15 if "length_penalty" in scoring else None
    return explain(score_item(made(**scoring), answers(given), texts=texts).trace)


def test_a_fired_gate_is_explained_with_its_reason_and_outcome() -> None:
    assert said("UMM") == [
        "Base score 0.75: 30 of 40 points.",
        "0.75 -> 0.50: The core is wrong ('c0' is 'UNMET').",
        "The item fails: The core is wrong ('c0' is 'UNMET').",
        "Flagged 'unsafe': The core is wrong ('c0' is 'UNMET').",
        "Score 0.50.",
    ]


def test_length_is_explained_after_the_gates() -> None:
    # 30 / 40, times .5, less .1 * 5 / 10.
    assert said("MUM", length_penalty=PENALTY)[1:] == [
        "0.75 -> 0.38: form ('c1' is 'UNMET').",
        "0.38 -> 0.33: 0.05 taken for length (counted 15).",
        "Score 0.33.",
    ]


def test_an_undecided_gate_is_explained_as_an_interval() -> None:
    assert said("AMM") == [
        "Base score 1.00: 30 of 30 points.",
        "Assessed: 30 of 30; 10 of 40 not assessed.",
        "'c0' abstained and was left out.",
        "The gate 'core' cannot be decided: 'c0' abstained.",
        "Until that is settled, the score lies between 0.50 and 1.00.",
        "Score 1.00.",
    ]


@pytest.mark.parametrize(
    ("strategy", "sentence"),
    [
        ("skip", "'c2' abstained and was left out."),
        ("zero", "'c2' abstained and counts as nothing: 0 points."),
        ("partial", "'c2' abstained and gets partial credit: 10 points."),
        ("fail", "'c2' abstained and counts as its worst option: 0 points."),
    ],
)
def test_an_abstention_is_explained_by_its_strategy(strategy: str, sentence: str) -> None:
    assert said("MMA", abstention=strategy)[1:3] == [
        "Assessed: 20 of 20; 20 of 40 not assessed.",
        sentence,
    ]


def test_what_is_missing_is_said() -> None:
    assert said("MM-")[2] == "'c2' has no verdict and was left out, so the score is not complete."
    assert said("---")[0] == "Nothing could be scored: no criterion has an answer that counts."


def test_other_sums_are_explained_in_their_own_words() -> None:
    def first(given: str, *weights: float, **rest: Any) -> str:
        return explain(score_item(binary(*weights, **rest), answers(given)).trace, out_of=100)[0]

    assert first("MU", -10, -5) == "Base score 33.33: 10 of 15 penalty points were taken."
    assert first("UU", -10, -5) == "Base score 100.00: 0 of 15 penalty points were taken."
    assert first("MU", 0, 0) == "Base score 0.00: every criterion that counts has weight 0."
    raw = {"normalize": False}
    assert first("MU", 10, 2.5, scoring=raw) == "Base score 10.00: 10 of 12.5 points."


def test_gates_that_changed_nothing_or_were_assumed_say_so() -> None:
    gates = [
        {"name": "idle", "when": {"criterion": "c1", "is": "MET"}, "then": {"cap": 0.9}},
        {
            "name": "strict",
            "when": {"criterion": "c0", "is": "UNMET"},
            "then": {"verdict": "review"},
            "on_missing": "fire",
        },
    ]
    trace = score_item(binary(10, 10, 20, gates=gates), answers("AMU")).trace
    assert explain(trace)[3:-1] == [
        "The gate 'idle' fired and changed nothing.",
        "A person must review the item: strict ('c0' abstained, so the gate is taken as met).",
    ]
