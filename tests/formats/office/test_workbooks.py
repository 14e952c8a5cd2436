"""Workbooks: cells as the sheet shows them, the sheet that is meant, and what is refused."""

from __future__ import annotations

import io
import re
import zipfile
from datetime import date, datetime, time
from typing import Any

import pytest
from openpyxl import Workbook
from python_calamine import CalamineWorkbook

from core.errors import InputError
from core.formats.office import sheet as sheet_module
from core.formats.office.workbook import SheetNotChosen, book_in
from core.formats.source import archives
from core.formats.source.opened import Opened
from core.formats.source.parsed import ENOUGH, MAX_PROBLEMS
from core.formats.tables.table import Table, read_table
from tests.formats.office.workbooks import ods, ods_cell, ods_row, xlsx, zipped
from tests.formats.refusals import refused


def column(table: Table, name: str) -> list[Any]:
    return [row[name] for row in table.rows]


def said(table: Table) -> str:
    return " ".join(f"{p.message} {p.mend}" for p in table.notices)


def test_cells_are_read_as_the_sheet_shows_them() -> None:
    def formats(book: Workbook) -> None:
        sheet = book["S"]
        for row, code in ((2, "0%"), (3, "0.0%"), (4, "00000"), (7, "dd.mm.yyyy"), (9, "h:mm")):
            sheet.cell(row, 2).number_format = code
        sheet.cell(8, 2).number_format = "yyyy-mm-dd hh:mm"

    shown: list[tuple[Any, str]] = [
        (0.25, "25%"),
        (0.335, "33.5%"),
        (42, "00042"),
        (3.0, "3"),
        (0.1 + 0.2, "0.3"),
        (date(2026, 1, 31), "2026-01-31"),
        (datetime(2026, 1, 31, 10, 30), "2026-01-31 10:30"),  # noqa: DTZ001
        (time(9, 5), "09:05"),
        (True, "TRUE"),
        ("007", "007"),
        ("=1+1 is text\nof two lines", "=1+1 is text\nof two lines"),
    ]
    rows: list[list[Any]] = [["n", "value"], *([n, v] for n, (v, _) in enumerate(shown))]

    def change(book: Workbook) -> None:
        formats(book)
        book["S"].cell(12, 2).data_type = "s"

    table = read_table(xlsx({"S": rows}, change), "x.xlsx")
    assert column(table, "value") == [words for _, words in shown]
    assert (table.kind, table.lines[0], table.lines[-1]) == ("xlsx", 2, 12)


def test_texts_and_numbers_are_those_that_another_reader_finds() -> None:
    # python-calamine is an implementation of its own, in another language.
    rows = [["id", "text", "mark"], *([n, f"<é & {n}>\n “x”", n / 8] for n in range(50))]
    data = xlsx({"S": rows})
    theirs = CalamineWorkbook.from_filelike(io.BytesIO(data)).get_sheet_by_name("S").to_python()
    ours = read_table(data, "x.xlsx")
    assert column(ours, "text") == [row[1] for row in theirs[1:]]
    assert [float(cell) for cell in column(ours, "mark")] == [row[2] for row in theirs[1:]]


def test_an_ods_shows_the_same_with_its_repeated_cells_and_rows() -> None:
    rows = (
        ods_row("id", "when", "share", "mark")
        + ods_row("a", ods_cell("date", "2026-01-31", "31.01.26"),
                  ods_cell("percentage", "0.25", "25%"), ods_cell("float", "3", "3,0"))
        + ods_row("b", ods_cell("date", "2026-02-01T10:30:00", "x"),
                  '<table:table-cell table:number-columns-repeated="2" office:value-type="float" '
                  'office:value="7"><text:p>7</text:p></table:table-cell>', repeated=2)
        + ods_row('<table:table-cell table:number-columns-repeated="16384"/>', repeated=1048573)
    )  # fmt: skip
    table = read_table(ods({"S": rows}), "x.ods")
    assert [list(row.values()) for row in table.rows] == [
        ["a", "2026-01-31", "25%", "3"],
        ["b", "2026-02-01 10:30", "7", "7"],
        ["b", "2026-02-01 10:30", "7", "7"],
    ]


TWO = {
    "Notes": [["Read me"]],
    "Marks": [["id", "answer"], ["a", "x"]],
    "Old": [["id", "answer"], ["b", "y"]],
}


def test_the_only_sheet_with_rows_is_taken_and_of_several_one_must_be_named() -> None:
    one = read_table(xlsx({name: TWO[name] for name in ("Notes", "Marks")}), "x.xlsx")
    assert column(one, "id") == ["a"]
    with pytest.raises(SheetNotChosen, match=r"rows on 2 sheets: 'Marks', 'Old'.*--sheet") as error:
        read_table(xlsx(TWO), "x.xlsx")
    assert error.value.sheets == ("Marks", "Old")
    named = read_table(xlsx(TWO), "x.xlsx", "Old")
    assert column(named, "id") == ["b"]
    assert "Only the sheet 'Old' is read, not 'Marks'." in said(named)
    with pytest.raises(InputError, match=r"'New'\. The sheets are 'Notes', 'Marks', 'Old'"):
        read_table(xlsx(TWO), "x.xlsx", "New")
    with pytest.raises(InputError, match="Only a workbook has sheets"):
        read_table("id,answer\na,x\n", "x.csv", "Old")


def test_a_legend_beside_a_table_is_nobody_s_choice() -> None:
    """A short list of words is left out, and named; a longer one could hold the texts."""
    table = [["Id", "Tone", "Depth"], ["a", 1, 2], ["b", 2, 1]]
    legend = [["Tone", "1 to 5"], ["Depth", "1 to 5"]]
    read = read_table(xlsx({"Marks": table, "Legend": legend}), "book.xlsx")
    assert read.columns == ("Id", "Tone", "Depth")
    assert "Only the sheet 'Marks' is read, not 'Legend'." in said(read)

    texts = [["Id", "Text"], *([f"i{n}", f"Text {n}"] for n in range(30))]
    with pytest.raises(SheetNotChosen):
        read_table(xlsx({"Marks": table, "Texts": texts}), "book.xlsx")


def test_a_hidden_sheet_is_nobody_s_choice() -> None:
    def hide(book: Workbook) -> None:
        book["Old"].sheet_state = "hidden"

    assert column(read_table(xlsx(TWO, hide), "x.xlsx"), "id") == ["a"]


def test_titles_merged_cells_hidden_rows_and_nameless_columns_are_said() -> None:
    rows = [
        ["Essays of spring"], [], ["id", "answer", "mark"],
        ["a", "x", 1, "remark"], [None, "y", 2], ["b", "z", 3],
    ]  # fmt: skip

    def change(book: Workbook) -> None:
        book["S"].merge_cells("A1:C1")
        book["S"].merge_cells("A4:A5")
        book["S"].row_dimensions[6].hidden = True

    table = read_table(xlsx({"S": rows}, change), "x.xlsx")
    assert column(table, "id") == ["a", "a", "b"]
    assert table.lines == (4, 5, 6)
    words = said(table)
    for part in ("'Essays of spring'", "A4:A5", "column D has no heading", "1 hidden row is"):
        assert part in words


def test_errors_and_formulas_without_results_are_refused_with_their_cells() -> None:
    data = xlsx({"S": [["id", "mark"], ["a", "=1+1"], ["b", "#DIV/0!"]]})
    faults = [words for _, words in refused(lambda: read_table(data, "x.xlsx"))]
    assert [words.split(".")[0] for words in faults] == [
        "B2 holds a formula without its result",
        "B3 shows #DIV/0!",
    ]


def test_two_columns_of_one_name_and_a_heading_over_several_are_refused() -> None:
    def merge(book: Workbook) -> None:
        book["S"].merge_cells("B1:C1")

    twice = xlsx({"S": [["id", "mark", "mark"], ["a", 1, 2]]})
    assert "C1 repeats the heading 'mark' of B1." in refused(lambda: read_table(twice, "x"))[0][1]
    wide = xlsx({"S": [["id", "marks", None], ["a", 1, 2]]}, merge)
    assert "B1:C1 spans several columns" in refused(lambda: read_table(wide, "x"))[0][1]


OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (OLE + "Workbook".encode("utf-16-le"), "old .xls format. Save it as .xlsx"),
        (OLE + "EncryptedPackage".encode("utf-16-le"), "protected by a password"),
        (xlsx(TWO)[:900], "cannot be opened"),
        (xlsx({"Empty": []}), "No sheet of this workbook has a heading and rows"),
        (zipped({"[Content_Types].xml": "x", "xl/workbook.bin": b"x"}), ".xlsb format"),
        (zipped({"Index/Document.iwa": b"x"}), "Export it as .xlsx"),
    ],
)
def test_what_is_no_workbook_that_can_be_read_is_refused_with_one_sentence(
    data: bytes, says: str
) -> None:
    # The ending is believed nowhere: the same bytes under any name.
    for name in ("x.xlsx", "x.csv"):
        with pytest.raises(InputError) as error:
            read_table(data, name)
        assert says in str(error.value)


def test_a_cell_far_out_takes_no_memory() -> None:
    # A reader that lays out the whole rectangle needs 10 GB for this file of 5 kB.
    def far(book: Workbook) -> None:
        book["S"].cell(1_000_000, 3, "far")

    table = read_table(xlsx({"S": [["id", "answer", "note"], ["a", "x"]]}, far), "x.xlsx")
    assert table.lines == (2, 1_000_000)


def test_a_workbook_that_unpacks_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MOST_UNPACKED", 20_000)
    data = xlsx({"S": [["id", "answer"], *([n, "x" * 50] for n in range(2000))]})
    with pytest.raises(InputError, match="unpacks to more than"):
        read_table(data, "x.xlsx")


@pytest.mark.parametrize("inside", ["<row/>", "<c/>", '<c t="e"><v>#N/A</v></c>', "&#65;" * 3])
def test_a_small_file_of_countless_tags_is_refused(
    inside: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # At the real limit: 370 kB of empty cells took over 100 s before.
    monkeypatch.setattr(archives, "MOST_TAGS", 1_000)
    with zipfile.ZipFile(io.BytesIO(xlsx({"S": [["id", "answer"], ["a", "x"]]}))) as book:
        files = {n: book.read(n) for n in book.namelist()}
    sheet = files["xl/worksheets/sheet1.xml"].replace(
        b"</row>", inside.encode() * 5_000 + b"</row>"
    )
    with pytest.raises(InputError, match="more than 1,000 cells and marks"):
        read_table(zipped({**files, "xl/worksheets/sheet1.xml": sheet}), "x.xlsx")


def test_of_countless_faulty_cells_the_first_are_kept() -> None:
    rows = [["id", "answer"], *([n, "=1+1"] for n in range(3_000))]
    book = book_in(Opened(xlsx({"S": rows}), "x.xlsx"))
    assert book is not None
    with pytest.raises(InputError, match="cells without a value") as refusal:
        book.sheet("S")
    assert len(refusal.value.problems) <= MAX_PROBLEMS + 1
    assert len(book.book.read("S").faults) == ENOUGH


def test_a_sheet_that_is_too_large_hinders_no_other_sheet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sheet_module, "MOST_CELLS", 50)
    small = ods_row("id", "answer") + ods_row("a", "x")
    book = book_in(Opened(ods({"Large": ods_row("x", repeated=60), "Small": small}), "x.ods"))
    assert book is not None
    assert book.sheet("Small")[0].rows[1] == {0: "a", 1: "x"}
    assert (
        book.uncached_sheet("Small")[0].rows == book.sheet("Small")[0].rows
    )  # read again after it
    with pytest.raises(InputError, match="'Large' has more than 300,000 rows or 50 filled cells"):
        book.sheet("Large")


def test_references_out_of_their_row_are_followed() -> None:
    data = xlsx({"S": [["id", "answer"], ["a", "x"]]})
    with zipfile.ZipFile(io.BytesIO(data)) as book:
        files = {n: book.read(n) for n in book.namelist()}
    cells = ('<c r="A12" t="str"><v>b</v></c>', '<c r="B12" t="str"><v>y</v></c>',
             '<c r="A2" t="str"><v>c</v></c>', '<c t="str"><v>z</v></c>')  # fmt: skip
    sheet = files["xl/worksheets/sheet1.xml"].decode()
    row = f'<row r="2">{"".join(cells)}</row>'
    sheet = re.sub(r'<row r="2".*?</row>', row, sheet)
    table = read_table(zipped({**files, "xl/worksheets/sheet1.xml": sheet}), "x.xlsx")
    assert table.rows == ({"id": "c", "answer": "z"}, {"id": "b", "answer": "y"})
    assert table.lines == (2, 12)


def test_entities_are_never_expanded() -> None:
    data = xlsx({"S": [["id", "answer"], ["a", "x"]]})
    bomb = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaa">]><x>&a;</x>'
    with zipfile.ZipFile(io.BytesIO(data)) as whole:
        files = {n: whole.read(n) for n in whole.namelist()}
    with pytest.raises(InputError, match="declares entities"):
        read_table(zipped({**files, "xl/worksheets/sheet1.xml": bomb}), "x.xlsx")


def test_a_damaged_workbook_is_read_or_refused_and_never_breaks() -> None:
    import random

    rng, data = random.Random(0), xlsx(TWO | {"Old": []})
    for _ in range(300):
        damaged = bytearray(data)
        for _ in range(rng.randint(1, 8)):
            damaged[rng.randrange(4, len(damaged))] = rng.randrange(256)
        try:
            read_table(bytes(damaged), "x.xlsx")
        except InputError:
            continue


def test_rows_outside_of_a_table_belong_to_a_sheet_without_a_name() -> None:
    data = ods({"S": ods_row("id", "answer") + ods_row("a", "x")})
    with zipfile.ZipFile(io.BytesIO(data)) as whole:
        files = {n: whole.read(n) for n in whole.namelist()}
    begun = files["content.xml"].replace(b'<table:table table:name="S">', b"<p>")
    broken = {**files, "content.xml": begun.replace(b"</table:table>", b"</p>")}
    assert column(read_table(zipped(broken), "x.ods"), "id") == ["a"]


def test_a_file_without_a_name_in_an_archive_does_no_harm() -> None:
    data = xlsx({"S": [["id", "answer"], ["a", "x"]]})
    with zipfile.ZipFile(io.BytesIO(data)) as whole:
        files = {n: whole.read(n) for n in whole.namelist()}
    # A name ends at its first zero byte.
    nameless = zipped({**files, "Z.no": b""}).replace(b"Z.no", b"\0.no")
    assert column(read_table(nameless, "x.xlsx"), "id") == ["a"]


@pytest.mark.parametrize("prefix", ["ns0", "rel"])
def test_names_with_prefixes_are_read_as_those_without(prefix: str) -> None:
    data = xlsx({"S": [["id", "answer"], ["a", "x"], ["b", "y"]]})
    with zipfile.ZipFile(io.BytesIO(data)) as whole:
        files = {n: whole.read(n) for n in whole.namelist()}
    # As one program writes its sheets (every name has the same prefix), and relations by any.
    sheet = files["xl/worksheets/sheet1.xml"].decode().replace("xmlns=", "xmlns:x=")
    sheet = re.sub(r"<(/?)(\w)", r"<\1x:\2", sheet)
    book = re.sub(r"(\w+):id=", f"{prefix}:id=", files["xl/workbook.xml"].decode())
    book = book.replace("<workbook ", f'<workbook xmlns:{prefix}="urn:relations" ')
    other = zipped({**files, "xl/worksheets/sheet1.xml": sheet, "xl/workbook.xml": book})
    assert read_table(other, "x.xlsx").rows == read_table(data, "x.xlsx").rows


def test_a_sheet_is_let_go_as_its_rows_are_made_and_can_be_read_again() -> None:
    opened = Opened(xlsx(TWO), "x.xlsx")
    book = opened.once(book_in)
    assert book is not None
    name = book.filled_sheets[0]
    cells = book.sheet(name)[0]
    before = dict(cells.rows)
    read_table(opened, "x.xlsx", name)
    assert cells.rows == {}
    assert book.sheet(name)[0].rows == before


def test_words_that_repeat_are_kept_once() -> None:
    rows = [["id", "answer"], *([f"a{n}", "MET"] for n in range(4))]
    assert len({id(row["answer"]) for row in read_table(xlsx({"S": rows}), "x.xlsx").rows}) == 1
