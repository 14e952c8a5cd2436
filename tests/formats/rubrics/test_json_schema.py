"""The published schema: made from the model, and true to what the reader takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from jsonschema import Draft202012Validator

from core.domain.rubric import Rubric
from core.formats.rubrics.rubric_file import dump_rubric, parse_rubric, rubric_schema, schema_text
from tests.places import ROOT
from tests.strategies import rubrics

CHECKER = Draft202012Validator(rubric_schema())


def faults(value: Any) -> list[str]:
    return [error.message for error in CHECKER.iter_errors(value)]


def test_the_published_schema_is_that_of_the_model() -> None:
    # `rubric-studio schema --out docs/rubric.schema.json --force` writes it anew.
    assert (ROOT / "docs/rubric.schema.json").read_text(encoding="utf-8") == schema_text()
    Draft202012Validator.check_schema(rubric_schema())


@given(rubrics())
def test_every_rubric_that_is_written_fits_it(rubric: Rubric) -> None:
    assert faults(json.loads(dump_rubric(rubric, "json"))) == []


def test_every_sample_and_library_file_fits_it() -> None:
    files = sorted((ROOT / "sample_rubrics").rglob("*.yaml"))
    read = {f.name: parse_rubric(f.read_bytes(), f.name).value for f in files if _is_rubric(f)}

    assert len(read) >= 7
    for name, rubric in read.items():
        assert faults(json.loads(dump_rubric(rubric, "json"))) == [], name


def _is_rubric(file: Path) -> bool:
    value = yaml.safe_load(file.read_text(encoding="utf-8"))
    return isinstance(value, dict) and "criteria" in value and "data" not in file.parts


@pytest.mark.parametrize(
    "text",
    [
        "- Cites a source.\n- {requirement: Is polite., weight: 3}\n",
        "criteria: [{name: Form, criteria: [{requirement: Is short.}]}]",
        "name: x\ncriteria: [{requirement: r, scale: ordinal, options: "
        "[{label: 1, value: 0}, {label: 2, value: 1}]}]",
    ],
)
def test_what_a_person_writes_by_hand_fits_it_as_it_is_read(text: str) -> None:
    assert parse_rubric(text, "x.yaml").value
    assert faults(yaml.safe_load(text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "criteria: [{name: a, requirement: b, weigth: 3}]",
        "criteria: [{name: a, requirement: b, scale: ordnal}]",
        "criteria: [{name: a, requirement: b, options: [{label: x, value: 2}]}]",
        "criteria: []",
        "name: x",
    ],
)
def test_what_an_editor_can_know_to_be_wrong_does_not_fit(text: str) -> None:
    assert faults(yaml.safe_load(text))


def test_every_key_says_what_it_is_for() -> None:
    parts = rubric_schema()["$defs"]
    for name in ("Rubric", "Criterion", "Option"):
        for key, about in parts[name]["properties"].items():
            assert about.get("description"), f"{name}.{key}"
