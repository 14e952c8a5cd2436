"""Excel workbooks (.xlsx): sheets by name, and cells as shown."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator

from core.errors import InputError
from core.formats.office.markup import Attributes, Enough, walk
from core.formats.office.sheet import FilledCells, cell_position, whole_number
from core.formats.office.sheet_values import (
    CellFormat,
    format_of,
    iso_shown,
    number_shown,
    unescape_cell,
)
from core.formats.source.archives import Unpacked


class ExcelBook:
    """An Excel workbook: sheets by name, and whether each is hidden."""

    def __init__(self, archive: Unpacked, name: str) -> None:
        self._archive, self._name = archive, name
        self._book = next(m for m in self._archive.members if m.endswith("workbook.xml"))
        self._texts: list[str] | None = None
        self._mac = False
        self.sheets: dict[str, bool] = {}
        self._parts: dict[str, str] = {}
        self._list_sheets()
        self._formats = list(self._read_cell_formats())

    def _walk(
        self,
        member: str,
        start: Callable[[str, Attributes], None],
        quick: bool = False,
        **more: Callable[[str], None],
    ) -> None:
        walk(self._archive.xml(member), self._name, start=start, quick=quick, **more)

    def _list_sheets(self) -> None:
        related: dict[str, str] = {}
        folder, file = posixpath.split(self._book)

        def relation(tag: str, attributes: Attributes) -> None:
            if tag == "Relationship" and attributes.get("TargetMode") != "External":
                target = attributes.get("Target", "")
                full = target[1:] if target.startswith("/") else posixpath.join(folder, target)
                related[attributes.get("Id", "")] = posixpath.normpath(full)

        def sheet(tag: str, attributes: Attributes) -> None:
            if tag == "workbookPr":
                self._mac = attributes.get("date1904") in ("1", "true")
            elif tag == "sheet":
                part = related.get(attributes.get("id", ""), "")
                if part in self._archive.members and "worksheets" in part:
                    self.sheets[attributes.get("name", "")] = (
                        attributes.get("state", "visible") != "visible"
                    )
                    self._parts[attributes.get("name", "")] = part

        relations = posixpath.join(folder, "_rels", f"{file}.rels")
        if relations in self._archive.members:
            self._walk(relations, relation)
        self._walk(self._book, sheet)
        if not self.sheets:
            raise InputError("This workbook has no sheets.", (), self._name)

    def part_of(self, sheet: str) -> str:
        """Return the file in the archive that holds a sheet."""
        return self._parts[sheet]

    def _read_cell_formats(self) -> Iterator[CellFormat]:
        member = next((m for m in self._archive.members if m.endswith("xl/styles.xml")), None)
        codes: dict[int, str] = {}
        used = list[int]()
        inside = False

        def start(tag: str, attributes: Attributes) -> None:
            nonlocal inside
            if tag == "numFmt":
                codes[whole_number(attributes.get("numFmtId"))] = attributes.get("formatCode", "")
            elif tag == "cellXfs":
                inside = True
            elif tag == "xf" and inside:
                used.append(whole_number(attributes.get("numFmtId")))

        def end(tag: str) -> None:
            nonlocal inside
            inside = inside and tag != "cellXfs"

        if member is not None:
            self._walk(member, start, end=end)
        return (format_of(number, codes.get(number)) for number in used)

    def _read_shared_texts(self) -> list[str]:
        """Return the texts that cells of all sheets share."""
        if self._texts is None:
            self._texts = []
            member = next((m for m in self._archive.members if m.endswith("sharedStrings.xml")), "")
            if member:
                reader = _RichTexts("si", self._texts.append)
                self._walk(member, reader.start, True, end=reader.end, text=reader.text)
        return self._texts

    def has_rows(self, sheet: str) -> bool:
        """Return whether a sheet has a heading and at least one row."""
        cells = _XlsxSheet(FilledCells(sheet), [], [], False, most_rows=2)
        self._walk(self._parts[sheet], cells.start, end=cells.end, text=cells.text)
        return cells.seen > 1

    def read(self, sheet: str) -> FilledCells:
        """Return a whole sheet."""
        reader = _XlsxSheet(FilledCells(sheet), self._read_shared_texts(), self._formats, self._mac)
        part = self._parts[sheet]
        self._walk(part, reader.start, True, end=reader.end, text=reader.text)
        return reader.sheet


class _RichTexts:
    """Collects rich texts: all their runs, without phonetic readings."""

    def __init__(self, tag: str, keep: Callable[[str], None]) -> None:
        self._whole, self._keep = tag, keep
        self._parts, self._in_text, self._aside = list[str](), False, 0

    def start(self, tag: str, _: Attributes) -> None:
        if tag == self._whole:
            self._parts = []
        elif tag == "rPh":
            self._aside += 1
        self._in_text = tag == "t" and not self._aside

    def end(self, tag: str) -> None:
        self._in_text = False
        if tag == "rPh":
            self._aside -= 1
        elif tag == self._whole:
            self._keep(unescape_cell("".join(self._parts)).replace("\r\n", "\n"))

    def text(self, text: str) -> None:
        if self._in_text:
            self._parts.append(text)


#: The format of a cell that specifies none.
_NUMBER = CellFormat()


class _XlsxSheet:
    """Converts events of a sheet's XML to its cells."""

    def __init__(
        self,
        sheet: FilledCells,
        shared: list[str],
        formats: list[CellFormat],
        mac: bool,
        most_rows: int = 0,
    ) -> None:
        self.sheet, self.seen = sheet, 0
        self._shared, self._formats, self._mac, self._most = shared, formats, mac, most_rows
        self._row = self._column = -1
        #: The number at the end of the row's cell references; known columns by their letters.
        self._row_number, self._columns = "", dict[str, int]()
        self._cell: Attributes = {}
        self._kind, self._value = "n", list[str]()
        self._in_value = self._formula = False
        self._inline = _RichTexts("is", self._value.append)
        self._hidden, self._filled = False, False

    def start(self, tag: str, attributes: Attributes) -> None:
        # The commonest tags come first.
        if tag == "c":
            self._cell, self._kind = attributes, attributes.get("t", "n")
            self._value.clear()
            self._formula = False
        elif tag == "v":
            self._in_value = True
        elif tag == "f":
            self._formula = True
        elif self._kind == "inlineStr":
            self._inline.start(tag, attributes)
        elif tag == "row":
            number = whole_number(attributes.get("r"))
            self._row = number - 1 if number else self._row + 1
            self._row_number = str(self._row + 1)
            self._column, self._filled = -1, False
            self._hidden = attributes.get("hidden") in ("1", "true")
        elif tag == "mergeCell":
            self._add_merged_area(attributes.get("ref", ""))

    def _add_merged_area(self, reference: str) -> None:
        first, _, last = reference.partition(":")
        start, end = cell_position(first), cell_position(last)
        if start and end:
            self.sheet.merge((*start, *end))

    def text(self, text: str) -> None:
        if self._in_value:
            self._value.append(text)
        elif self._kind == "inlineStr":
            self._inline.text(text)

    def end(self, tag: str) -> None:
        if tag == "v":
            self._in_value = False
        elif tag == "c":
            self._end_cell()
            self._kind = "n"
        elif self._kind == "inlineStr":
            self._inline.end(tag)
        elif tag == "row":
            self.seen += self._filled
            self.sheet.hidden_rows += self._filled and self._hidden
            if self._most and self.seen >= self._most:
                raise Enough

    def _move_to_cell(self) -> None:
        """Move to the cell's place: by its reference, or one column to the right."""
        reference = self._cell.get("r", "")
        letters = reference.removesuffix(self._row_number)
        column = self._columns.get(letters)
        if column is not None and letters != reference:
            self._column = column
        elif place := cell_position(reference):
            self._row, self._column = place
            self._row_number = str(self._row + 1)
            self._columns[reference.removesuffix(self._row_number)] = self._column
        else:
            self._column += 1

    def _end_cell(self) -> None:
        self._move_to_cell()
        kind, value = self._kind, "".join(self._value)
        if self._most:
            self._filled = self._filled or bool(value.strip()) or self._formula
            return
        if kind == "e" or (self._formula and not value and kind != "str"):
            error = value if kind == "e" else ""
            self.sheet.put_fault(self._row, self._column, error)
            self._filled = True
            return
        shown = self._shown_text(kind, value)
        if shown.strip():
            self._filled = True
            self.sheet.put(self._row, self._column, shown)

    def _shown_text(self, kind: str, value: str) -> str:
        if kind == "s":
            try:
                return self._shared[int(value)] if value.isdigit() else ""
            except (ValueError, IndexError):
                return ""
        if kind == "b":
            return "TRUE" if value in ("1", "true") else "FALSE"
        if kind == "d":
            return iso_shown(value)
        if kind in ("str", "inlineStr"):
            return unescape_cell(value).replace("\r\n", "\n") if kind == "str" else value
        at = whole_number(self._cell.get("s"))
        form = self._formats[at] if at < len(self._formats) else _NUMBER
        try:
            return number_shown(float(value), form, mac=self._mac) if value else ""
        except ValueError:
            return value
