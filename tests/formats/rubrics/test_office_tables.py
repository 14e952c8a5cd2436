"""Rubrics in workbooks and documents of Word: the same as the table pasted as text."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest
from click.testing import CliRunner
from openpyxl import Workbook

from core.cli.main import main
from core.errors import InputError
from core.formats.rubrics import office_tables as tables_of_office
from core.formats.rubrics.forms import looks_like_rubric, read_rubrics
from tests.formats.office.documents import docx, grid
from tests.formats.office.workbooks import VOTES, ods, ods_row, xlsx

#: Two criteria of 4 and 10 points at best; the second one's levels are ranges.
GRID = [
    ["Criterion", "Excellent", "Fair", "Poor"],
    ["Sources", "names three (4 points)", "names one (2 points)", "names none (0 points)"],
    ["Style", "no slips (8-10 points)", "some slips (4-7 points)", "many (0-3 points)"],
]
TITLED = [["Rubric of the essay"], [], *GRID]


def worth(data: bytes | str, name: str) -> list[tuple[str, float, list[tuple[str, float | None]]]]:
    (read,) = read_rubrics(data, name)
    return [
        (c.name, c.weight, [(o.label, o.value) for o in c.options]) for c in read.value.criteria
    ]


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (xlsx({"Rubric": GRID}), "essay.xlsx"),
        (xlsx({"Rubric": TITLED, "Names": [["id", "who"], ["1", "Ann"]]}), "essay.xlsx"),
        (ods({"Rubric": "".join(ods_row(*row) for row in GRID)}), "essay.ods"),
        (docx("Rubric of the essay", grid(GRID), "Good luck!"), "essay.docx"),
    ],
)
def test_a_grid_is_read_from_a_sheet_or_a_document(data: bytes, name: str) -> None:
    # By hand: 2 of 4 points are .5; of a range the most count, so that 7 of 10 are .7.
    assert worth(data, name) == [
        ("Sources", 4.0, [("Poor", 0.0), ("Fair", 0.5), ("Excellent", 1.0)]),
        ("Style", 10.0, [("Poor", 0.3), ("Fair", 0.7), ("Excellent", 1.0)]),
    ]
    assert looks_like_rubric(data, "no.ending")
    assert read_rubrics(data, name)[0].value.name == "essay"


def test_a_rubric_with_a_cell_far_beyond_its_table_is_refused() -> None:
    def far(book: Workbook) -> None:
        book["Rubric"]["ZZ2000"] = "x"

    with pytest.raises(InputError) as error:
        read_rubrics(xlsx({"Rubric": GRID}, far), "essay.xlsx")
    assert "reaches to ZZ2000; a rubric has fewer cells." in str(error.value)


def test_rows_that_reach_far_are_not_laid_out() -> None:
    def far(book: Workbook) -> None:
        for row in range(10, 410):
            book["Rubric"].cell(row, 1902, "z")

    data = xlsx({"Rubric": GRID}, far)
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="reaches to BUD409; a rubric has fewer cells"):
            read_rubrics(data, "essay.xlsx")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # Laid out, 400 rows of 1,902 cells are 6 MB of pointers alone, several times over.
    assert peak < 4_000_000


def test_a_large_sheet_of_votes_is_no_rubric(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables_of_office, "MOST_CELLS", 10)
    assert not looks_like_rubric(xlsx({"Votes": VOTES}), "class.xlsx")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("criterion,level,score\n" + "a,b,1\n" * 33_334, "has 100,002 cells; 100,000 is the limit"),
        (f"criterion,Good (2){',x' * 300}\n" + f"c{',y' * 301}\n" * 400, "has 120,800 cells"),
    ],
)
def test_a_table_with_more_cells_than_a_rubric_has_is_refused(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_rubrics(text, "x.csv")


def test_problems_name_the_row_of_the_sheet() -> None:
    rows = [*TITLED, ["Length", "one level alone (2 points)"]]
    with pytest.raises(InputError) as error:
        read_rubrics(xlsx({"Rubric": rows}), "essay.xlsx")
    assert [problem.line for problem in error.value.problems] == [6]


def test_several_grids_are_several_rubrics_by_their_titles() -> None:
    both = read_rubrics(docx("Essay", grid(GRID), "Talk", grid(GRID)), "term.docx")
    assert [read.value.name for read in both] == ["Essay", "Talk"]
    sheets = read_rubrics(xlsx({"Essay": GRID, "Talk": GRID}), "term.xlsx")
    assert [read.value.name for read in sheets] == ["Essay", "Talk"]


def test_a_file_without_a_rubric_says_what_would_be_one() -> None:
    for data in (docx("Only words."), xlsx({"S": [["id", "answer"], ["1", "x"]]})):
        assert not looks_like_rubric(data, "x")
        with pytest.raises(InputError) as error:
            read_rubrics(data, "x")
        assert "holds no table that is a rubric" in str(error.value)


def test_a_rubric_of_word_grades_essays_from_a_workbook(tmp_path: Path) -> None:
    rubric, essays = tmp_path / "rubric.docx", tmp_path / "essays.xlsx"
    rubric.write_bytes(docx("Rubric", grid(GRID)))
    essays.write_bytes(xlsx({"Class": [["Student ID", "Essay"], ["7", "One."], ["8", "Two."]]}))
    words = ["grade", rubric, essays, "--judge", "some-model", "--estimate", "--json"]
    done = CliRunner().invoke(main, [*map(str, words), "--db", str(tmp_path / "x.db")])
    assert done.exit_code == 0, done.stderr
    # Two items, two criteria, one judge.
    found = json.loads(done.stdout)
    assert (found["items"], found["votes"]) == (2, 4)


GUIDE = """# Boats

Look at each boat **before** you score, from the bow, then the stern.

| Criterion | Points | What we look for | Full points | Zero points |
|---|:-:|---|---|---|
| **Hull** | 0-8 | Is it dry? | dry, all day | sunk \\| lost |
| Mast | 0-2 | Does it stand? | straight | broken |

Total: 10 points, of which 6 win.

- Nobody gives half points, ever.
"""


def test_a_grid_is_read_from_markdown_with_prose_around_it() -> None:
    assert worth(GUIDE, "boats.md") == [
        ("Hull", 8.0, [("Zero points", 0.0), ("Full points", 1.0)]),
        ("Mast", 2.0, [("Zero points", 0.0), ("Full points", 1.0)]),
    ]
    assert looks_like_rubric(GUIDE, "boats.md")
    (read,) = read_rubrics(GUIDE, "boats.md")
    hull = read.value.criteria[0]
    assert (hull.requirement, hull.options[0].description) == ("Is it dry?", "sunk | lost")
    assert "left out: 'Boats / Look at each boat" in str(read.notices[-1])


def test_a_fault_in_a_table_of_markdown_has_its_line() -> None:
    with pytest.raises(InputError) as error:
        read_rubrics(GUIDE.replace("0-2", "some"), "boats.md")
    assert [problem.line for problem in error.value.problems] == [8]


def test_tables_of_markdown_without_outer_bars_are_the_same() -> None:
    text = "Criterion | Good (2) | Poor (0)\n--- | --- | ---\nHull | dry | wet\n"
    assert worth(text, "pasted text") == [("Hull", 2.0, [("Poor", 0.0), ("Good", 1.0)])]
