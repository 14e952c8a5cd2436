"""The layouts of tools' files: how each is recognised and read, and a tool's entry in the list."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from core.errors import InputError
from core.formats.columns.text_columns import maps_for
from core.formats.datasets.roles import IGNORED
from core.formats.source.format import Fit, Format
from core.formats.source.opened import Opened, Shape
from core.formats.tables.table import read_table
from core.formats.votes.tools.messages import object_or_empty, objects_in
from core.formats.votes.tools.tool_results import ToolResults
from core.formats.votes.tools.tool_roles import roles_of_fields


class ToolShape(NamedTuple):
    """A layout of a tool's files: how it begins, how it is recognised and read."""

    shape: Shape
    fits: Callable[[Opened], bool]
    read: Callable[[Opened], ToolResults]


Rows = Sequence[Mapping[str, Any]]


def of_rows(
    fits: Callable[[Mapping[str, Any]], bool],
    read: Callable[[Rows, str], ToolResults],
    within: str = "",
    *,
    table: bool = False,
    roles: Mapping[str, str] | None = None,
) -> tuple[ToolShape, ...]:
    """Return the layouts of rows, recognised by the first row: JSON lines, or a JSON list.

    ``within``: also a list under that key of an object. ``table``: also CSV with these headings.
    ``roles``: the roles of the tool's fields, by path; the values say those of others. ``None`` for
    no table of roles.
    """

    def read_rows(rows: Rows, title: str) -> ToolResults:
        results = read(rows, title)
        if roles is not None:
            results.roles = tuple(roles_of_fields(rows, results, roles))
        used = {role.column for role in results.roles if role.role != IGNORED}
        if unread := [c for c in _unread_text_columns(rows, results) if c not in used]:
            message = f"Texts that are left out: {', '.join(map(repr, unread[:20]))}."
            mend = f"To grade the first, without the votes: {maps_for('submission', unread[:1])}."
            results.note(message, "" if results.contest else mend)
        return results

    def rows_inside(opened: Opened) -> list[dict[str, Any]]:
        has_key = opened.has_words(f'"{within}"')
        return objects_in(object_or_empty(opened.value).get(within)) if has_key else []

    shapes = [ToolShape("rows", lambda f: fits(f.first_row), lambda f: read_rows(f.rows, f.title))]
    if within:
        shapes.append(ToolShape("object", lambda f: any(map(fits, rows_inside(f)[:1])),
                                lambda f: read_rows(rows_inside(f), f.title)))  # fmt: skip
    if table:
        shapes.append(ToolShape("table", lambda f: fits(dict.fromkeys(f.columns)),
                      lambda f: read_rows(read_table(f, f.name).rows, f.title)))  # fmt: skip
    return tuple(shapes)


def _unread_text_columns(rows: Rows, results: ToolResults) -> list[str]:
    """Return the columns of long texts of which nothing is in the items or the reasons."""
    kept = json.dumps([list(results.items.values())[:500], results.truth], ensure_ascii=False)
    kept += json.dumps([a.reason for a in results.answers[:2000]], ensure_ascii=False)
    long = dict[str, list[str]]()
    for row in rows[:20]:
        for key, value in _values_inside(row):
            if isinstance(value, str) and len(value.split()) > 7:
                long.setdefault(key, []).append(json.dumps(value, ensure_ascii=False)[1:-1])
    return [key for key, texts in long.items() if not any(text in kept for text in texts)]


def _values_inside(row: Mapping[str, Any], within: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the paths and values of an object, and of objects in it."""
    for key, value in row.items():
        if isinstance(value, dict):
            yield from _values_inside(value, f"{within}{key}.")
        else:
            yield f"{within}{key}", value


def tool_format(name: str, title: str, shapes: Iterable[ToolShape]) -> Format:
    """Return a tool's entry for the list of formats; its files are read as votes or as items."""

    def shape_of(opened: Opened) -> ToolShape | None:
        of_shape = (form for form in shapes if form.shape in opened.shapes)
        return next((form for form in of_shape if form.fits(opened)), None)

    def fit_of_file(opened: Opened) -> Fit | None:
        shape = opened.once(shape_of)
        return None if shape is None else Fit(3, f"what {title} writes")

    def read(opened: Opened) -> ToolResults:
        shape = opened.once(shape_of)
        assert shape is not None
        with damaged_refused(title, opened.name):
            results = shape.read(opened)
        results.tool_name = title
        return results

    return Format(name, title, ("votes", "items"), fit_of_file, read)


@contextmanager
def damaged_refused(title: str, name: str) -> Iterator[None]:
    """Refuse a file whose records lack what the tool always writes, with the reason."""
    try:
        yield
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        reason = " ".join(f"{type(error).__name__} {error}".split())[:200]
        message = f"This file of {title} is damaged or was changed ({reason})."
        raise InputError(f"{message} Export it again.", (), name) from error
