"""A parsed sheet: filled cells by row and column, and faulty cells."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from core.errors import InputError, Problem
from core.formats.source.parsed import LONGEST_WORD, SharedWords, too_many

#: The most rows and filled cells of a sheet; reading more takes over five seconds.
MOST_ROWS, MOST_CELLS = 300_000, 320_000
_MOST_MERGED = 100_000
_REFERENCE = re.compile(r"\$?([A-Z]{1,3})\$?(\d{1,7})\Z")
#: First row, first column, last row, last column; all from 0.
Area = tuple[int, int, int, int]


@dataclass
class FilledCells:
    """The filled rows of a sheet by number from 0, each mapping columns to text.

    ``faults`` are cells without a value: errors, and formulas that were never computed.
    """

    name: str
    rows: dict[int, dict[int, str]] = field(default_factory=dict)
    merged: list[Area] = field(default_factory=list)
    faults: list[Problem] = field(default_factory=list)
    hidden_rows: int = 0
    cells: int = 0
    words: SharedWords = field(default_factory=SharedWords)

    def put(self, row: int, column: int, text: str) -> None:
        """Add a cell that is not empty."""
        self.cells += 1
        row_cells = self.rows.get(row)
        if row_cells is None:
            row_cells = self.rows[row] = {}
        if self.cells > MOST_CELLS or len(self.rows) > MOST_ROWS:
            message = f"The sheet {self.name!r} has more than {MOST_ROWS:,} rows or {MOST_CELLS:,}"
            mend = "Save it as CSV, which may hold more."
            raise InputError(f"{message} filled cells, the limits of a workbook. {mend}")
        row_cells[column] = text if len(text) > LONGEST_WORD else self.words[text]

    def put_fault(self, row: int, column: int, shows: str) -> None:
        """Add a faulty cell; ``shows`` is its error, or "" for a formula without a result."""
        if not too_many(self.faults):
            self.faults.append(cell_problem(row, column, shows))

    def merge(self, area: Area) -> None:
        """Add an area of merged cells."""
        if len(self.merged) < _MOST_MERGED:
            self.merged.append(area)


def cell_name(row: int, column: int) -> str:
    """Return the name of a cell.

    >>> cell_name(0, 0), cell_name(11, 27)
    ('A1', 'AB12')
    """
    return f"{column_name(column)}{row + 1}"


def column_name(column: int) -> str:
    """Return the letters of a column."""
    letters = ""
    column += 1
    while column:
        column, letter = divmod(column - 1, 26)
        letters = chr(65 + letter) + letters
    return letters


def cell_position(reference: str) -> tuple[int, int] | None:
    """Return row and column of a cell's name, from 0."""
    match = _REFERENCE.match(reference)
    if match is None:
        return None
    column = 0
    for letter in match[1]:
        column = column * 26 + ord(letter) - 64
    return int(match[2]) - 1, column - 1


_WORK_OUT = "Open the workbook in a spreadsheet program, save it, and try again."
_MEND = "Correct or empty the cell."


def cell_problem(row: int, column: int, shows: str) -> Problem:
    """Return the problem for a cell with an error, or without a computed value."""
    if not shows:
        return Problem(f"{cell_name(row, column)} holds a formula without its result.", _WORK_OUT)
    return Problem(f"{cell_name(row, column)} shows {shows}.", _MEND)


def whole_number(text: str | None) -> int:
    """Return the whole number in an attribute, or 0."""
    return int(text[:9]) if text and text.isascii() and text.isdigit() else 0
