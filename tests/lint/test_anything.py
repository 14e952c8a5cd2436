"""Whatever a rubric says, the check answers, quickly, about places that are there."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.rubric import Rubric
from core.lint.check import check
from core.lint.language import READ, word_set
from core.lint.rules import RULES
from core.services.rubrics.drafts import draft_from, draft_payload
from core.services.rubrics.issues import check_draft, with_edit
from core.text.names import fold
from tests.lint.made import criterion, levels, rubric

WORDS = st.sampled_from(
    word_set(
        "The answer cites names explains clear concise and both not without many good if where , . "
        "( ) ? etc. 150 words from 1 to 5 very TODO student understands better than others"
    )
)
TEXTS = st.one_of(
    st.lists(WORDS, min_size=1, max_size=30).map(" ".join), st.text(min_size=1, max_size=60)
).filter(fold)
WEIGHTS = st.sampled_from([-8.0, -1.0, 0.0, 0.01, 1.0, 10.0])


@st.composite
def rubrics(draw: Any) -> Rubric:
    criteria = []
    for at in range(draw(st.integers(1, 4))):
        fields = {"name": f"c{at}", "weight": draw(WEIGHTS)}
        if draw(st.booleans()):
            anchors = draw(st.lists(TEXTS | st.just(""), min_size=2, max_size=4))
            named = [(f"L{n}", anchor) for n, anchor in enumerate(anchors)]
            criteria.append(levels(*named, requirement=draw(TEXTS), **fields))
        else:
            criteria.append(criterion(draw(TEXTS), **fields))
    gate = {"name": "G", "when": {"criterion": "c0", "at_least": draw(st.floats(0, 1))},
            "then": {"cap": draw(st.floats(0, 1))}}  # fmt: skip
    return rubric(*criteria, gates=[gate] * draw(st.integers(0, 2)))


@given(rubrics())
def test_every_finding_is_about_a_place_that_is_there_and_every_edit_can_be_made(
    rubric: Rubric,
) -> None:
    draft = draft_from(rubric)
    found = check_draft(draft)
    assert found == check(rubric)
    for finding in found:
        assert finding.rule in RULES
        place: Any = draft_payload(draft)
        for step in finding.path:
            place = place[step]
        assert finding.sentence.endswith((".", "?"))
        if finding.edit is not None:
            assert with_edit(draft, finding.edit) != draft


@pytest.mark.parametrize(
    "word", ["cites ", "clear, ", "very ", "not ", "both ", "(a b c ", "a. B "]
)
def test_the_longest_requirement_is_read_as_far_as_a_judge_would(word: str) -> None:
    # Unbounded, each of these takes tens of seconds; the suite's time limit would tell.
    (long,) = rubric(criterion((word * 20_000)[:19_990])).criteria
    assert "wordy" in {f.rule for f in check(rubric(long))}


def test_nothing_is_cut_off_a_requirement_that_was_not_read_to_its_end() -> None:
    text = "The answer is clear and concise" + " in every line" * 60 + "."
    assert len(text) > READ
    (found,) = [f for f in check(rubric(criterion(text))) if f.rule == "double-barrelled"]
    assert found.edit is None
