"""Edits to nested data of a draft by path.

A step of a path names a field or, in a list, the ``uid`` of an object. A missing object is skipped,
since it may have just been removed, in this tab or another. The input is not modified.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, TypeVar, cast

from core.text.names import fold

Data = TypeVar("Data")
Step = Literal[-1, 1]


def with_change_at(data: Data, path: Sequence[str], change: Callable[[Any], Any]) -> Data:
    """Return the data with ``change`` applied to the value at ``path``.

    >>> with_change_at({"rows": [{"uid": "a", "n": 1}]}, ("rows", "a", "n"), lambda n: n + 1)
    {'rows': [{'uid': 'a', 'n': 2}]}
    """
    if not path:
        return cast("Data", change(data))
    value_here, (step, *inner_path) = cast("Any", data), path
    if isinstance(value_here, list):
        return cast(
            "Data",
            [with_change_at(x, inner_path, change) if x["uid"] == step else x for x in value_here],
        )
    return cast(
        "Data", {**value_here, step: with_change_at(value_here.get(step), inner_path, change)}
    )


def with_value_at(data: Data, path: Sequence[str], value: Any) -> Data:
    """Return the data with that value at ``path``."""
    return with_change_at(data, path, lambda _: value)


def index_by_uid(items: Sequence[Any], uid: str) -> int | None:
    """Return the index of the object with that uid, or ``None``."""
    return next((i for i, item in enumerate(items) if item["uid"] == uid), None)


def without_object(items: list[Data], uid: str) -> list[Data]:
    """Return the list without one object."""
    return [item for item in cast("list[Any]", items) if item["uid"] != uid]


def with_object_placed(items: list[Data], uid: str, place: int) -> list[Data]:
    """Return the list with one object at another place (from 0; beyond an end means that end)."""
    index, others_left = index_by_uid(items, uid), without_object(items, uid)
    return (
        items
        if index is None
        else [*others_left[: max(0, place)], items[index], *others_left[max(0, place) :]]
    )


def with_object_moved(items: list[Data], uid: str, step: Step) -> list[Data]:
    """Return the list with one object moved a place up or down, if there is room."""
    index = index_by_uid(items, uid)
    return items if index is None else with_object_placed(items, uid, index + step)


def with_copy(items: list[Data], uid: str, twin: Callable[[Any], Any]) -> list[Data]:
    """Return the list with ``twin`` of one object right after it."""
    index = index_by_uid(items, uid)
    return (
        items if index is None else [*items[: index + 1], twin(items[index]), *items[index + 1 :]]
    )


def numbered_name(stem: str, used_names: Iterable[str], first: int = 1) -> str:
    """Return ``stem`` with the lowest number, from ``first``, that is not taken.

    >>> numbered_name("Tone", ["tone", "Tone 1"])
    'Tone 2'
    """
    folded, number = {fold(name) for name in used_names}, first
    while fold(f"{stem} {number}") in folded:
        number += 1
    return f"{stem} {number}"
