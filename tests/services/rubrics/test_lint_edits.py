"""Findings in the editor: each edit mends what it is offered for; dismissing is remembered."""

from __future__ import annotations

import pytest

from core.domain.rubric import Rubric
from core.lint.check import check
from core.lint.rules import LintFinding
from core.services.rubrics import draft_criteria
from core.services.rubrics.drafts import draft_from, rubric_from
from core.services.rubrics.issues import check_draft, dismiss_finding, recall_finding, with_edit
from tests.lint.made import criterion, levels, rubric

BACKED = levels(
    ("None", "No claim has a source beside it."),
    ("Each", "Each claim has a source beside it."),
    name="Backed",
    weight=6,
)
IDLE = {"name": "Idle", "when": {"criterion": "Backed", "below": "None"}, "then": {"cap": 0.2}}
SAME = [{"label": "A source", "value": 1}, {"label": "A page", "value": 1}]
BRIEF = criterion("The answer is brief (no sentence could go).", name="Brief")
PENALTY = {"length_penalty": {"free_budget": 100, "max_cap": 200}}


def test_a_sentence_that_cannot_be_parted_by_rule_is_told_without_an_edit() -> None:
    for text in ("Cites a source and explains it.", "It is both short and clear, in every line."):
        (finding,) = check_draft(draft_from(rubric(criterion(text))))
        assert (finding.rule, finding.edit) == ("double-barrelled", None)


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        (rubric(criterion("The answer is clear and concise.")), "double-barrelled"),
        (rubric(criterion("The answer cites a source and explains why.")), "double-barrelled"),
        (rubric(criterion("The answer contains factual errors.")), "reversed-sign"),
        (rubric(criterion("If asked, it names a source.")), "no-not-applicable"),
        (rubric(criterion("It names a source.", forced_choice=True)), "forced-choice"),
        (rubric(BACKED, gates=[IDLE]), "inert-gate"),
        (rubric(criterion("What is named?", scale="nominal", options=SAME)), "no-difference"),
        (rubric(BRIEF, scoring=PENALTY), "length-counted-twice"),
    ],
)
def test_an_offered_edit_mends_its_finding_and_leaves_a_rubric(given: Rubric, rule: str) -> None:
    draft = draft_from(given)
    (finding,) = [f for f in check_draft(draft) if f.rule == rule]
    assert finding.edit is not None
    after = rubric_from(with_edit(draft, finding.edit))
    assert rule not in {f.rule for f in check(after)}


def test_a_split_shares_the_weight_and_keeps_the_options_and_the_gates() -> None:
    both = criterion("The answer names a source and explains why.", name="Both", weight=8)
    gate = {"name": "G", "when": {"criterion": "Both", "is": "UNMET"}, "then": {"cap": 0.2}}
    draft = draft_from(rubric(both, BACKED, gates=[gate]))
    (finding,) = check_draft(draft)
    assert finding.edit is not None
    after = rubric_from(with_edit(draft, finding.edit))
    assert [(c.name, c.requirement, c.weight) for c in after.criteria] == [
        ("Both", "The answer names a source.", 4),
        ("Both copy 1", "The answer explains why.", 4),
        ("Backed", BACKED.requirement, 6),
    ]
    assert [g.when.criterion for g in after.gates] == ["Both"]


def test_an_edit_whose_criterion_is_gone_changes_nothing() -> None:
    draft = draft_from(rubric(BACKED, criterion("The answer is clear and concise.")))
    (finding,) = check_draft(draft)
    shorter = draft_criteria.remove_criterion(draft, draft["criteria"][1]["uid"])
    assert finding.edit is not None
    assert with_edit(shorter, finding.edit) == shorter


def test_a_draft_that_is_no_rubric_yet_is_checked_as_far_as_it_can_be_read() -> None:
    draft, _ = draft_criteria.add_criterion(
        draft_from(rubric(BACKED, criterion("Is it appropriate?")))
    )
    (finding,) = check_draft(draft)  # the new one has no requirement, so it is not checked
    assert (finding.rule, finding.path) == ("vague", ("criteria", 1, "requirement"))


def test_what_is_dismissed_stays_so_with_the_rubric_until_it_is_recalled() -> None:
    draft = draft_from(rubric(BACKED, criterion("Is it appropriate?"), gates=[IDLE]))
    for finding in check_draft(draft):
        draft = dismiss_finding(draft, finding)
    assert check_draft(draft) == ()
    saved = rubric_from(draft)
    assert check(saved) == ()
    assert saved.meta == {"checks_off": ["inert-gate"]}
    hidden = check_draft(draft, with_dismissed=True)
    assert [f.rule for f in hidden] == ["inert-gate", "vague"]
    for finding in hidden:
        draft = recall_finding(draft, finding)
    assert [f.rule for f in check_draft(draft)] == ["inert-gate", "vague"]
    assert rubric_from(draft).meta == {}


def test_a_rule_dismissed_for_one_criterion_still_speaks_for_another() -> None:
    draft = draft_from(rubric(criterion("Is it proper?", name="A"), criterion("Is it nice?")))
    first: LintFinding = check_draft(draft)[0]
    assert [f.criterion for f in check_draft(dismiss_finding(draft, first))] == [1]
