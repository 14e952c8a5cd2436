"""The pairs of a contest as they are kept: who met whom in which order, and how long answers are.

A contest of ten systems on 500 tasks has 45,000 of them, so they are read without what only the
judges and a screen need.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from core.domain.dataset import Pair, output_of
from core.errors import InputError
from core.store.store import Store


class ShownPair(NamedTuple):
    """Two answers as shown: ``first`` is the system shown as A.

    ``lengths`` are words of the answers and ``sources`` the ids of their own items, A first.
    """

    item_id: str
    task: str
    first: str
    second: str
    sources: tuple[str, str]
    lengths: tuple[int, int]


def shown_pairs(store: Store, version: int, ids: Sequence[str]) -> list[ShownPair]:
    """The pairs with these ids, in the dataset's order.

    Raises:
        InputError: an item holds no two answers.
        NotFound: an id is not in this version.
    """
    words: dict[tuple[str, str], int] = {}
    return [_pair(json.loads(text), words) for text in store.datasets.contents(version, ids)]


def _pair(item: dict[str, Any], words: dict[tuple[str, str], int]) -> ShownPair:
    meta, pair = item["meta"], item["submission"]
    if not isinstance(pair, dict) or "first" not in pair:
        raise InputError(f"The item {item['id']!r} of a contest holds no two answers.")
    task, first, second = meta["task"], meta["first"], meta["second"]
    # An answer is in many pairs; its words are counted once.
    lengths = []
    for system, place in ((first, "first"), (second, "second")):
        if (task, system) not in words:
            words[task, system] = _length(pair, place)
        lengths.append(words[task, system])
    a, b = meta["sources"]
    return ShownPair(item["id"], task, first, second, (a, b), (lengths[0], lengths[1]))


def _length(pair: dict[str, Any], place: str) -> int:
    """Words of an answer, without its thinking."""
    answer = pair[place]
    text = answer if isinstance(answer, str) else output_of(getattr(_checked(pair), place))
    return len(text.split())


def _checked(pair: dict[str, Any]) -> Pair:
    return Pair.model_validate_json(json.dumps(pair))
