"""Scale templates: anchored, clean under the rubric check, with or without "Not applicable"."""

from __future__ import annotations

import pytest

from core.lint.check import check
from core.services.rubrics import draft_criteria
from core.services.rubrics.draft_shapes import (
    LEVELS,
    TEMPLATE_WORDS,
    RubricDraft,
    Template,
    new_draft,
)
from core.services.rubrics.drafts import rubric_from

QUESTION = "How many of the three steps does the answer give?"


def made(template: Template, *, na: bool) -> tuple[RubricDraft, str]:
    grown, uid = draft_criteria.add_criterion({**new_draft(), "name": "R"}, template, na=na)
    return draft_criteria.set_criterion(grown, uid, "requirement", QUESTION), uid


@pytest.mark.parametrize("na", [False, True])
@pytest.mark.parametrize("template", TEMPLATE_WORDS)
def test_a_template_is_a_clean_criterion_as_soon_as_it_asks_something(
    template: Template, na: bool
) -> None:
    rubric = rubric_from(made(template, na=na)[0])
    assert [o.label for o in rubric.criteria[0].options if o.na] == ["Not applicable"] * na
    # Categories are the author's to name; the check says that they are not named yet.
    wanted = {"unfinished"} if template == "categories" else set()
    assert {f.rule for f in check(rubric)} == wanted


@pytest.mark.parametrize("template", ["three", "four", "five", "bands"])
def test_levels_rise_and_each_has_an_anchor(template: Template) -> None:
    values = [value for _, _, value in LEVELS[template]]
    assert values == sorted(set(values))
    assert values[-1] == 1.0
    assert all(len(anchor.split()) >= 5 for _, anchor, _ in LEVELS[template])


def test_the_bands_are_those_of_adr_016_worth_their_upper_edge() -> None:
    # Bands 1-2, 3-4, 5-6, 7-8, 9-10 of ten points.
    assert [(label[-6:].strip("( )"), value) for label, _, value in LEVELS["bands"]] == [
        ("1-2", 0.2),
        ("3-4", 0.4),
        ("5-6", 0.6),
        ("7-8", 0.8),
        ("9-10", 1.0),
    ]


def test_a_template_on_a_criterion_adds_one_way_out_at_most() -> None:
    draft, uid = made("three", na=True)
    again = draft_criteria.apply_template(draft, uid, "four", na=True)
    labels = [o["label"] for o in again["criteria"][0]["options"]]
    assert labels == ["Absent", "Fewer than half", "Half or more", "Whole", "Not applicable"]
    plain, uid = made("three", na=False)
    assert [
        o["na"]
        for o in draft_criteria.apply_template(plain, uid, "yes_no")["criteria"][0]["options"]
    ] == [
        False,
        False,
    ]
