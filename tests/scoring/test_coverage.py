"""A score says what it covers, and there is none where too little was assessed."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.gates import Decision
from core.domain.rubric import Rubric
from core.errors import InputError
from core.scoring import Trace, assessed_words, explain, score_item
from core.scoring.older_traces import with_coverage
from tests.scoring.made import answers, binary, rubric
from tests.scoring.test_properties import cases


def test_three_of_four_abstentions_leave_no_grade_but_the_points_of_what_was_assessed() -> None:
    # Four criteria of 4 points; the only one that was assessed is met.
    result = score_item(binary(4, 4, 4, 4), answers("MAAA"))
    trace = result.trace
    assert (result.score, result.raw, trace.low, trace.high) == (None, None, None, None)
    assert (trace.coverage, trace.complete, trace.review) == (0.25, False, True)
    assert (trace.assessed_points, trace.assessed_of) == (4.0, 4.0)
    assert assessed_words(trace.criteria) == "4 of 4; 12 of 16 not assessed"
    assert explain(trace)[:2] == [
        "No grade: 25% of the weight was assessed, and the rubric asks for 50%.",
        "Assessed: 4 of 4; 12 of 16 not assessed.",
    ]


def test_from_half_of_the_weight_on_there_is_a_grade_that_asks_for_a_person() -> None:
    # 4 + 0 of the 8 points that were assessed, 8 of 16: exactly one half.
    result = score_item(binary(4, 4, 4, 4), answers("MUA-"))
    assert (result.score, result.raw, result.trace.coverage) == (0.5, 4.0, 0.5)
    assert (result.trace.complete, result.trace.review) == (False, True)
    assert explain(result.trace)[:2] == [
        "Base score 0.50: 4 of 8 points.",
        "Assessed: 4 of 8; 8 of 16 not assessed.",
    ]


@pytest.mark.parametrize(
    ("weights", "given", "coverage"),
    [
        ((10, 5, 1), "MUM", 1.0),
        # Penalties count by their size: 10 + 5 of 10 + 5 + 15.
        ((10, 5, -15), "MMA", 0.5),
        ((10, 5, -15), "MM-", 0.5),
        # A criterion without weight counts nothing: all of 10 was assessed.
        ((10, 0), "MA", 1.0),
        ((0, 10), "MA", 0.0),
        # Without any weight each criterion counts alike.
        ((0, 0, 0), "MAM", 2 / 3),
        ((0, 0, 0), "MMM", 1.0),
        # Weights so different that 1 - the rest would lose the small one.
        ((1e-20, 1e20), "MA", 1e-40),
    ],
)
def test_coverage_is_the_share_of_the_weight_that_was_assessed(
    weights: tuple[float, ...], given: str, coverage: float
) -> None:
    trace = score_item(binary(*weights), answers(given)).trace
    assert trace.coverage == pytest.approx(coverage, rel=1e-12)


@pytest.mark.parametrize("strategy", ["skip", "zero", "partial", "fail"])
def test_every_strategy_asks_for_a_person_and_covers_what_was_assessed(strategy: str) -> None:
    made = binary(6, 2, scoring={"abstention": strategy})
    some = score_item(made, answers("MA"))
    # 6 of 6 + 2; the strategy only says what the 2 add: 6/6, 6/8, (6 + 1)/8, 6/8.
    assert some.score == {"skip": 1.0, "zero": 0.75, "partial": 0.875, "fail": 0.75}[strategy]
    assert (some.trace.coverage, some.trace.complete, some.trace.review) == (0.75, False, True)
    assert assessed_words(some.trace.criteria) == "6 of 6; 2 of 8 not assessed"
    # 2 of 8 is less than half.
    assert score_item(made, answers("AM")).score is None


def test_the_rubric_says_how_much_must_be_assessed() -> None:
    given = answers("MAAA")
    assert score_item(binary(4, 4, 4, 4, scoring={"min_coverage": 0.25}), given).score == 1.0
    assert score_item(binary(4, 4, 4, 4, scoring={"min_coverage": 0}), given).score == 1.0
    all_of_it = binary(4, 4, 4, 4, scoring={"min_coverage": 1})
    assert score_item(all_of_it, answers("MMMA")).score is None
    assert score_item(all_of_it, answers("MMMM")).score == 1.0
    with pytest.raises(InputError, match="min_coverage"):
        binary(1, scoring={"min_coverage": 1.5})


def test_a_part_that_is_not_applicable_by_the_authors_own_option_is_not_assessed() -> None:
    levels = [{"label": "L", "value": 0}, {"label": "H", "value": 1}, {"label": "N/A", "na": True}]
    made = rubric([{"weight": 1}, {"weight": 3, "scale": "ordinal", "options": levels}])
    result = score_item(made, {"c0": 0, "c1": 2})
    assert (result.score, result.trace.coverage, result.trace.review) == (None, 0.25, True)


def test_what_was_skipped_never_passes() -> None:
    made = binary(6, 2, decision={"pass_at": 0.7})
    assert score_item(made, answers("MM")).trace.outcome == "pass"
    skipped = score_item(made, answers("MA")).trace
    assert (skipped.total, skipped.outcome, skipped.why) == (1.0, "review", "not_assessed")
    assert explain(skipped)[-1] == "For review: a criterion was not assessed."
    # Where the rubric says what an abstention is worth, its points may pass; a person still looks.
    zero = binary(6, 2, scoring={"abstention": "zero"}, decision={"pass_at": 0.7})
    worth = score_item(zero, answers("MA")).trace
    assert (worth.total, worth.outcome, worth.review) == (0.75, "pass", True)
    # Without a grade nothing passes, whatever the strategy.
    none = score_item(zero, answers("AM")).trace
    assert (none.total, none.outcome, none.why) == (None, "review", "no_score")


def test_an_item_without_a_grade_still_fails_by_a_gate() -> None:
    gate = {"name": "g", "when": {"criterion": "c0", "is": "UNMET"}, "then": {"verdict": "fail"}}
    trace = score_item(binary(4, 4, 4, 4, gates=[gate]), answers("UAAA")).trace
    assert (trace.total, trace.outcome, trace.review) == (None, "fail", True)


@pytest.mark.parametrize(
    ("weights", "given", "words"),
    [
        ((-10, -5), "MA", "10 of 10 penalty points taken; 5 of 15 not assessed"),
        ((-10, -5), "UA", "0 of 10 penalty points taken; 5 of 15 not assessed"),
        ((10, -5), "AM", "5 of 5 penalty points taken; 10 of 15 not assessed"),
        ((10, 10, -5), "MAM", "5 of 10; 10 of 25 not assessed"),
        ((0, 0), "MA", "1 of 2 criteria; 1 of 2 not assessed"),
        ((10,), "A", "nothing; 10 of 10 not assessed"),
        ((10, 5), "MU", "10 of 15"),
    ],
)
def test_points_are_said_of_what_was_assessed(
    weights: tuple[float, ...], given: str, words: str
) -> None:
    assert assessed_words(score_item(binary(*weights), answers(given)).trace.criteria) == words


def test_a_trace_that_was_kept_before_knows_its_coverage() -> None:
    trace = score_item(binary(4, 4, 4, 4), answers("MMMA")).trace
    old = json.loads(json.dumps(trace.to_dict()))
    assert (old["coverage"], old["min_coverage"]) == (0.75, 0.5)
    for name in ("coverage", "min_coverage", "assessed_points", "assessed_of"):
        del old[name]
    again = Trace.from_dict(old)
    # Nothing was asked of it then.
    assert (again.coverage, again.min_coverage) == (0.75, 0.0)
    assert (again.assessed_points, again.assessed_of) == (12.0, 12.0)


@given(cases(), st.booleans())
def test_a_trace_made_before_is_brought_to_what_its_answers_give_today(
    case: tuple[Rubric, dict[str, int | None]], decides: bool
) -> None:
    made, given_answers = case
    if decides:
        made = made.model_copy(update={"decision": Decision(pass_at=0.7, fail_below=0.4)})

    def scored(least: float) -> Trace:
        scoring = made.scoring.model_copy(update={"min_coverage": least})
        return score_item(made.model_copy(update={"scoring": scoring}), given_answers).trace

    # Before, abstentions left a trace complete, and only gates and decisions asked for a person.
    then = scored(0.0)
    missing = any(part.missing for part in then.criteria)
    old = replace(then, complete=not missing, review=False, outcome="pass", why="score")
    kept: dict[str, Any] = json.loads(json.dumps(old.to_dict()))
    for name in ("coverage", "min_coverage", "assessed_points", "assessed_of"):
        del kept[name]
    assert with_coverage(Trace.from_dict(kept), 0.5) == scored(0.5)
