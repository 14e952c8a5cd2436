"""Cells written into a workbook: the rest stays, and no sheet takes for ever."""

from __future__ import annotations

import io
import zipfile

import pytest

from core.errors import InputError
from core.formats.office.sheet_editing import SheetTable, sheet_table
from core.formats.source.opened import Opened
from tests.formats.office.workbooks import xlsx, zipped

BOOK = xlsx({"Class": [["id", "grade"], ["a", None], ["b", 3]]})
PART = "xl/worksheets/sheet1.xml"


def table(book: bytes) -> SheetTable:
    found = sheet_table(Opened(book, "class.xlsx"))
    assert found is not None
    return found


def with_sheet(old: str, new: str) -> bytes:
    with zipfile.ZipFile(io.BytesIO(BOOK)) as book:
        parts = {name: book.read(name) for name in book.namelist()}
    text = parts[PART].decode()
    assert old in text
    return zipped({**parts, PART: text.replace(old, new)})


def test_a_cell_is_written_and_read_again() -> None:
    again = table(table(BOOK).with_cells({(0, 1): "7.5"}))
    assert [[cell.text for cell in row.cells] for row in again.rows] == [["a", "7.5"], ["b", "3"]]


@pytest.mark.parametrize("held", ["<!--{}-->", "<?x {}?>"])
def test_rows_that_begin_in_a_comment_and_never_end_are_refused(held: str) -> None:
    endless = held.format('<row r="1">' * 50_000)
    book = with_sheet("</sheetData>", f"</sheetData>{endless}")
    with pytest.raises(InputError, match="cannot be written to"):
        table(book).with_cells({(0, 1): "7.5"})
