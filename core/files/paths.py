"""Places within the cells of a table: ``messages[-1].content`` names what a column holds inside."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from core.files.tables import Table

_STEP = re.compile(r"\.?([^.\[\]]+)|\[(-?\d{1,6})\]")
#: How deep and how far paths are looked for to be proposed.
_DEPTH, _KEYS = 8, 60

Steps = tuple[str | int, ...]


def steps_of(path: str) -> Steps:
    """The keys and places of a path; none where it is not one.

    >>> steps_of("messages[-1].content"), steps_of("a..b"), steps_of("plain")
    (('messages', -1, 'content'), (), ('plain',))
    """
    found, at = list[str | int](), 0
    while at < len(path):
        match = _STEP.match(path, at)
        if match is None or (at == 0 and path.startswith((".", "["))):
            return ()
        found.append(match[1] if match[1] is not None else int(match[2]))
        at = match.end()
    return tuple(found)


def with_paths(table: Table, names: Iterable[str]) -> Table:
    """The table with a column more for every name that is a path into one of its columns.

    A row without that place lacks the column. A name that leads nowhere in any row adds none.
    """
    for name in dict.fromkeys(names):
        steps = steps_of(name)
        if name in table.columns or len(steps) < 2 or steps[0] not in table.columns:
            continue
        found = [(row, _there(row, steps)) for row in table.rows]
        if any(there for _, there in found):
            rows = tuple({**row, name: there[0]} if there else row for row, there in found)
            table = replace(table, columns=(*table.columns, name), rows=rows)
    return table


def _there(value: Any, steps: Steps) -> tuple[Any, ...]:
    """The value at the end of the steps, alone in a tuple; an empty one where there is none."""
    for step in steps:
        found = _part(opened(value), step)
        if not found:
            return ()
        (value,) = found
    return (value,)


def _part(value: Any, step: str | int) -> tuple[Any, ...]:
    if isinstance(value, dict):
        return (value[step],) if step in value else ()
    if isinstance(value, list) and isinstance(step, int) and -len(value) <= step < len(value):
        return (value[step],)
    return ()


def opened(value: Any) -> Any:
    """A cell of a CSV that holds an object or a list, as that; anything else as it is."""
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[")):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        # It is text that begins with a bracket.
        return value


def leaves(table: Table) -> dict[str, Any]:
    """Paths to what the first row that has them holds in its nested cells, with the values.

    Of a list of messages the last is looked at, of another list the first entry.
    """
    found: dict[str, Any] = {}
    for row in table.rows[:20]:
        for column in table.columns:
            if steps_of(column) == (column,):
                for path, value in _within(opened(row.get(column)), column, 0):
                    if len(found) < _KEYS or path in found:
                        found.setdefault(path, value)
    return found


def _within(value: Any, path: str, depth: int) -> Iterator[tuple[str, Any]]:
    if depth > _DEPTH:
        return
    if isinstance(value, dict):
        parts = [(f"{path}.{key}", part) for key, part in value.items() if steps_of(key) == (key,)]
    elif isinstance(value, list) and value:
        last = isinstance(value[0], dict) and {"role", "content"} <= value[0].keys()
        parts = [(f"{path}[{-1 if last else 0}]", value[-1 if last else 0])]
    else:
        parts = []
    for inner, part in parts:
        if isinstance(part, dict | list):
            yield from _within(part, inner, depth + 1)
        else:
            yield inner, part
