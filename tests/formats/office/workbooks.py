"""Workbooks made for tests: .xlsx by openpyxl (another program), .ods by hand."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from openpyxl import Workbook

#: The grades of Fleiss' hand-worked example would be long; these eight rows are two raters who
#: agree on six of eight items: observed .75, expected .5 (each says yes four times), kappa .5.
VOTES = [
    ["item", "ann", "bob"],
    *([f"essay {n}", a, b] for n, (a, b) in enumerate(zip("yyyynnnn", "yyynynnn", strict=True))),
]


def xlsx(
    sheets: Mapping[str, Sequence[Sequence[Any]]], change: Callable[[Workbook], None] | None = None
) -> bytes:
    """A workbook with these sheets, and what ``change`` does to it before it is saved."""
    book = Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(list(row))
    if change is not None:
        change(book)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def zipped(files: Mapping[str, str | bytes]) -> bytes:
    """An archive of these files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


_ODS = "application/vnd.oasis.opendocument.spreadsheet"
_SPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for name in ("office", "table", "text")
)


def ods(tables: Mapping[str, str]) -> bytes:
    """A workbook of LibreOffice: by the names of its sheets, the XML of their rows."""
    inside = "".join(
        f'<table:table table:name="{name}">{rows}</table:table>' for name, rows in tables.items()
    )
    content = (
        f'<?xml version="1.0"?><office:document-content {_SPACES}><office:body>'
        f"<office:spreadsheet>{inside}</office:spreadsheet></office:body></office:document-content>"
    )
    return zipped({"mimetype": _ODS, "content.xml": content})


def ods_row(*cells: str, repeated: int = 1) -> str:
    """A row of texts, or of cells that are XML already."""
    inner = "".join(
        cell if cell.startswith("<") else ods_cell("string", cell, cell) for cell in cells
    )
    return f'<table:table-row table:number-rows-repeated="{repeated}">{inner}</table:table-row>'


def ods_cell(kind: str, value: str, shown: str) -> str:
    """A cell with a value of a kind and the text that shows it."""
    name = {"float": "value", "percentage": "value"}.get(kind, f"{kind}-value")
    return (
        f'<table:table-cell office:value-type="{kind}" office:{name}="{value}">'
        f"<text:p>{shown}</text:p></table:table-cell>"
    )
