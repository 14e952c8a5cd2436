"""Convert a sheet of a workbook to a table: header, merged cells and rows that are no items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from core.errors import InputError, Problem
from core.formats.office.sheet import FilledCells, cell_name, column_name
from core.formats.office.workbook import Workbook
from core.formats.source.csv_reader import MAX_COLUMNS, bad_columns
from core.formats.source.heading import (
    header_at,
    heading_rows,
    lines_of,
    names_the_truth,
    read_titles,
)
from core.formats.source.heading_words import PROMPTS, has_word
from core.formats.source.parsed import TableRows, refusal
from core.formats.source.summary_rows import left_out_notices, summary_rows
from core.formats.tables.codebooks import with_codebook

_HEADING = "Every column needs a heading of its own, in one row."


#: The heading for names of sheets that are read as one table, and another if a column has it.
SHEETS = ("sheet", "sheet of the workbook")
#: Begins what is said of one of these sheets.
ON_SHEET = "On the sheet "
#: Texts are longer than this on average.
_LONG = 30


def chosen_sheet(book: Workbook, sheet: str | None, name: str) -> TableRows:
    """Return the rows of a sheet, with the texts that another sheet has for its ids.

    Raises:
        InputError: as for ``Workbook.sheet`` and ``sheet_rows``.
    """
    cells, others = book.uncached_sheet(sheet)
    rows = sheet_rows(cells, name)
    told = rows.told
    for other in others:
        words = book.words_on([other])
        beside = _table_on(book, other, name)
        joined = beside and _with_texts_from_sheet(rows, beside, other)
        joined = joined or (beside and with_codebook(rows, beside, other))
        if joined is not None:
            words, rows = joined.told[len(rows.told) :], joined
            others = tuple(o for o in others if o != other)
        told += words
    if others:
        listed = ", ".join(map(repr, others))[:300]
        notice = Problem(f"Only the sheet {cells.name!r} is read, not {listed}.")
        rows = rows._replace(notices=(notice, *rows.notices))
    return rows._replace(told=told)


def _table_on(book: Workbook, sheet: str, name: str) -> TableRows | None:
    """Return the rows of a sheet, or ``None`` if it is not a table."""
    try:
        return sheet_rows(book.uncached_sheet(sheet)[0], name)
    except InputError:
        return None


def _with_texts_from_sheet(rows: TableRows, beside: TableRows, other: str) -> TableRows | None:
    """Return the rows with the columns of another sheet that has a text for each id, or ``None``.

    The texts of codes of prompts stand in place of the codes.
    """
    keys = [(c, c) for c in beside.columns if c in rows.columns]
    prompts = [c for c in rows.columns if has_word(c, PROMPTS, whole=True)]
    for key, own in (*keys, *((c, beside.columns[0]) for c in prompts)):
        ids, found = {row[key] for row in rows.rows}, {row[own]: row for row in beside.rows}
        if not len(ids) > 1 or not ids <= found.keys() or len(found) < len(beside.rows):
            continue
        texts = [c for c in beside.columns if c not in rows.columns and _has_long_texts(beside, c)]
        if not texts:
            continue
        added = [c for c in beside.columns if c not in (*rows.columns, own)]
        means, messages = dict[str, str](), list[str]()
        if len(texts) == 1 and key in prompts:
            means = {key: texts[0]}
            added.remove(texts[0])
            messages = [f"{texts[0]!r} on the sheet {other!r} says what {key!r} means."]
        if added:
            listed = ", ".join(map(repr, added))
            messages += [f"The sheet {other!r} adds {listed} to each row, by {key!r}."]
        if twice := [c for c in beside.columns if c in rows.columns and c not in (key, own)]:
            listed = ", ".join(map(repr, twice))
            messages += [f"The sheet {other!r} has {listed} again, which is left out."]
        means |= {c: c for c in added}
        joined = (row | {c: found[row[key]][of] for c, of in means.items()} for row in rows.rows)
        return rows._replace(
            columns=(*rows.columns, *added),
            rows=tuple(joined),
            notices=(*rows.notices, *map(Problem, messages)),
        )
    return None


def _has_long_texts(rows: TableRows, column: str) -> bool:
    return sum(len(row[column]) for row in rows.rows) > _LONG * len(rows.rows)


def sheet_rows(sheet: FilledCells, name: str) -> TableRows:
    """Return the rows below the header of a sheet, each cell as text.

    Cells merged downwards repeat their value in every row, as shown. Columns without a heading are
    left out, with a notice. Cells are removed from the sheet as they become rows.

    Raises:
        InputError: a duplicate heading, or one over several columns; with its cell.
    """
    numbers = sorted(sheet.rows)
    wide = max((column for row in sheet.rows.values() for column in row), default=-1) + 1
    first = [
        [sheet.rows[n].get(c, "") for c in range(min(wide, MAX_COLUMNS))] for n in numbers[:40]
    ]
    head = header_at(first)
    names, deep = heading_rows(first, head)
    header = numbers[head + deep - 1]
    above, notices = read_titles(first[:head], numbers[0] + 1)
    heads = {c: text.strip() for c, text in sorted(sheet.rows[header].items())}
    heads = heads if deep == 1 else {c: name for c, name in enumerate(names) if name}
    if problems := _heading_problems(sheet, heads, header):
        raise refusal("table", problems, name)
    body = numbers[head + deep :]
    cells = dict(sheet.rows)
    notices += _fill_merged_cells(sheet, cells, header)
    notices += _unread_cell_notices(sheet, heads, body)
    sheet.rows.clear()  # both together would take twice the memory
    rows = tuple(
        {text: row.get(c, "") for c, text in heads.items()} for row in map(cells.pop, body)
    )
    if not rows:
        problem = Problem("has a header, but no rows.", "Add one row per item.", (), header + 1)
        raise refusal("table", [problem], name)
    lines = tuple(n + 1 for n in body)
    told = lines_of(first[:head])
    return TableRows(tuple(heads.values()), rows, lines, tuple(notices), above=above, told=told)


def joined_sheets(book: Workbook, name: str) -> TableRows:
    """Return the rows of all sheets of the same columns, appended, each with the name of its sheet.

    A notice names sheets with other columns, which are left out.

    Raises:
        InputError: no two sheets have the same columns.
    """
    parts = {sheet: sheet_rows(book.uncached_sheet(sheet)[0], name) for sheet in book.filled_sheets}
    ((columns, times),) = Counter(part.columns for part in parts.values()).most_common(1)
    different = [sheet for sheet, part in parts.items() if part.columns != columns]
    alike = [part for part in parts.values() if part.columns == columns]
    named = [s for s in different if names_the_truth(s)]
    answers = {s: _truth_of(s, _without_feet(s, parts[s]), alike) for s in named}
    truths = {s: truth for s, truth in answers.items() if truth is not None}
    if different and times < 2:
        message = (
            f"The sheet {different[0]!r} has other columns than the first. Name one with --sheet."
        )
        raise InputError(message, (), name)
    different = [sheet for sheet in different if sheet not in truths]
    parts = {s: _without_feet(s, part) for s, part in parts.items() if s not in different} | truths
    heading = SHEETS[SHEETS[0] in columns]
    rows = tuple({heading: sheet, **row} for sheet, part in parts.items() for row in part.rows)
    lines = tuple(line for part in parts.values() for line in part.lines)
    listed = ", ".join(map(repr, different))[:300]
    said = [Problem(f"The sheets are read as one table: {', '.join(map(repr, parts))}.")]
    said += [Problem(f"Sheets with other columns are left out: {listed}.")] if different else []
    notices = tuple(notice for part in parts.values() for notice in part.notices)
    told = tuple(line for part in parts.values() for line in part.told)
    told += book.words_on(different)
    return TableRows((heading, *columns), rows, lines, (*said, *notices), told=told)


def _truth_of(sheet: str, part: TableRows, alike: Sequence[TableRows]) -> TableRows | None:
    """Return the rows of a sheet of the truth in the columns of the others, or ``None``.

    It has one row for each id. A column of another name is the only one with all its words.
    """
    columns = alike[0].columns
    key = next((c for c in part.columns if c in columns), None)
    ids = {row[key] for row in part.rows} if key else set[str]()
    if len(ids) < len(part.rows):
        return None
    rows = [row for of in alike for row in of.rows]
    used = {c: {row[c] for row in rows} - {""} for c in columns if c != key}
    names = dict[str, str]()
    for column in part.columns:
        words = {row[column] for row in part.rows} - {""}
        same = [c for c in used if words <= used[c]] if len(words) > 1 else []
        name = column if column in used else same[0] if len(same) == 1 else ""
        if name and name not in names.values() and column != key:
            names[column] = name
    if key is None or not names:
        return None
    left = [c for c in part.columns if c not in names and c != key]
    listed = ", ".join(f"{c!r}" if c == name else f"{c!r} as {name!r}" for c, name in names.items())
    message = f"The sheet {sheet!r} gives the right answers: {listed}."
    message += f" Left out: {', '.join(map(repr, left))}." if left else ""
    blank = dict.fromkeys(columns, "")
    truth = tuple(
        blank | {key: row[key]} | {name: row[c] for c, name in names.items()} for row in part.rows
    )
    return TableRows(columns, truth, part.lines, (*part.notices, Problem(message)), told=part.told)


def _without_feet(sheet: str, part: TableRows) -> TableRows:
    """Return a sheet's rows without the means and remarks below them."""
    found = summary_rows(part.columns, part.rows, part.lines)
    head = next(at for at in range(len(part.rows) + 1) if at not in found)
    found = {at: said for at, said in found.items() if at > head}
    said = left_out_notices(found, part.lines)
    said = [replace(notice, message=f"{ON_SHEET}{sheet!r}: {notice.message}") for notice in said]
    kept = [at for at in range(len(part.rows)) if at not in found]
    return part._replace(
        rows=tuple(part.rows[at] for at in kept),
        lines=tuple(part.lines[at] for at in kept),
        notices=(*part.notices, *said),
    )


def _heading_problems(sheet: FilledCells, heads: dict[int, str], header: int) -> list[Problem]:
    if len(heads) > MAX_COLUMNS:
        return bad_columns(list(heads.values()), header + 1)
    problems = list[Problem]()
    first: dict[str, int] = {}
    for column, text in heads.items():
        if text in first:
            message = f"{cell_name(header, column)} repeats the heading {text!r} of "
            problems.append(Problem(f"{message}{cell_name(header, first[text])}.", _HEADING))
        first.setdefault(text, column)
    for top, left, bottom, right in sheet.merged:
        if top <= header <= bottom and right > left and left in heads:
            area = f"{cell_name(top, left)}:{cell_name(bottom, right)}"
            problems.append(Problem(f"The heading {area} spans several columns.", _HEADING))
    return problems


def _fill_merged_cells(
    sheet: FilledCells, cells: dict[int, dict[int, str]], header: int
) -> list[Problem]:
    """Fill cells that are merged downwards; return notices."""
    down, across = list[str](), list[str]()
    for top, left, bottom, right in sheet.merged:
        if bottom <= header or left not in sheet.rows.get(top, {}):
            continue
        area = f"{cell_name(top, left)}:{cell_name(bottom, right)}"
        (across if right > left else down).append(area)
        for row in range(top + 1, bottom + 1 if right == left else top + 1):
            # A row without other cells is empty.
            if row in cells:
                cells[row] = {**cells[row], left: cells[top][left]}
    notices = list[Problem]()
    if down:
        notices.append(
            Problem(f"Merged cells hold their value in every row: {_first_areas(down)}.")
        )
    if across:
        message = "Cells merged across columns hold their value in the first column only"
        notices.append(Problem(f"{message}: {_first_areas(across)}."))
    return notices


def _unread_cell_notices(
    sheet: FilledCells, heads: dict[int, str], body: Sequence[int]
) -> list[Problem]:
    notices = list[Problem]()
    nameless: dict[int, int] = {}
    for row in body:
        for column in sheet.rows[row].keys() - heads.keys():
            nameless[column] = nameless.get(column, 0) + 1
    for column, count in sorted(nameless.items()):
        cells = "1 cell" if count == 1 else f"{count:,} cells"
        message = f"The column {column_name(column)} has no heading and is left out ({cells})."
        notices.append(Problem(message))
    if sheet.hidden_rows:
        hidden_rows = sheet.hidden_rows
        rows = "1 hidden row is" if hidden_rows == 1 else f"{hidden_rows:,} hidden rows are"
        notices.append(Problem(f"{rows} read like the others."))
    return notices


def _first_areas(areas: Sequence[str]) -> str:
    remaining = f" and {len(areas) - 5} more" if len(areas) > 5 else ""
    return ", ".join(areas[:5]) + remaining
