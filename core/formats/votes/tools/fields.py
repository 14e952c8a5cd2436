"""Find a record's task and judged text among its fields."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from core.domain.dataset import MAX_CONTEXTS
from core.formats.columns.text_columns import heads_a_prompt, is_remark
from core.formats.datasets.mapping import guess_mapping
from core.formats.tables.table import Table
from core.formats.votes.structure.named_fields import ABOUT_ITEM
from core.formats.votes.tools.messages import conversation_text


def fields_of_items(records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return fields of `Item` for each record: its columns are taken as those of any table.

    If headings and values name no submission, it is the longest text. Other fields go to ``meta``.

    >>> fields_of_items([{"question": "Where?", "reply": "In the north, they say.", "n": 3}])
    [{'prompt': 'Where?', 'submission': 'In the north, they say.', 'meta': {'n': 3}}]
    """
    columns = tuple(dict.fromkeys(key for record in records for key in record))
    rows = tuple(map(dict, records[:_EXAMINED]))
    mapping = guess_mapping(Table("", "json", columns, rows, (None,) * len(rows)))
    named = {name: getattr(mapping, name) for name in (*ABOUT_ITEM[1:], ABOUT_ITEM[0])}
    if mapping.submission is None:
        named["submission"] = _longest_column(rows, {*named.values(), *mapping.context})
    return [_fields_of(record, named, mapping.context) for record in records]


#: At most this many records are examined.
_EXAMINED = 2000


def _longest_column(rows: Sequence[Mapping[str, Any]], taken: Collection[str | None]) -> str | None:
    """Return the column of the longest texts, without those headed for remarks if possible."""
    length = Counter[str]()
    for row in rows:
        length.update({k: len(v) for k, v in row.items() if isinstance(v, str) and k not in taken})
    judged = [key for key in length if not (is_remark(key) or heads_a_prompt(key))] or [*length]
    return max(judged, key=lambda key: length[key], default=None)


def _fields_of(
    record: Mapping[str, Any], named: Mapping[str, str | None], context: Sequence[str]
) -> dict[str, Any]:
    fields: dict[str, Any] = {
        name: value_as_text(record[column])
        for name, column in named.items()
        if column and column in record
    }
    if beside := {key[:80]: value_as_text(record[key]) for key in context if key in record}:
        fields["context"] = dict(list(beside.items())[:MAX_CONTEXTS])
    used = {*named.values(), *context}
    meta = {key: value for key, value in record.items() if key not in used}
    return fields | ({"meta": meta} if meta else {})


def value_as_text(value: Any) -> str:
    """Return a value as text: passages in order, messages as a conversation."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return "\n\n".join(value)
    if isinstance(value, list) and value and all(isinstance(part, dict) for part in value):
        return conversation_text(value)
    return "" if value is None else json.dumps(value, ensure_ascii=False)


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
