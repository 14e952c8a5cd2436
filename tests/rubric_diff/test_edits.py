"""What lies between two versions, and what that means for votes that are there."""

from __future__ import annotations

from typing import Any

import pytest

from core.domain.gates import Decision
from core.domain.rubric import Option
from core.errors import InputError
from core.rubric_diff.edits import VersionEdits, VersionMapping, edits_between, question_hash
from tests.services.versions.edited_run import DEPTH, LEVELS, RIGHT, RUBRIC, changed, rubric


def kinds(found: VersionEdits) -> set[tuple[str, str | None, str]]:
    return {(edit.kind, edit.criterion, edit.what) for edit in found.edits}


@pytest.mark.parametrize(
    ("after", "kind", "criterion", "what"),
    [
        (rubric(description="For teachers."), "words", None, "description"),
        (rubric(changed(RIGHT, section="A"), DEPTH), "words", "Right", "section"),
        (
            rubric(changed(RIGHT, requirement="It  is\nright."), DEPTH),
            "words",
            "Right",
            "requirement",
        ),
        (rubric(changed(RIGHT, weight=5), DEPTH), "score", "Right", "weight"),
        (rubric(RIGHT, changed(DEPTH, aggregation="median")), "score", "Depth", "rule for votes"),
        (rubric(decision=Decision(pass_at=0.5)), "score", None, "decision"),
        (
            rubric(changed(RIGHT, requirement="It is true."), DEPTH),
            "question",
            "Right",
            "requirement",
        ),
        (rubric(guidelines="Be strict."), "question", None, "guidelines"),
        (rubric(RIGHT), "removed", "Depth", "criterion"),
    ],
)
def test_every_edit_is_of_one_kind(after: Any, kind: str, criterion: str | None, what: str) -> None:
    assert kinds(edits_between(RUBRIC, after)) == {(kind, criterion, what)}


def test_the_value_of_an_option_is_of_the_score_and_its_anchor_of_the_question() -> None:
    low, mid, high = LEVELS
    options = [
        low,
        mid.model_copy(update={"value": 0.4}),
        high.model_copy(update={"description": "Why."}),
    ]
    found = edits_between(RUBRIC, rubric(RIGHT, changed(DEPTH, options=options)))
    assert kinds(found) == {
        ("score", "Depth", "value of 'Mid'"),
        ("question", "Depth", "anchor of 'High'"),
    }
    assert (found.stale, found.in_place) == (("Depth",), True)


def test_guidelines_are_part_of_every_question() -> None:
    found = edits_between(RUBRIC, rubric(guidelines="Be strict."))
    assert found.stale == ("Right", "Depth")


def test_a_criterion_with_nearly_the_same_requirement_was_renamed() -> None:
    found = edits_between(RUBRIC, rubric(changed(RIGHT, name="Correct"), DEPTH))
    assert found.moves.renamed == {"Right": "Correct"}
    assert kinds(found) == {("renamed", "Correct", "name")}
    # The same question under another name asks nothing else, but votes lie under the old name.
    assert (found.stale, found.in_place) == ((), False)


def test_of_very_many_criteria_only_those_that_ask_the_same_were_renamed() -> None:
    # 60 x 60 pairs; of each, nearly the same would be enough where there are few.
    before = rubric(
        *(changed(RIGHT, name=f"a{n}", requirement=f"Is {n} right?") for n in range(60))
    )
    after = rubric(
        *(changed(RIGHT, name=f"b{n}", requirement=f"Is {n} right?") for n in range(59)),
        changed(RIGHT, name="b59", requirement="Is 59 right now?"),
    )
    found = edits_between(before, after)
    assert found.moves.renamed == {f"a{n}": f"b{n}" for n in range(59)}
    assert (found.added, found.removed) == (("b59",), ("a59",))


def test_another_criterion_is_one_that_went_and_one_that_came() -> None:
    other = changed(RIGHT, name="Polite", requirement="No harsh words stand in the reply.")
    found = edits_between(RUBRIC, rubric(other, DEPTH))
    assert (found.added, found.removed, found.in_place) == (("Polite",), ("Right",), False)


def test_options_that_were_split_need_a_mapping_and_get_a_guess() -> None:
    fair = Option(label="Fair", value=0.7)
    found = edits_between(
        RUBRIC, rubric(RIGHT, changed(DEPTH, options=[*LEVELS[:2], fair, LEVELS[2]]))
    )
    # Low, Mid, High, Cannot assess stand at 0, 1, 3, 4 now.
    assert found.moves.options == {"Depth": (0, 1, 3, 4)}
    assert (len(found.of("options")), found.in_place) == (1, False)


def test_a_label_that_is_called_otherwise_keeps_its_place() -> None:
    options = [LEVELS[0].model_copy(update={"label": "Shallow"}), *LEVELS[1:]]
    found = edits_between(RUBRIC, rubric(RIGHT, changed(DEPTH, options=options)))
    assert found.moves.options == {"Depth": (0, 1, 2, 3)}
    assert (len(found.of("options")), found.in_place, found.stale) == (1, True, ("Depth",))


def test_forcing_a_choice_takes_an_option_away() -> None:
    found = edits_between(RUBRIC, rubric(RIGHT, changed(DEPTH, forced_choice=True)))
    assert found.moves.options == {"Depth": (0, 1, 2, None)}


@pytest.mark.parametrize(
    "moves",
    [
        VersionMapping(renamed={"Right": "Nowhere"}),
        VersionMapping(renamed={"Right": "Depth"}),
        VersionMapping(options={"Depth": (0, 1)}),
        VersionMapping(options={"Depth": (0, 1, 9, 3)}),
    ],
)
def test_a_mapping_to_what_is_not_there_is_refused(moves: VersionMapping) -> None:
    with pytest.raises(InputError):
        edits_between(RUBRIC, RUBRIC, moves)


def test_spaces_are_no_other_question_and_weights_are_none() -> None:
    spaced = changed(RIGHT, requirement=" It is  right. ", weight=9)
    assert question_hash(RUBRIC, RIGHT) == question_hash(rubric(spaced), spaced)


def test_a_change_that_votes_do_not_feel_is_still_reported() -> None:
    # Spaces in an anchor; and a forced choice where the author's own abstention is there anyway.
    low, blank = LEVELS[0].model_copy(update={"description": "A word."}), Option(label="-", na=True)
    spaced = low.model_copy(update={"description": "A  word."})
    before = changed(DEPTH, options=[low, *LEVELS[1:], blank])
    after = changed(before, options=[spaced, *LEVELS[1:], blank], forced_choice=True)
    found = edits_between(rubric(before), rubric(after))
    assert kinds(found) == {
        ("words", "Depth", "anchor of 'Low'"),
        ("words", "Depth", "forced choice"),
    }
    assert (found.stale, found.in_place) == ((), True)


def test_nothing_lies_between_a_rubric_and_itself() -> None:
    found = edits_between(RUBRIC, RUBRIC)
    assert (found.edits, found.stale, found.in_place) == ((), (), True)
