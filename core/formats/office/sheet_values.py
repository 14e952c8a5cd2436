"""Format cell values as a spreadsheet shows them: numbers, dates and percent."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Literal, NamedTuple

Shown = Literal["number", "percent", "date", "datetime", "time", "elapsed", "padded"]

#: Built-in formats by number.
_BUILT_IN: dict[int, Shown] = {
    **dict.fromkeys((9, 10), "percent"),
    **dict.fromkeys((14, 15, 16, 17, *range(27, 32), 36, *range(50, 59)), "date"),
    **dict.fromkeys((18, 19, 20, 21, 32, 33, 34, 35, 45, 47), "time"),
    22: "datetime",
    46: "elapsed",
}
#: Literal parts of a format: quoted, escaped, filled and bracketed.
_LITERAL = re.compile(r'"[^"]*"|\\.|_.|\*.|\[[^\]]*\]')
_ELAPSED = re.compile(r"\[(h+|m+|s+)\]", re.I)
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
#: Day 0 of Excel's dates, and day 0 after the 29 February 1900 that Excel counts by mistake.
_FIRST, _AFTER_LEAP = datetime(1899, 12, 31, tzinfo=UTC), datetime(1899, 12, 30, tzinfo=UTC)
#: Day 0 of old macOS workbooks.
_MAC = datetime(1904, 1, 1, tzinfo=UTC)
_LAST_SERIAL = 2_958_466


class CellFormat(NamedTuple):
    """How a number is shown; ``width`` counts the digits of a format such as 0000."""

    shown: Shown = "number"
    width: int = 0


def format_of(number: int, code: str | None) -> CellFormat:
    """Return a format's kind by number, or by its code if the workbook has one.

    >>> format_of(9, None).shown, format_of(165, "0.0%").shown, format_of(166, "dd.mm.yyyy").shown
    ('percent', 'percent', 'date')
    >>> format_of(167, "0000"), format_of(168, '#,##0.00 "days"').shown
    (CellFormat(shown='padded', width=4), 'number')
    """
    if code is None:
        return CellFormat(_BUILT_IN.get(number, "number"))
    first = code.split(";")[0]
    if _ELAPSED.search(first):
        return CellFormat("elapsed")
    plain = _LITERAL.sub("", first).lower()
    if re.fullmatch(r"0{2,}", plain):
        return CellFormat("padded", len(plain))
    if "%" in plain:
        return CellFormat("percent")
    if plain in ("general", "@"):
        return CellFormat()
    day = bool(re.search("[yd]", plain)) or ("m" in plain and not re.search("[hs]", plain))
    time = bool(re.search("[hs]", plain))
    if day and time:
        return CellFormat("datetime")
    return CellFormat("date" if day else "time" if time else "number")


def number_shown(value: float, form: CellFormat, *, mac: bool = False) -> str:
    """Return a number's text in its format; dates in ISO, percent with its sign.

    >>> number_shown(3.0, CellFormat()), number_shown(0.1 + 0.2, CellFormat())
    ('3', '0.3')
    >>> number_shown(0.25, CellFormat("percent")), number_shown(46053, CellFormat("date"))
    ('25%', '2026-01-31')
    >>> number_shown(46053.4375, CellFormat("datetime")), number_shown(7.0, CellFormat("padded", 4))
    ('2026-01-31 10:30', '0007')
    """
    if form.shown == "percent":
        return f"{value * 100:.12g}%"
    if form.shown == "padded" and value >= 0 and value.is_integer():
        return f"{int(value):0{form.width}d}"
    if form.shown in ("number", "padded") or not 0 <= value < _LAST_SERIAL:
        return plain_number(value)
    if form.shown == "elapsed" or (form.shown == "time" and value >= 1):
        return elapsed_text(timedelta(days=value))
    at = _datetime_of(value, mac)
    if form.shown == "time":
        return _time_text(at)
    day = at.date().isoformat()
    date_only = form.shown == "date" or not (at.hour or at.minute or at.second)
    return day if date_only else f"{day} {_time_text(at)}"


def plain_number(value: float) -> str:
    """Return a number's usual text, without a point if it is whole."""
    if value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.15g}"


def elapsed_text(span: timedelta) -> str:
    """Return hours, minutes and seconds, also beyond a day."""
    seconds = round(span.total_seconds())
    return f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"


def _datetime_of(serial: float, mac: bool) -> datetime:
    base = _MAC if mac else _AFTER_LEAP if serial >= 60 else _FIRST
    at = base + timedelta(days=int(serial))
    # Rounded to seconds, because fractions of a day are inexact.
    return at + timedelta(seconds=round(serial % 1 * 86400))


def _time_text(at: datetime) -> str:
    return at.strftime("%H:%M:%S" if at.second else "%H:%M")


def iso_shown(text: str) -> str:
    """Return a file's timestamp in readable form.

    >>> iso_shown("2026-01-31T00:00:00"), iso_shown("2026-01-31T10:30:00Z"), iso_shown("2026-01-31")
    ('2026-01-31', '2026-01-31 10:30', '2026-01-31')
    """
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return text
    day = at.date().isoformat()
    return day if not (at.hour or at.minute or at.second) else f"{day} {_time_text(at)}"


def unescape_cell(text: str) -> str:
    r"""Return a cell's text, decoding ``_x000D_`` and the like.

    >>> unescape_cell("a_x000A_b"), unescape_cell("_xD83D_")
    ('a\nb', '_xD83D_')
    """
    if "_x" not in text:
        return text

    def decoded_letter(match: re.Match[str]) -> str:
        code = int(match[1], 16)
        return match[0] if code == 0 or 0xD800 <= code < 0xE000 else chr(code)

    return _ESCAPED.sub(decoded_letter, text)
