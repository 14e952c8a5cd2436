"""The values inside cells that a reading leaves out, by their paths."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from core.errors import Problem
from core.formats.tables.cells import parsed_cell, steps_of
from core.formats.tables.table import Table

#: The keys that lead to a value, `[]` for an entry of a list.
Keys = tuple[str, ...]
#: The most paths to name, and rows to look at.
_SHOWN, _ROWS = 12, 500


def leaves_of(value: Any, keys: Keys = ()) -> Iterator[Keys]:
    """Yield the keys of each filled value inside objects and lists."""
    value = parsed_cell(value)
    if isinstance(value, dict):
        for key, part in value.items():
            yield from leaves_of(part, (*keys, str(key)))
    elif isinstance(value, list):
        for entry in value:
            yield from leaves_of(entry, (*keys, "[]"))
    elif value not in (None, ""):
        yield keys


def left_beside_paths(table: Table, paths: Iterable[str]) -> list[Keys]:
    """Return the values beside those that paths such as `scores.tone` reach, in the first rows."""
    steps = [steps_of(path.replace("[]", "[0]")) for path in paths if path not in table.nested]
    read = {tuple("[]" if isinstance(s, int) else s for s in of) for of in steps if len(of) > 1}
    roots = [c for c in table.columns if c in table.nested and any(of[0] == c for of in read)]
    roots = [c for c in roots if c not in paths]
    leaves = (
        keys for row in table.rows[:_ROWS] for c in roots for keys in leaves_of(row.get(c), (c,))
    )
    return [keys for keys in dict.fromkeys(leaves) if len(keys) > 1 and keys not in read]


def left_inside_notice(unread: Iterable[Keys]) -> list[Problem]:
    """Return the notice of values left out, or none.

    A `*` stands for keys that differ where the last one is the same.

    >>> left_inside_notice([("votes", "ann", "at"), ("votes", "bo", "at")])[0].message
    "Left out inside the cells: 'votes.*.at'."
    """
    alike = dict[tuple[int, str], list[Keys]]()
    for keys in dict.fromkeys(unread):
        alike.setdefault((len(keys), keys[-1]), []).append(keys)
    paths = [".".join(map(_only, zip(*group, strict=True))) for group in alike.values()]
    paths = [path.replace(".[]", "[]") for path in paths]
    others = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    listed = ", ".join(map(repr, paths[:_SHOWN]))
    return [Problem(f"Left out inside the cells: {listed}{others}.")] if paths else []


def _only(keys: Iterable[str]) -> str:
    """Return the only key at a step of several paths, or `*`."""
    names = {*keys}
    return names.pop() if len(names) == 1 else "*"
