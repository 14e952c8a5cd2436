"""Edit or add cells of a workbook's sheet; everything else stays unchanged."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.errors import InputError
from core.formats.office.sheet import cell_name, cell_position, column_name
from core.formats.office.workbook import book_in
from core.formats.office.workbook_writer import cell_xml
from core.formats.office.xlsx import ExcelBook
from core.formats.source.archives import Unpacked
from core.formats.source.csv_reader import RawTable, raw_table
from core.formats.source.csv_writer import number_of
from core.formats.source.heading import header_at
from core.formats.source.opened import Opened

_ROW = re.compile(r'<row\b[^>]*?\br="(\d+)"[^>]*?(?:/>|>.*?</row>)', re.S)
_CELL = re.compile(r'<c\b[^>]*?\br="([A-Z]+\d+)"[^>]*?(?:/>|>.*?</c>)', re.S)
_STYLE = re.compile(r'<c\b[^>]*?\bs="(\d+)"')
_WORKED_OUT = re.compile(rb"<calcPr\b(?![^<>]*fullCalcOnLoad)")
_DIMENSION = re.compile(r'(<dimension ref="[A-Z]+\d+:)[A-Z]+(\d+")')
_SPANS = re.compile(r' spans="[^"]*"')
_MEND = "Save it as CSV and try again."


@dataclass(frozen=True)
class SheetTable(RawTable):
    """A sheet as a table of raw cells; ``with_cells`` and ``with_columns`` return the workbook."""

    book: bytes = b""
    part: str = ""
    wide: int = 0

    def with_cells(self, changes: Mapping[tuple[int, int], str]) -> bytes:
        """Return the workbook with these cells replaced, by (row, column).

        Numbers are written as numbers, other texts as texts, each in its cell's style.

        Raises:
            InputError: a cell holds a formula, or the sheet has an unsupported structure.
        """
        rows: dict[int, dict[int, str]] = {}
        for (row, column), value in changes.items():
            rows.setdefault(self.rows[row].line, {})[column] = value
        return _repacked_archive(
            self.book, {self.part: self._xml_with_cells(rows)}, recalculate=True
        )

    def with_columns(self, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> bytes:
        """Return the workbook with columns to the right of all cells of the sheet.

        Raises:
            InputError: the sheet has an unsupported structure.
        """
        added = {
            row.line: {self.wide + at: cell for at, cell in enumerate(cells) if cell}
            for row, cells in zip((self.head, *self.rows), (heads, *rows), strict=True)
        }
        text = self._xml_with_cells({line: cells for line, cells in added.items() if cells})
        # Some programs read no further than the dimension in the file.
        last = column_name(self.wide + len(heads) - 1)
        text = _DIMENSION.sub(rf"\g<1>{last}\g<2>", text, count=1)
        return _repacked_archive(self.book, {self.part: text}, recalculate=False)

    def _xml_with_cells(self, rows: Mapping[int, Mapping[int, str]]) -> str:
        """Return the sheet's XML with cells replaced or added, by row and column."""
        text = Unpacked(self.book, self.name).read(self.part).decode("utf-8-sig")
        if "<!" in text or "<?" in text[1:]:
            # A row inside a comment might never end; no program writes such comments.
            raise InputError(f"This sheet cannot be written to. {_MEND}", (), self.name)
        edited = set[int]()

        def replace_cells(match: re.Match[str]) -> str:
            number = int(match[1])
            if number not in rows:
                return match[0]
            edited.add(number)
            return _row_with_cells(match[0], number, rows[number], self.name)

        text = _ROW.sub(replace_cells, text)
        if edited != set(rows):
            raise InputError(f"This sheet cannot be written to. {_MEND}", (), self.name)
        return text


def sheet_table(opened: Opened, sheet: str | None = None) -> SheetTable | None:
    """Return a sheet of an .xlsx workbook, or ``None`` for other files.

    Raises:
        InputError: a workbook of another kind; ``SheetNotChosen`` if several sheets have rows.
    """
    name, book = opened.name, opened.once(book_in)
    if book is None:
        return None
    if not isinstance(book.book, ExcelBook):
        raise InputError("Only .xlsx is given back with grades. Save it as .xlsx.", (), name)
    cells, _ = book.sheet(sheet)
    wide = max(column for row in cells.rows.values() for column in row) + 1
    numbers = sorted(cells.rows)
    texts = [[cells.rows[n].get(c, "") for c in range(wide)] for n in numbers]
    head = header_at(texts[:40])
    rows = {n + 1: text for n, text in zip(numbers[head:], texts[head:], strict=True)}
    table = raw_table(name, rows)
    part = book.book.part_of(cells.name)
    return SheetTable(**table.__dict__, book=opened.data, part=part, wide=wide)


def _row_with_cells(row: str, number: int, changes: Mapping[int, str], name: str) -> str:
    """Return a row's XML with cells replaced or inserted, in column order."""
    cells: dict[int, str] = {}
    for match in _CELL.finditer(row):
        place = cell_position(match[1])
        if place is not None:
            cells[place[1]] = match[0]
    for column, value in changes.items():
        old = cells.get(column, "")
        reference = cell_name(number - 1, column)
        if "<f" in old:
            message = f"{reference} holds a formula; it is not written over."
            raise InputError(f"{message} Name another column for grades.", (), name)
        style = _STYLE.match(old)
        amount = number_of(value)
        new = cell_xml(reference, value if amount is None else amount, style[1] if style else 0)
        cells[column] = new
    head = re.match(r"<row\b[^>]*?(/?)>", row)
    if head is None:
        raise InputError(f"This sheet cannot be written to. {_MEND}", (), name)
    opened = _SPANS.sub("", head[0]).removesuffix("/>").removesuffix(">") + ">"
    return opened + "".join(cells[c] for c in sorted(cells)) + "</row>"


def _repacked_archive(book: bytes, parts: Mapping[str, str], *, recalculate: bool) -> bytes:
    """Return the archive with these parts replaced; ``recalculate`` formulas when it is opened."""
    data = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(book)) as old, zipfile.ZipFile(data, "w") as new:
        for info in old.infolist():
            path = info.filename
            content = parts[path].encode() if path in parts else old.read(info)
            if recalculate and path.endswith("workbook.xml"):
                content = _WORKED_OUT.sub(rb'<calcPr fullCalcOnLoad="1"', content)
            info.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(info, content)
    return data.getvalue()
