"""Graded trees of PaperBench, tables of Label Studio, decisions of Prodigy."""

from __future__ import annotations

import json

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


def test_decisions_of_prodigy_are_yes_and_no_and_ignored_ones_are_counted() -> None:
    found = read(foreign_shapes.lines(foreign_shapes.PRODIGY), "set.jsonl", "prodigy")
    assert votes(found) == [
        ("11", "COMPLAINT", "annotator 1", "human", "MET"),
        ("11", "COMPLAINT", "annotator 2", "human", "UNMET"),
        ("12", "COMPLAINT", "annotator 1", "human", "UNMET"),
    ]
    assert found.dataset.items[0].text == "The parcel came late."
    assert any("1 ignored" in str(notice) for notice in found.notices)


def test_choices_of_prodigy_are_the_words_of_their_options() -> None:
    found = read(foreign_shapes.lines(foreign_shapes.CHOICES), "mood.jsonl", "prodigy")
    assert [row[-1] for row in votes(found)] == ["negative", "positive"]
