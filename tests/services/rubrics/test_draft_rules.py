"""Gates, pre-checks, decision and length penalty of a draft: every edit means what it says."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest
from hypothesis import given

from core.domain.gates import Decision
from core.domain.rubric import Rubric
from core.rubric_diff.wording import check_words, decision_words, gate_words
from core.services.rubrics import draft_criteria, draft_rules, library
from core.services.rubrics.draft_shapes import RubricDraft
from core.services.rubrics.drafts import (
    complete_draft,
    draft_from,
    draft_payload,
    locate_card,
    problems_of,
    rubric_from,
    with_rubric,
)
from tests.services.rubrics.test_drafts import FULL, uid
from tests.strategies import rubrics


def draft() -> RubricDraft:
    return draft_from(FULL, rubric_id=1, parent=1)


def last_gate(now: RubricDraft) -> dict[str, Any]:
    return draft_rules.current_gate_data(now, now["gates"][-1]["uid"])


@given(rubrics())
def test_the_rules_of_any_rubric_come_back_equal_from_its_draft(rubric: Rubric) -> None:
    made = draft_from(rubric)
    again = rubric_from(json.loads(json.dumps(made)))
    assert (again.gates, again.prechecks) == (rubric.gates, rubric.prechecks)
    assert (again.decision, again.scoring) == (rubric.decision, rubric.scoring)
    # The YAML view reads the same, and keeps every card's uid.
    typed = with_rubric(made, library.read_rubric(library.draft_file_text(made), "x.yaml").value)
    assert [g["uid"] for g in typed["gates"]] == [g["uid"] for g in made["gates"]]
    assert typed["prechecks"] == made["prechecks"]


@pytest.mark.parametrize(
    ("first", "condition"),
    [
        ("Clear", {"criterion": "Clear", "is": "UNMET"}),
        ("Depth", {"criterion": "Depth", "below": "High"}),
        ("Tone", {"criterion": "Tone", "is": "Cold"}),
    ],
)
def test_a_new_gate_asks_what_is_meant_most_often(first: str, condition: dict[str, str]) -> None:
    criteria = sorted(FULL.criteria, key=lambda c: c.name != first)
    now, new = draft_rules.add_gate(
        draft_from(FULL.model_copy(update={"criteria": tuple(criteria)}))
    )
    assert draft_rules.current_gate_data(now, new)["when"] == condition
    assert problems_of(now) == ()


def test_a_gate_turns_to_another_criterion_and_keeps_what_fits() -> None:
    now, new = draft_rules.add_gate(draft())
    now = draft_rules.set_subject(now, new, criterion=uid(now, "Depth"))
    assert draft_rules.current_gate_data(now, new)["when"] == {
        "criterion": "Depth",
        "below": "High",
    }
    now = draft_rules.set_condition(now, new, "at_least", 0.5)
    now = draft_rules.set_subject(now, new, criterion=uid(now, "Tone"))
    assert draft_rules.current_gate_data(now, new)["when"] == {"criterion": "Tone", "at_least": 0.5}
    now = draft_rules.set_subject(now, new, tag="form")
    assert draft_rules.current_gate_data(now, new)["when"]["count_at_least"] == 1
    now = draft_rules.set_count(now, new, 3)
    assert draft_rules.current_gate_data(now, new)["when"] == {
        "tag": "form",
        "at_least": 0.5,
        "count_at_least": 3,
    }
    assert rubric_from(now).gates[-1].when.count_at_least == 3


def test_an_edited_gate_still_follows_what_it_names() -> None:
    now, new = draft_rules.add_gate(draft())
    now = draft_rules.set_subject(now, new, criterion=uid(now, "Depth"))
    now = draft_criteria.set_criterion(now, uid(now, "Depth"), "name", "Deep")
    high = now["criteria"][1]["options"][1]["uid"]
    now = draft_criteria.set_option(now, uid(now, "Deep"), high, "label", "Top")
    now = draft_rules.set_effect(now, new, "reason", "Too shallow.")
    gate = rubric_from(now).gates[-1]
    assert (gate.when.criterion, gate.when.below, gate.then.reason) == (
        *("Deep", "Top"),
        "Too shallow.",
    )


def test_effects_come_with_usual_values_and_only_one_verdict() -> None:
    now, new = draft_rules.add_gate(draft())
    now = draft_rules.set_effect(now, new, "cap", 0.3)
    now = draft_rules.set_effects(now, new, ["cap", "fail", "flag"])
    assert draft_rules.current_gate_data(now, new)["then"] == {
        "cap": 0.3,
        "flag": "look here",
        "verdict": "fail",
        "reason": "",
    }
    now = draft_rules.set_effects(now, new, ["cap", "fail", "review"])
    assert draft_rules.effects_of(draft_rules.current_gate_data(now, new)["then"]) == [
        "cap",
        "review",
    ]
    now = draft_rules.set_effects(now, new, [])
    (problem,) = problems_of(now)
    assert "does nothing" in problem.message
    assert locate_card(now, problem.path)[0] == new
    # Written down all the same, and said to be incomplete.
    assert "name: Gate 1" in library.draft_file_text(now)
    assert gate_words(draft_rules.current_gate_data(now, new)) == (
        "This gate is not complete yet, and does nothing."
    )


def test_a_pre_check_is_made_changed_and_said() -> None:
    now, new = draft_rules.add_check(draft())
    now = draft_rules.set_check(now, new, "patterns", ["lives at <number>"])
    now = draft_rules.set_check(now, new, "unless_near", {"terms": ["office"], "chars": 20})
    now = draft_rules.set_check(now, new, "action", "cap")
    (check,) = rubric_from(now).prechecks
    assert (check.action, check.cap) == ("cap", 0.0)
    assert check_words(now["prechecks"][0]["check"]) == (
        "When the text holds dangerous instructions or 'lives at <number>', unless 'office' stands "
        "within 20 characters, a person reviews the item; until then its score is at most 0. The "
        "score before is kept."
    )
    now = draft_rules.set_check(now, new, "action", "fail")  # the cap goes with its action
    assert rubric_from(now).prechecks[0].cap is None
    now = draft_rules.set_check(
        draft_rules.set_check(now, new, "families", []), new, "patterns", []
    )
    (problem,) = problems_of(now)
    assert locate_card(now, problem.path)[0] == new
    assert "- name: Pre-check 1" in library.draft_file_text(now)


def test_copies_and_removals_touch_one_rule_only() -> None:
    now, check = draft_rules.add_check(draft())
    now, twin = draft_rules.duplicate_rule(now, check)
    assert [c["check"]["name"] for c in now["prechecks"]] == ["Pre-check 1", "Pre-check 1 copy 1"]
    now, other = draft_rules.duplicate_rule(now, now["gates"][0]["uid"])
    assert [g["gate"]["name"] for g in now["gates"]] == ["g1", "g1 copy 1", "g2", "g3"]
    assert (
        draft_rules.current_gate_data(now, other)["when"]
        == draft_rules.current_gate_data(now, now["gates"][0]["uid"])["when"]
    )
    for rule in (twin, other, check):
        now = draft_rules.remove_rule(now, rule)
    assert draft_payload(now) == draft_payload(draft())
    assert draft_rules.duplicate_rule(now, "gone") == (now, "gone")
    assert draft_rules.remove_rule(now, "gone") == now


def test_a_decision_starts_at_seventy_percent_of_what_can_be_had() -> None:
    now = draft_rules.set_decision(draft())
    assert rubric_from(now).decision == Decision(pass_at=0.7)
    now = draft_rules.set_decision(now, fail_below=0.4, review_within=0.05)
    assert decision_words(now["decision"] or {}) == (
        "Passes from 0.7 on, fails below 0.4; between the two a person decides. Within 0.05 of a "
        "threshold, too, a person decides."
    )
    now = draft_rules.set_decision(now, fail_below=None, review_within=None)
    assert now["decision"] == {"pass_at": 0.7}
    assert draft_rules.drop_decision(now)["decision"] is None
    points = draft_rules.set_decision(draft_criteria.set_scoring(draft(), "normalize", False))
    assert points["decision"] == {"pass_at": 14}  # Clear and Tone weigh 10 each, Depth takes


def test_thresholds_that_cross_are_a_problem_of_the_decision() -> None:
    now = draft_rules.set_decision(draft(), fail_below=0.9)
    (problem,) = problems_of(now)
    assert problem.path[0] == "decision"
    assert "fail_below: 0.9" in library.draft_file_text(now)


def test_a_length_penalty_is_made_and_dropped() -> None:
    bare = draft_rules.drop_penalty(draft())
    assert rubric_from(bare).scoring.length_penalty is None
    now = draft_rules.set_penalty(bare, free_budget=9000)
    (problem,) = problems_of(now)  # the usual max_cap is 8000
    assert problem.path[:2] == ("scoring", "length_penalty")
    penalty = rubric_from(draft_rules.set_penalty(now, max_cap=9500)).scoring.length_penalty
    assert penalty is not None
    assert (penalty.free_budget, penalty.max_cap, penalty.exponent) == (9000, 9500, 1.6)


def test_a_draft_kept_by_an_older_version_is_completed() -> None:
    old = json.loads(json.dumps(draft()))
    del old["prechecks"], old["decision"], old["scoring"]["min_coverage"]
    for gate in old["gates"]:
        del gate["uid"]
    now = complete_draft(cast("dict[str, Any]", old))
    assert rubric_from(now) == FULL
    assert len({gate["uid"] for gate in now["gates"]}) == 3
