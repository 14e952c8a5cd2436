"""A run as a workbook, and its grades in a class's own workbook."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import Workbook, load_workbook
from openpyxl.styles import Font

from core.cli.main import main
from core.errors import InputError
from core.formats.office.workbook_writer import LONGEST_CELL, workbook
from core.formats.tables.table import read_table
from core.services.exports.grade_lists import GradeChoices, fill
from core.services.exports.run_export import export
from core.store.store import Store
from tests.formats.office.workbooks import xlsx
from tests.services.exports.class_of_four import class_of_four

HOSTILE = [
    *("=1+1", "+1", "-1", "@x", "\t=1", "'tis", "<b>&amp;</b>", "_x0041_", "a\x00b\x1f"),
    "=cmd|' /C x'!A1",
]


def cells(data: bytes, sheet: str) -> list[list[Any]]:
    return [list(row) for row in load_workbook(io.BytesIO(data))[sheet].iter_rows(values_only=True)]


def test_a_run_is_a_workbook_of_scores_and_verdicts(store: Store) -> None:
    (data,) = export(store, class_of_four(store), "xlsx").data().values()
    heads, *rows = cells(data, "Scores, texts of this run")
    scores = {row[0]: row[heads.index("score")] for row in rows}
    # By hand, see class_of_four: (8 + 2) / 10 for item 7.
    assert scores["7"] == 1.0
    verdicts = cells(data, "Verdicts, a row a criterion")
    # Four items, two criteria, one header.
    assert len(verdicts) == 4 * 2 + 1
    assert [row[0] for row in rows] == list(dict.fromkeys(row[0] for row in verdicts[1:]))


def test_texts_stay_texts_whatever_they_look_like() -> None:
    data, cut = workbook({"A/B": [["text"], *([text] for text in HOSTILE)]})
    sheet = load_workbook(io.BytesIO(data))["A B"]
    assert {cell.data_type for cell in sheet["A"]} <= {"s", "inlineStr"}
    # Our reader gives back every letter but the NUL, which no workbook holds.
    read = [row["text"] for row in read_table(data, "x.xlsx").rows]
    assert read == [text.replace("\x00", "_x0000_") for text in HOSTILE]
    assert cut == 0
    assert workbook({"S": [["t"], ["x" * (LONGEST_CELL + 1)]]})[1] == 1


@given(st.lists(st.text(max_size=30).filter(str.strip), min_size=1, max_size=5))
def test_every_text_comes_back(texts: list[str]) -> None:
    data, _ = workbook({"S": [["n", "text"], *([n, text] for n, text in enumerate(texts))]})
    read = [row["text"] for row in read_table(data, "x.xlsx").rows]
    # Line ends are one; half a character and NUL stand as their codes.
    unfit = set("\x00\r")
    for ours, theirs in zip(read, texts, strict=True):
        if not unfit & set(theirs):
            assert ours == theirs


CLASS = [
    ["Course:", "Lab"], [], ["Number", "Name", "Points", "Remark", "Twice"],
    ["7", "Ann", None, "stays", "=C4*2"], ["8", "Bob", 3, None, "=C5*2"], ["99", "Cy", None],
]  # fmt: skip


def class_book() -> bytes:
    def change(book: Workbook) -> None:
        book["Lab"]["C4"].number_format = "0.0"
        book["Lab"]["C4"].font = Font(bold=True)
        book.create_sheet("Notes")["B2"] = "untouched"
        for row, value in ((4, 0), (5, 6)):
            book["Lab"].cell(row, 5).value = value

    return xlsx({"Lab": CLASS}, change)


CHOICES = GradeChoices(match="Number", grade="Points", maximum=20)


def test_grades_come_back_in_the_class_s_own_workbook(store: Store) -> None:
    run = class_of_four(store)
    filled = fill(store, run, class_book(), "lab.xlsx", CHOICES)
    assert filled.name == "lab-graded.xlsx"
    book = load_workbook(io.BytesIO(filled.data))
    sheet = book["Lab"]
    # Item 7 earned everything: 20 of 20. Bob has 3 points already, Cy is in no run.
    assert [sheet.cell(row, 3).value for row in (4, 5, 6)] == [20, 3, None]
    assert sheet["C4"].number_format == "0.0"
    assert sheet["C4"].font.bold
    assert (sheet["D4"].value, book["Notes"]["B2"].value) == ("stays", "untouched")
    again = fill(store, run, filled.data, "lab.xlsx", CHOICES)
    assert again.written == 0


def test_a_formula_is_not_written_over(store: Store) -> None:
    rows = [["Number", "Points"], ["7", 1]]

    def formula(book: Workbook) -> None:
        book["S"]["B2"] = "=1+1"

    run = class_of_four(store)
    with pytest.raises(InputError, match="without a value"):
        fill(store, run, xlsx({"S": rows}, formula), "x.xlsx", CHOICES)


def test_the_command_line_fills_a_named_sheet_and_writes_a_workbook(
    store: Store, tmp_path: Path
) -> None:
    run = class_of_four(store)
    roster, out = tmp_path / "lab.xlsx", tmp_path / "out.xlsx"
    roster.write_bytes(xlsx({"Lab": CLASS[2:4], "Old": CLASS[2:4]}, _plain))
    words = ["export", run, "--format", "moodle", "--roster", roster, "--db", store.path]
    chosen = ["--match", "Number", "--grade", "Points", "--maximum", "20", "--out", out]
    refused = CliRunner().invoke(main, [*map(str, words), *map(str, chosen)])
    assert refused.exit_code == 2
    assert "'Lab', 'Old'" in refused.stderr
    done = CliRunner().invoke(main, [*map(str, words), *map(str, chosen), "--sheet", "Lab"])
    assert done.exit_code == 0, done.stderr
    assert load_workbook(out)["Lab"]["C2"].value == 20
    whole = tmp_path / "scores.xlsx"
    words = ["export", run, "--format", "xlsx", "--out", whole, "--db", store.path]
    assert CliRunner().invoke(main, [*map(str, words)]).exit_code == 0
    assert load_workbook(whole).sheetnames == [
        "Grades, whole dataset",
        "Scores, texts of this run",
        "Verdicts, a row a criterion",
    ]
    assert json.dumps(cells(whole.read_bytes(), "Scores, texts of this run")[0])


def _plain(book: Workbook) -> None:
    for name in ("Lab", "Old"):
        book[name].cell(2, 5).value = 0
