"""Weights from a gradebook: labels and totals in a table, without any text."""

from __future__ import annotations

import pytest

from core.domain.rubric import Criterion, Rubric
from core.errors import InputError
from core.services.rubrics.weights_from_grades import infer_weights, read_grades, totals_by_field

RUBRIC = Rubric(
    criteria=(Criterion(name="A", requirement="A?"), Criterion(name="B", requirement="B?"))
)
#: A is worth 6 and B 3 in every row.
TABLE = """\
id,A,B,total
ann,MET,MET,9
bob,MET,UNMET,6
cem,UNMET,MET,3
dia,UNMET,UNMET,0
"""


def test_a_gradebook_without_texts_gives_the_weights_its_grader_had_in_mind() -> None:
    items = read_grades(TABLE.encode(), "grades.csv", RUBRIC)
    assert [item.id for item in items] == ["ann", "bob", "cem", "dia"]
    assert list(totals_by_field(items)) == ["total"]
    found = infer_weights(RUBRIC, items, "total")
    assert {w.criterion: round(w.fitted, 9) for w in found.weights} == {"A": 6.0, "B": 3.0}
    assert found.r2 == pytest.approx(1.0)


def test_texts_beside_the_grades_do_no_harm() -> None:
    table = "answer,A,B,total\nIt sinks.,MET,UNMET,6\n"
    (item,) = read_grades(table.encode(), "grades.csv", RUBRIC)
    assert item.text == "It sinks."
    assert item.meta["total"] == "6"


def test_a_table_of_something_else_is_refused_with_the_names_that_are_wanted() -> None:
    with pytest.raises(InputError, match="The criteria are 'A', 'B'") as refused:
        read_grades(b"id,points\nann,3\n", "grades.csv", RUBRIC)
    assert refused.value.message == "No column is named like a criterion."


def test_a_label_that_is_no_option_is_named_with_its_line() -> None:
    with pytest.raises(InputError, match="line 3") as refused:
        read_grades(TABLE.replace("bob,MET", "bob,maybe").encode(), "grades.csv", RUBRIC)
    assert "maybe" in str(refused.value)
