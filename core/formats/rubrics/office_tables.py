"""Tables in workbooks, Word documents and Markdown, in the form that table readers accept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from core.errors import InputError, Problem
from core.formats.office.documents import is_word, word_blocks
from core.formats.office.markdown import markdown_tables, words_around
from core.formats.office.sheet import cell_name
from core.formats.office.workbook import Workbook, book_in
from core.formats.source.csv_reader import MAX_COLUMNS, RawTable, raw_table
from core.formats.source.heading import header_at, titles_notice
from core.formats.source.opened import Opened
from core.formats.source.parsed import refusal

#: The rows of a table by number from 1.
Rows = dict[int, list[str]]
#: The most cells of a rubric table, including empty ones between others.
MOST_CELLS = 100_000
#: The number of rows to search for the header.
_FIRST = 40


class RubricTable(NamedTuple):
    """A table that may be a rubric, below its titles, and notices of these."""

    raw: RawTable
    notices: tuple[Problem, ...]


def office_tables(
    opened: Opened, is_rubric: Callable[[Sequence[str], Sequence[Sequence[str]]], bool]
) -> tuple[RubricTable, ...] | None:
    """Return the rubric tables in a workbook, document or Markdown; ``None`` for other files.

    Titles above a header are left out. Sheets and tables without a rubric are skipped.

    Raises:
        InputError: the file is damaged, protected, or of an unsupported format; or a cell of a
            rubric's sheet holds an error, or a formula without its result.
    """
    name, book, around = opened.name, opened.once(book_in), tuple[Problem, ...]()
    if book is not None:
        tables = [(sheet, _sheet_rows(book, name, sheet)) for sheet in book.filled_sheets]
    elif is_word(opened):
        tables = list(_document_tables(opened))
    elif tables := [(table.title, table.rows) for table in markdown_tables(opened)]:
        around = words_around(opened)
    else:
        return None
    fit = [(t, rows) for t, rows in tables if rows and is_rubric(*_headings_and_rows(rows))]
    ending = PurePosixPath(name).suffix
    several = len(fit) > 1
    read = [_table_below_titles(f"{t}{ending}" if several and t else name, rows) for t, rows in fit]
    return tuple(RubricTable(raw, (*notices, *around)) for raw, notices in read)


def _header_row(rows: Rows) -> int:
    """Return the number of the header row."""
    return list(rows)[header_at(list(rows.values())[:_FIRST])]


def _headings_and_rows(rows: Rows) -> tuple[list[str], list[list[str]]]:
    """Return the headings, and the rows below them."""
    header = _header_row(rows)
    return rows[header], [row for n, row in rows.items() if n > header]


def _table_below_titles(name: str, rows: Rows) -> RubricTable:
    header, last = _header_row(rows), max(rows)
    titles = [row for n, row in rows.items() if n < header]
    body = {n: row for n, row in rows.items() if n >= header}
    wide = max(map(len, body.values()))
    if last * wide > MOST_CELLS:
        message = f"reaches to {cell_name(last - 1, wide - 1)}; a rubric has fewer cells."
        mend = "Delete the columns and rows beyond its table."
        raise refusal("rubric", [Problem(message, mend)], name)
    notices = (titles_notice(titles, min(rows)),) if titles else ()
    return RubricTable(raw_table(name, body), notices)


def _sheet_rows(book: Workbook, name: str, sheet: str) -> Rows:
    cells, _ = book.sheet(sheet)
    numbers, widths = sorted(cells.rows), {n: max(row) + 1 for n, row in cells.rows.items()}
    if numbers[-1] * max(widths.values()) > MOST_CELLS:
        # Too large for a rubric: keep only enough to recognise it and its size.
        widest = max(numbers, key=widths.__getitem__)
        numbers = sorted({*numbers[:_FIRST], widest, numbers[-1]})
    rows: Rows = {}
    for n in numbers:
        reach = range(min(widths[n], MAX_COLUMNS))
        rows[n + 1] = [_one_line(cells.rows[n].get(column, "")) for column in reach]
    for top, left, bottom, right in cells.merged:
        if right > left and top + 1 in rows and left not in (0,) and bottom >= top:
            area = f"{cell_name(top, left)}:{cell_name(bottom, right)}"
            message = f"{area} spans several levels; every level needs a cell of its own."
            raise InputError("This rubric is not valid.", (Problem(message, "Split it."),), name)
    return rows


def _document_tables(opened: Opened) -> Iterator[tuple[str, Rows]]:
    """Return the tables of a document, each with the paragraph before it."""
    blocks, _ = word_blocks(opened)
    title = ""
    for block in blocks:
        if isinstance(block, str):
            title = _one_line(block)[:200]
        else:
            yield title, {n: list(map(_one_line, row)) for n, row in enumerate(block, start=1)}


def _one_line(text: str) -> str:
    return " ".join(text.split())
