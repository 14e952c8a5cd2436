"""A document that was read: plain data, and the line of any place in it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from core.domain.base import Path

#: Deeper nesting is refused: nobody writes it, and recursion elsewhere must not meet it.
MAX_DEPTH = 64
#: Integers of more digits are refused: they overflow a float or are an attack.
MAX_DIGITS = 30

_INT = re.compile(r"[-+]?[0-9]+\Z")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)\Z|\.(nan|NaN|NAN)\Z|-?Infinity\Z|NaN\Z")

TOO_DEEP = f"is nested more than {MAX_DEPTH} levels deep."


@dataclass(frozen=True)
class Document:
    """Plain data (dict, list, str, int, float, bool, None) and ``line_of`` its places.

    ``line_of(path)`` is the 1-based line of the place, or of the nearest place around it.
    """

    value: Any
    line_of: Callable[[Path], int | None]


class BadNumber(ValueError):
    """A number that is not finite, or is too large. ``str(error)`` says which, in words."""


def number(text: str) -> int | float | None:
    """The number that ``text`` spells in JSON or YAML, or ``None`` where it is not a number.

    Raises:
        BadNumber: it is infinite, not a number, or has more digits than ``MAX_DIGITS``.

    >>> number("-3"), number("1e3"), number("1:30")
    (-3, 1000.0, None)
    """
    if _INT.match(text):
        if len(text.lstrip("-+0")) > MAX_DIGITS:
            raise BadNumber(f"is a whole number of {len(text)} digits.")
        return int(text)
    if _NOT_FINITE.match(text):
        raise BadNumber(f"is {text}, which is not a finite number.")
    if _FLOAT.match(text):
        value = float(text)
        if not math.isfinite(value):
            raise BadNumber(f"is {text[:40]}, which is too large.")
        return value
    return None


def nearest(places: dict[Path, int], path: Path) -> int | None:
    """The line of ``path`` or of the nearest place around it."""
    for end in range(len(path), -1, -1):
        if path[:end] in places:
            return places[path[:end]]
    return None


def kind_of(value: Any) -> str:
    """What a value is, in words.

    >>> kind_of([]), kind_of(None), kind_of(True)
    ('a list', 'empty', 'a yes/no value')
    """
    words = {bool: "a yes/no value", int: "a number", float: "a number", str: "text"}
    words |= {list: "a list", tuple: "a list", dict: "a mapping"}
    return "empty" if value is None else words.get(type(value), type(value).__name__)
