"""Where the header of a table is: below the titles and notes that people write above it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.errors import Problem

#: A header further down is none.
_DEEPEST = 20
#: A longer text is no heading.
_LONGEST = 300
_NUMBER = re.compile(r"[-+]?[\d.,]+%?\Z")


def header_at(rows: Sequence[Sequence[str]]) -> int:
    """The place of the header among the first rows; 0 also where nothing tells.

    Above a header further down stand titles only: a cell alone, or a word with a colon and what it
    says. The header names every column of the rows below it, each by a name of its own.

    >>> header_at([["Marks of course 101"], ["id", "essay", "mark"], ["1", "It is.", "3"]])
    1
    >>> header_at([["id", "essay"], ["1", "It is."]]), header_at([["essay"], ["One", " two"]])
    (0, 0)
    """
    first = [_trimmed(row) for row in rows[: 2 * _DEEPEST]]
    for at, row in enumerate(first[:_DEEPEST]):
        if at and _names_all(row, first[at + 1 :]):
            return at
        if not _is_title(row):
            return 0
    return 0


def said_titles(rows: Sequence[Sequence[str]], line: int | None) -> Problem:
    """What is said of the rows above a header."""
    words = " / ".join(" ".join(filter(None, row)) for row in rows)
    lines = "The line" if len(rows) == 1 else f"The {len(rows)} lines"
    verb = "is" if len(rows) == 1 else "are"
    return Problem(f"{lines} above the header {verb} left out: {words[:200]!r}.", "", (), line)


def _trimmed(row: Sequence[str]) -> list[str]:
    cells = list(row)
    while cells and not cells[-1].strip():
        cells.pop()
    return cells


def _is_title(row: Sequence[str]) -> bool:
    filled = [cell.strip() for cell in row if cell.strip()]
    return len(filled) < 2 or (len(filled) == 2 and filled[0].endswith(":"))


def _names_all(row: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Whether a row is a header of those below it."""
    if len(row) < 2 or not below or len(set(row)) < len(row) or not all(row):
        return False
    # A text that was parted at its commas goes on with a space.
    if any(name[0] == " " or len(name) > _LONGEST or _NUMBER.match(name) for name in row):
        return False
    # Of rows that reach further, most do not: a remark at their end has no heading.
    return sum(len(one) <= len(row) for one in below) * 2 > len(below)
