"""Tables in workbooks, Word documents and Markdown, in the form that table readers accept."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from core.errors import InputError, Problem
from core.formats.office.documents import is_word, word_blocks
from core.formats.office.markdown import ListSection, markdown_tables, sections_in, words_around
from core.formats.office.sheet import cell_name
from core.formats.office.workbook import Workbook, book_in
from core.formats.rubrics.grid_headings import maximum_in, order_of_labels, points_in, rank_of
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
        return listed_rubric(opened)
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


# Markdown without a table: a section for each criterion, with a list of its levels.

_HEADS = ["criterion", "section", "requirement", "weight", "level", "level_description", "score"]
_MARK = re.compile(r": | [\u2013\u2014=-] ")
_NUMBERED = re.compile(r"\A(?:\d+(?:\.\d+)*[.)]|[A-Za-z][.)])\s+(?=\S)")


class _ListedLevel(NamedTuple):
    label: str
    text: str
    points: float | None
    least: float | None


def listed_rubric(opened: Opened) -> tuple[RubricTable, ...] | None:
    """Return a rubric as a row for each level, if most parts of a text list levels; else ``None``.

    A level has points at either end, or a usual name. What stands around them is left out and said.
    """
    parts = sections_in(opened)
    levels = {part.line: found for part in parts if (found := _listed_levels(part))}
    texts = len(parts) - sum(not part.entries for part in parts[:1])
    if 2 * len(levels) <= texts or (len(levels) == 1 and len(next(iter(levels.values()))) < 3):
        return None
    rows = {min(levels): _HEADS}
    ranges = list[str]()
    for part in parts:
        if part.line not in levels:
            continue
        found = levels[part.line]
        first = [*_criterion_cells(part, found)]
        for line, level in found.items():
            shown = level.label or f"{level.points:g}"
            rows[line] = [*first, shown, level.text, f"{level.points:g}"]
            first = [""] * len(first)
            ranges += [shown] if level.least != level.points else []
    said = [*_words_left_out(parts, levels)]
    if ranges:
        message = f"Of a range of points the most are taken: {', '.join(ranges)[:200]}."
        said.append(Problem(message))
    return (RubricTable(raw_table(opened.name, rows), tuple(said)),)


def _listed_levels(part: ListSection) -> dict[int, _ListedLevel]:
    """Return the levels in a section's list by line; none if an entry is no level."""
    levels = {line: _listed_level(text) for line, text in part.entries.items()}
    points = [level.points for level in levels.values()]
    if len(levels) < 2:
        return {}
    if None not in points:
        return levels if len({*points}) == len(points) else {}
    labels = [level.label for level in levels.values()]
    order = order_of_labels(labels)
    if order is None or any(rank_of(label) is None for label in labels) or any(points):
        return {}
    places = range(len(levels)) if order == "worst_first" else range(len(levels) - 1, -1, -1)
    return {
        line: level._replace(points=float(place), least=float(place))
        for (line, level), place in zip(levels.items(), places, strict=True)
    }


def _listed_level(text: str) -> _ListedLevel:
    """Return the name, description and points of an entry: `3 points: text`, `Good (2) - text`."""
    for mark in _MARK.finditer(text):
        head, rest = text[: mark.start()], text[mark.end() :]
        label, points, least = points_in(head, heading=True)
        if points is not None and len(head) <= 60:
            return _ListedLevel("" if label == head else label, rest, points, least)
    head, sign, rest = _MARK.sub("\n", text, count=1).partition("\n")
    if sign and rank_of(head) is not None:
        return _ListedLevel(head, rest, None, None)
    words, points, least = points_in(text)
    return _ListedLevel("", "" if words == text else words, points, least)


def _criterion_cells(part: ListSection, levels: dict[int, _ListedLevel]) -> Iterator[str]:
    """Yield the criterion's name, section, requirement and weight."""
    name, most = maximum_in(_NUMBERED.sub("", part.title, count=1))
    best = max(level.points or 0.0 for level in levels.values())
    ranked = all(
        rank_of(level.label) is not None and level.points in range(9) for level in levels.values()
    )
    yield name
    yield _NUMBERED.sub("", part.outer, count=1)
    yield " ".join(text for line, text in part.words.items() if line < min(levels))
    yield f"{most:g}" if most else "" if best and not ranked else "10"


def _words_left_out(
    parts: Sequence[ListSection], levels: dict[int, dict[int, _ListedLevel]]
) -> Iterator[Problem]:
    """Yield the notice of what stands around the criteria."""
    words = list[str]()
    for part in parts:
        if part.line not in levels:
            words += [part.title, *part.words.values(), *part.entries.values()]
        else:
            words += [text for line, text in part.words.items() if line > min(levels[part.line])]
    text = " / ".join(words)
    if text:
        yield Problem(f"What stands around the criteria is left out: {text[:200]!r}.")
