"""Workbooks (.xlsx, .ods): choose a sheet and read its rows as texts."""

from __future__ import annotations

from typing import Literal

from core.errors import InputError
from core.formats.office.archive import Unpacked, is_zip
from core.formats.office.ods import OpenBook
from core.formats.office.sheet import FilledCells
from core.formats.office.xlsx import ExcelBook
from core.formats.source.parsed import shortened

BookKind = Literal["xlsx", "ods"]
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ODS = b"application/vnd.oasis.opendocument.spreadsheet"


class SheetNotChosen(InputError):
    """Several sheets of a workbook have rows, and none was chosen."""

    def __init__(self, sheets: tuple[str, ...], where: str) -> None:
        self.sheets = sheets
        named = ", ".join(repr(name) for name in sheets)
        super().__init__(
            f"This workbook has rows on {len(sheets)} sheets: {named}. Name one with --sheet.",
            (),
            where,
        )


def refuse_old(data: bytes, name: str) -> None:
    """Refuse unsupported kinds of workbooks, with a way to convert them.

    Raises:
        InputError: protected by a password, or of an old or binary format.
    """
    if not data.startswith(_OLE):
        return
    if "EncryptedPackage".encode("utf-16-le") in data:
        message = "This file is protected by a password. Save it without one."
    elif "WordDocument".encode("utf-16-le") in data:
        message = "This is a document in the old .doc format. Save it as .docx."
    else:
        message = "This workbook is in the old .xls format. Save it as .xlsx."
    raise InputError(message, (), name)


def book_kind(data: bytes, name: str) -> BookKind | None:
    """Return the kind of a workbook by its content; ignore damaged archives.

    Raises:
        InputError: a workbook of a kind that is not read here.
    """
    refuse_old(data, name)
    if not is_zip(data):
        return None
    members = Unpacked(data, name).members
    if "xl/workbook.bin" in members:
        raise InputError("This workbook is in the .xlsb format. Save it as .xlsx.", (), name)
    if any(member.endswith(".iwa") for member in members):
        raise InputError("This is a file of Numbers or Pages. Export it as .xlsx.", (), name)
    if "[Content_Types].xml" in members and any(m.endswith("workbook.xml") for m in members):
        return "xlsx"
    if "mimetype" in members and "content.xml" in members:
        mime = Unpacked(data, name).beginning("mimetype", 100)
        return "ods" if mime.startswith(_ODS) else None
    return None


def read_sheet(
    data: bytes, name: str, sheet: str | None = None
) -> tuple[FilledCells, tuple[str, ...]]:
    """Return a sheet of a workbook, and the names of its other sheets with rows.

    Without ``sheet`` the only one with rows is used. Hidden sheets are skipped.

    Raises:
        SheetNotChosen: several sheets have rows.
        InputError: no such sheet, no rows, or a damaged workbook.
    """
    book = _opened(data, name)
    filled = _filled(book)
    if sheet is None:
        if len(filled) > 1:
            raise SheetNotChosen(filled, name)
        if not filled:
            raise InputError("No sheet of this workbook has a heading and rows.", (), name)
        sheet = filled[0]
    elif sheet not in book.sheets:
        close = [
            other for other in book.sheets if other.strip().casefold() == sheet.strip().casefold()
        ]
        if len(close) != 1:
            names = ", ".join(map(repr, book.sheets))
            raise InputError(f"There is no sheet {sheet!r}. The sheets are {names}.", (), name)
        (sheet,) = close
    cells = book.read(sheet)
    if cells.faults:
        message = f"The sheet {sheet!r} has cells without a value."
        raise InputError(message, shortened(cells.faults), name)
    return cells, tuple(other for other in filled if other != sheet)


def sheets_with_rows(data: bytes, name: str) -> tuple[str, ...]:
    """Return the names of visible sheets with a header and a row."""
    return _filled(_opened(data, name))


def _opened(data: bytes, name: str) -> ExcelBook | OpenBook:
    return ExcelBook(data, name) if book_kind(data, name) == "xlsx" else OpenBook(data, name)


def _filled(book: ExcelBook | OpenBook) -> tuple[str, ...]:
    return tuple(sheet for sheet in book.sheets if not book.sheets[sheet] and book.has_rows(sheet))
