"""Which of a record's own fields is the task and which the text that was judged."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from core.domain.dataset import MAX_CONTEXTS
from core.formats.datasets.answer_columns import plain_head
from core.formats.datasets.mapping import CONTEXT, CONTEXT_SYNONYMS, OWN, SYNONYMS
from core.formats.votes.tools.lax_json import conversation

_TEXTS = ("submission", "prompt", "reference", "system")


def item_fields(record: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of `Item` from a record: by the usual names, the longest text as what was judged.

    What has no place is kept under ``meta``.

    >>> item_fields({"question": "Where?", "reply": "In the north, they say.", "n": 3})
    {'prompt': 'Where?', 'submission': 'In the north, they say.', 'meta': {'n': 3}}
    """
    left = dict(record)
    found: dict[str, Any] = {}
    for name in _TEXTS[1:]:
        _claim(found, name, left)
    context = {key: left.pop(key) for key in list(left) if plain_head(key) in _CONTEXTS}
    _claim(found, "submission", left)
    if "submission" not in found:
        texts = {key: value for key, value in left.items() if isinstance(value, str)}
        if texts:
            longest = max(texts, key=lambda key: len(texts[key]))
            found["submission"] = left.pop(longest)
    if context:
        named = {key[:80]: written(value) for key, value in context.items()}
        found["context"] = dict(list(named.items())[:MAX_CONTEXTS])
    return found | ({"meta": left} if left else {})


def written(value: Any) -> str:
    """A value as text: passages one after the other, messages as a conversation."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return "\n\n".join(value)
    if isinstance(value, list) and value and all(isinstance(part, dict) for part in value):
        return conversation(value)
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def _claim(found: dict[str, Any], name: str, left: dict[str, Any]) -> None:
    plains = {plain_head(key): key for key in reversed(left)}
    for candidate in (*OWN[name], *SYNONYMS.get(name, ())):
        if candidate in plains:
            found[name] = written(left.pop(plains[candidate]))
            return


_CONTEXTS = frozenset((*CONTEXT, *CONTEXT_SYNONYMS))


def number_in(value: Any) -> float | None:
    """A score as a number; yes and no are none.

    >>> number_in(1), number_in(True), number_in("1")
    (1.0, None, None)
    """
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if plain else None


def yes_or_no(value: Any) -> bool | None:
    """A verdict that is yes or no; a number is none.

    >>> yes_or_no(False), yes_or_no(0)
    (False, None)
    """
    return value if isinstance(value, bool) else None
