"""CSV and TSV to rows. The delimiter is found, the header is required, ragged rows are named."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from itertools import islice

from core.domain.dataset import MAX_TEXT
from core.errors import Problem
from core.files.parsed import enough, refusal
from core.files.text import MAX_ROWS, too_many_rows

#: More columns are refused: a table for grading has a few dozen.
MAX_COLUMNS = 2000
DELIMITERS = (",", ";", "\t", "|")
_HEADER = "The first line must name the columns, each by a name of its own."


def read_csv(
    text: str, name: str
) -> tuple[tuple[str, ...], tuple[dict[str, str], ...], tuple[int, ...]]:
    r"""Columns, rows and the line each row begins on. Rows that are wholly blank are passed over.

    Raises:
        InputError: no header, a column named twice or not at all, a row with too few or too many
            cells, or quotes that do not close; each with its line.

    >>> read_csv('id;text\n1;"a; b"\n', "x.csv")[1]
    ({'id': '1', 'text': 'a; b'},)
    """
    columns: tuple[str, ...] = ()
    rows, lines, problems = list[dict[str, str]](), list[int](), list[Problem]()
    delimiter = delimiter_of(text, name)
    refuse_too_many(text, delimiter, name)
    for line, cells in records(text, delimiter, problems):
        if not any(cell.strip() for cell in cells):
            continue
        if not columns:
            columns = tuple(cell.strip() for cell in cells)
            problems += bad_columns(columns, line)
            if problems:
                break
        elif len(cells) != len(columns):
            message = f"has {len(cells)} cells, but the header names {len(columns)} columns."
            mend = "Put cells that hold the delimiter or a line break in double quotes."
            problems.append(Problem(message, mend, (), line))
            if enough(problems):
                break
        else:
            rows.append(dict(zip(columns, cells, strict=True)))
            lines.append(line)
    if not rows and not problems:
        problems.append(Problem("has a header, but no rows.", "Add one row per item.", (), 1))
    if problems:
        raise refusal("table", problems, name)
    return columns, tuple(rows), tuple(lines)


def refuse_too_many(text: str, delimiter: str, name: str) -> None:
    """Count the rows before any is kept, where the text has that many lines at all.

    Raises:
        InputError: more rows than ``MAX_ROWS``.
    """
    if text.count("\n") + text.count("\r") <= MAX_ROWS:
        return
    rows = records(text, delimiter, [])
    if next(islice(rows, MAX_ROWS + 1, None), None) is not None:
        raise refusal("table", [too_many_rows()], name)


def delimiter_of(text: str, name: str) -> str:
    r"""The delimiter that splits the first rows evenly into the most columns.

    >>> delimiter_of("a;b\n1,5;2\n", "x.csv")
    ';'
    """
    if name.lower().endswith((".tsv", ".tab")):
        return "\t"
    best = max(DELIMITERS, key=lambda d: (_evenness(text, d), -DELIMITERS.index(d)))
    return best if _evenness(text, best) > (0.0, 0) else ","


def _evenness(text: str, delimiter: str) -> tuple[float, int]:
    # The first rows are enough; a million characters bound the work.
    first = [cells for _, cells in islice(records(text[:1_000_000], delimiter, []), 20)]
    widths = [len(cells) for cells in first if any(cells)]
    if not widths or widths[0] < 2:
        return (0.0, 0)
    return (sum(width == widths[0] for width in widths) / len(widths), widths[0])


def records(text: str, delimiter: str, problems: list[Problem]) -> Iterator[tuple[int, list[str]]]:
    """Every record with the line it begins on; a malformed one ends the reading with a problem."""
    csv.field_size_limit(MAX_TEXT + 1)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            mend = 'Write a double quote inside a quoted cell twice ("").'
            if "field larger" in str(error):
                mend = f"A cell may hold {MAX_TEXT:,} characters."
            problems.append(Problem(f"is not valid CSV: {error}.", mend, (), line))
            return
        yield line, cells
        line = reader.line_num + 1


def bad_columns(columns: Sequence[str], line: int) -> list[Problem]:
    """What is wrong with the names of columns: too many, a blank one, one given twice."""
    if len(columns) > MAX_COLUMNS:
        mend = "Leave out columns that nobody needs."
        message = f"names {len(columns):,} columns; {MAX_COLUMNS:,} is the limit."
        return [Problem(message, mend, (), line)]
    problems = [
        Problem(f"names no column {index + 1}.", _HEADER, (), line)
        for index, column in enumerate(columns)
        if not column
    ]
    twice = sorted({c for c in columns if c and columns.count(c) > 1})
    return problems + [Problem(f"names the column {c!r} twice.", _HEADER, (), line) for c in twice]
