"""Two people changed one rubric, and nothing that either of them wrote is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.gates import Gate
from core.domain.rubric import Rubric
from core.errors import InputError
from core.rubric_diff.merge import Side, merge_pieces, merged_rubric
from tests.services.versions.edited_run import DEPTH, LEVELS, RIGHT, RUBRIC, changed, rubric

POLITE = changed(RIGHT, name="Polite", requirement="No harsh words stand in the reply.")
BRIEF = changed(RIGHT, name="Brief", requirement="It has fewer than 50 words.")


def suggested(base: Rubric, mine: Rubric, theirs: Rubric) -> dict[str, Side]:
    return {piece.key: piece.suggested for piece in merge_pieces(base, mine, theirs)}


def test_what_only_one_of_them_changed_is_taken_from_them() -> None:
    mine = rubric(changed(RIGHT, weight=5), DEPTH)
    theirs = rubric(changed(RIGHT, requirement="It is true."), DEPTH, description="Ours.")
    both = merged_rubric(mine, theirs, suggested(RUBRIC, mine, theirs))
    assert both == rubric(
        changed(RIGHT, weight=5, requirement="It is true."), DEPTH, description="Ours."
    )


def test_what_both_changed_is_marked_and_mine_until_somebody_says_otherwise() -> None:
    mine = rubric(changed(RIGHT, weight=5), DEPTH)
    theirs = rubric(changed(RIGHT, weight=7), DEPTH)
    (piece,) = merge_pieces(RUBRIC, mine, theirs)
    assert (piece.both, piece.suggested, piece.mine, piece.theirs) == (True, "mine", "5", "7")
    assert merged_rubric(mine, theirs, {}) == mine
    assert merged_rubric(mine, theirs, {piece.key: "theirs"}) == theirs


def test_criteria_that_each_of_them_added_are_both_there() -> None:
    mine, theirs = rubric(RIGHT, DEPTH, POLITE), rubric(RIGHT, BRIEF, DEPTH)
    both = merged_rubric(mine, theirs, suggested(RUBRIC, mine, theirs))
    # Theirs follows the criterion that it follows there.
    assert [c.name for c in both.criteria] == ["Right", "Brief", "Depth", "Polite"]


def test_a_first_criterion_that_they_renamed_stays_first() -> None:
    theirs = rubric(changed(RIGHT, name="Correct"), DEPTH)
    both = merged_rubric(RUBRIC, theirs, suggested(RUBRIC, RUBRIC, theirs))
    assert both == theirs


def test_a_criterion_that_one_removed_and_the_other_changed_is_for_a_person_to_decide() -> None:
    mine, theirs = rubric(RIGHT), rubric(RIGHT, changed(DEPTH, weight=4))
    (piece,) = merge_pieces(RUBRIC, mine, theirs)
    assert (piece.both, piece.mine) == (True, "(nothing)")
    assert merged_rubric(mine, theirs, {piece.key: "theirs"}) == theirs


def test_a_criterion_that_they_removed_and_i_left_alone_is_gone() -> None:
    mine, theirs = rubric(RIGHT, DEPTH, description="Mine."), rubric(RIGHT)
    both = merged_rubric(mine, theirs, suggested(RUBRIC, mine, theirs))
    assert both == rubric(RIGHT, description="Mine.")


def test_options_and_scale_go_together() -> None:
    mine = rubric(RIGHT, changed(DEPTH, options=[LEVELS[0], LEVELS[2]]))
    theirs = rubric(RIGHT, changed(DEPTH, scale="nominal"))
    (piece,) = merge_pieces(RUBRIC, mine, theirs)
    assert piece.key == "criterion/Depth/answers"
    assert merged_rubric(mine, theirs, {piece.key: "theirs"}) == theirs


def test_pieces_that_do_not_fit_together_are_refused_with_the_reason() -> None:
    gate = Gate.model_validate(
        {"name": "g", "when": {"criterion": "Depth", "is": "Low"}, "then": {"cap": 0.4}}
    )
    mine, theirs = rubric(RIGHT), rubric(RIGHT, DEPTH, gates=(gate,))
    with pytest.raises(InputError):
        merged_rubric(mine, theirs, {"gates": "theirs"})


def test_what_is_the_same_in_both_is_no_piece() -> None:
    same = rubric(changed(RIGHT, weight=5), DEPTH)
    assert merge_pieces(RUBRIC, same, same) == ()


VARIANTS = st.builds(
    lambda weight, requirement, section, extra, description: rubric(
        changed(RIGHT, weight=weight, requirement=requirement, section=section),
        *extra,
        description=description,
    ),
    st.sampled_from([1.0, 3.0, -2.0]),
    st.sampled_from(["It is right.", "It is true."]),
    st.sampled_from([None, "A"]),
    st.sampled_from([(), (DEPTH,), (POLITE,), (DEPTH, BRIEF)]),
    st.sampled_from(["", "Words."]),
)


@given(VARIANTS, VARIANTS)
def test_all_of_one_side_is_that_sides_rubric(mine: Rubric, theirs: Rubric) -> None:
    for side, whole in (("mine", mine), ("theirs", theirs)):
        taken: dict[str, Side] = {
            piece.key: "mine" if side == "mine" else "theirs"
            for piece in merge_pieces(RUBRIC, mine, theirs)
        }
        both = merged_rubric(mine, theirs, taken)
        assert {c.name: c for c in both.criteria} == {c.name: c for c in whole.criteria}
        assert both.model_copy(update={"criteria": ()}) == whole.model_copy(update={"criteria": ()})
