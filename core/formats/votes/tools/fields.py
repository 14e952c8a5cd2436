"""Find a record's task and judged text among its fields."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from core.domain.dataset import MAX_CONTEXTS
from core.errors import InputError
from core.formats.columns.text_columns import heads_a_prompt, is_remark
from core.formats.datasets.mapping import guess_mapping
from core.formats.tables.cells import steps_of, value_at
from core.formats.tables.table import Table
from core.formats.votes.structure.named_fields import ABOUT_ITEM, named_fields
from core.formats.votes.tools.messages import conversation_text
from core.formats.votes.tools.tool_results import ToolResults


def fields_of_items(records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return fields of `Item` for each record: its columns are taken as those of any table.

    If headings and values name no submission, it is the longest text. Other fields go to ``meta``.

    >>> fields_of_items([{"question": "Where?", "reply": "In the north, they say.", "n": 3}])
    [{'prompt': 'Where?', 'submission': 'In the north, they say.', 'meta': {'n': 3}}]
    """
    records = with_fields_inside(records)
    columns = tuple(dict.fromkeys(key for record in records for key in record))
    rows = tuple(map(dict, records[:_EXAMINED]))
    mapping = guess_mapping(Table("", "json", columns, rows, (None,) * len(rows)))
    named = {name: getattr(mapping, name) for name in (*ABOUT_ITEM[1:], ABOUT_ITEM[0])}
    if mapping.submission is None:
        named["submission"] = _longest_column(rows, {*named.values(), *mapping.context})
    return [_fields_of(record, named, mapping.context) for record in records]


#: Keys of an object about an item, and the fields that may be in it.
_ABOUT = ("meta", "metadata", "info")


def with_fields_inside(records: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the records with the fields that `meta` or `info` names, unless they have their own.

    >>> with_fields_inside([{"text": "Hi.", "meta": {"prompt": "Greet me.", "page": 2}}])
    [{'text': 'Hi.', 'meta': {'page': 2}, 'prompt': 'Greet me.'}]
    """
    keys = dict.fromkeys(key for record in records for key in record)
    known = named_fields([*keys], ABOUT_ITEM[1:])
    longer = list[Mapping[str, Any]]()
    for record in records:
        for head in (key for key in _ABOUT if isinstance(record.get(key), dict)):
            inside = {k: v for k, v in record[head].items() if isinstance(v, str)}
            fields = named_fields([*inside], [f for f in ABOUT_ITEM[1:] if f not in known])
            rest = {k: v for k, v in record[head].items() if k not in fields.values()}
            kept = {k: rest if k == head else v for k, v in record.items() if rest or k != head}
            record = {**kept, **{field: inside[key] for field, key in fields.items()}}
        longer.append(record)
    return longer


def with_mapped_fields(results: ToolResults, fields: Mapping[str, str]) -> ToolResults:
    """Return the results with fields of items from the places in the records that a user names.

    Raises:
        InputError: no item has a value there.
    """
    for field, path in fields.items():
        steps, read = steps_of(path), 0
        for of in results.items.values():
            ways = (value_at(of.get("meta", {}), steps[n:]) for n in range(len(steps)))
            if value := next(filter(None, ways), ()):
                of[field] = value_as_text(value[0])
                read += 1
        if not read:
            message = f"--map '{field}={path}': no item of {results.tool_name} has a value there."
            raise InputError(message, (), results.title)
    said = {path: field for field, path in fields.items()}
    roles = [
        replace(role, role=said[role.column], why="as you said") if role.column in said else role
        for role in results.roles
    ]
    return replace(results, roles=tuple(roles))


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
