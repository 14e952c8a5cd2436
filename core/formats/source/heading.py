"""Find the header of a table below titles and notes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from core.errors import Problem

#: No header comes further down.
_DEEPEST = 20
#: A longer text is not a heading.
_LONGEST = 300
_NUMBER = re.compile(r"[-+]?[\d.,]+%?\Z")


def header_at(rows: Sequence[Sequence[str]]) -> int:
    """Return the index of the header among the first rows, 0 if undecided.

    Only titles come before a later header: a lone cell, or a word with a colon and a value. The
    header names every column of the rows below it, each differently.

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
    """Return the notice of the rows above a header."""
    text = " / ".join(" ".join(filter(None, row)) for row in rows)
    lines = "The line" if len(rows) == 1 else f"The {len(rows)} lines"
    verb = "is" if len(rows) == 1 else "are"
    return Problem(f"{lines} above the header {verb} left out: {text[:200]!r}.", "", (), line)


def _trimmed(row: Sequence[str]) -> list[str]:
    cells = list(row)
    while cells and not cells[-1].strip():
        cells.pop()
    return cells


def _is_title(row: Sequence[str]) -> bool:
    filled = [cell.strip() for cell in row if cell.strip()]
    return len(filled) < 2 or (len(filled) == 2 and filled[0].endswith(":"))


def _names_all(row: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Return whether a row is a header of those below it."""
    if len(row) < 2 or not below or len(set(row)) < len(row) or not all(row):
        return False
    # A text that was split at its commas goes on with a space.
    if any(name[0] == " " or len(name) > _LONGEST or _NUMBER.match(name) for name in row):
        return False
    # Few rows reach further: a remark at their end has no heading.
    return sum(len(lower) <= len(row) for lower in below) * 2 > len(below)


def below_titles(
    rows: Sequence[Sequence[str]], is_header: Callable[[Sequence[str]], bool]
) -> int | None:
    """Return the index of the first row that is a header, ``None`` unless only titles precede it.

    >>> below_titles([["Essay rubric", ""], ["Criterion", "Good"]], lambda row: "Good" in row)
    1
    """
    for at, row in enumerate(rows[:_DEEPEST]):
        if is_header(row):
            return at
        if not _is_title(row):
            return None
    return None
