"""Strict JSON to plain data, with the line of every value.

The standard library's C scanner reads the data. A second, slower walk over the tokens finds lines,
on demand only. YAML's parser cannot replace it: it refuses JSON with escaped surrogate pairs, long
keys, or a colon on the line after its key.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from typing import Any

from core.domain.base import Path
from core.errors import Problem
from core.formats.source.parsed import (
    ENOUGH,
    LONGEST_WORD,
    MAX_DEPTH,
    MAX_DIGITS,
    TOO_DEEP,
    BadNumber,
    Document,
    Lines,
    SharedWords,
    half_character,
    nearest_line,
    number,
    too_many,
)

_TOKEN = re.compile(r'\s*(?:("[^"\\]*(?:\\.[^"\\]*)*")|([{}\[\],:])|([^\s{}\[\],:"]+))', re.S)
#: What a number out of bounds must contain: a long run of digits, or a large exponent.
_OUT_OF_BOUNDS = re.compile(rf"[0-9](?:[0-9]{{{MAX_DIGITS}}}|[eE]\+?[0-9]{{3}})")
#: Matches up to the next list or object, skipping whole strings.
_UP_TO_NEXT = re.compile(r'(?:[^"\[{]++|"[^"\\]*+(?:\\.[^"\\]*+)*+"?)*+(?:[\[{]|\Z)', re.S)
#: The most lists and objects, refused before they are created: an object takes 250 bytes.
MAX_PARTS = 1_000_000
#: With more values, a value's line is the line of the nearest known value.
MAX_PLACES = 300_000
_ONCE = "Keep one of the two."
_HALF = ("holds half of a surrogate pair.", "Correct the \\u escape.")


def read_json(text: str) -> Document:
    """Return the JSON document in ``text``, with its faults.

    Faults are: not JSON, a key given twice in one object, a number that is not finite or has too
    many digits, half of a surrogate pair, or nested deeper than ``MAX_DEPTH``. A document with a
    faulty number or key still has a value: the number is missing, the last of two equal keys
    counts.

    >>> read_json('{"a": [1]}').line_of(("a", 0)), read_json('{"a": NaN}').value
    (1, {'a': None})
    """
    value, faults = decode(text)

    def places() -> Iterator[tuple[Path, int, Problem | None]]:
        lines = Lines(text)
        for path, offset, fault in islice(walk(text), MAX_PLACES):
            yield path, lines.at(offset), fault

    @cache
    def lines_of() -> dict[Path, int]:
        return {path: line for path, line, _ in places()}

    @cache
    def located() -> list[Problem]:
        if any(fault.line is not None for fault in faults):
            return faults
        # The walk finds the faults of valid JSON again, with their lines.
        again = (Problem(f.message, f.mend, path, line) for path, line, f in places() if f)
        return list(islice(again, ENOUGH)) or faults

    return Document(value, lambda at: nearest_line(lines_of(), at), located if faults else None)


def may_hold_huge_number(text: str) -> bool:
    """Return whether a number in the text may be too large."""
    return _OUT_OF_BOUNDS.search(text) is not None


def too_many_parts(text: str, most: int) -> Problem | None:
    """Return the problem of more than ``most`` lists and objects, before any is created."""
    # Brackets in strings do not count, but then each must be checked.
    if text.count("[") + text.count("{") <= most:
        return None
    beyond = next(islice(_UP_TO_NEXT.finditer(text), most, None), None)
    if beyond is None or not beyond[0].endswith(("[", "{")):
        return None
    message = f"has more than {most:,} rows, with the lists and objects within them."
    return Problem(message, "That is the limit: split it.")


def decode(text: str) -> tuple[Any, list[Problem]]:
    """Return the value of a JSON text and its problems; lines count in ``text``.

    The value is ``None`` unless only numbers or repeated keys are at fault.

    >>> decode("[1, NaN]")[1][0].message
    'is NaN, which is not a finite number.'
    """
    return Decoder().decode(text)


class Decoder:
    """Decodes JSON texts one after the other, like ``decode``; shared words are stored once."""

    def __init__(self) -> None:
        self._faults: list[Problem] = []
        self._words = SharedWords()
        # Python's own number parser is ten times faster, and correct if no number can be out of
        # bounds.
        self._quick, self._careful = self._with_numbers(None), self._with_numbers(self._read_number)

    def _with_numbers(self, read: Callable[[str], Any] | None) -> json.JSONDecoder:
        return json.JSONDecoder(
            object_pairs_hook=self._read_object,
            parse_int=read,
            parse_float=read,
            parse_constant=self._read_number,
        )

    def decode(self, text: str) -> tuple[Any, list[Problem]]:
        """Return the value of the next text, and its problems."""
        brackets = text.count("[") + text.count("{")
        if brackets > MAX_PARTS and (fault := too_many_parts(text, MAX_PARTS)):
            return None, [fault]
        faults = self._faults = []
        try:
            value = (self._careful if may_hold_huge_number(text) else self._quick).decode(text)
        except json.JSONDecodeError as error:
            reason = error.msg[:1].lower() + error.msg[1:]
            message = f"is not valid JSON: {reason} (column {error.colno})."
            return None, [Problem(message, "Check quotes, commas and brackets.", (), error.lineno)]
        except RecursionError:
            return None, [Problem(TOO_DEEP, "Make it flatter.")]
        halves = "\\u" in text
        unusable = _faults_of_data(value, halves) if halves or brackets >= MAX_DEPTH else []
        return (None, [*faults, *unusable]) if unusable else (value, faults)

    def _read_object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        words = self._words
        entries = {
            words[key]: words[value] if type(value) is str and len(value) <= LONGEST_WORD else value
            for key, value in pairs
        }
        if len(entries) != len(pairs):
            counts = Counter(key for key, _ in pairs)
            twice = counts.most_common(1)[0][0]
            self._add_fault(Problem("is given twice.", _ONCE, (twice,)))
        return entries

    def _read_number(self, digits: str) -> Any:
        try:
            return number(digits)
        except BadNumber as error:
            self._add_fault(Problem(str(error), "Use a finite number."))
            return None

    def _add_fault(self, fault: Problem) -> None:
        if not too_many(self._faults):
            self._faults.append(fault)


def _faults_of_data(value: Any, halves: bool) -> list[Problem]:
    """Return the faults of plain data: nested too deep, or half characters."""
    todo, depth = [value], 0
    while todo:
        if halves and any(_holds_half_character(part) for part in todo):
            return [Problem(*_HALF)]
        depth += 1
        todo = [
            child
            for part in todo
            if isinstance(part, list | dict)
            for child in (part.values() if isinstance(part, dict) else part)
            if halves or isinstance(child, list | dict)
        ]
        if depth >= MAX_DEPTH and any(isinstance(part, list | dict) for part in todo):
            return [Problem(TOO_DEEP, "Make it flatter.")]
    return []


def _holds_half_character(part: Any) -> bool:
    texts = part if isinstance(part, dict) else [part] if isinstance(part, str) else ()
    return any(map(half_character, texts))


def walk(text: str) -> Iterator[tuple[Path, int, Problem | None]]:
    """Yield every value's path, offset (for an entry: its key's) and fault.

    ``text`` must be JSON, or JSON up to where it nests too deep (the walk ends there).
    """
    path: list[str | int] = []
    #: The keys of each open object; ``None`` for a list.
    keys: list[set[str] | None] = []
    is_key = is_placed = False
    # Blanks at the end belong to no token; each would start the search again.
    for match in _TOKEN.finditer(text.rstrip()):
        string, mark, bare = match.groups()
        offset = match.end() - len(string or mark or bare)
        if mark == ":":
            continue
        if mark == ",":
            last = path[-1]
            path[-1] = last + 1 if isinstance(last, int) else last
            is_key, is_placed = keys[-1] is not None, False
        elif mark and mark in "}]":
            path.pop()
            keys.pop()
            is_key = is_placed = False
        elif string is not None and is_key:
            key, keys_here = json.loads(string), keys[-1]
            assert keys_here is not None
            path[-1] = key
            yield (
                tuple(path),
                offset,
                Problem("is given twice.", _ONCE) if key in keys_here else None,
            )
            keys_here.add(key)
            is_key, is_placed = False, True
        else:
            fault = None if mark else _value_fault(string, bare)
            if fault or not is_placed:
                yield tuple(path), offset, fault
            if mark and len(path) >= MAX_DEPTH:
                yield tuple(path[:3]), offset, Problem(TOO_DEEP, "Make it flatter.")
                return
            if mark:
                path.append("" if mark == "{" else 0)
                keys.append(set() if mark == "{" else None)
                is_key, is_placed = mark == "{", False


def _value_fault(string: str | None, bare: str | None) -> Problem | None:
    if string is not None:
        half = "\\u" in string and half_character(json.loads(string))
        return Problem(*_HALF) if half else None
    try:
        number(bare or "")
    except BadNumber as error:
        return Problem(str(error), "Use a finite number.")
    return None
