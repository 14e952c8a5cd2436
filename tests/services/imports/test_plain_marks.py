"""Cells that say more than their number, `4?`, `4/5`, `Score: 4`, are read as it, and said."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.formats.columns.plain_marks import with_plain_marks
from core.formats.tables.table import Table
from core.services.imports import import_files
from core.store.store import Store

MARKS = ("3", "4", "2", "5", "3", "4", "1", "5")
ESSAYS = [f"Essay {n}" for n in range(len(MARKS))]


def imported(
    store: Store, file: Path, cells: tuple[str, ...], **given: object
) -> tuple[list[str], str, int]:
    """The options, what is said, and the number of votes of two raters, one with these cells."""
    lines = ["essay,rater Kim,rater Lee"]
    lines += [f"{e},{m},{c}" for e, m, c in zip(ESSAYS, MARKS, cells, strict=True)]
    file.write_text("\n".join(lines))
    report = import_files.import_path(store, file, **given)  # type: ignore[arg-type]
    rubric = store.rubrics.version(report["rubric_version"]).rubric
    said = " ".join(f"{n['message']} {n['mend']}" for n in report["notices"])
    return [o.label for o in rubric.criteria[0].options], said, report["votes"]


@pytest.mark.parametrize(
    ("cells", "labels", "votes", "says"),
    [
        ("3 4? 2 5 3 4(?) 2 5", "12345", 16, "read as sure: '4?' 1, '4(?)' 1."),
        ("3/5 4/5 2/5 5/5 3/5 4/5 1/5 5/5", "12345", 16, "the numbers in them: '3/5' 2"),
        ("Score:_3 4 Score:_2 5 3 4 2 5", "12345", 16, "the numbers in them: 'Score: 3' 1"),
        ("3/7 4/7 2/7 5 3 4 2 5", "01234567", 16, "the numbers in them: '3/7' 1"),
        ("parse-error 4 ERROR:_limit 5 3 4 2 5", "12345", 14, "errors of a program"),
    ],
)
def test_the_number_in_a_cell_is_read_and_said(
    store: Store, tmp_path: Path, cells: str, labels: str, votes: int, says: str
) -> None:
    given = tuple(cell.replace("_", " ") for cell in cells.split())
    assert imported(store, tmp_path / "m.csv", given)[::2] == ([*labels], votes)
    assert says in imported(store, tmp_path / "m.csv", given)[1]


@pytest.mark.parametrize(
    # Of other points, above their most, mostly in doubt, or beside other words: no numbers.
    "cells",
    [
        *("3/5 4/10 2/5 5/5 3/5 4/5 2/5 5/5", "3/4 4/4 2/4 5/4 3/4 4/4 2/4 5/4"),
        *("3? 4? 2? 5? 3? 4 2 5", "3? good fair poor 3 4 2 5"),
    ],
)
def test_cells_that_mean_something_else_stay(cells: str) -> None:
    rows = tuple({"essay": f"Essay {n}", "Lee": cell} for n, cell in enumerate(cells.split()))
    lines = tuple(range(2, len(rows) + 2))
    table = with_plain_marks(Table("m.csv", "csv", ("essay", "Lee"), rows, lines), ())
    assert (table.rows, table.notices, dict(table.scales)) == (rows, (), {})


def test_a_cell_that_people_name_is_what_they_say(store: Store, tmp_path: Path) -> None:
    cells = ("3", "4?", "2", "5", "3", "4", "2", "5")
    labels, said, votes = imported(store, tmp_path / "m.csv", cells, words=["4?=NA"])
    assert (labels, votes) == ([*"12345"], 15)
    assert "unsurely" not in said
