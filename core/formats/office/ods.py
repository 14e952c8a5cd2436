"""LibreOffice workbooks (.ods): sheets by name, and cells as shown."""

from __future__ import annotations

import re

from core.errors import InputError
from core.formats.office.markup import Attributes, walk
from core.formats.office.sheet import FilledCells, whole_number
from core.formats.office.sheet_values import CellFormat, iso_shown, number_shown, plain_number
from core.formats.source.archives import Unpacked


class OpenBook:
    """A LibreOffice workbook, whose sheets are all parsed in one pass."""

    def __init__(self, archive: Unpacked, name: str) -> None:
        self._archive, self._name = archive, name
        manifest = "META-INF/manifest.xml"
        if manifest in self._archive.members and b"encryption-data" in self._archive.read(manifest):
            message = "This workbook is protected by a password. Save it without one."
            raise InputError(message, (), name)
        self._read = self._parse_sheets()
        self.sheets = dict.fromkeys(self._read.sheets, False)
        several = {name for name, cells in self._read.sheets.items() if len(cells.rows) > 1}
        self._filled = several | self._read.refused.keys()

    def _parse_sheets(self) -> _OdsSheets:
        reader = _OdsSheets()
        chunks = self._archive.xml("content.xml")
        walk(chunks, self._name, start=reader.start, end=reader.end, text=reader.text)
        return reader

    def has_rows(self, sheet: str) -> bool:
        """Return whether a sheet has a heading and at least one row."""
        return sheet in self._filled

    def read(self, sheet: str) -> FilledCells:
        """Return a whole sheet, without caching it. Raises ``InputError`` if it is too large."""
        if sheet in self._read.refused:
            raise self._read.refused[sheet]
        if sheet not in self._read.sheets:
            self._read = self._parse_sheets()
        return self._read.sheets.pop(sheet)


class _OdsSheets:
    """Converts events of content.xml to the cells of its sheets.

    ``refused`` holds the errors of sheets that are too large, whose cells are dropped.
    """

    def __init__(self) -> None:
        self.sheets, self.refused = dict[str, FilledCells](), dict[str, InputError]()
        self._sheet, self._row, self._column = FilledCells(""), 0, 0
        self._rows_repeated = 1
        self._cell: Attributes | None = None
        self._lines, self._depth = list[list[str]](), 0
        self._aside, self._hidden = 0, False
        self._found: list[tuple[int, str]] = []

    def start(self, tag: str, attributes: Attributes) -> None:
        if tag == "table":
            name = attributes.get("name", "")
            self._sheet, self._row = self.sheets.setdefault(name, FilledCells(name)), 0
        elif tag == "table-row":
            self._column, self._found = 0, []
            self._rows_repeated = max(1, whole_number(attributes.get("number-rows-repeated")))
            self._hidden = attributes.get("visibility", "visible") != "visible"
        elif tag in ("table-cell", "covered-table-cell"):
            self._cell, self._lines = attributes, []
        elif tag in ("annotation", "shapes"):
            self._aside += 1
        elif self._cell is not None and not self._aside:
            self._add_white_space(tag, attributes)

    def _add_white_space(self, tag: str, attributes: Attributes) -> None:
        if tag in ("p", "h"):
            self._lines.append([])
            self._depth += 1
        elif self._lines and tag == "s":
            self._lines[-1].append(" " * min(max(1, whole_number(attributes.get("c"))), 1000))
        elif self._lines and tag in ("tab", "line-break"):
            self._lines[-1].append("\t" if tag == "tab" else "\n")

    def text(self, text: str) -> None:
        if self._depth and self._lines and not self._aside:
            self._lines[-1].append(text)

    def end(self, tag: str) -> None:
        if tag in ("annotation", "shapes"):
            self._aside -= 1
        elif tag in ("p", "h") and self._depth and not self._aside:
            self._depth -= 1
        elif tag in ("table-cell", "covered-table-cell") and self._cell is not None:
            self._end_cell(self._cell, covered=tag[0] == "c")
            self._cell = None
        elif tag == "table-row":
            self._end_row()

    def _end_cell(self, attributes: Attributes, *, covered: bool) -> None:
        times = max(1, whole_number(attributes.get("number-columns-repeated")))
        text = "\n".join("".join(line) for line in self._lines)
        shown = "" if covered else self._shown_text(attributes, text)
        self._record_merges_and_faults(attributes, shown)
        if shown.strip():
            # A sheet has 16,384 columns at most.
            for column in range(self._column, min(self._column + times, 16_384)):
                self._found.append((column, shown))
        self._column += times

    def _record_merges_and_faults(self, attributes: Attributes, shown: str) -> None:
        wide = whole_number(attributes.get("number-columns-spanned"))
        high = whole_number(attributes.get("number-rows-spanned"))
        if wide > 1 or high > 1:
            last = self._row + max(high, 1) - 1, self._column + max(wide, 1) - 1
            self._sheet.merge((self._row, self._column, *last))
        if "formula" in attributes:
            wrong = shown.startswith(("Err:", "#")) and attributes.get("value-type") in (
                None,
                "string",
            )
            if not shown or wrong or attributes.get("value-type") == "error":
                self._sheet.put_fault(self._row, self._column, shown)

    def _end_row(self) -> None:
        # A damaged file may have rows outside of a table.
        sheet = self.sheets.setdefault(self._sheet.name, self._sheet) if self._found else None
        if sheet is not None and sheet.name not in self.refused:
            sheet.hidden_rows += self._rows_repeated if self._hidden else 0
            try:
                for row in range(self._row, self._row + self._rows_repeated):
                    for column, shown in self._found:
                        sheet.put(row, column, shown)
            except InputError as error:
                self.refused[sheet.name] = error
                sheet.rows.clear()
        self._row += self._rows_repeated

    def _shown_text(self, attributes: Attributes, text: str) -> str:
        kind = attributes.get("value-type", "")
        if kind in ("float", "currency", "percentage"):
            try:
                value = float(attributes.get("value", ""))
            except ValueError:
                return text
            if kind == "percentage":
                return number_shown(value, CellFormat("percent"))
            return _padded_number(text, value)
        if kind == "date":
            return iso_shown(attributes.get("date-value", text))
        if kind == "time":
            return _duration_text(attributes.get("time-value", "")) or text
        if kind == "boolean":
            return attributes.get("boolean-value", text).upper()
        return text


def _padded_number(text: str, value: float) -> str:
    """Return a whole number as shown, if that begins with zeros."""
    shown = re.fullmatch(r"0\d+", text)
    return text if shown and float(text) == value else plain_number(value)


def _duration_text(text: str) -> str:
    match = re.fullmatch(r"PT(\d+)H(\d+)M(\d+)(?:[.,]\d+)?S", text)
    if match is None:
        return ""
    hours, minutes, seconds = map(int, match.groups())
    if hours < 24:
        return f"{hours:02d}:{minutes:02d}" + (f":{seconds:02d}" if seconds else "")
    return f"{hours}:{minutes:02d}:{seconds:02d}"
