"""Edits to nested data of a draft by path.

A step of a path names a field or, in a list, the ``uid`` of an object. A missing object is not
changed, since it may have just been removed, in this tab or another. The input is not modified.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, TypeVar, cast

from core.text.names import fold

Data = TypeVar("Data")
Step = Literal[-1, 1]


def edited(data: Data, path: Sequence[str], change: Callable[[Any], Any]) -> Data:
    """Return the data with the value at ``path`` replaced by ``change`` of it.

    >>> edited({"rows": [{"uid": "a", "n": 1}]}, ("rows", "a", "n"), lambda n: n + 1)
    {'rows': [{'uid': 'a', 'n': 2}]}
    """
    if not path:
        return cast("Data", change(data))
    at, (step, *rest) = cast("Any", data), path
    if isinstance(at, list):
        return cast("Data", [edited(x, rest, change) if x["uid"] == step else x for x in at])
    return cast("Data", {**at, step: edited(at.get(step), rest, change)})


def put(data: Data, path: Sequence[str], value: Any) -> Data:
    """Return the data with that value at ``path``."""
    return edited(data, path, lambda _: value)


def index_of(items: Sequence[Any], uid: str) -> int | None:
    """Return the index of the object with that uid, or ``None``."""
    return next((i for i, item in enumerate(items) if item["uid"] == uid), None)


def without(items: list[Data], uid: str) -> list[Data]:
    """Return the list without one object."""
    return [item for item in cast("list[Any]", items) if item["uid"] != uid]


def placed(items: list[Data], uid: str, place: int) -> list[Data]:
    """Return the list with one object at another place (from 0; beyond an end is that end)."""
    at, rest = index_of(items, uid), without(items, uid)
    return items if at is None else [*rest[: max(0, place)], items[at], *rest[max(0, place) :]]


def moved(items: list[Data], uid: str, step: Step) -> list[Data]:
    """Return the list with one object moved a place up or down, if there is room."""
    at = index_of(items, uid)
    return items if at is None else placed(items, uid, at + step)


def doubled(items: list[Data], uid: str, twin: Callable[[Any], Any]) -> list[Data]:
    """Return the list with ``twin`` of one object right after it."""
    at = index_of(items, uid)
    return items if at is None else [*items[: at + 1], twin(items[at]), *items[at + 1 :]]


def numbered(stem: str, taken: Iterable[str], first: int = 1) -> str:
    """Return ``stem`` with the lowest number, from ``first``, that is not taken.

    >>> numbered("Tone", ["tone", "Tone 1"])
    'Tone 2'
    """
    folded, number = {fold(name) for name in taken}, first
    while fold(f"{stem} {number}") in folded:
        number += 1
    return f"{stem} {number}"
