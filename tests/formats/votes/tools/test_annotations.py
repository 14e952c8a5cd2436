"""Graded trees of PaperBench, tables of Label Studio, decisions of Prodigy."""

from __future__ import annotations

import json

import pytest

from tests.formats import foreign_shapes
from tests.formats.votes.tools.test_other_tools import read, votes


def test_a_graded_tree_is_votes_with_reasons_and_brings_its_rubric() -> None:
    found = read(json.dumps(foreign_shapes.GRADED), "graded.json", "paperbench")
    # 3/4 * 2/3 = 1/2, 3/4 * 1/3 = 1/4, 1/4; together 100 points.
    assert [(c.name, c.weight) for c in found.rubric.criteria] == [
        ("It trains", 50),
        ("It loads", 25),
        ("The result holds", 25),
    ]
    assert votes(found) == [
        ("graded", "It trains", "judge", "llm", "MET"),
        ("graded", "It loads", "judge", "llm", "UNMET"),
        ("graded", "The result holds", "judge", "llm", None),
    ]
    assert [v.reason for v in found.votes.rows] == ["train.py trains.", "No log.", "Broken off."]
    assert [v.failed for v in found.votes.rows] == [False, False, True]


def test_a_judges_output_holds_the_tree() -> None:
    whole = {"score": 0.5, "num_leaf_nodes": 3, "graded_task_tree": foreign_shapes.GRADED}
    found = read(json.dumps(whole), "grader_output.json", "paperbench")
    assert len(found.votes.rows) == 3


def test_a_table_of_label_studio_is_the_answers_of_people_without_addresses() -> None:
    found = read(foreign_shapes.LABEL_STUDIO_TABLE, "project.csv", "label_studio")
    mood = [row for row in votes(found) if row[1] == "mood"]
    assert mood == [
        ("1", "mood", "annotator 1", "human", "Negative"),
        ("2", "mood", "annotator 1", "human", "Positive"),
        ("1", "mood", "annotator 2", "human", "Neutral"),
    ]
    # Several topics at once: a question each, answered by each of three annotations.
    assert sorted({c.name for c in found.rubric.criteria}) == [
        "mood", "topics: food", "topics: service",
    ]  # fmt: skip
    assert len(votes(found)) == 9
    assert "example.org" not in repr(found)
    assert [(i.id, i.text) for i in found.dataset.items] == [
        ("1", "The soup was cold."),
        ("2", "A fine evening."),
    ]
    assert any("1 marks of 'words'" in str(notice) for notice in found.notices)


#: Columns in the order of the alphabet: answers also stand before the id, and the text after it.
SORTED = (
    "annotation_id,annotator,aspects,comment,created_at,genre,id,lead_time,mood,text,updated_at\n"
    '1,kim@x.example,"{""choices"": [""sound"", ""place""]}",Too few words for me.,d,app,7,1,glad,'
    "A tram rings twice.,d\n"
    "2,lee@x.example,sound,I would say more here.,d,app,7,1,sad,A tram rings twice.,d\n"
    "3,kim@x.example,place,,d,web,8,1,sad,A long bell at night.,d\n"
)


def test_answers_before_the_id_of_a_table_of_label_studio_are_read_too() -> None:
    found = read(SORTED, "project.csv", "label_studio")
    assert [row[:3] + row[4:] for row in votes(found) if row[0] == "7"] == [
        ("7", "aspects: sound", "annotator 1", "MET"),
        ("7", "aspects: place", "annotator 1", "MET"),
        ("7", "mood", "annotator 1", "glad"),
        ("7", "aspects: sound", "annotator 2", "MET"),
        ("7", "aspects: place", "annotator 2", "UNMET"),
        ("7", "mood", "annotator 2", "sad"),
    ]
    assert {vote.reason for vote in found.votes.rows} == {
        "Too few words for me.", "I would say more here.", "",
    }  # fmt: skip
    assert (found.dataset.items[0].text, found.dataset.items[0].meta) == (
        "A tram rings twice.", {"genre": "app"},
    )  # fmt: skip
    roles = {role.column: role.role for role in found.roles if role.role != "ignored"}
    assert roles == {
        "annotator": "rater", "aspects": "label", "comment": "reason", "genre": "note",
        "id": "item", "mood": "label", "text": "text",
    }  # fmt: skip
    assert any("known by number alone" in str(notice) for notice in found.notices)


def test_a_text_of_a_label_studio_annotation_is_the_reason_of_its_answers() -> None:
    def mark(name: str, kind: str, value: object) -> dict[str, object]:
        return {"from_name": name, "type": kind, "value": {kind: value}}

    why = {"from_name": "why", "type": "textarea", "value": {"text": ["Too dry.", "Too long."]}}
    person = {"id": 4, "email": "kim@x.example"}
    results = ([mark("stars", "rating", 2), why], [mark("stars", "rating", 5)], [why])
    tasks = [
        {"id": n, "data": {"text": f"Bread number {n} is a day old."},
         "annotations": [{"completed_by": person, "result": result}]}
        for n, result in enumerate(results)
    ]  # fmt: skip
    found = read(json.dumps(tasks), "project.json", "label_studio")
    assert [vote.reason for vote in found.votes.rows] == ["Too dry.\n\nToo long.", ""]
    notes = " ".join(map(str, found.notices))
    assert "Left out: 1 texts of annotations without any other answer." in notes
    assert "known by number alone" in notes


@pytest.mark.parametrize(
    ("given", "levels"),
    [
        # Stars begin at 1 and end alike; of other numbers nothing is known.
        ((("rating", 3, 5), ("rating", 2, 4)), ("12345", "12345")),
        ((("rating", 3, 4), ("number", 2, 3)), ("1234", "23")),
        ((("rating", 5, 5), ("number", 0, 3)), ("12345", "0123")),
        ((("rating", 0, 3), ("rating", 2, 3)), ("0123", "23")),
    ],
)
def test_stars_of_label_studio_begin_at_1_and_end_alike(
    given: tuple[tuple[str, int, int], ...], levels: tuple[str, ...]
) -> None:
    tasks = [
        {
            "id": row,
            "data": {"text": f"The bread of day {row} is still soft."},
            "annotations": [
                {
                    "completed_by": 7,
                    "result": [
                        {"from_name": f"q{at}", "type": form, "value": {form: of[row % 2]}}
                        for at, (form, *of) in enumerate(given)
                    ],
                }
            ],
        }
        for row in range(4)
    ]
    found = read(json.dumps(tasks), "project.json", "label_studio")
    options = ["".join(o.label for o in c.options) for c in found.rubric.criteria]
    assert options == [*levels]
    assert ("Stars begin at 1" in str(found.notices)) == (levels != ("0123", "23"))


def test_decisions_of_prodigy_are_yes_and_no_and_ignored_ones_are_counted() -> None:
    found = read(foreign_shapes.lines(foreign_shapes.PRODIGY), "set.jsonl", "prodigy")
    assert votes(found) == [
        ("11", "COMPLAINT", "annotator 1", "human", "MET"),
        ("11", "COMPLAINT", "annotator 2", "human", "UNMET"),
        ("12", "COMPLAINT", "annotator 1", "human", "UNMET"),
    ]
    assert found.dataset.items[0].text == "The parcel came late."
    assert any("1 ignored" in str(notice) for notice in found.notices)


def test_annotators_of_prodigy_are_called_by_their_ids_and_shown_as_raters() -> None:
    rows = [foreign_shapes.decision(n, f"Parcel {n}", "accept") for n in (1, 2)]
    named = [row | {"_annotator_id": f"mail-{n}"} for n, row in enumerate(rows)]
    found = read(foreign_shapes.lines(named), "set.jsonl", "prodigy")
    assert [row[2] for row in votes(found)] == ["mail-0", "mail-1"]
    assert {role.column: role.role for role in found.roles}["_annotator_id"] == "rater"
    found = read(foreign_shapes.lines(rows), "set.jsonl", "prodigy")
    assert any("Sessions are numbered" in str(notice) for notice in found.notices)


def test_choices_of_prodigy_are_the_words_of_their_options() -> None:
    found = read(foreign_shapes.lines(foreign_shapes.CHOICES), "mood.jsonl", "prodigy")
    assert [row[-1] for row in votes(found)] == ["negative", "positive"]


def test_feedback_of_open_webui_is_about_the_message_that_was_rated() -> None:
    found = read(json.dumps(foreign_shapes.OPEN_WEBUI), "feedback.json", "open_webui")
    assert votes(found) == [
        ("f1", "rating", "u1", "human", "thumb up"),
        ("f1", "details.rating", "u1", "human", "9"),
        ("f1", "reason", "u1", "human", "accurate_information"),
        ("f2", "rating", "u0", "human", "thumb down"),
        ("f2", "details.rating", "u0", "human", "2"),
        ("f2", "reason", "u0", "human", "too_verbose"),
        ("f3", "rating", "u1", "human", "thumb up"),
    ]
    item = found.dataset.items[0]
    assert (item.prompt, item.text, item.system) == ("Name a river, 1.", "Brook 1.", "pine:1b")
    assert [len(c.options) for c in found.rubric.criteria] == [2, 10, 2]


def test_a_single_reason_of_open_webui_is_no_question() -> None:
    found = read(json.dumps(foreign_shapes.OPEN_WEBUI[::2]), "feedback.json", "open_webui")
    assert [c.name for c in found.rubric.criteria] == ["rating", "details.rating"]
