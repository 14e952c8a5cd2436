"""Replies of a writing model: what is good of them is kept, what is not is said."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.base import build_model
from core.domain.dataset import Item
from core.domain.rubric import Rubric
from core.judging.prompts.assembly import Prompt
from core.judging.prompts.reply_parsing import Unreadable
from core.judging.writing.prompts import (
    draft_writing,
    edit_writing,
    generate_writing,
    tasks_writing,
)
from core.judging.writing.replies import (
    ProposedChange,
    read_changes,
    read_edit,
    read_rubric,
    read_submission,
    read_tasks,
)
from core.judging.writing.writer import PartialReply
from core.services.rubrics.drafts import draft_from_data
from tests.services.assist.made import RUBRIC, change

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
    assert isinstance(found, PartialReply)
    assert found.dropped == ()
    rubric = build_model(Rubric, found.value, "rubric")
    assert [c.name for c in rubric.criteria] == ["Limit", "Tone"]
    assert rubric.criteria[0].options[0].description == "A number of days."
    assert rubric.criteria[1].weight == -2


def test_a_draft_without_a_criterion_is_refused() -> None:
    for nothing in ([], ["Be good."], {}):
        found = read_rubric(json.dumps({**DRAFT, "criteria": nothing}))
        assert isinstance(found, Unreadable)
        assert "not a list of criteria" in found.message


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        ({"criteria": [{"name": "a"}]}, "requirement"),
        ({"criteria": [{**DRAFT["criteria"][0], "scale": "likert"}]}, "likert"),
        ({"criteria": [{**DRAFT["criteria"][1], "options": []}]}, "fewer than two options"),
        ({"criteria": DRAFT["criteria"][:1] * 2}, "repeats the name"),
        ({"criteria": [{**DRAFT["criteria"][0], "weight": "heavy"}]}, "heavy"),
        ({"criteria": [DRAFT["criteria"][0], "Be good."]}, "Criterion 2 is no object"),
    ],
)
def test_a_draft_that_is_no_rubric_is_kept_with_what_is_wrong(
    broken: dict[str, Any], words: str
) -> None:
    found = read_rubric(json.dumps({**DRAFT, **broken}))
    assert isinstance(found, PartialReply)
    assert words in " ".join(found.dropped)
    # The editor can hold it: every criterion with every word that a field has room for.
    draft = draft_from_data(found.value)
    kept = [(c["name"], c["requirement"]) for c in draft["criteria"]]
    assert kept == [(c["name"], c.get("requirement", "")) for c in found.value["criteria"]]


def test_a_draft_that_was_cut_off_or_has_its_key_twice_is_refused() -> None:
    assert isinstance(read_rubric(json.dumps(DRAFT)[:-5]), Unreadable)
    assert isinstance(read_rubric('{"criteria": [], "criteria": []}'), Unreadable)
    assert isinstance(read_rubric("  "), Unreadable)


def _changes(*changes: object) -> PartialReply[tuple[ProposedChange, ...]] | Unreadable:
    return read_changes(json.dumps({"changes": changes}), RUBRIC, ["Limit", "Depth"])


def test_changes_name_a_criterion_a_part_and_the_whole_new_text() -> None:
    found = _changes(change("States 30 days."), change("Two reasons.", "option", 2, "c2"))
    assert found == PartialReply(
        (
            ProposedChange(
                "Limit", "requirement", None, "States 30 days.", "The words leave room."
            ),
            ProposedChange("Depth", "option", 1, "Two reasons.", "The words leave room."),
        ),
        (),
    )


def test_no_change_at_all_is_an_answer() -> None:
    assert _changes() == PartialReply((), ())


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
def test_a_change_that_cannot_be_made_is_left_out_and_said_and_the_others_stay(
    broken: object, words: str
) -> None:
    found = _changes(change("fine"), broken)
    assert isinstance(found, PartialReply)
    assert [one.to for one in found.value] == ["fine"]
    (said,) = found.dropped
    assert said.startswith("Change 2 ")
    assert words in said
    # Alone it leaves nothing to be kept.
    assert isinstance(_changes(broken), Unreadable)


def test_of_two_changes_of_the_same_text_the_first_is_kept() -> None:
    found = _changes(change("one"), change("two"))
    assert isinstance(found, PartialReply)
    assert [one.to for one in found.value] == ["one"]
    assert "same text" in found.dropped[0]


def test_a_criterion_that_was_not_asked_about_stays_out_of_reach() -> None:
    found = read_changes(json.dumps({"changes": [change("x", criterion="c2")]}), RUBRIC, ["Limit"])
    assert isinstance(found, Unreadable)


def test_a_submission_is_a_text_and_nothing_else() -> None:
    assert read_submission('{"submission": " Rain. "}') == "Rain."
    for broken in ('{"submission": 3}', '{"submission": ""}', "Rain.", "", '{"text": "Rain."}'):
        assert isinstance(read_submission(broken), Unreadable)


def test_tasks_are_different_from_each_other_and_as_many_as_asked_for() -> None:
    assert read_tasks('{"tasks": ["a", "A ", "b", "c"]}', 2) == PartialReply(("a", "b"), ())
    few = read_tasks('{"tasks": ["a", " A"]}', 2)
    assert isinstance(few, PartialReply)
    assert (few.value, len(few.dropped)) == (("a",), 1)
    assert isinstance(read_tasks('{"tasks": [3]}', 2), Unreadable)


def test_an_edit_that_changes_nothing_is_no_edit() -> None:
    assert read_edit('{"what": "w", "submission": "Snow."}', "Rain.") == ("Snow.", "w")
    found = read_edit('{"what": "w", "submission": " rain. "}', "Rain.")
    assert isinstance(found, Unreadable)
    assert "unchanged" in found.message


def schema_of(writing: Prompt) -> Any:
    return schema_strategy(json.loads(json.dumps(writing.schema)))


def schema_strategy(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """What a JSON schema of ours allows; a keyword that is not known here fails the test."""
    known = {"type", "enum", "anyOf", "properties", "required", "additionalProperties", "items"}
    bounds = {"minLength", "minItems", "maxItems", "minimum", "maximum"}
    assert set(schema) <= known | bounds
    if "anyOf" in schema:
        return st.one_of(*map(schema_strategy, schema["anyOf"]))
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if schema["type"] == "object":
        return st.fixed_dictionaries(
            {k: schema_strategy(v) for k, v in schema["properties"].items()}
        )
    if schema["type"] == "array":
        most = schema.get("maxItems", 4)
        return st.lists(
            schema_strategy(schema["items"]), min_size=schema.get("minItems", 0), max_size=most
        )
    if schema["type"] == "string":
        # A model fills a text with letters; a text of spaces is the reader's to refuse.
        return st.text("abcdefgh ", min_size=schema.get("minLength", 0)).map(
            lambda text: text if text.strip() or not schema.get("minLength") else "x"
        )
    if schema["type"] == "integer":
        return st.integers(schema["minimum"], schema["maximum"])
    return st.floats(
        schema.get("minimum"), schema.get("maximum"), allow_nan=False, allow_infinity=False
    )


@given(st.data())
def test_what_the_schema_of_a_draft_allows_can_be_used(data: st.DataObject) -> None:
    reply = data.draw(schema_of(draft_writing("Refunds.", "", [], 1)))
    found = read_rubric(json.dumps(reply))
    assert isinstance(found, PartialReply)
    assert len(found.value["criteria"]) == len(reply["criteria"])
    assert len(draft_from_data(found.value)["criteria"]) == len(reply["criteria"])


@given(st.data())
def test_what_the_schema_of_tasks_allows_can_be_used(data: st.DataObject) -> None:
    reply = data.draw(schema_of(tasks_writing(RUBRIC.criteria[0], 3, 1)))
    assert isinstance(read_tasks(json.dumps(reply), 3), PartialReply)


@given(st.data())
def test_what_the_schemas_of_submissions_allow_can_be_used(data: st.DataObject) -> None:
    one = generate_writing(RUBRIC.criteria[0], (0,), "", "short", (), (1, 1), 1)
    assert isinstance(read_submission(json.dumps(data.draw(schema_of(one)))), str)
    edit = edit_writing(Item(id="i", submission="Rain."), RUBRIC, "Limit", 0, 1)
    assert not isinstance(read_edit(json.dumps(data.draw(schema_of(edit))), "Rain."), Unreadable)


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
