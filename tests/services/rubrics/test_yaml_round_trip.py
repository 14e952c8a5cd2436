"""Form to YAML and back to the form: nothing is lost, and everything stays the same thing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.domain.rubric import Rubric
from core.services.rubrics import draft_criteria, library
from core.services.rubrics.draft_shapes import TEMPLATE_WORDS, RubricDraft
from core.services.rubrics.drafts import draft_from, problems_of, rubric_from, with_rubric
from tests.strategies import rubrics


def back_from_yaml(draft: RubricDraft) -> RubricDraft:
    """What the form holds after its YAML was opened and left again as text that was typed."""
    return with_rubric(
        draft, library.read_rubric(library.draft_file_text(draft), "rubric.yaml").value
    )


@given(rubrics().filter(lambda rubric: all(c.section != "" for c in rubric.criteria)))
def test_any_rubric_comes_back_to_the_form_as_the_same_draft(rubric: Rubric) -> None:
    # Uids, too: the open card, gates and what is typed next still mean the same criterion.
    # (An empty section is no section to the form, and is written as none.)
    draft = draft_from(rubric, rubric_id=1, parent=1)
    assert back_from_yaml(draft) == draft


@given(rubrics(), st.data())
def test_whatever_was_done_in_the_form_comes_back(rubric: Rubric, data: st.DataObject) -> None:
    draft = draft_from(rubric)
    for _ in range(data.draw(st.integers(1, 4))):
        uid = data.draw(st.sampled_from([c["uid"] for c in draft["criteria"]]))
        template = data.draw(st.sampled_from(sorted(TEMPLATE_WORDS)))
        draft = data.draw(
            st.sampled_from(
                [
                    draft_criteria.add_criterion(draft, template, na=True)[0],
                    draft_criteria.duplicate_criterion(draft, uid)[0],
                    draft_criteria.move_criterion(draft, uid, 1),
                    draft_criteria.place_criterion(draft, uid, 0),
                    draft_criteria.set_criterion(draft, uid, "section", "A # section: 'x'"),
                    draft_criteria.set_criterion(draft, uid, "tags", ["- a", "b: c"]),
                    draft_criteria.set_criterion(draft, uid, "weight", -0.1),
                    draft_criteria.apply_template(draft, uid, template),
                    draft_criteria.spread_values(draft, uid),
                ]
            )
        )
    # A fresh criterion has no requirement yet, which a text could not be read with.
    for criterion in draft["criteria"]:
        if not criterion["requirement"].strip():
            draft = draft_criteria.set_criterion(draft, criterion["uid"], "requirement", "Is it?")
    if problems_of(draft):
        return
    again = back_from_yaml(draft)
    assert rubric_from(again) == rubric_from(draft)
    assert [c["uid"] for c in again["criteria"]] == [c["uid"] for c in draft["criteria"]]
