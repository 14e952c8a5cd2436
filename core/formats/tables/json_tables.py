"""Rows of a JSON document, in every layout in which programs write tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from core.domain.base import Path
from core.errors import Problem
from core.formats.rubrics.keys import BODY_KEYS
from core.formats.source.parsed import ENOUGH, Document, kind_of, refusal
from core.formats.source.several_answers import answers_in_lists, list_notice

#: The advice on how to write a row.
ROW = "Write one object per item: {...}."
_LIST = "Write a list of items, or `items:` with the list below it."
#: Keys whose list is a document's table, after `items`.
_LISTS = ("data", "rows", "records", "examples", "instances", "samples", "results", "entries")
Rows = Sequence[dict[str, Any]]


@dataclass(frozen=True)
class JsonTable:
    """The rows of a document, the place of each, and the other entries, which apply to all."""

    rows: Rows
    places: Sequence[Path]
    header: dict[str, Any] = field(default_factory=dict)
    notices: tuple[Problem, ...] = ()


def json_table(document: Document, name: str) -> JsonTable:
    """Return the rows of a document; of rows that list several answers, a row for each.

    Raises:
        InputError: an unknown layout, or an entry that is not an object, each with its line.
    """
    table = _table_in(document, name)
    if (found := answers_in_lists(table.rows)) is None:
        return table
    key, entries = found
    places = [(*table.places[at], key, n) for at, n, _ in entries]
    notices = (*table.notices, list_notice(key))
    return replace(table, rows=[row for *_, row in entries], places=places, notices=notices)


def _table_in(document: Document, name: str) -> JsonTable:
    """Return the rows of a list of objects, or of any layout that pandas' `to_json` writes.

    A document with `items` has a header. Row numbers of a data frame are left out; other row labels
    become the column `id`.

    Raises:
        InputError: an unknown layout, or an entry that is not an object, each with its line.
    """
    value = document.value
    if isinstance(value, dict) and "items" in value:
        header = {key: part for key, part in value.items() if key != "items"}
        return replace(_rows_of_list(value["items"], ("items",), document, name), header=header)
    if isinstance(value, dict):
        for read in (_rows_of_split_layout, _rows_by_column_or_row):
            table = read(value)
            if table is not None:
                return table
        for key in (*_LISTS, *_only_key(value)):
            if isinstance(value.get(key), list) and value[key]:
                notices = tuple(_left_out_notices(value, key))
                return replace(_rows_of_list(value[key], (key,), document, name), notices=notices)
    if isinstance(value, list) and value and all(isinstance(row, list) for row in value):
        heads = [f"column {n}" for n in range(1, max(map(len, value)) + 1)]
        return JsonTable(list(_rows_from_lists(heads, value)), [(at,) for at in range(len(value))])
    if isinstance(value, list) and value and all(isinstance(row, str) for row in value):
        return JsonTable([{"text": row} for row in value], [(at,) for at in range(len(value))])
    return _rows_of_list(value, (), document, name)


def _only_key(value: Mapping[str, Any]) -> list[str]:
    """Return the key of the only list of objects, under any name but those of a rubric's parts.

    >>> _only_key({"exported": "2025-02-01", "posts": [{"id": 1}]}), _only_key({"criteria": [{}]})
    (['posts'], [])
    """
    lists = [key for key, part in value.items() if isinstance(part, list) and part]
    objects = [key for key in lists if all(isinstance(row, dict) for row in value[key])]
    return objects if len(objects) == 1 and objects[0] not in BODY_KEYS else []


def _left_out_notices(value: Mapping[str, Any], key: str) -> Iterator[Problem]:
    unused = [repr(key_name) for key_name in value if key_name not in (key, "schema")]
    if unused:
        yield Problem(
            f"The rows are read from {key!r}; also in the file but left out: {', '.join(unused)}."
        )


def _rows_of_list(value: Any, base: Path, document: Document, name: str) -> JsonTable:
    """Return a list of objects; rows of a datasets server are unwrapped."""
    if not isinstance(value, list):
        raise refusal(
            "dataset", [Problem(f"is {kind_of(value)}, not a list of items.", _LIST, base, 1)], name
        )
    strange = (index for index, row in enumerate(value) if not isinstance(row, dict))
    problems = [
        Problem(
            f"is {kind_of(value[index])}, not an item.",
            ROW,
            ("items", index),
            document.line_of((*base, index)),
        )
        for index in islice(strange, ENOUGH)
    ]
    if problems:
        raise refusal("dataset", problems, name)
    places = [(*base, index) for index in range(len(value))]
    if value and all(isinstance(row.get("row"), dict) and "row_idx" in row for row in value):
        return JsonTable([row["row"] for row in value], [(*place, "row") for place in places])
    if value and value[0].keys() >= {"index"} and base == ("data",):
        return _rows_of_table_layout(value, places)
    return JsonTable(value, places)


def _rows_of_split_layout(value: dict[str, Any]) -> JsonTable | None:
    """Return the rows of `{"columns": [...], "data": [[...]]}`, with or without `index`."""
    heads, data = value.get("columns"), value.get("data")
    if not (isinstance(heads, list) and isinstance(data, list) and heads):
        return None
    if not all(isinstance(row, list) and len(row) == len(heads) for row in data):
        return None
    index = value.get("index")
    names = [str(head) for head in heads]
    rows = list(_rows_from_lists(names, data))
    places = [("data", at) for at in range(len(rows))]
    return _with_index(rows, places, index if isinstance(index, list) else [])


def _rows_from_lists(
    heads: Sequence[str], data: Sequence[Sequence[Any]]
) -> Iterator[dict[str, Any]]:
    for row in data:
        yield dict(zip(heads, row, strict=False))


def _rows_by_column_or_row(value: dict[str, Any]) -> JsonTable | None:
    """Return the rows of `{column: {row: cell}}`, or of `{id: {column: cell}}`."""
    parts = list(value.values())
    if len(parts) > 1 and all(isinstance(part, list) for part in parts):
        return _rows_from_columns(value)
    if not parts or not all(isinstance(part, dict) and part for part in parts):
        return None
    first = list(parts[0])
    same = all(part.keys() == parts[0].keys() for part in parts)
    if same and _are_row_numbers(first) and not _are_row_numbers(list(value)):
        rows = [{column: cells[key] for column, cells in value.items()} for key in first]
        return _with_index(rows, [()] * len(rows), first)
    if _are_parts(parts, same):
        return None
    places: list[Path] = [(key,) for key in value]
    return _with_index([dict(part) for part in parts], places, list(value))


def _rows_from_columns(value: dict[str, list[Any]]) -> JsonTable | None:
    """Return the rows of `{column: [cell, ...]}`, as `to_dict("list")` writes them."""
    sizes = {len(cells) for cells in value.values()}
    if (
        len(sizes) != 1
        or sizes == {0}
        or any(isinstance(cells[0], dict) for cells in value.values())
    ):
        return None
    rows = [dict(zip(value, cells, strict=True)) for cells in zip(*value.values(), strict=True)]
    return JsonTable(rows, [()] * len(rows))


def _are_parts(parts: Sequence[dict[str, Any]], same: bool) -> bool:
    """Return whether these objects are not records: a single one, or without a common key."""
    common = set(parts[0]).intersection(*parts)
    return len(parts) < 2 or not (same or common)


def _are_row_numbers(keys: Sequence[Any]) -> bool:
    """Return whether these keys are row numbers, from 0 or 1."""
    numbers = [str(key) for key in keys]
    return any(numbers == [str(first + n) for n in range(len(keys))] for first in (0, 1))


def _with_index(rows: Rows, places: Sequence[Path], index: Sequence[Any]) -> JsonTable:
    """Return the rows with their labels as a column, unless they are row numbers."""
    if (
        len(index) != len(rows)
        or _are_row_numbers(index)
        or all(isinstance(key, list) for key in index)
    ):
        return JsonTable(rows, places)
    name = next(n for n in ("id", "index", "row label") if not any(n in row for row in rows))
    return JsonTable([{name: key, **row} for key, row in zip(index, rows, strict=True)], places)


def _rows_of_table_layout(rows: Rows, places: Sequence[Path]) -> JsonTable:
    """Return the rows of the layout `table` without an index of row numbers."""
    if not _are_row_numbers([row.get("index") for row in rows]):
        return JsonTable(rows, places)
    rows_left = [{key: cell for key, cell in row.items() if key != "index"} for row in rows]
    return JsonTable(rows_left, places)
