"""What an item is sliced by, where its file says it only under ``meta``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: A longer text is a note, not the name of a group.
LONGEST = 100


def traits_in(meta: Mapping[str, Any], *, system: str, tags: bool) -> dict[str, Any]:
    """``system`` from ``meta["system"]``, and a tag from ``meta["subset"]``, where none is given.

    Rating data often name the system that answered, and the part of a collection that an item is
    from, beside the item; nobody wants to rename keys to compare systems. ``meta`` itself keeps
    both. What is neither a short text nor a whole number is left alone.

    Args:
        meta: the item's notes.
        system: the system that the item names itself; empty where it names none.
        tags: whether the item has tags of its own.

    >>> traits_in({"system": 2, "subset": "natural"}, system="", tags=False)
    {'system': '2', 'tags': ['natural']}
    >>> traits_in({"system": "GPT-2"}, system="Human", tags=False)
    {}
    """
    found = dict[str, Any]()
    if not system and (named := _name(meta.get("system"))):
        found["system"] = named
    if not tags and (named := _name(meta.get("subset"))):
        found["tags"] = [named]
    return found


def _name(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    words = str(value).strip()
    return words if len(words) <= LONGEST and "\n" not in words else ""
