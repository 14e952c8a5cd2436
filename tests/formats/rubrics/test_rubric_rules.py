"""Decisions and pre-checks in rubric files."""

from __future__ import annotations

import pytest

from core.errors import InputError
from core.formats.rubrics.rubric_file import dump_rubric, parse_rubric

HEAD = "criteria: [{name: a, requirement: Is it?}]\n"
RULES = """\
name: Posts
decision:
  pass_at: 0.7
  fail_below: 0.4
  review_within: 0.05
criteria:
  - name: a
    requirement: Is it?
    weight: 10
    scale: binary
prechecks:
  - name: Harm
    families:
      - weapon_making
      - self_harm
    patterns:
      - lives at <number>
    unless_near:
      terms:
        - quoted
      chars: 40
    action: cap
    cap: 0.2
"""


def test_decision_and_prechecks_are_written_as_a_person_would() -> None:
    rubric = parse_rubric(RULES, "posts.yaml").value
    assert dump_rubric(rubric) == RULES
    assert rubric.decision is not None
    assert (rubric.decision.pass_at, rubric.decision.floor) == (0.7, 0.4)
    assert rubric.prechecks[0].unless_near is not None
    assert rubric.prechecks[0].unless_near.chars == 40


def refused(text: str) -> str:
    with pytest.raises(InputError) as caught:
        parse_rubric(HEAD + text, "x.yaml")
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("decision: {pass_at: 70}", "line 2, decision, pass_at: is not between 0 and 1"),
        ("decision: {pass_at: 0.5, fail_below: 0.7}", "above pass_at (0.5)"),
        ("decision: {fail_below: 0.7}", "pass_at: is missing"),
        ("decision: {pass_at: true}", "is true. Use a number"),
        ("decisions: {pass_at: 0.7}", "Did you mean 'decision'?"),
        ("prechecks: [{name: x}]", "looks for nothing"),
        ("prechecks: [{name: x, families: [weapons]}]", "'weapon_making'"),
        ("prechecks: [{name: x, patterns: ['* ...']}]", "no letter and no digit"),
        ("prechecks: [{name: x, patterns: [b*mb]}]", "with * inside a word"),
        ("prechecks: [{name: x, patterns: [... bomb]}]", "between words"),
        ("prechecks: [{name: x, patterns: [a ... b ... c ... d]}]", "too often"),
        ("prechecks: [{name: x, patterns: [a], action: cap}]", "cap: is missing"),
        ("prechecks: [{name: x, patterns: [a], cap: 0.5}]", "but the action is flag"),
        ("prechecks: [{name: x, patterns: [a], unless_near: {terms: []}}]", "terms"),
        ("prechecks: [{name: x, patterns: [a], familys: [self_harm]}]", "Did you mean 'families'?"),
    ],
)
def test_what_cannot_work_is_refused_with_its_place(text: str, said: str) -> None:
    assert said in refused(text)


def test_on_points_a_decision_may_ask_for_any_number() -> None:
    text = "scoring: {normalize: false}\ndecision: {pass_at: 70, fail_below: -5}\n"
    decision = parse_rubric(HEAD + text, "x.yaml").value.decision
    assert decision is not None
    assert decision.floor == -5


@pytest.mark.parametrize(
    ("when", "said"),
    [
        ("tag: t, is: Good", "names 'Good', but no criterion tagged 't' has such an option"),
        ("tag: t, in: [MET, Good]", "names 'Good'"),
        ("tag: t, below: Cannot assess", "has a value under that label"),
        ("tag: u, is: MET", "names the tag 'u', which no criterion has"),
    ],
)
def test_a_gate_over_a_tag_names_options_that_a_tagged_criterion_has(when: str, said: str) -> None:
    text = (
        "criteria:\n  - {name: a, requirement: r, tags: [t]}\n"
        "  - {name: b, requirement: r, scale: nominal, "
        "options: [{label: Good, value: 1}, {label: Bad, value: 0}]}\n"
        f"gates:\n  - {{name: g, when: {{{when}, count_at_least: 1}}, then: {{cap: 0.5}}}}\n"
    )
    with pytest.raises(InputError) as caught:
        parse_rubric(text, "x.yaml")
    assert said in str(caught.value)
    # One tagged criterion with that option is enough, whatever the others offer.
    both = text.replace("name: b, requirement: r,", "name: b, requirement: r, tags: [t],")
    if "Good" in when:
        assert parse_rubric(both, "x.yaml").value.gates[0].when.tag == "t"
