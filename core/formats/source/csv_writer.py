"""Write tables as CSV that is safe in a spreadsheet, and format cells."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

#: The beginning of a formula, after any apostrophes that made one harmless. Some spreadsheets also
#: accept the full-width signs of East Asian keyboards.
_FORMULA = re.compile(r"'*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[-+]?(\d+([.,]\d*)?|[.,]\d+)\Z")


def spreadsheet_safe(text: str) -> str:
    """Return the text, with an apostrophe if a spreadsheet would evaluate it.

    >>> tuple(map(spreadsheet_safe, ("=1+1", "'=1", "a=1", "\uff1d1")))
    ("'=1+1", "''=1", 'a=1', "'\uff1d1")
    """
    text = text.replace("\0", "\ufffd")
    return "'" + text if _FORMULA.match(text) else text


def is_formula(text: str) -> bool:
    """Return whether a spreadsheet would evaluate the text as a formula."""
    return bool(_FORMULA.match(text)) and not text.startswith("'")


def unguarded(text: str) -> str:
    """Return the original of a text that ``spreadsheet_safe`` returned.

    >>> unguarded("'=1+1"), unguarded("'tis")
    ('=1+1', "'tis")
    """
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


def number_of(text: str) -> float | None:
    """Return the finite number in a cell, with a decimal point or comma, or ``None``.

    >>> number_of(" 2,5 "), number_of("8-10"), number_of("")
    (2.5, None, None)
    """
    text = text.strip()
    if not _NUMBER.match(text) or len(text) > 30:
        return None
    number = float(text.replace(",", "."))
    return number if math.isfinite(number) else None


def points_text(points: float, *, comma: bool = False) -> str:
    """Return points with at most two decimals, as Canvas and Moodle keep them.

    >>> points_text(8.0), points_text(10 / 3), points_text(2.5, comma=True)
    ('8', '3.33', '2,5')
    """
    text = f"{points:.2f}".rstrip("0").rstrip(".")
    text = "0" if text == "-0" else text
    return text.replace(".", ",") if comma else text


#: The byte order mark, without which Excel reads UTF-8 as a one-byte encoding.
MARK = "\ufeff"
_SPECIAL = re.compile('[",\r\n]')

Value = str | int | float | bool | None


def csv_text(heads: Sequence[str], rows: Iterable[Sequence[Value]], *, guarded: bool = True) -> str:
    """Return the table with its heads in the first line.

    A text or head that a spreadsheet would evaluate as a formula gets an apostrophe, which the
    spreadsheet hides; numbers keep their sign. ``None`` is an empty cell; true and false are
    written as such. Use ``guarded=False`` only for programs.

    >>> print(csv_text(("a", "b"), [("=1+1", -2.5), (None, True)]), end="")
    a,b
    '=1+1,-2.5
    ,true
    """
    lines = (_csv_line([_csv_cell(value, guarded) for value in row]) for row in (heads, *rows))
    return "".join(lines)


def csv_bytes(text: str, *, mark: bool = True) -> bytes:
    """Return a table's text as a file, with a byte order mark for Excel unless ``mark`` is false.

    >>> csv_bytes("ä").hex(" "), csv_bytes("ä", mark=False).hex(" ")
    ('ef bb bf c3 a4', 'c3 a4')
    """
    return (f"{MARK if mark else ''}{text}").encode("utf-8", "replace")


def _csv_line(cells: Sequence[str]) -> str:
    # The standard library writes a lone carriage return unquoted, at which its reader stops.
    written = ['"' + c.replace('"', '""') + '"' if _SPECIAL.search(c) else c for c in cells]
    return (",".join(written) or '""') + "\n"


def _csv_cell(value: Value, guarded: bool) -> str:
    if isinstance(value, str):
        # A NUL ends a file for many readers.
        return spreadsheet_safe(value) if guarded else value.replace("\0", "\ufffd")
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else repr(value)
