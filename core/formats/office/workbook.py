"""Workbooks (.xlsx, .ods): choose a sheet and read its rows as texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Literal

from core.errors import InputError
from core.formats.office.ods import OpenBook
from core.formats.office.sheet import FilledCells
from core.formats.office.xlsx import ExcelBook
from core.formats.source.heading import header_at
from core.formats.source.opened import Opened
from core.formats.source.parsed import limited

BookKind = Literal["xlsx", "ods"]
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ODS = b"application/vnd.oasis.opendocument.spreadsheet"


#: A legend, a codebook or a list of things to do has at most so many rows and columns.
_LIST_ROWS, _LIST_COLUMNS = 25, 2
#: The most columns to compare the headings of sheets by.
_SHOWN = 200
#: The name that stands for all sheets, appended to each other.
EVERY = "*"


class SheetNotChosen(InputError):
    """An error: several sheets of a workbook have rows, and none was chosen."""

    def __init__(self, sheets: tuple[str, ...], where: str, alike: Sequence[str] = ()) -> None:
        self.sheets, self.alike = sheets, alike
        named = ", ".join(repr(name) for name in sheets)
        message = f"This workbook has rows on {len(sheets)} sheets: {named}. Name one with --sheet."
        if alike:
            which = "Their columns" if len(alike) == len(sheets) else "The columns of "
            which += ", ".join(map(repr, alike)) if len(alike) < len(sheets) else ""
            message += f" {which} are the same: --sheet '{EVERY}' reads them as one table."
        super().__init__(message, (), where)


def refuse_old(opened: Opened) -> None:
    """Refuse unsupported kinds of workbooks, with a way to convert them.

    Raises:
        InputError: protected by a password, or of an old or binary format.
    """
    if not opened.head.startswith(_OLE):
        return
    if "EncryptedPackage".encode("utf-16-le") in opened.data:
        message = "This file is protected by a password. Save it without one."
    elif "WordDocument".encode("utf-16-le") in opened.data:
        message = "This is a document in the old .doc format. Save it as .docx."
    else:
        message = "This workbook is in the old .xls format. Save it as .xlsx."
    raise InputError(message, (), opened.name)


def book_in(opened: Opened) -> Workbook | None:
    """Return the workbook, or ``None`` for other files; call it through ``opened.once``.

    Raises:
        InputError: an unsupported kind of workbook, or a damaged archive.
    """
    refuse_old(opened)
    archive = opened.archive
    if archive is None:
        return None
    members = archive.members
    if "xl/workbook.bin" in members:
        raise InputError("This workbook is in the .xlsb format. Save it as .xlsx.", (), opened.name)
    if any(member.endswith(".iwa") for member in members):
        message = "This is a file of Numbers or Pages. Export it as .xlsx."
        raise InputError(message, (), opened.name)
    if "[Content_Types].xml" in members and any(m.endswith("workbook.xml") for m in members):
        return Workbook("xlsx", opened)
    if "mimetype" in members and "content.xml" in members:
        is_ods = archive.beginning("mimetype", 100).startswith(_ODS)
        return Workbook("ods", opened) if is_ods else None
    return None


class Workbook:
    """A workbook whose parts are read once, on first use."""

    def __init__(self, kind: BookKind, opened: Opened) -> None:
        assert opened.archive is not None
        self.kind, self._name, self._archive = kind, opened.name, opened.archive
        self._read: dict[str, FilledCells] = {}

    @cached_property
    def book(self) -> ExcelBook | OpenBook:
        """Return the parsed workbook. Raises ``InputError``."""
        return (ExcelBook if self.kind == "xlsx" else OpenBook)(self._archive, self._name)

    @cached_property
    def filled_sheets(self) -> tuple[str, ...]:
        """Return the names of visible sheets with a header and a row. Raises ``InputError``."""
        sheets = self.book.sheets
        return tuple(name for name in sheets if not sheets[name] and self.book.has_rows(name))

    def sheet(self, sheet: str | None = None) -> tuple[FilledCells, tuple[str, ...]]:
        """Return a sheet, and the names of other sheets with rows.

        Without ``sheet`` the only one with rows is used. Hidden sheets are skipped.

        Raises:
            SheetNotChosen: several sheets have rows.
            InputError: no such sheet, no rows, or a damaged workbook.
        """
        chosen = self._chosen_sheet(sheet)
        cells = self._cells(chosen)
        if cells.faults:
            message = f"The sheet {chosen!r} has cells without a value."
            raise InputError(message, limited(cells.faults), self._name)
        return cells, tuple(name for name in self.filled_sheets if name != chosen)

    def uncached_sheet(self, sheet: str | None = None) -> tuple[FilledCells, tuple[str, ...]]:
        """Return a sheet like ``sheet``, without caching it: the caller owns its cells."""
        cells, other_names = self.sheet(sheet)
        del self._read[cells.name]
        return cells, other_names

    def _cells(self, sheet: str) -> FilledCells:
        if sheet not in self._read:
            self._read[sheet] = self.book.read(sheet)
        return self._read[sheet]

    def _header(self, sheet: str) -> tuple[str, ...]:
        """Return the headings of a sheet, which may follow titles."""
        rows = self._cells(sheet).rows
        first = [rows[n] for n in sorted(rows)[:40]]
        wide = min(1 + max(column for row in first for column in row), _SHOWN)
        cells = [[row.get(column, "") for column in range(wide)] for row in first]
        return tuple(cells[header_at(cells)])

    def _main_sheets(self) -> tuple[str, ...]:
        """Return the sheets with rows, without short lists of words beside a table: a legend."""
        lists = {name for name in self.filled_sheets if self._is_list(name)}
        return tuple(name for name in self.filled_sheets if name not in lists) or self.filled_sheets

    def _is_list(self, sheet: str) -> bool:
        rows = self._cells(sheet).rows.values()
        return len(rows) <= _LIST_ROWS and max(max(row, default=0) for row in rows) < _LIST_COLUMNS

    def words_on(self, sheets: Iterable[str]) -> tuple[str, ...]:
        """Return the lines of lists of words: a number in the first column `= ` what it means."""
        lines = list[list[str]]()
        for sheet in sheets:
            rows = self._cells(sheet).rows if self._is_list(sheet) else {}
            lines += ([row[c].strip() for c in sorted(row)] for _, row in sorted(rows.items()))
        return tuple((" = " if row[0].isdecimal() else ": ").join(row) for row in lines)

    def _chosen_sheet(self, sheet: str | None) -> str:
        if sheet is None:
            if len(self.filled_sheets) > 1:
                if len(main := self._main_sheets()) == 1:
                    return main[0]
                first = {name: self._header(name) for name in self.filled_sheets}
                ((row, times),) = Counter(first.values()).most_common(1)
                alike = [name for name in first if first[name] == row and times > 1]
                raise SheetNotChosen(self.filled_sheets, self._name, alike)
            if not self.filled_sheets:
                message = "No sheet of this workbook has a heading and rows."
                raise InputError(message, (), self._name)
            return self.filled_sheets[0]
        if sheet in self.book.sheets:
            return sheet
        folded = sheet.strip().casefold()
        close = [name for name in self.book.sheets if name.strip().casefold() == folded]
        if len(close) != 1:
            names = ", ".join(map(repr, self.book.sheets))
            message = f"There is no sheet {sheet!r}. The sheets are {names}."
            raise InputError(message, (), self._name)
        return close[0]
