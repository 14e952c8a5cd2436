"""Replies of a writing model: read whole or not at all."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.rubric import Rubric
from core.judging.authoring_replies import (
    Change,
    Edited,
    read_changes,
    read_edit,
    read_rubric,
    read_submission,
    read_tasks,
)
from core.judging.parsing import Unreadable
from tests.authoring.made import RUBRIC, change

DRAFT: dict[str, Any] = {
    "name": "Refunds",
    "guidelines": "",
    "criteria": [
        {
            "name": "Limit",
            "requirement": "States the limit.",
            "weight": 5,
            "scale": "binary",
            "options": [
                {"label": "met", "description": "A number of days.", "value": 1},
                {"label": "unmet", "description": "No number.", "value": 0},
            ],
        },
        {
            "name": "Tone",
            "requirement": "How warm is it?",
            "weight": -2,
            "scale": "ordinal",
            "options": [
                {"label": "Warm", "description": "A greeting.", "value": 0},
                {"label": "Cold", "description": "None.", "value": 1},
            ],
        },
    ],
}


def test_a_draft_is_read_as_a_valid_rubric_also_inside_a_code_fence() -> None:
    found = read_rubric(f"Here it is:\n```json\n{json.dumps(DRAFT)}\n```")
    assert isinstance(found, Rubric)
    assert [c.name for c in found.criteria] == ["Limit", "Tone"]
    assert found.criteria[0].options[0].description == "A number of days."
    assert found.criteria[1].weight == -2


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        ({"criteria": []}, "not a list of criteria"),
        ({"criteria": [{"name": "a"}]}, "requirement"),
        ({"criteria": [{**DRAFT["criteria"][0], "scale": "likert"}]}, "likert"),
        ({"criteria": [{**DRAFT["criteria"][1], "options": []}]}, "fewer than two options"),
        ({"criteria": DRAFT["criteria"][:1] * 2}, "repeats the name"),
        ({"criteria": [{**DRAFT["criteria"][0], "weight": "heavy"}]}, "heavy"),
        ({"criteria": ["Be good."]}, "Be good."),
    ],
)
def test_a_draft_that_is_no_rubric_is_refused_with_what_is_wrong(
    broken: dict[str, Any], words: str
) -> None:
    found = read_rubric(json.dumps({**DRAFT, **broken}))
    assert isinstance(found, Unreadable)
    assert found.kind == "malformed"
    assert words in found.message


def test_a_draft_that_was_cut_off_or_has_its_key_twice_is_refused() -> None:
    assert isinstance(read_rubric(json.dumps(DRAFT)[:-5]), Unreadable)
    assert isinstance(read_rubric('{"criteria": [], "criteria": []}'), Unreadable)
    assert isinstance(read_rubric("  "), Unreadable)


def _changes(*changes: object) -> tuple[Change, ...] | Unreadable:
    return read_changes(json.dumps({"changes": changes}), RUBRIC, ["Limit", "Depth"])


def test_changes_name_a_criterion_a_part_and_the_whole_new_text() -> None:
    found = _changes(change("States 30 days."), change("Two reasons.", "option", 2, "c2"))
    assert found == (
        Change("Limit", "requirement", None, "States 30 days.", "The words leave room."),
        Change("Depth", "option", 1, "Two reasons.", "The words leave room."),
    )


def test_no_change_at_all_is_an_answer() -> None:
    assert _changes() == ()


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (change("x", criterion="c9"), "no criterion that was to be changed"),
        (change("", "requirement"), "a text under"),
        (change("x", "scale"), "a known"),
        (change("x", "option", 0, "c2"), "not from 1 to 4"),
        (change("x", "option", 5, "c2"), "not from 1 to 4"),
        (change("YES", "label", 1), "binary"),
        (change("much", "weight"), "no number"),
        (change("nan", "weight"), "no number"),
        ("rewrite it all", "no object"),
        # What the peer's reviser sends back: a criterion without its options. Not a change here.
        ({"name": "Depth", "requirement": "Is it deep?", "weight": 7}, "a known"),
    ],
)
def test_one_change_that_cannot_be_made_makes_the_reply_unreadable(
    broken: object, words: str
) -> None:
    found = _changes(change("fine"), broken)
    assert isinstance(found, Unreadable)
    assert "Change 2" in found.message
    assert words in found.message


def test_two_changes_of_the_same_text_contradict_each_other() -> None:
    found = _changes(change("one"), change("two"))
    assert isinstance(found, Unreadable)
    assert "same text" in found.message


def test_a_criterion_that_was_not_asked_about_stays_out_of_reach() -> None:
    found = read_changes(json.dumps({"changes": [change("x", criterion="c2")]}), RUBRIC, ["Limit"])
    assert isinstance(found, Unreadable)


def test_a_submission_is_a_text_and_nothing_else() -> None:
    assert read_submission('{"submission": " Rain. "}') == "Rain."
    for broken in ('{"submission": 3}', '{"submission": ""}', "Rain.", "", '{"text": "Rain."}'):
        assert isinstance(read_submission(broken), Unreadable)


def test_tasks_are_different_from_each_other_and_as_many_as_asked_for() -> None:
    assert read_tasks('{"tasks": ["a", "A ", "b", "c"]}', 2) == ("a", "b")
    assert isinstance(read_tasks('{"tasks": ["a", " A"]}', 2), Unreadable)


def test_an_edit_that_changes_nothing_is_no_edit() -> None:
    assert read_edit('{"what": "w", "submission": "Snow."}', "Rain.") == Edited("Snow.", "w")
    found = read_edit('{"what": "w", "submission": " rain. "}', "Rain.")
    assert isinstance(found, Unreadable)
    assert "unchanged" in found.message


@given(st.text())
def test_nothing_is_ever_guessed_from_words(text: str) -> None:
    for found in (
        read_rubric(text),
        read_submission(text),
        read_tasks(text, 1),
        read_edit(text, ""),
        read_changes(text, RUBRIC, ["Limit"]),
    ):
        assert isinstance(found, Unreadable)
