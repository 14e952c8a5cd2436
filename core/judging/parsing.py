"""A judge's reply as text, read strictly: a number that was given, or why there is none.

Nothing is ever guessed from prose. What is tolerated is what surrounds a whole JSON object (a code
fence, a sentence before it) and a number written as ``"2"`` or ``2.0``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

MAX_QUOTES = 3

_WHOLE = re.compile(r"[+-]?\d{1,9}(?:\.0+)?\Z")
_MARKS = re.compile(r'[{}"\\]')


@dataclass(frozen=True, slots=True)
class Reply:
    """What the judge said. ``shown`` is the option's shown number, counted from 1."""

    evidence: tuple[str, ...]
    reason: str
    shown: int


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Why a reply is no vote. ``message`` is a sentence and holds no text of the reply."""

    kind: Literal["malformed", "out_of_range", "empty"]
    message: str


def read_reply(text: str | None, n_choices: int) -> Reply | Unreadable:
    """The reply in ``text``, or why it cannot be read; never raises.

    Where there is more than one complete JSON object with the key ``option``, the last one counts;
    one that is followed by an unfinished object does not.

    >>> read_reply('{"evidence": ["a"], "reason": "b", "option": 2}', 3)
    Reply(evidence=('a',), reason='b', shown=2)
    >>> read_reply("I would say option 2.", 3).kind
    'malformed'
    """
    if not text or not text.strip():
        return Unreadable("empty", "The reply was empty.")
    found = _load(text.strip())
    if found is None:
        found = _last_object(text)
    if found is None:
        return Unreadable("malformed", 'The reply held no JSON object with the key "option".')
    if "option" not in found:
        return Unreadable("malformed", 'The reply\'s JSON object had no key "option".')
    shown = _whole_number(found["option"])
    if shown is None:
        return Unreadable("malformed", "The reply's option was not a whole number.")
    if not 1 <= shown <= n_choices:
        # The number itself is left out: it may have thousands of digits.
        return Unreadable("out_of_range", f"The reply's option was not from 1 to {n_choices}.")
    reason = found.get("reason")
    return Reply(
        _quotes(found.get("evidence")), reason.strip() if isinstance(reason, str) else "", shown
    )


def _load(text: str) -> dict[str, object] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        # ValueError also covers numbers with more digits than Python will convert.
        return None
    return value if isinstance(value, dict) else None


def _last_object(text: str) -> dict[str, object] | None:
    for start, end in reversed(list(_objects(text))):
        found = _load(text[start:end])
        if found is not None and "option" in found:
            return found
    return None


def _objects(text: str) -> Iterator[tuple[int, int]]:
    """The spans of the outermost braces that close; none at all if one is left open.

    An open brace means a reply that was cut off: whatever came before it was not its last word.
    """
    spans: list[tuple[int, int]] = []
    depth, start, position = 0, 0, 0
    quoted = False
    while mark := _MARKS.search(text, position):
        position = mark.end()
        sign = mark.group()
        if quoted:
            position += sign == "\\"
            quoted = sign != '"'
        elif sign == '"':
            quoted = depth > 0
        elif sign == "{":
            start = mark.start() if depth == 0 else start
            depth += 1
        elif sign == "}" and depth:
            depth -= 1
            if depth == 0:
                spans.append((start, position))
    return iter(() if depth else spans)


def _whole_number(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if isinstance(value, str) and _WHOLE.match(value.strip()):
        return int(float(value))
    return None


def _quotes(value: object) -> tuple[str, ...]:
    given = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    quotes = [quote.strip() for quote in given if isinstance(quote, str)]
    return tuple(quote for quote in quotes if quote)[:MAX_QUOTES]
