"""Values in cells: objects and lists, and paths into them such as `messages[-1].content`."""

from __future__ import annotations

import json
import re
from typing import Any

_STEP = re.compile(r"\.?([^.\[\]]+)|\[(-?\d{1,6})\]")


#: The first characters of a cell with an object or a list.
_BRACKETS = ("{", "[")


Steps = tuple[str | int, ...]


def steps_of(path: str) -> Steps:
    """Return the keys and indexes of a path, or () if it is not a path.

    >>> steps_of("messages[-1].content"), steps_of("a..b"), steps_of("plain")
    (('messages', -1, 'content'), (), ('plain',))
    """
    steps, at = list[str | int](), 0
    while at < len(path):
        match = _STEP.match(path, at)
        if match is None or (at == 0 and path.startswith((".", "["))):
            return ()
        steps.append(match[1] if match[1] is not None else int(match[2]))
        at = match.end()
    return tuple(steps)


def values_at(cell: Any, steps: Steps) -> list[Any]:
    """Return the values at a place in each entry of a cell with a list, ``None`` where missing."""
    entries = parsed_cell(cell)
    entries = entries if isinstance(entries, list) else []
    return [(value_at(entry, steps) or (None,))[0] for entry in entries]


def value_at(value: Any, steps: Steps) -> tuple[Any, ...]:
    """Return a tuple of the value at the end of the steps, or () if missing."""
    for step in steps:
        if not (part := _value_at_step(parsed_cell(value), step)):
            return ()
        (value,) = part
    return (value,)


def _value_at_step(value: Any, step: str | int) -> tuple[Any, ...]:
    if isinstance(value, dict):
        return (value[step],) if step in value else ()
    if isinstance(value, list) and isinstance(step, int) and -len(value) <= step < len(value):
        return (value[step],)
    return ()


def only_entry(value: Any) -> Any:
    """Return the only entry of a list, ``None`` for an empty list, any other value unchanged.

    >>> only_entry(["yes"]), only_entry([]), only_entry(["yes", "no"]), only_entry("no")
    ('yes', None, ['yes', 'no'], 'no')
    """
    return (value[0] if value else None) if isinstance(value, list) and len(value) < 2 else value


def is_nested(cell: Any) -> bool:
    """Return whether a cell holds an object, or a list that is more than one plain value."""
    if isinstance(cell, str) and not cell.lstrip().startswith(_BRACKETS):
        return False  # true of most cells in most tables
    return isinstance(only_entry(parsed_cell(cell)), dict | list)


def parsed_cell(value: Any) -> Any:
    """Return the object or list in a CSV cell; other cells unchanged."""
    if not isinstance(value, str) or not value.lstrip().startswith(_BRACKETS):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value  # a text that merely begins with a bracket
