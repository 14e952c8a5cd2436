"""Find a record's task and judged text among its fields."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from core.domain.dataset import MAX_CONTEXTS
from core.formats.columns.headings import lower_heading
from core.formats.datasets.field_names import CONTEXT, CONTEXT_SYNONYMS, OWN, SYNONYMS
from core.formats.votes.structure.named_fields import ABOUT_ITEM
from core.formats.votes.tools.messages import conversation_text


def item_fields(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields of `Item` by usual names; the longest text is the submission.

    All other fields go to ``meta``.

    >>> item_fields({"question": "Where?", "reply": "In the north, they say.", "n": 3})
    {'prompt': 'Where?', 'submission': 'In the north, they say.', 'meta': {'n': 3}}
    """
    remaining = dict(record)
    fields: dict[str, Any] = {}
    for name in ABOUT_ITEM[1:]:
        _claim_field(fields, name, remaining)
    context = {
        key: remaining.pop(key) for key in list(remaining) if lower_heading(key) in _CONTEXTS
    }
    _claim_field(fields, "submission", remaining)
    if "submission" not in fields:
        texts = {key: value for key, value in remaining.items() if isinstance(value, str)}
        if texts:
            longest = max(texts, key=lambda key: len(texts[key]))
            fields["submission"] = remaining.pop(longest)
    if context:
        named = {key[:80]: value_as_text(value) for key, value in context.items()}
        fields["context"] = dict(list(named.items())[:MAX_CONTEXTS])
    return fields | ({"meta": remaining} if remaining else {})


def value_as_text(value: Any) -> str:
    """Return a value as text: passages in order, messages as a conversation."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return "\n\n".join(value)
    if isinstance(value, list) and value and all(isinstance(part, dict) for part in value):
        return conversation_text(value)
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def _claim_field(fields: dict[str, Any], name: str, remaining: dict[str, Any]) -> None:
    plains = {lower_heading(key): key for key in reversed(remaining)}
    for candidate in (*OWN[name], *SYNONYMS.get(name, ())):
        if candidate in plains:
            fields[name] = value_as_text(remaining.pop(plains[candidate]))
            return


_CONTEXTS = frozenset((*CONTEXT, *CONTEXT_SYNONYMS))


def number_in(value: Any) -> float | None:
    """Return a score as a number; ``None`` for anything else, also true and false.

    >>> number_in(1), number_in(True), number_in("1")
    (1.0, None, None)
    """
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if plain else None


def yes_or_no(value: Any) -> bool | None:
    """Return a yes/no verdict, ``None`` for a number.

    >>> yes_or_no(False), yes_or_no(0)
    (False, None)
    """
    return value if isinstance(value, bool) else None
