"""Tables as CSV that is safe to open in a spreadsheet."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from core.files.cells import harmless

#: Without it at the beginning of a file Excel reads UTF-8 as if it were of one byte a letter.
MARK = "\ufeff"
_SPECIAL = re.compile('[",\r\n]')

Value = str | int | float | bool | None


def csv_text(heads: Sequence[str], rows: Iterable[Sequence[Value]], *, guarded: bool = True) -> str:
    """The table with its heads in the first line.

    A text that a spreadsheet would take for a formula, a head among them, gets an apostrophe before
    it, which the spreadsheet does not show; numbers are no texts and keep their sign. ``None`` is
    an empty cell, true and false are written so. ``guarded=False`` is for programs only.

    >>> print(csv_text(("a", "b"), [("=1+1", -2.5), (None, True)]), end="")
    a,b
    '=1+1,-2.5
    ,true
    """
    lines = (_line([_cell(value, guarded) for value in row]) for row in (heads, *rows))
    return "".join(lines)


def csv_bytes(text: str, *, mark: bool = True) -> bytes:
    """A table's text as a file: with the mark by which Excel knows UTF-8, unless for programs.

    >>> csv_bytes("ä").hex(" "), csv_bytes("ä", mark=False).hex(" ")
    ('ef bb bf c3 a4', 'c3 a4')
    """
    return (f"{MARK if mark else ''}{text}").encode("utf-8", "replace")


def _line(cells: Sequence[str]) -> str:
    # The standard library's writer leaves a lone carriage return bare, on which its reader stops.
    written = ['"' + c.replace('"', '""') + '"' if _SPECIAL.search(c) else c for c in cells]
    return (",".join(written) or '""') + "\n"


def _cell(value: Value, guarded: bool) -> str:
    if isinstance(value, str):
        # A NUL ends a file for many readers.
        return harmless(value) if guarded else value.replace("\0", "\ufffd")
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else repr(value)
