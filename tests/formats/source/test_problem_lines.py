"""A refusal says what is wrong once, however many lines have it."""

from __future__ import annotations

import json

import pytest

from core.errors import InputError
from core.formats.rubrics.rubric_file import parse_rubric
from core.formats.tables.table import read_table


def test_an_equal_problem_is_said_once_with_the_first_places() -> None:
    criteria = [{"name": f"C{n}", "requirement": "Is it so?", "weight": "much"} for n in range(9)]
    with pytest.raises(InputError) as refused:
        parse_rubric(json.dumps({"name": "R", "criteria": criteria}), "r.json")
    head, *lines = str(refused.value).splitlines()
    assert "9 problems" in head
    assert len(lines) == 1
    assert lines[0].count("weight") >= 4
    assert "(and 8 more: " in lines[0]
    # All are in the data.
    assert len(refused.value.to_dict()["problems"]) == 9


def test_problems_that_differ_in_a_word_are_counted_after_six() -> None:
    rows = "".join(f"{','.join('x' * (n + 4))}\n" for n in range(20))
    with pytest.raises(InputError) as refused:
        read_table(f"id,essay,mark\n{rows}", "marks.csv")
    head, *lines = str(refused.value).splitlines()
    assert "20 problems" in head
    assert [line.split(": ")[0] for line in lines[:6]] == [f"  - line {n}" for n in range(2, 8)]
    assert lines[6:] == ["  - and 14 more of this kind."]
