"""Read CSV to rows, and write CSV back unchanged except for some cells."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import NamedTuple

from core.domain.dataset import MAX_TEXT
from core.errors import InputError, Problem
from core.formats.source.heading import (
    ALL_DATA,
    are_all_data,
    header_at,
    heading_rows,
    headings_of,
    lines_of,
    read_titles,
)
from core.formats.source.parsed import (
    LONGEST_WORD,
    MAX_ROWS,
    SharedWords,
    TableRows,
    refusal,
    too_many,
    too_many_rows,
)

#: The most columns; a table for grading has a few dozen.
MAX_COLUMNS = 2000
DELIMITERS = (",", ";", "\t", "|")
#: Characters of a file that are used to find its delimiter and header.
_BEGINNING = 1_000_000
#: The longest line: a few cells of maximum length. A row of commas would take ten times its memory.
_LONGEST_LINE = 4 * MAX_TEXT
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_HEADER = "The first line must name the columns, each by a name of its own."


def read_csv(
    text: str, name: str, most: int | None = None, delimiter: str | None = None
) -> TableRows:
    r"""Return the rows below the header, which may follow titles; without blank rows.

    Stops after ``most`` rows.

    Raises:
        InputError: no rows, too many columns or a name twice, a row with too few or too many cells,
            or quotes that do not close; each with its line.

    >>> read_csv('id;text\n1;"a; b"\n', "x.csv")[1]
    ({'id': '1', 'text': 'a; b'},)
    """
    rows, lines, problems = list[dict[str, str]](), list[int](), list[Problem]()
    shared = SharedWords()
    delimiter = delimiter or delimiter_of(text, name)
    refuse_too_many(text, delimiter, name)
    titles, heads, deep = _find_header(text, delimiter)
    above, notices = read_titles([cells for _, cells in titles], titles[0][0] if titles else 1)
    if not deep:
        notices.append(ALL_DATA)
    columns = headings_of(heads)
    start = len(titles) + deep
    problems += bad_columns(columns, titles[-1][0] + deep if titles else deep)
    end = None if most is None else start + most
    below = islice(() if problems else _filled_records(text, delimiter, problems), start, end)
    foot = list[tuple[int, str]]()
    for line, cells in below:
        if len(cells) == 1 and (foot or _is_below_table(rows, lines, line)):
            foot.append((line, cells[0]))
        elif len(cells) != len(columns) or foot:
            line, cells = (foot[0][0], [foot[0][1]]) if foot else (line, cells)
            message = f"has {len(cells)} cells, but the header names {len(columns)} columns."
            mend = "Put cells that hold the delimiter or a line break in double quotes."
            problems.append(Problem(message, mend, (), line))
            if foot or too_many(problems):
                break
        else:
            words = [cell if len(cell) > LONGEST_WORD else shared[cell] for cell in cells]
            rows.append(dict(zip(columns, words, strict=True)))
            lines.append(line)
    if not rows and not problems:
        problems.append(Problem("has a header, but no rows.", "Add one row per item.", (), 1))
    if problems:
        raise refusal("table", problems, name)
    if foot:
        message = (
            f"What stands below the table is left out: {' '.join(w for _, w in foot)[:200]!r}."
        )
        notices.append(Problem(message, "", (), foot[0][0]))
    told = (*lines_of(cells for _, cells in titles), *(words for _, words in foot))
    return TableRows(columns, tuple(rows), tuple(lines), tuple(notices), above=above, told=told)


def _is_below_table(rows: Sequence[Mapping[str, str]], lines: Sequence[int], line: int) -> bool:
    """Return whether a lone cell at ``line`` is below the table, and not the end of a text."""
    if len(rows) < 3 or len(rows[-1]) < 3:
        return False
    return line > lines[-1] + 1 or " " not in list(rows[-1].values())[-1].strip()


def _filled_records(
    text: str, delimiter: str, problems: list[Problem]
) -> Iterator[tuple[int, list[str]]]:
    """Yield the records with content."""
    for line, cells in records(text, delimiter, problems):
        if any(map(str.strip, cells)):
            yield line, cells


def _find_header(
    text: str, delimiter: str
) -> tuple[list[tuple[int, list[str]]], tuple[str, ...], int]:
    """Return the records above the header, its headings, and the number of its rows, or 0."""
    first = list(islice(_filled_records(text[:_BEGINNING], delimiter, []), 41))
    if are_all_data([cells for _, cells in first]):
        return [], headings_of([""] * len(first[0][1])), 0
    at = header_at([cells for _, cells in first])
    header = first[at][1] if first else []
    # Two columns below a line with a single cell may be text with commas and no quotes.
    sure = len(header) > 2 or all(len(cells) == len(header) for _, cells in first)
    at = at if sure else 0
    return first[:at], *(heading_rows([cells for _, cells in first], at) if first else ((), 1))


def refuse_too_many(text: str, delimiter: str, name: str) -> None:
    """Count the rows of a long text before any is stored.

    Raises:
        InputError: more rows than ``MAX_ROWS``.
    """
    if text.count("\n") + text.count("\r") <= MAX_ROWS:
        return
    rows = records(text, delimiter, [])
    if next(islice(rows, MAX_ROWS + 1, None), None) is not None:
        raise refusal("table", [too_many_rows()], name)


def delimiter_of(text: str, name: str) -> str:
    r"""Return the delimiter that splits the first rows evenly into the most columns.

    >>> delimiter_of("a;b\n1,5;2\n", "x.csv")
    ';'
    """
    if name.lower().endswith((".tsv", ".tab")):
        return "\t"
    best = max(DELIMITERS, key=lambda d: (_evenness(text, d), -DELIMITERS.index(d)))
    return best if _evenness(text, best) > (0.0, 0) else ","


def _evenness(text: str, delimiter: str) -> tuple[float, int]:
    # The first rows are enough; a million characters limit the work.
    first = [cells for _, cells in islice(records(text[:_BEGINNING], delimiter, []), 20)]
    first = [cells for cells in first if any(cells)]
    widths = [len(cells) for cells in first[header_at(first) :]]
    if not widths or widths[0] < 2:
        return (0.0, 0)
    return (sum(width == widths[0] for width in widths) / len(widths), widths[0])


def _limited_lines(text: str) -> Iterator[str]:
    """Yield the lines of a text; an overlong one ends the reading."""
    for line in _LINE.finditer(text):
        if line.end() - line.start() > _LONGEST_LINE:
            raise csv.Error(f"a line of more than {_LONGEST_LINE:,} characters")
        yield line[0]


def records(text: str, delimiter: str, problems: list[Problem]) -> Iterator[tuple[int, list[str]]]:
    """Yield records with their first lines; a malformed one ends the reading."""
    csv.field_size_limit(MAX_TEXT + 1)
    reader = csv.reader(_limited_lines(text), delimiter=delimiter, strict=True)
    line = 1
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            mend = 'Write a double quote inside a quoted cell twice ("").'
            if "field larger" in str(error) or "a line of" in str(error):
                mend = f"A cell may hold {MAX_TEXT:,} characters."
            problems.append(Problem(f"is not valid CSV: {error}.", mend, (), line))
            return
        yield line, cells
        line = reader.line_num + 1


_NEEDLESS = "Leave out columns that are not needed."


def bad_columns(columns: Sequence[str], line: int) -> list[Problem]:
    """Return problems of column names: too many, or duplicate."""
    if len(columns) > MAX_COLUMNS:
        message = f"names {len(columns):,} columns; {MAX_COLUMNS:,} is the limit."
        return [Problem(message, _NEEDLESS, (), line)]
    twice = sorted({c for c in columns if columns.count(c) > 1})
    return [Problem(f"names the column {c!r} twice.", _HEADER, (), line) for c in twice]


_BOM = "\ufeff"


class RawCell(NamedTuple):
    """A cell's text and its place in the file, quotes included."""

    text: str
    start: int
    end: int


class RawRow(NamedTuple):
    """The cells of a record and its first line."""

    line: int
    cells: tuple[RawCell, ...]

    def text(self, column: int | None) -> str:
        """Return a cell's text; empty if the row is too short or there is no column."""
        if column is None or column >= len(self.cells):
            return ""
        return self.cells[column].text


@dataclass(frozen=True)
class RawTable:
    """A table with its header; rows may be ragged, and headings may repeat."""

    name: str
    source: str
    encoding: str
    delimiter: str
    heads: tuple[str, ...]
    rows: tuple[RawRow, ...]
    head: RawRow = field(kw_only=True)

    def column(self, *names: str) -> int | None:
        """Return the first column with one of these headings, ignoring case."""
        folded = [head.casefold() for head in self.heads]
        columns = (folded.index(n.casefold()) for n in names if n.casefold() in folded)
        return next(columns, None)

    def table_below(self, titles: int) -> RawTable:
        """Return the table whose header comes after this many rows."""
        head = self.rows[titles - 1]
        return replace(self, heads=_row_headings(head), rows=self.rows[titles:], head=head)

    def with_cells(self, changes: Mapping[tuple[int, int], str]) -> bytes:
        """Return the file with these cells replaced, by (row, column), otherwise unchanged.

        Raises:
            InputError: the file's encoding lacks a character of a text.
        """
        cells = {self.rows[row].cells[column]: text for (row, column), text in changes.items()}
        return self._with_edits((c.start, c.end, self._quote(text)) for c, text in cells.items())

    def with_columns(self, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> bytes:
        r"""Return the file with columns appended to its header and rows, otherwise unchanged.

        >>> read_raw(b"a;b\r\n1;2\r\n", "x.csv").with_columns(["c"], [["3"]])
        b'a;b;c\r\n1;2;3\r\n'
        """
        edits = list[tuple[int, int, str]]()
        for row, cells in zip((self.head, *self.rows), (heads, *rows), strict=True):
            short = [""] * max(0, len(self.heads) - len(row.cells))
            added = "".join(self.delimiter + self._quote(cell) for cell in (*short, *cells))
            edits.append((row.cells[-1].end, row.cells[-1].end, added))
        return self._with_edits(edits)

    def _with_edits(self, edits: Iterable[tuple[int, int, str]]) -> bytes:
        """Return the file with each edit's text between two offsets."""
        pieces, at = list[str](), 0
        for start, end, text in sorted(edits):
            pieces += [self.source[at:start], text]
            at = end
        pieces.append(self.source[at:])
        try:
            return "".join(pieces).encode(self.encoding)
        except UnicodeEncodeError as error:
            letter = error.object[error.start]
            mend = "Save the file as UTF-8 (in a spreadsheet: 'CSV UTF-8') and try again."
            message = f"This file's encoding has no {letter!r}. {mend}"
            raise InputError(message, (), self.name) from None

    def _quote(self, text: str) -> str:
        if text == text.strip() and not re.search(f'["\r\n{re.escape(self.delimiter)}]', text):
            return text
        return '"' + text.replace('"', '""') + '"'


def read_raw(data: bytes | str, name: str, what: str = "table") -> RawTable:
    r"""Return the table in a file with a header line.

    Args:
        data: UTF-8, UTF-16 with its mark, or a Western one-byte encoding; or text.
        name: the file, for messages.
        what: the kind of content, for messages.

    Raises:
        InputError: no header, or quotes that do not close, with the line.

    >>> table = read_raw(b'a;b\r\n"x;1";\r\n', "x.csv")
    >>> table.heads, table.with_cells({(0, 1): "8,5"})
    (('a', 'b'), b'a;b\r\n"x;1";8,5\r\n')
    """
    text, encoding = (data, "utf-8") if isinstance(data, str) else _decode(data, name, what)
    delimiter = delimiter_of(text.removeprefix(_BOM), name)
    refuse_too_many(text, delimiter, name)
    records, problems = list[RawRow](), list[Problem]()
    for row in _raw_rows(text, delimiter, problems):
        if any(cell.text.strip() for cell in row.cells):
            records.append(row)
    if not records and not problems:
        problems.append(Problem("is empty.", "The first line must name the columns.", (), 1))
    if problems:
        raise refusal(what, problems, name)
    first, *rows = records
    return RawTable(name, text, encoding, delimiter, _row_headings(first), tuple(rows), head=first)


def raw_table(name: str, rows: Mapping[int, Sequence[str]]) -> RawTable:
    """Return a table of cells without source text; rows by their numbers, the header first."""
    head, *body = (RawRow(n, tuple(RawCell(c, 0, 0) for c in row)) for n, row in rows.items())
    return RawTable(name, "", "utf-8", "", _row_headings(head), tuple(body), head=head)


def _row_headings(row: RawRow) -> tuple[str, ...]:
    return tuple(cell.text.strip() for cell in row.cells)


def _decode(data: bytes, name: str, what: str) -> tuple[str, str]:
    """Return the text with any byte order mark, and an encoding that restores the bytes."""
    marked = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    if data.startswith(b"PK\x03\x04") or (not marked and b"\0" in data[:1000]):
        raise refusal(what, [Problem("is not a CSV file.", "Export it as CSV.")], name)
    tries = ["utf-8", "cp1252", "latin-1"]
    if data.startswith(codecs.BOM_UTF16_LE):
        tries = ["utf-16-le"]
    elif data.startswith(codecs.BOM_UTF16_BE):
        tries = ["utf-16-be"]
    for encoding in tries:
        try:
            return data.decode(encoding), encoding
        except UnicodeDecodeError:
            continue
    raise refusal(what, [Problem("is cut off: half a character is left.")], name)


def _raw_rows(text: str, delimiter: str, problems: list[Problem]) -> Iterator[RawRow]:
    at, line = (1 if text.startswith(_BOM) else 0), 1
    ends = re.compile(f"[\r\n{re.escape(delimiter)}]")
    while at < len(text):
        begun, cells = line, list[RawCell]()
        while True:
            cell = _raw_cell(text, at, ends)
            if cell is None:
                mend = 'Write a double quote inside a quoted cell twice ("").'
                problems.append(Problem("holds a quote that does not close.", mend, (), line))
                return
            cells.append(cell)
            if len(cells) > MAX_COLUMNS:
                message = f"has more than {MAX_COLUMNS:,} columns, which is the limit."
                problems.append(Problem(message, _NEEDLESS, (), line))
                return
            line += text.count("\n", cell.start, cell.end)
            at = cell.end
            if text[at : at + 1] != delimiter:
                break
            at += 1
        at += 2 if text.startswith("\r\n", at) else 1
        line += 1
        yield RawRow(begun, tuple(cells))


def _raw_cell(text: str, start: int, ends: re.Pattern[str]) -> RawCell | None:
    """Return the cell that begins at ``start``; ``None`` if its quote stays open."""
    if text[start : start + 1] != '"':
        end = _end_of_cell(text, start, ends)
        return RawCell(text[start:end], start, end)
    at = start + 1
    while True:
        at = text.find('"', at)
        if at < 0:
            return None
        if text[at + 1 : at + 2] != '"':
            break
        at += 2
    end = _end_of_cell(text, at + 1, ends)
    return RawCell(text[start + 1 : at].replace('""', '"') + text[at + 1 : end], start, end)


def _end_of_cell(text: str, start: int, ends: re.Pattern[str]) -> int:
    end = ends.search(text, start)
    return end.start() if end else len(text)
