"""Datasets that are refused: every bad row with its line, nothing half-imported."""

from __future__ import annotations

import json

import pytest

from tests.formats.datasets.test_dataset_file import PEER, RUBRIC
from tests.formats.refusals import dataset_refused

OK = '{"id": "a", "submission": "x"}\n'


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ('{"id": "a", "submission": "y"}', "repeats the id 'a' of line 1."),
        ('{"id": [1], "submission": "y"}', "id: is a list. Use a word or a number."),
        ('{"id": "b"}', "submission: is missing. Give every item its text"),
        ('{"submission": true}', "submission: is a yes/no value. Use text"),
        ('{"submission": []}', "is an empty list of messages."),
        ('{"submission": ["x"]}', "submission 1: is text, not a message."),
        ('{"submission": [{"role": "", "content": "x"}]}', "role: is not a role."),
        ('{"submission": [{"role": "user"}]}', "content: is not text."),
        ('{"submission": [{"role": "user", "content": "x", "name": "n"}]}', "name: is not a key"),
        ('{"submission": {"thinking": "x"}}', "has the keys 'thinking'."),
        ('{"submission": "x", "prompt": {"a": 1}}', "prompt: is a mapping. Use text."),
        ('{"submission": "x", "labels": "MET"}', "labels: is text. Use a mapping"),
        ('{"submission": "x", "labels": {"polcy": "MET"}}', "Did you mean 'policy'?"),
        ('{"submission": "x", "labels": {"zzz": "MET"}}', "Its criteria are 'policy', 'tone'"),
        ('{"submission": "x", "labels": {"tone": "Hot"}}', "Use one of 'Cold', 'Warm', 'No reply'"),
        ('{"submission": "x", "labels": {"tone": true}}', "tone: is a yes/no value."),
        ('{"submission": "x", "labels": {"policy": {"lable": "MET"}}}', "has the keys lable."),
        ('{"submission": "x", "labels": {"policy": {"label": "MET", "reason": 3}}}', "as a reason"),
        ('{"submission": "x", "labels": {"policy": "MET", "Policy": "MET"}}', "labelled already"),
        ('{"submission": "x", "ground_truth": ["MET"]}', "has 1 labels for 3 criteria."),
        ('{"submission": "x", "ground_truth": ["MET", "Hot", "1"]}', "ground_truth 2: is 'Hot'"),
        ('{"submission": "x", "tags": [["a"]]}', "tags: is a list."),
        ('{"submission": "x", "meta": 3}', "meta: is a number. Use a mapping"),
        ('{"submission": "x", "meta": {"k": 1}, "k": 2}', "k: is given twice, once under meta."),
        ('{"submission": "x", "rubric": [{"requirement": "R", "weigth": 1}]}', "'weight'?"),
        (
            json.dumps({"submission": "x" * 2_000_001}),
            "2,000,001 characters; 2,000,000 is the limit",
        ),
        (json.dumps({"submission": "x", "id": "i" * 501}), "id"),
    ],
)
def test_a_bad_item_is_named_with_its_line_and_mend(row: str, words: str) -> None:
    [(line, text)] = dataset_refused(OK + row, "x.jsonl", RUBRIC)
    assert line == 2
    assert words in text


def test_a_list_of_labels_without_a_rubric_is_refused() -> None:
    row = '{"submission": "x", "ground_truth": ["MET"]}'
    assert "no rubric to align them to" in dataset_refused(row, "x.jsonl")[0][1]


def test_reasons_must_be_as_many_as_the_labels() -> None:
    row = '{"submission": "x", "ground_truth": ["MET"], "ground_truth_reasons": []}'
    [(_, text)] = dataset_refused(row, "x.jsonl", "[R]")
    assert "has 0 reasons for 1 criteria" in text


def test_every_bad_row_is_named_and_after_fifty_they_are_counted() -> None:
    rows = "id,answer,tone\n" + "".join(f"{n},x,Hot\n" for n in range(70))
    found = dataset_refused(rows, "x.csv", RUBRIC)
    assert [line for line, _ in found[:2]] == [2, 3]
    assert found[-1] == (None, "and 20 more.")


def test_in_a_json_document_the_line_is_the_place_s_own() -> None:
    text = json.dumps(PEER, indent=1).replace('" warm "', '"Hot"')
    line = text[: text.index('"Hot"')].count("\n") + 1
    [(found, said)] = dataset_refused(text, "peer.json")
    assert found == line
    assert "items 1, ground_truth 2: is 'Hot'" in said


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("promt", "x", "promt: is not a known key of a dataset. Did you mean 'prompt'?"),
        ("name", ["x"], "name: is a list. Use text."),
        ("meta", 3, "meta: is a number."),
        ("rubric", [{"requirement": "R", "weigth": 1}], "Did you mean 'weight'?"),
    ],
)
def test_a_bad_header_of_a_document_is_named_with_its_line(
    key: str, value: object, words: str
) -> None:
    text = json.dumps({"items": [{"submission": "x"}], key: value}, indent=1)
    found, said = dataset_refused(text, "x.json")[0]
    assert found is not None
    assert found > 4
    assert words in said


@pytest.mark.parametrize(
    ("text", "name", "words"),
    [
        ("id,text2\n1,x\n", "x.csv", "has no column that holds the submission."),
        ("id,submision\n1,x\n", "x.csv", "Did you mean 'submission'?"),
        ("1,2\n3,4\n", "x.csv", "The columns are '1', '2'."),
        ("[]", "x.json", "holds no items."),
        ('{"items": []}', "x.json", "holds no items."),
    ],
)
def test_a_file_without_submissions_is_refused_with_its_columns(
    text: str, name: str, words: str
) -> None:
    [(line, said)] = dataset_refused(text, name)
    assert line == 1
    assert words in said
