"""One edit for everything in a draft: what stands at a path becomes something else.

A step of a path names a field or, in a list, the ``uid`` of one of its things. What is not there is
not changed: it was removed a moment ago, in this tab or another. The data given are left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, TypeVar, cast

from core.text.names import fold

Data = TypeVar("Data")
Step = Literal[-1, 1]


def edited(data: Data, path: Sequence[str], change: Callable[[Any], Any]) -> Data:
    """The data with what stands at ``path`` replaced by what ``change`` makes of it.

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
    """The data with that value at ``path``."""
    return edited(data, path, lambda _: value)


def index_of(items: Sequence[Any], uid: str) -> int | None:
    """Where the thing with that uid stands, or ``None``."""
    return next((i for i, item in enumerate(items) if item["uid"] == uid), None)


def without(items: list[Data], uid: str) -> list[Data]:
    """The list without one thing."""
    return [item for item in cast("list[Any]", items) if item["uid"] != uid]


def placed(items: list[Data], uid: str, place: int) -> list[Data]:
    """The list with one thing at another place (from 0; beyond an end is that end)."""
    at, rest = index_of(items, uid), without(items, uid)
    return items if at is None else [*rest[: max(0, place)], items[at], *rest[max(0, place) :]]


def moved(items: list[Data], uid: str, step: Step) -> list[Data]:
    """The list with one thing a place up or down; at the end it stays."""
    at = index_of(items, uid)
    return items if at is None else placed(items, uid, at + step)


def doubled(items: list[Data], uid: str, twin: Callable[[Any], Any]) -> list[Data]:
    """The list with ``twin`` of one thing right after it."""
    at = index_of(items, uid)
    return items if at is None else [*items[: at + 1], twin(items[at]), *items[at + 1 :]]


def numbered(stem: str, taken: Iterable[str], first: int = 1) -> str:
    """``stem`` with the lowest number, from ``first``, that makes it differ from those taken.

    >>> numbered("Tone", ["tone", "Tone 1"])
    'Tone 2'
    """
    known, number = {fold(one) for one in taken}, first
    while fold(f"{stem} {number}") in known:
        number += 1
    return f"{stem} {number}"
