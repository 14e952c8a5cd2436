"""Cells of tables for people: formulas made harmless, and numbers as people write them."""

from __future__ import annotations

import math
import re

#: What a spreadsheet would take for a formula, after any apostrophes that made one harmless. Some
#: take the full-width signs of East Asian keyboards for the narrow ones.
_FORMULA = re.compile(r"'*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[-+]?(\d+([.,]\d*)?|[.,]\d+)\Z")


def harmless(text: str) -> str:
    """The text with an apostrophe before it where a spreadsheet would work it out.

    >>> harmless("=1+1"), harmless("'=1"), harmless("a=1"), harmless("\uff1d1")
    ("'=1+1", "''=1", 'a=1', "'\uff1d1")
    """
    text = text.replace("\0", "\ufffd")
    return "'" + text if _FORMULA.match(text) else text


def works_out(text: str) -> bool:
    """Whether a spreadsheet would take the text for a formula."""
    return bool(_FORMULA.match(text)) and not text.startswith("'")


def unguarded(text: str) -> str:
    """The text that ``harmless`` was given.

    >>> unguarded("'=1+1"), unguarded("'tis")
    ('=1+1', "'tis")
    """
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


def number_of(text: str) -> float | None:
    """The finite number in a cell, with a decimal point or comma, or ``None``.

    >>> number_of(" 2,5 "), number_of("8-10"), number_of("")
    (2.5, None, None)
    """
    text = text.strip()
    if not _NUMBER.match(text) or len(text) > 30:
        return None
    number = float(text.replace(",", "."))
    return number if math.isfinite(number) else None


def points_text(points: float, *, comma: bool = False) -> str:
    """Points with at most two decimals, as Canvas and Moodle keep them.

    >>> points_text(8.0), points_text(10 / 3), points_text(2.5, comma=True)
    ('8', '3.33', '2,5')
    """
    text = f"{points:.2f}".rstrip("0").rstrip(".")
    text = "0" if text == "-0" else text
    return text.replace(".", ",") if comma else text
