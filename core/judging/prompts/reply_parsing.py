"""A judge's reply: its JSON schema and strict parser.

The parser never guesses from prose. It tolerates text around a whole JSON object (a code fence, a
sentence before it) and a number written as ``"2"`` or ``2.0``.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from core.judging.answer_bounds import MAX_QUOTES
from core.records import record

_WHOLE = re.compile(r"[+-]?\d{1,9}(?:\.0+)?\Z")
_MARKS = re.compile(r'[{}"\\]')


@record(frozen=True, slots=True)
class Reply:
    """A judge's reply. ``shown`` is the option's shown number, from 1."""

    evidence: tuple[str, ...]
    reason: str
    shown: int


@dataclass(frozen=True, slots=True)
class Unreadable:
    """The reason why a reply is not a vote; ``message`` quotes nothing of the reply."""

    kind: Literal["malformed", "out_of_range", "empty"]
    message: str


_EMPTY = Unreadable("empty", "The reply was empty.")


def read_reply(text: str | None, n_choices: int) -> Reply | Unreadable:
    """Return the reply in ``text``, or why it is unreadable; never raises.

    If several complete JSON objects have the key ``option``, all must name the same option. Objects
    followed by an unfinished object do not count.

    >>> read_reply('{"evidence": ["a"], "reason": "b", "option": 2}', 3)
    Reply(evidence=('a',), reason='b', shown=2)
    >>> read_reply("I would say option 2.", 3).kind
    'malformed'
    """
    reply = text.strip() if text else ""
    if not reply:
        return _EMPTY
    object_ = _whole_object(reply)
    if object_ is None:
        objects = _answer_objects(reply, {"option"})
        if not objects:
            return Unreadable("malformed", 'The reply held no JSON object with the key "option".')
        if _options_differ(answer["option"] for answer in objects):
            message = "The reply held several answers that name other options."
            return Unreadable("malformed", message)
        object_ = objects[-1]
    elif "option" not in object_:
        return Unreadable("malformed", 'The reply\'s JSON object had no key "option".')
    return _read_answer(object_, n_choices, "The reply's option")


def read_replies(text: str | None, n_choices: Mapping[str, int]) -> list[Reply | Unreadable]:
    """Return each criterion's reply; ``n_choices`` maps ids to option counts.

    An entry that is missing, invalid or contradictory is unreadable on its own and does not affect
    the others. If ``text`` has no JSON object with any of the ids, all are unreadable. Never
    raises.

    >>> read_replies('{"c1": {"option": 1}, "c2": {"option": 9}}', {"c1": 2, "c2": 2})[0].shown
    1
    """
    if not text or not text.strip():
        return [_EMPTY] * len(n_choices)
    objects = _answer_objects(text, n_choices.keys())
    if not objects or not objects[-1].keys() & n_choices.keys():
        message = "The reply held no JSON object with the criteria's ids as its keys."
        return [Unreadable("malformed", message)] * len(n_choices)
    return [_entry_reply(objects, id_, count) for id_, count in n_choices.items()]


def only_object(text: str, key: str) -> dict[str, object] | None:
    """Return the only complete JSON object in ``text`` with ``key``, or ``None``.

    Equal objects count as one; different objects are ambiguous.

    >>> only_object('Sure: {"a": 1}', "a")
    {'a': 1}
    """
    objects = _answer_objects(text, {key})
    if not objects or key not in objects[-1] or key in objects[-1].twice:
        return None
    return objects[-1] if all(answer == objects[-1] for answer in objects) else None


def _entry_reply(objects: list[_Object], id_: str, n_choices: int) -> Reply | Unreadable:
    last = objects[-1]
    if id_ not in last:
        return Unreadable("malformed", f"The reply left out {id_}.")
    if id_ in last.twice:
        return Unreadable("malformed", f"The reply held {id_} more than once.")
    entry = last[id_]
    if not isinstance(entry, _Object) or "option" not in entry:
        return Unreadable("malformed", f'The reply\'s {id_} was no object with the key "option".')
    entries = [answer[id_] for answer in objects if id_ in answer]
    if _options_differ(
        answer.get("option") if isinstance(answer, _Object) else None for answer in entries
    ):
        return Unreadable("malformed", f"The reply held several answers to {id_} that differ.")
    return _read_answer(entry, n_choices, f"The reply's option for {id_}")


def _read_answer(answer: _Object, n_choices: int, subject: str) -> Reply | Unreadable:
    if "option" in answer.twice:
        return Unreadable("malformed", f"{subject} was there more than once.")
    shown = _whole_number(answer["option"])
    if shown is None:
        return Unreadable("malformed", f"{subject} was not a whole number.")
    if not 1 <= shown <= n_choices:
        # The message omits the number, because it may have thousands of digits.
        return Unreadable("out_of_range", f"{subject} was not from 1 to {n_choices}.")
    reason = answer.get("reason")
    return Reply(
        _quotes_in(answer.get("evidence")), reason.strip() if isinstance(reason, str) else "", shown
    )


class _Object(dict[str, object]):
    """A JSON object that records its duplicate keys."""

    twice: frozenset[str] = frozenset()

    @classmethod
    def of(cls, pairs: list[tuple[str, object]]) -> _Object:
        parsed = cls(pairs)
        if len(parsed) < len(pairs):
            counts = Counter(key for key, _ in pairs)
            parsed.twice = frozenset(key for key, count in counts.items() if count > 1)
        return parsed


# Shared, because json.loads would create a decoder for every text.
_DECODER = json.JSONDecoder(object_pairs_hook=_Object.of)


def _whole_object(text: str) -> _Object | None:
    """Return the object that makes up all of ``text``, or ``None``."""
    try:
        value, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        # ValueError also covers numbers with more digits than Python will convert.
        return None
    return value if isinstance(value, _Object) and end == len(text) else None


def last_object(text: str, keys: Set[str]) -> tuple[int, int, dict[str, object]] | None:
    """Return the start, end and content of the reply's last JSON object, or ``None``.

    >>> last_object('Well: {"option": 2}.', {"option"})
    (6, 19, {'option': 2})
    """
    placed = _objects_with_place(text, keys)
    return placed[-1] if placed else None


def _answer_objects(text: str, keys: Set[str]) -> list[_Object]:
    """Return the whole text as an object, or its outermost objects that have a wanted key."""
    return [object_ for _, _, object_ in _objects_with_place(text, keys)]


def _objects_with_place(text: str, keys: Set[str]) -> list[tuple[int, int, _Object]]:
    complete = _whole_object(text.strip())
    if complete is not None:
        return [(0, len(text), complete)]
    objects = [(*span, _whole_object(text[slice(*span)])) for span in _object_spans(text)]
    return [
        (start, end, object_)
        for start, end, object_ in objects
        if object_ is not None and object_.keys() & keys
    ]


def _options_differ(options: Iterable[object]) -> bool:
    """Return whether options name different numbers; ``"2"`` equals ``2.0``."""
    return len({_whole_number(option) for option in options}) > 1


def _object_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of outermost balanced braces; none if a brace stays open.

    An open brace means a truncated reply, whose last word is missing.
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


def _quotes_in(value: object) -> tuple[str, ...]:
    quoted = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    quotes = [quote.strip() for quote in quoted if isinstance(quote, str)]
    return tuple(quote for quote in quotes if quote)[:MAX_QUOTES]


# The JSON schemas of replies, as tight as every provider's strict mode allows.

Schema = dict[str, object]


@lru_cache(maxsize=256)
def reply_schema(count: int) -> Schema:
    """Return the schema of a reply to ``count`` options; shared, do not modify.

    The number is bounded. The number of quotes is not, because several strict modes refuse
    ``maxItems``; see ``answer_bounds.limited``. An endpoint that refuses the bounds, too, is asked
    for plain JSON; see ``core.judging.asking.retry``.
    """
    return object_schema(
        {
            "evidence": {"type": "array", "items": {"type": "string"}},
            "reason": {"type": "string"},
            "option": {"type": "integer", "minimum": 1, "maximum": count},
        }
    )


def option_schema(counts: Sequence[int], *, allows_several: bool) -> Schema:
    """Return the schema of a reply with options only, for one criterion or ``allows_several``."""
    options = [
        object_schema({"option": {"type": "integer", "minimum": 1, "maximum": count}})
        for count in counts
    ]
    return (
        object_schema(dict(zip(ids_of(len(counts)), options, strict=True)))
        if allows_several
        else options[0]
    )


def rubric_schema(counts: Sequence[int]) -> Schema:
    """Return the schema of a reply to several criteria; shared, do not modify.

    It has one property per criterion instead of a list: each has its own bound, and none can be
    missing or repeated.
    """
    return _rubric_schema(tuple(counts))


@lru_cache(maxsize=256)
def _rubric_schema(counts: tuple[int, ...]) -> Schema:
    ids = ids_of(len(counts))
    return object_schema({id_: reply_schema(n) for id_, n in zip(ids, counts, strict=True)})


def ids_of(count: int) -> tuple[str, ...]:
    """Return the ids of this many criteria in prompts and replies.

    >>> ids_of(2)
    ('c1', 'c2')
    """
    return tuple(f"c{number}" for number in range(1, count + 1))


def object_schema(properties: Mapping[str, object]) -> Schema:
    """Return the schema of an object with exactly these properties."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }
