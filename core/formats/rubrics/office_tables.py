"""Rubrics in workbooks and documents of Word: their tables as the text that table readers read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from core.errors import InputError, Problem
from core.formats.office.documents import is_word, word_blocks
from core.formats.office.sheet import address
from core.formats.office.workbook import book_kind, read_sheet, sheets_with_rows
from core.formats.source.csv_writer import csv_text
from core.formats.source.heading import header_at, said_titles

#: The rows of a table by their numbers from 1.
Rows = dict[int, list[str]]


class WrittenTable(NamedTuple):
    """A table as CSV, each row on the line of its number; ``name`` is what its rubric is called."""

    name: str
    text: str
    notices: tuple[Problem, ...]


def office_tables(
    data: bytes, name: str, is_rubric: Callable[[Sequence[str]], bool]
) -> tuple[WrittenTable, ...] | None:
    """The tables in a workbook or document that are rubrics; ``None`` of files of other kinds.

    Titles above a header are left out. Sheets and tables that are no rubric are passed over.

    Raises:
        InputError: the file is damaged, protected, or of a format that is not read; or a rubric's
            sheet has cells that show no value.
    """
    if book_kind(data, name) is not None:
        found = [(sheet, _sheet(data, name, sheet)) for sheet in sheets_with_rows(data, name)]
    elif is_word(data, name):
        found = list(_tables(data, name))
    else:
        return None
    fit = [(title, rows) for title, rows in found if rows and is_rubric(rows[_header(rows)])]
    ending = PurePosixPath(name).suffix
    several = len(fit) > 1
    return tuple(_written(f"{t}{ending}" if several and t else name, rows) for t, rows in fit)


def _header(rows: Rows) -> int:
    """The number of the row that is the header."""
    numbers = list(rows)
    return numbers[header_at([rows[n] for n in numbers[:40]])]


def _written(name: str, rows: Rows) -> WrittenTable:
    header = _header(rows)
    titles = [rows[n] for n in rows if n < header]
    wide = max(len(rows[n]) for n in rows if n >= header)
    lines = list[str]()
    for number in range(1, max(rows) + 1):
        cells = rows.get(number, []) if number >= header else []
        padded = [*cells, *[""] * (wide - len(cells))]
        lines.append(csv_text(padded, [], guarded=False) if cells else "\n")
    said = (said_titles(titles, min(rows)),) if titles else ()
    return WrittenTable(name, "".join(lines), said)


def _sheet(data: bytes, name: str, sheet: str) -> Rows:
    found, _ = read_sheet(data, name, sheet)
    rows: Rows = {}
    for number in sorted(found.rows):
        cells = found.rows[number]
        rows[number + 1] = [_line(cells.get(c, "")) for c in range(max(cells) + 1)]
    for top, left, bottom, right in found.merged:
        if right > left and top + 1 in rows and left not in (0,) and bottom >= top:
            area = f"{address(top, left)}:{address(bottom, right)}"
            message = f"{area} spans several levels; every level needs a cell of its own."
            raise InputError("This rubric is not valid.", (Problem(message, "Split it."),), name)
    return rows


def _tables(data: bytes, name: str) -> Iterator[tuple[str, Rows]]:
    """The tables of a document, each with the paragraph before it."""
    blocks, _ = word_blocks(data, name)
    title = ""
    for block in blocks:
        if isinstance(block, str):
            title = _line(block)[:200]
        else:
            yield title, {n: [_line(cell) for cell in row] for n, row in enumerate(block, start=1)}


def _line(text: str) -> str:
    return " ".join(text.split())
