"""Item, rater and answer of a vote a row, where a part of them is inside cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from core.formats.columns.answer_columns import holds_words, is_index
from core.formats.columns.headings import plain_name
from core.formats.tables.cells import parsed_cell, steps_of
from core.formats.tables.table import Table, value_paths
from core.formats.votes.structure.named_fields import flat_columns

#: Words in column names that suggest rater, item and answer, best first.
_HINTS: dict[str, tuple[str, ...]] = {
    "item": (
        *("item", "sample id", "trace id", "run id", "custom id", "task id", "record id"),
        *("example", "doc", "page", "id"),
    ),
    "rater": (
        *("annotator", "rater", "reviewer", "judge", "completed by", "author", "source"),
        *("source type", "user", "agent", "created by"),
    ),
    "label": (
        *("label", "rating", "verdict", "string value", "value", "score", "correct", "choices"),
        *("sentiment", "answer"),
    ),
    "criterion": ("criterion", "metric", "dimension", "from name", "name", "key"),
}


def answers_in_cells(table: Table) -> tuple[str, ...]:
    """Return the roles of a vote a row, of which a part is inside cells, or ().

    The name of a column or of a value inside cells suggests the item, the rater and the answer.
    """
    flat = [c for c in flat_columns(table) if holds_words(table, c) and not is_index(table, c)]
    chosen = _hinted_fields(flat, inside := [*value_paths(table)])
    if {"item", "rater", "label"} <= chosen.keys() and set(inside) & set(chosen.values()):
        if any(_leads_into_several(table, path) for path in chosen.values()):
            return ()  # only the first of several answers
        return tuple(f"{field}={column}" for field, column in chosen.items())
    return ()


def _leads_into_several(table: Table, path: str) -> bool:
    """Return whether a path leads into the first of several entries."""
    head = path.partition("[0]")[0]
    cells = (parsed_cell(row.get(head)) for row in table.rows)
    return head != path and any(isinstance(cell, list) and len(cell) > 1 for cell in cells)


def _hinted_fields(flat: Sequence[str], inside: Sequence[str]) -> dict[str, Any]:
    names = [*flat, *inside]
    chosen: dict[str, str] = {}
    for field in ("rater", "label", "item", "criterion"):
        root = steps_of(chosen.get("rater", ""))[:1]
        free = [name for name in names if name not in chosen.values()]
        if field == "label" and chosen.get("rater") in inside:
            # Raters and answers belong together.
            free.sort(key=lambda name: steps_of(name)[:1] != root)
        if column := _hinted_name(_HINTS[field], free):
            chosen[field] = column
    return {
        field: chosen[field] for field in ("item", "criterion", "rater", "label") if field in chosen
    }


def _hinted_name(hints: Iterable[str], names: Sequence[str]) -> str | None:
    """Return the first name that equals, ends in or contains the likeliest words."""
    plains = {name: plain_name(name.replace(".", " ").replace("[0]", "")) for name in names}
    for hint in hints:
        for name in names:
            if plains[name] == hint or plains[name].endswith(f" {hint}"):
                return name
        for name in names:
            if steps_of(name) == (name,) and f"{hint} " in plains[name]:
                return name
    return None
