"""Whatever is dropped is recognised by what is in it, said in one line, and led on with it."""

from __future__ import annotations

import pytest

from core.errors import InputError
from core.services.guided import dropped, texts
from core.services.guided.dropped import recognise
from core.services.guided.texts import File
from tests.formats.office.documents import docx, grid, pdf
from tests.formats.office.workbooks import xlsx, zipped

LONG = "The tides follow the Moon, whose gravity pulls the water on the near side most of all."
ESSAYS = [["Class 9b, March"], [], ["Name", "Essay"], ["Ann", LONG], ["Bob", LONG[::-1]]]
GRID = [["Criterion", "Full (4)", "Half (2)"], ["Cause", "names it", "hints at it"]]
JURY = [
    ["Entry", "A. Kos", "B. Lim", "Dr. Ono"],
    *([f"e{n}", f"{n}", "3", f"{5 - n}"] for n in range(4)),
]
WIDE = b"id,kim,lee\na,MET,MET\nb,UNMET,MET\n"
LONG_VOTES = b"item,criterion,rater,label\nq1,polite,ann,yes\nq1,polite,bob,no\n"


def seen(name: str, data: bytes) -> tuple[str, str]:
    (one,) = recognise([File(name, data)])
    return one.kind, one.line


SHEETS = "A workbook with rows on 2 sheets; choose one in the next step."
NOTHING = "Nothing here is known: no texts, no rubric, no votes."
ONE = "A rubric with 1 criterion, 4 points."
YAML = b"criteria:\n- It is right.\n- It is short.\n"


@pytest.mark.parametrize(
    ("name", "data", "kind", "line"),
    [
        ("essays.xlsx", xlsx({"S": ESSAYS}), "texts", "2 texts, in the column “Essay”."),
        ("rubric.docx", docx("Rubric", grid(GRID)), "rubric", ONE),
        ("r.csv", b"Criterion,Full (4),Half (2)\nCause,a,b\n", "rubric", ONE),
        ("r.yaml", YAML, "rubric", "A rubric with 2 criteria, 20 points."),
        ("votes.csv", WIDE, "votes", "Votes, a rater a column, 2 rows."),
        ("votes.csv", LONG_VOTES, "votes", "Votes, one answer a row, 2 rows."),
        ("essay.docx", docx(LONG), "texts", "1 text."),
        ("jury.docx", docx("Jury", grid(JURY)), "votes", "Votes, a rater a column, 4 rows."),
        ("essay.pdf", pdf("Tides follow the Moon."), "texts", "1 text."),
        ("class.zip", zipped({"ann.txt": LONG, "bob.md": LONG}), "texts", "2 texts."),
        ("two.xlsx", xlsx({"A": ESSAYS, "B": ESSAYS}), "texts", SHEETS),
        ("t.csv", b"a,b\n1,2\n3,4\n", "unknown", NOTHING),
        ("bad.xlsx", b"PK\x03\x04 broken", "unknown", "This cannot be read."),
    ],
)
def test_a_file_is_said_in_one_line(name: str, data: bytes, kind: str, line: str) -> None:
    assert seen(name, data) == (kind, line)


def test_documents_dropped_together_are_one_class_and_the_rubric_among_them_is_not() -> None:
    files = [
        File("ann.docx", docx(LONG)),
        File("grid.docx", docx(grid(GRID))),
        File("bob.txt", LONG.encode()),
    ]
    rubric, class_ = recognise(files)
    assert (rubric.kind, rubric.title) == ("rubric", "grid.docx")
    assert (class_.kind, class_.title, class_.line) == ("texts", "2 documents", "2 texts.")
    assert [file.name for file in dropped.files_of_kind([rubric, class_], "texts")] == [
        "ann.docx",
        "bob.txt",
    ]


def test_a_table_of_texts_with_marks_is_texts_first_and_votes_only_if_somebody_says_so() -> None:
    rows = [["Student ID", "Essay", "Cause", "Example"]]
    rows += [[f"s{n}", f"{LONG} {n}", "Full", "Full"] for n in range(8)]
    rows += [[f"t{n}", f"{LONG} {n}{n}", "Half", "Full"] for n in range(8)]
    (one,) = recognise([File("class.xlsx", xlsx({"S": rows}))])
    assert (one.kind, one.also_votes) == ("texts", True)


def test_a_class_with_headings_like_a_grid_s_is_texts() -> None:
    rows = [["Name", f"Essay {LONG[:4]}(draft)", "Good"], ["Ann", LONG, "x"], ["Bob", LONG[9:], ""]]
    (one,) = recognise([File("class.xlsx", xlsx({"S": rows}))])
    assert one.kind == "texts"


def test_answers_of_two_systems_are_known_by_their_column() -> None:
    data = b"prompt,system,answer\nWhy?,v1,The Moon pulls.\nWhy?,v2,The Sun pulls.\n"
    (one,) = recognise([File("answers.csv", data)])
    assert one.systems == ("v1", "v2")


BESIDE = (
    b"question,answer_v1,answer_v2\n"
    b"Why do tides rise?,The Moon pulls the water.,The Sun does it.\n"
    b"Why is it cold?,The axis is tilted.,Clouds are there.\n"
)


def test_answers_side_by_side_are_seen_and_become_a_row_each() -> None:
    file = File("prompts.csv", BESIDE)
    (one,) = recognise([file])
    assert one.systems == ("answer_v1", "answer_v2")
    assert one.line == "2 rows: “question”, answered in “answer_v1” and “answer_v2”."
    checked = texts.check(texts.look(texts.read_answers([file])))
    assert checked.dataset is not None
    assert [(i.id, i.system, i.prompt, i.output) for i in checked.dataset.items] == [
        ("1-answer_v1", "answer_v1", "Why do tides rise?", "The Moon pulls the water."),
        ("1-answer_v2", "answer_v2", "Why do tides rise?", "The Sun does it."),
        ("2-answer_v1", "answer_v1", "Why is it cold?", "The axis is tilted."),
        ("2-answer_v2", "answer_v2", "Why is it cold?", "Clouds are there."),
    ]


@pytest.mark.parametrize(
    "heads",
    [
        ("Name", "Essay", "Feedback"),  # texts of different kinds
        ("answer_v1", "answer_v2", "id"),  # nothing says what was asked
    ],
)
def test_other_texts_side_by_side_are_not_compared(heads: tuple[str, ...]) -> None:
    rows = [list(heads), ["Ann Lee", f"{LONG} a", f"{LONG} b"], ["Bob Lee", LONG, "Well done."]]
    (one,) = recognise([File("class.xlsx", xlsx({"S": rows}))])
    assert one.systems == ()


def test_another_column_can_hold_the_texts_and_the_first_becomes_a_note() -> None:
    table = texts.read([File("essays.xlsx", xlsx({"S": ESSAYS}))])
    look = texts.look(table, "Name")
    assert (look.mapping.submission, look.mapping.meta) == ("Name", ("Essay",))
    checked = texts.check(look)
    assert checked.dataset is not None
    assert [item.output for item in checked.dataset.items] == ["Ann", "Bob"]


@pytest.mark.parametrize(
    ("paste", "found"),
    [
        ("One, and\ntwo.\n\nThree.\n\n\n", ["One, and\ntwo.", "Three."]),
        ("First line, of words.\nSecond line.", ["First line, of words.", "Second line."]),
        ("Name\tEssay\nAnn\tTides.\nBob\tNo.", ["Tides.", "No."]),
        ("id,answer\na,Tides.\nb,No.", ["Tides.", "No."]),
        ('[{"answer": "Tides."}, {"answer": "No."}]', ["Tides.", "No."]),
    ],
)  # fmt: skip
def test_a_paste_is_a_table_or_a_text_a_paragraph_or_one_a_line(
    paste: str, found: list[str]
) -> None:
    table = texts.read_pasted(paste)
    look = texts.look(table, "Essay" if "Essay" in table.columns else None)
    checked = texts.check(look)
    assert checked.dataset is not None
    assert [item.output for item in checked.dataset.items] == found


def test_an_empty_paste_is_refused() -> None:
    with pytest.raises(InputError, match="Paste a text"):
        texts.read_pasted(" \n ")
