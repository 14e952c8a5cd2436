"""Test cases of EvalAssist: rows, contexts, expected results; what is no item is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.errors import InputError
from core.formats.datasets.dataset_file import parse_dataset
from core.formats.known import kind_of
from core.formats.rubrics.forms import read_rubrics
from core.formats.votes.sources import open_bytes
from core.services.imports.import_files import import_path
from tests.new_store import new_store

#: Written for this test, with the keys of contentFormatVersion 2.
CASE: dict[str, Any] = {
    "instances": [
        {
            "id": "r1",
            "contextVariables": [{"name": "question", "value": "Why rain?"}],
            "expectedResult": "Yes",
            "response": "Because clouds cool.",
            "result": {"selectedOption": "No", "explanation": "Too short."},
            "metadata": {"synthetic_generation": {"persona": "pupil"}},
        },
        {
            "id": "r2",
            "contextVariables": [{"name": "question", "value": "Why snow?"}],
            "expectedResult": "",
            "response": "It is cold.",
            "result": None,
        },
    ],
    "examples": [
        {
            "id": "e1",
            "contextVariables": [{"name": "question", "value": "Why hail?"}],
            "expectedResult": "No",
            "response": "No idea.",
            "result": None,
        }
    ],
    "criteria": {
        "name": "Explains",
        "description": "Does it explain?",
        "predictionField": "answer",
        "contextFields": ["question"],
        "options": [{"name": "Yes", "description": "It does."}, {"name": "No", "description": ""}],
    },
    "type": "direct",
    "evaluator": {"name": "some-model", "type": "direct", "provider": "ollama"},
    "judge": {"name": "eval_assist", "params": {"api_key": "sk-1"}},
    "syntheticGenerationConfig": {"task": None},
    "contentFormatVersion": 2,
}
WRAPPED = {"name": "My case", "content": json.dumps(CASE), "user_id": -1, "id": -1}


def packed(value: Any) -> bytes:
    return json.dumps(value).encode()


@pytest.mark.parametrize("case", [WRAPPED, {"name": "My case", **CASE}])
def test_rows_become_items_with_contexts_and_expected_results_as_labels(case: Any) -> None:
    read = parse_dataset(packed(case), "case.json").value

    assert read.name == "My case"
    assert [
        (i.id, i.submission, i.context, {n: one.label for n, one in i.labels.items()}, i.split)
        for i in read.items
    ] == [
        ("r1", "Because clouds cool.", {"question": "Why rain?"}, {"Explains": "Yes"}, None),
        ("r2", "It is cold.", {"question": "Why snow?"}, {}, None),
        ("e1", "No idea.", {"question": "Why hail?"}, {"Explains": "No"}, "calibration"),
    ]
    assert read.rubric is not None
    assert [c.name for c in read.rubric.criteria] == ["Explains"]


def test_what_is_no_item_and_no_label_is_kept_or_said() -> None:
    found = parse_dataset(packed(WRAPPED), "case.json")

    said = " ".join(map(str, found.notices))
    assert "The votes of its judge on 1 row are kept under meta, not as votes." in said
    assert "1 row shown to its judge as an example is for calibration here" in said
    assert "judge 'eval_assist', evaluator 'some-model'" in said
    assert "How rows were to be made up is left out." in said
    # As the rubric's own reader says it: the app's criteria have no scores.
    assert "scores nothing" in said
    first = found.value.items[0].meta
    assert first["result"] == {"selectedOption": "No", "explanation": "Too short."}
    assert first["metadata"] == {"synthetic_generation": {"persona": "pupil"}}
    # Settings may hold a key; names are all that is kept.
    assert "sk-1" not in found.value.model_dump_json()
    assert found.value.meta == {"judge": "eval_assist", "evaluator": "some-model"}


def test_a_result_that_is_no_option_is_refused_as_any_label_is() -> None:
    odd = {**CASE, "instances": [{**CASE["instances"][0], "expectedResult": "Perhaps"}]}

    with pytest.raises(InputError, match="Perhaps"):
        parse_dataset(packed(odd), "case.json")


@pytest.mark.parametrize("case", [WRAPPED, CASE])
def test_who_imports_the_criterion_is_told_of_the_rows(case: Any) -> None:
    (found,) = read_rubrics(packed(case), "case.json")

    assert [c.name for c in found.value.criteria] == ["Explains"]
    said = " ".join(map(str, found.notices))
    assert "Left out: 3 rows (2 with an expected result) are not part of a rubric." in said
    assert "Import the file as a dataset" in said


def test_import_takes_the_rows_and_only_a_criterion_alone_for_a_rubric(
    tmp_path: Path,
) -> None:
    assert kind_of(open_bytes(packed(WRAPPED), "case.json")) == "dataset"
    assert kind_of(open_bytes(packed(CASE), "case.json")) == "dataset"
    assert kind_of(open_bytes(packed({**CASE, "instances": []}), "case.json")) == "dataset"
    bare = {**CASE, "instances": [], "examples": []}
    assert kind_of(open_bytes(packed(bare), "case.json")) == "rubric"

    file = tmp_path / "case.json"
    file.write_bytes(packed(WRAPPED))
    store = new_store(tmp_path / "studio.db")
    report = import_path(store, file)
    store.close()
    assert (report["kind"], report["items"]) == ("dataset", 3)
    assert any("kept under meta" in notice["message"] for notice in report["notices"])


def test_answers_that_are_compared_are_refused_with_the_way_to_go() -> None:
    pair = {**CASE, "type": "pairwise", "criteria": {"name": "Funny", "description": "Which?"}}
    pair["instances"] = [{"id": "p", "contextVariables": [], "responses": ["a", "b"]}]

    with pytest.raises(InputError, match="compares 2 answers a row"):
        parse_dataset(packed(pair), "case.json")
    with pytest.raises(InputError, match="Compare systems"):
        read_rubrics(packed(pair), "case.json")


def test_a_row_that_is_no_row_is_refused_and_not_passed_over() -> None:
    for broken in ({**CASE, "instances": [3]}, {**CASE, "examples": "none"}):
        with pytest.raises(InputError, match="is not a list of rows"):
            parse_dataset(packed(broken), "case.json")
