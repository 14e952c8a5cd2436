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
from core.formats.rubrics.forms import looks_like_rubric, read_rubrics
from core.formats.rubrics.tables import office_tables as tables_of_office
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


def test_tables_whose_weights_make_one_whole_are_sections_of_one_rubric() -> None:
    head = ["Criterion", "Weight", "1 - No", "2 - Yes"]
    parts = {
        "Craft (60 %)": [head, ["Plan", "40 %", "none", "sound"], ["Code", "20 %", "ugly", "neat"]],
        "Team (40 %)": [head, ["Talk", "40 %", "mute", "open"]],
    }

    def read(name: str, titles: dict[str, list[list[str]]]) -> tuple[object, str]:
        if name.endswith("docx"):
            blocks = (block for t, rows in titles.items() for block in (t, grid(rows)))
            rubrics = read_rubrics(docx("Interview", *blocks), name)
        else:
            text = "# Interview\n" + "".join(
                f"\n## {t}\n\n"
                + "\n".join("|".join(row) for row in [rows[0], ["---"] * 4, *rows[1:]])
                for t, rows in titles.items()
            )
            rubrics = read_rubrics(f"{text}\n", name)
        (of,) = rubrics
        said = str(of.notices)
        return [(c.name, c.section, c.weight) for c in of.value.criteria], said

    whole = [("Plan", "Craft", 40), ("Code", "Craft", 20), ("Talk", "Team", 40)]
    for name in ("x.md", "x.docx"):
        criteria, said = read(name, parts)
        assert criteria == whole
        assert "Craft" not in said
        plain, _ = read(name, {title.partition(" (")[0]: rows for title, rows in parts.items()})
        assert plain == whole


def test_tables_below_one_heading_are_its_sections_and_others_are_rubrics_of_their_own() -> None:
    rows = "Criterion|Yes (2)|No (0)\n---|---|---\nTests|all pass|none\n"
    parts = f"Code\n\n{rows}\n## Talk\n\n{rows.replace('Tests', 'Voice')}"
    (one,) = read_rubrics(f"# Review\n\n## {parts}", "review.md")
    assert [(c.name, c.section) for c in one.value.criteria] == [
        ("Tests", "Code"),
        ("Voice", "Talk"),
    ]
    several = read_rubrics(f"## {parts}", "review.md")
    assert [read.value.name for read in several] == ["Code", "Talk"]


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


BOATS = """# Boats

Look at each boat. **Total: 8 points.**

## 1. Hull (max. 5 points)

Is it dry?

- {a}
- {b}
  as a stone
- {c}

## 2. Mast (3 points)
* **3** - straight
* **0** - broken

> Nobody gives half points.
"""


@pytest.mark.parametrize(
    "asks",
    [
        "Mark *yes* if it leaks, otherwise *no*.",
        "Leckt es? Ja / Nein",
        "Fuit-il ? (oui, non)",
        "¿Hace agua? Sí o no.",
    ],
)
def test_a_heading_that_asks_for_yes_or_no_is_a_criterion_without_weight(asks: str) -> None:
    text = BOATS.format(a="**5** - no water", b="**2** - damp", c="**0** - sunk")
    text = text.replace("> Nobody", f"## 3. Leak\n\n{asks}\n\nLast change: May\n\nNobody")
    (read,) = read_rubrics(text, "boats.md")

    assert [c.name for c in read.value.criteria] == ["Hull", "Mast", "Leak"]
    leak = read.value.criteria[2]
    assert (leak.scale, leak.weight, leak.requirement) == ("binary", 0, asks)
    said = " ".join(map(str, read.notices))
    assert "Of yes and no nothing says which is better, so this weighs 0: '3. Leak'" in said
    assert "Last change: May / Nobody gives half points" in said


@pytest.mark.parametrize(
    ("a", "b", "c"),
    [
        ("**5** - no water", "**2** - damp", "**0** - sunk"),
        ("5 points: no water", "2 points: damp", "0 points: sunk"),
        ("5 pontos – no water", "2 pontos – damp", "0 pontos – sunk"),
        ("5 Punkte: no water", "2 Punkte: damp", "0 Punkte: sunk"),
        ("5 = no water", "2 = damp", "0 = sunk"),
        ("no water (5 p.)", "damp (2 p.)", "sunk (0 p.)"),
    ],
)
def test_lists_of_points_below_headings_are_criteria(a: str, b: str, c: str) -> None:
    text = BOATS.format(a=a, b=b, c=c).replace("p.)\n  as a stone", "p.)")
    (read,) = read_rubrics(text, "boats.md")
    hull, mast = read.value.criteria
    assert (hull.name, hull.weight, hull.requirement) == ("Hull", 5, "Is it dry?")
    assert [o.value for o in hull.options] == [0, 0.4, 1]
    assert [o.label for o in hull.options] == ["0", "2", "5"]
    assert [o.description.split()[0] for o in hull.options] == ["sunk", "damp", "no"]
    assert (mast.name, mast.weight) == ("Mast", 3)
    said = str(read.notices[0])
    assert "Look at each boat" in said
    assert "Nobody gives half points" in said
    assert looks_like_rubric(text, "boats.md")


@pytest.mark.parametrize(
    ("a", "b", "c", "labels"),
    [
        ("**Excellent (4)**: no water", "**Fair (2)**: damp", "**Poor (0)**: sunk", None),
        ("4 – Excellent: no water", "2 – Fair: damp", "0 – Poor: sunk", None),
        ("Excellent – no water", "Fair – damp", "Poor – sunk", None),
        ("Level 4 (Excellent): no water", "Level 2 (Fair): damp", "Level 0 (Poor): sunk", None),
        ("Sehr gut: no water", "Befriedigend: damp", "Mangelhaft: sunk", "Mangelhaft Sehr gut"),
    ],
)
def test_levels_of_lists_may_have_names(a: str, b: str, c: str, labels: str | None) -> None:
    (read,) = read_rubrics(BOATS.format(a=a, b=b, c=c), "boats.md")
    hull = read.value.criteria[0]
    assert hull.weight == 5
    found = [o.label for o in hull.options]
    assert f"{found[0]} {found[-1]}" == (labels or "Poor Excellent")
    assert [o.value for o in hull.options] == [0, 0.5, 1]


def test_bold_lines_and_outer_entries_head_lists_too_and_headings_above_are_sections() -> None:
    text = (
        "# Talk\n## Content\n**Thesis (40 %)**\n- 2: clear\n- 1: vague\n"
        "## Form\n1. Voice (60 %)\n   - 2: loud\n   - 1: low\n"
    )
    (read,) = read_rubrics(text, "talk.md")
    assert [(c.section, c.name, c.weight) for c in read.value.criteria] == [
        ("Content", "Thesis", 40),
        ("Form", "Voice", 60),
    ]


def test_maximum_points_may_stand_behind_a_bold_name_and_words_of_a_panel_are_levels() -> None:
    text = (
        "# Talk\n**Form** (max. 6 Punkte)\n\n- 6 Punkte: klar\n- 0 Punkte: fehlt\n\n"
        "**Sense**\n- **Strong yes**: sees all\n- **No**: misses much\n- **Strong no**: lost\n"
    )
    (read,) = read_rubrics(text, "talk.md")
    form, sense = read.value.criteria
    assert (form.name, form.weight) == ("Form", 6)
    assert (sense.name, [o.label for o in sense.options]) == (
        "Sense",
        ["Strong no", "No", "Strong yes"],
    )


def test_a_holistic_rubric_is_one_criterion() -> None:
    text = "# Writing scale\n" + "".join(f"- {n} – words of {n}\n" for n in range(6, 0, -1))
    (read,) = read_rubrics(text, "scale.md")
    (whole,) = read.value.criteria
    assert (whole.name, [o.label for o in whole.options]) == ("Writing scale", [*"123456"])


@pytest.mark.parametrize(
    "lists",
    [
        ["1. I got up.\n2. I sailed.\n3. I slept.", "- two boats\n- a rope"],
        ["- 2 boats\n- 1 rope", "I like the sea."],
        ["- 2: clear\n- 1: vague", "I like the sea.", "We sail home."],
        ["- good: the wind\n- bad: the rain", "- good: the food\n- bad: the bed"],
    ],
)
def test_essays_with_lists_are_texts(lists: list[str]) -> None:
    text = "# The harbour\n\n" + "".join(
        f"## Pupil {n}\n{part}\n\n" for n, part in enumerate(lists)
    )
    assert not looks_like_rubric(text, "harbour.md")


def test_a_documents_title_is_no_remark_and_a_sentence_beside_the_table_is() -> None:
    table = grid([["Criterion", "Full (2)", "None (0)"], ["Thesis", "clear", "absent"]])
    (titled,) = read_rubrics(docx("How we grade essays", table), "x.docx")
    assert "stands around" not in str(titled.notices)
    (noted,) = read_rubrics(docx("How we grade essays", table, "Style counts twice."), "x.docx")
    assert "'Style counts twice.'" in str(noted.notices)
    assert "How we grade" not in str(noted.notices)
