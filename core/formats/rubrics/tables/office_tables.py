"""Tables in workbooks, Word documents and Markdown, in the form that table readers accept."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from core.errors import InputError, Problem
from core.formats.office.documents import is_word, word_blocks
from core.formats.office.markdown import (
    ListSection,
    are_below_one_heading,
    left_out,
    markdown_tables,
    sections_in,
    words_around,
)
from core.formats.office.sheet import cell_name
from core.formats.office.workbook import Workbook, book_in
from core.formats.rubrics.foreign import MET_WORD, UNMET_WORD, first_names
from core.formats.rubrics.grid_headings import (
    maximum_in,
    order_of_labels,
    points_in,
    rank_of,
    role_of,
    weight_in_name,
)
from core.formats.source.csv_reader import MAX_COLUMNS, RawTable, raw_table
from core.formats.source.heading import header_at, titles_notice
from core.formats.source.opened import Opened
from core.formats.source.parsed import refusal
from core.text.names import fold

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


#: Up to eight words without a number, and no sentence.
_TITLE = re.compile(r"(?:[^\W\d]\S*(?: |(?=\Z))){1,8}(?<![.:;!?])")


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
    elif not (tables := [(table.title, table.rows) for table in markdown_tables(opened)]):
        return listed_rubric(opened)
    fit = [(t, rows) for t, rows in tables if rows and is_rubric(*_headings_and_rows(rows))]
    skipped = [title or "a table" for title, rows in tables if rows and (title, rows) not in fit]
    titles = {title for title, _ in fit} if len(fit) > 1 else set[str]()
    if is_word(opened):
        texts = [
            _one_line(block) for block in opened.once(word_blocks)[0] if isinstance(block, str)
        ]
        # A document's title says nothing about the criteria.
        texts = texts[1:] if texts and _TITLE.fullmatch(texts[0]) else texts
        around = left_out([text for text in texts if text[:200] not in titles])
    elif book is None:
        around = words_around(opened, titles)
    if book is None and _are_sections(fit, opened):
        fit = [("", _joined_sections(fit))]
    ending = PurePosixPath(name).suffix
    several = len(fit) > 1
    if fit and skipped:
        around = (*around, Problem(f"Left out, as they are no rubrics: {first_names(skipped)}."))
    read = [_table_below_titles(f"{t}{ending}" if several and t else name, rows) for t, rows in fit]
    return tuple(RubricTable(raw, (*notices, *around)) for raw, notices in read)


def _header_row(rows: Rows) -> int:
    """Return the number of the header row."""
    return list(rows)[header_at(list(rows.values())[:_FIRST])]


def _headings_and_rows(rows: Rows) -> tuple[list[str], list[list[str]]]:
    """Return the headings, and the rows below them."""
    header = _header_row(rows)
    return rows[header], [row for n, row in rows.items() if n > header]


def _are_sections(tables: Sequence[tuple[str, Rows]], opened: Opened) -> bool:
    """Return whether tables are parts of one rubric: alike, below one heading or of one whole."""
    heads = {tuple(_headings_and_rows(rows)[0]) for _, rows in tables}
    if len(heads) > 1 or not 1 < len(tables) == len({title for title, _ in tables if title}):
        return False
    titles = [title for title, _ in tables]
    if all(map(weight_in_name, titles)) or are_below_one_heading(opened, titles):
        return True
    (head,) = heads
    columns = [at for at, name in enumerate(head) if role_of(fold(name)) == "weight"]
    sums = [
        sum(points_in(cell.strip(" %")).points or 0 for cell in _column(rows, at))
        for at in columns[:1]
        for _, rows in tables
    ]
    return round(sum(sums)) == 100 and max(sums) < 100


def _column(rows: Rows, at: int) -> list[str]:
    return [row[at] for row in _headings_and_rows(rows)[1] if at < len(row)]


def _joined_sections(tables: Sequence[tuple[str, Rows]]) -> Rows:
    """Return the rows of tables below one header, each with its table's title as section."""
    joined: Rows = {}
    for title, rows in tables:
        header, named = _header_row(rows), weight_in_name(title)
        # The tables of a document have no lines: each counts its rows.
        last = max(joined, default=0) if header <= max(joined, default=0) else 0
        if not joined:
            joined[header] = ["Section", *rows[header]]
        section = named[0] if named else title
        joined |= {last + n: [section, *row] for n, row in rows.items() if n > header}
    return joined


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
        # The table is too large for a rubric: keep only what identifies it and its size.
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
    blocks, _ = opened.once(word_blocks)
    title = ""
    for block in blocks:
        if isinstance(block, str):
            title = _one_line(block)[:200]
        else:
            yield title, {n: list(map(_one_line, row)) for n, row in enumerate(block, start=1)}


def _one_line(text: str) -> str:
    return " ".join(text.split())


# Markdown without a table: a section for each criterion, with a list of its levels.

_HEADS = [
    *("criterion", "section", "requirement", "weight", "scale"),
    *("level", "level_description", "score"),
]
#: The most steps of a scale whose levels between are made.
_MOST_STEPS = 20
_MARK = re.compile(r": | [\u2013\u2014=-] ")
_NUMBERED = re.compile(r"\A(?:\d+(?:\.\d+)*[.)]|[A-Za-z][.)])\s+(?=\S)")


class _ListedLevel(NamedTuple):
    label: str
    text: str
    points: float | None
    least: float | None


def listed_rubric(opened: Opened) -> tuple[RubricTable, ...] | None:
    """Return a rubric as a row for each level, if most parts of a text list levels; else ``None``.

    A level has points at either end, or a usual name. A notice reports the text around them, which
    is left out.
    """
    parts = sections_in(opened)
    levels = {part.line: found for part in parts if (found := _listed_levels(part))}
    texts = len(parts) - sum(not part.entries for part in parts[:1])
    if 2 * len(levels) <= texts or (len(levels) == 1 and len(next(iter(levels.values()))) < 3):
        return None
    asked = _yes_or_no_parts(parts, levels)
    words = _words_left_out(parts, levels, asked)
    rows = {min(levels): _HEADS}
    ranges, made = list[str](), list[str]()
    for part in parts:
        if part.line in asked:
            name, text = _NUMBERED.sub("", part.title, count=1), part.words[asked[part.line]]
            rows[part.line] = [name, part.outer, text, "0", "", MET_WORD, "", "1"]
            rows[asked[part.line]] = [*[""] * 5, UNMET_WORD, "", "0"]
        if part.line not in levels:
            continue
        found = levels[part.line]
        scale = _scale_said([*words, *part.words.values()], [*found.values()])
        first = [*_criterion_cells(part, found), scale]
        made += [first[0]] if scale else []
        for line, level in found.items():
            shown = level.label or f"{level.points:g}"
            rows[line] = [*first, shown, level.text, f"{level.points:g}"]
            first = [""] * len(first)
            ranges += [shown] if level.least != level.points else []
    said = [*left_out(words, "the criteria")]
    if asked:
        names = first_names([part.title for part in parts if part.line in asked])
        message = f"Of yes and no nothing says which is better, so this weighs 0: {names}."
        said.append(Problem(message, "Give it a weight, below 0 if yes is bad."))
    if ranges:
        message = f"Of a range of points the most are taken: {', '.join(ranges)[:200]}."
        said.append(Problem(message))
    if made:
        message = f"Levels between those described are made, as the text says: {first_names(made)}."
        said.append(Problem(message))
    return (RubricTable(raw_table(opened.name, rows), tuple(said)),)


#: *Mark yes if ..., otherwise no*; *yes / no*.
_YES_OR_NO = re.compile(
    r"\b(?:yes\b.*\bno|no\b.*\byes|ja\b.*\b(?:nein|nee|nej|nei)|(?:nein|nee|nej|nei)\b.*\bja"
    r"|oui\b.*\bnon|non\b.*\boui|s[ií]\b.*\bno|no\b.*\bs[ií]|sì\b.*\bno|no\b.*\bsì"
    r"|sim\b.*\bnão|não\b.*\bsim)\b",
    re.IGNORECASE,
)
#: The most words of a question that is answered by yes or no.
_MOST_WORDS = 40


def _yes_or_no_parts(parts: Sequence[ListSection], levels: Collection[int]) -> dict[int, int]:
    """Return the parts that stand as those with levels do and ask for yes or no, by line.

    Each with the line that asks, which is the first of its words.
    """
    above = {part.outer for part in parts if part.line in levels}
    beside = (
        p for p in parts if p.line not in levels and p.line > min(levels) and p.outer in above
    )
    return {
        part.line: line
        for part in beside
        for line, text in list(part.words.items())[:1]
        if not part.entries
        and len(text.split()) <= _MOST_WORDS
        and _YES_OR_NO.search(re.sub(r"[*_`]", " ", text))
    }


_BETWEEN = re.compile(
    r"\b(between|in-between|intermediate|zwischen|dazwischen|zwischenstufen?|entre|intermédiaires?"
    r"|intermedios?|intermediários?|tra|fra|intermedi|tussen|tussenin|tussenliggende)\b",
    re.IGNORECASE,
)
_FROM_TO = re.compile(
    r"(?<![\d.,])(\d{1,2})\s*(?:-|–|to|bis|à|a|al|tot|até)\s*(\d{1,2})(?!\d|[.,]\d)"
)


def _scale_said(lines: Sequence[str], levels: Sequence[_ListedLevel]) -> str:
    """Return the ends of a scale of plain numbers if a line says that those between count too."""
    named = [f"{level.points:g}" for level in levels if not level.label]
    if len(named) < len(levels) or not all(map(str.isdecimal, named)):
        return ""
    points = {*map(int, named)}
    low, high = min(points), max(points)
    missing = {*range(low, min(high, low + _MOST_STEPS) + 1)} - points
    for line in lines if missing else ():
        between = _BETWEEN.search(line) and missing <= {*map(int, re.findall(r"\d+", line))}
        if between or f"{low}-{high}" in ("-".join(ends) for ends in _FROM_TO.findall(line)):
            return f"{low}-{high}"
    return ""


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
    name = _NUMBERED.sub("", part.title, count=1)
    name, most = (name, None) if weight_in_name(name) else maximum_in(name)
    best = max(level.points or 0.0 for level in levels.values())
    ranked = all(
        rank_of(level.label) is not None and level.points in range(9) for level in levels.values()
    )
    yield name
    yield _NUMBERED.sub("", part.outer, count=1)
    yield " ".join(text for line, text in part.words.items() if line < min(levels))
    yield f"{most:g}" if most else "" if best and not ranked else "10"


def _words_left_out(
    parts: Sequence[ListSection],
    levels: dict[int, dict[int, _ListedLevel]],
    asked: Mapping[int, int],
) -> list[str]:
    """Return the lines around the criteria."""
    words = list[str]()
    for part in parts:
        if part.line in asked:
            words += [text for line, text in part.words.items() if line != asked[part.line]]
        elif part.line not in levels:
            words += [part.title, *part.words.values(), *part.entries.values()]
        else:
            words += [text for line, text in part.words.items() if line > min(levels[part.line])]
    return words
