"""Judgements nested in cells, and grades beside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from core.formats.tables.table import Table, read_table
from core.formats.votes.nested.nests import judgements_as_rows
from tests.formats.strangers import essay, lines

MARKS = [(n % 5 + 1, n % 4 + 1) for n in range(9)]
#: Aspects of one rater without a name, as data sets for training have them.
ASPECTS = [
    {"tone": {"Rating": str(tone), "Rationale": "So."}, "depth": {"Rating": str(depth)}}
    for tone, depth in MARKS
]


def unfolded(**beside: Callable[[int], Any]) -> Table:
    rows = [
        {"id": n, "response": essay(n), "aspects": ASPECTS[n]}
        | {name: cell(n) for name, cell in beside.items()}
        for n in range(9)
    ]
    return judgements_as_rows(read_table(lines(rows), "x.jsonl"))


def criteria(table: Table) -> set[str]:
    return {row["criterion"] for row in table.rows}


def test_a_grade_beside_nested_judgements_is_one_more_criterion() -> None:
    grades = [None, 0, 2.5, 9, 9, 10, 4, 4, 4]
    table = unfolded(overall_score=lambda n: grades[n])
    whole = [row["score"] for row in table.rows if row["criterion"] == "overall_score"]
    # Nothing was given to the first; 0 is a grade.
    assert whole == grades[1:]
    assert "overall_score" not in table.columns
    assert "'overall_score', beside them, is one more criterion." in str(table.notices)
    assert len(table.rows) == 9 * 2 + 8


@pytest.mark.parametrize(
    ("heading", "cell"),
    [
        ("overall_score", lambda n: sum(MARKS[n]) / 2),  # their mean
        ("overall_score", lambda n: 0.731 + n),  # measured
        ("human_overall_score", lambda n: n % 3),  # somebody else's
        ("total_score", lambda n: n % 3),
        ("length", lambda n: 100 + n % 2),
    ],
)
def test_what_is_no_grade_of_the_rater_stays_a_column(
    heading: str, cell: Callable[[int], Any]
) -> None:
    table = unfolded(**{heading: cell})
    assert criteria(table) == {"tone", "depth"}
    assert heading in table.columns
