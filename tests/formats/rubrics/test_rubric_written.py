"""Rubrics out: what is written reads back equal, and reads well."""

from __future__ import annotations

from typing import Literal

import pytest
import yaml
from hypothesis import given

from core.domain.rubric import Criterion, Option, Rubric
from core.formats.rubrics.rubric_file import dump_rubric, parse_rubric
from tests.strategies import HOSTILE, rubrics

FORMATS: tuple[Literal["yaml", "json"], ...] = ("yaml", "json")


@given(rubrics())
def test_any_rubric_reads_back_equal_and_is_written_the_same_again(rubric: Rubric) -> None:
    for format in FORMATS:
        text = dump_rubric(rubric, format)
        again = parse_rubric(text.encode(), f"x.{format}").value
        assert again == rubric
        assert dump_rubric(again, format) == text


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_survives_wherever_it_stands(text: str) -> None:
    word = f"{text}." if not text.strip() else text
    rubric = Rubric(
        name=word[:200],
        guidelines=text,
        criteria=(Criterion(name=word[:200], requirement=word, section=text, tags=(text,)),),
        meta={text: [text, {text: text}]},
    )
    for format in FORMATS:
        assert parse_rubric(dump_rubric(rubric, format), f"x.{format}").value == rubric


def test_the_yaml_reads_as_a_person_would_write_it() -> None:
    text = """\
name: Refunds
guidelines: |-
  Grade the final reply.
  Ignore greetings.
scoring:
  abstention: zero
criteria:
  - name: policy
    requirement: States the 30-day limit.
    weight: 8
    scale: binary
    section: Content
  - name: tone
    requirement: How warm is the reply?
    weight: -2.5
    scale: ordinal
    options:
      - label: '1'
        value: 0
      - label: 'yes'
        value: 0.5
        description: Polite
      - label: Not a reply
        na: true
gates:
  - name: wrong
    when:
      criterion: policy
      is: UNMET
    then:
      cap: 0.4
"""
    assert dump_rubric(parse_rubric(text, "x.yaml").value) == text


def test_readers_of_yaml_1_1_get_the_same_words() -> None:
    options = (
        Option(label="no", value=0),
        Option(label="010", value=0.5),
        Option(label="1e3", value=1),
    )
    criterion = Criterion(name="on", requirement="2024-01-01", scale="ordinal", options=options)
    data = yaml.safe_load(dump_rubric(Rubric(name="~", criteria=(criterion,))))
    assert data["name"] == "~"
    assert [o["label"] for o in data["criteria"][0]["options"]] == ["no", "010", "1e3"]
    assert data["criteria"][0]["requirement"] == "2024-01-01"


def test_shared_options_are_written_out_without_aliases() -> None:
    options = (Option(label="a", value=0), Option(label="b", value=1))
    made = [Criterion(name=n, requirement="r", scale="nominal", options=options) for n in "xy"]
    text = dump_rubric(Rubric(criteria=tuple(made), meta={"a": (shared := [1]), "b": shared}))
    assert "&" not in text
    assert "*" not in text


def test_a_value_on_an_na_option_is_gone_before_it_is_written() -> None:
    assert Option(label="NA", value=0.3, na=True) == Option(label="NA", na=True)


def test_a_large_rubric_is_written_and_read_back() -> None:
    made = [Criterion(name=f"c{n}", requirement=f"Question {n}?") for n in range(500)]
    rubric = Rubric(criteria=tuple(made))
    assert parse_rubric(dump_rubric(rubric), "x.yaml").value == rubric
