"""Two tables that belong together: joined by a column, answers of two systems, or two parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any, Literal

from core.errors import InputError, Problem
from core.formats.columns.headings import lower_heading
from core.formats.datasets.field_names import SYNONYMS
from core.formats.datasets.mapping import ColumnMapping
from core.formats.tables.table import Table
from core.services.datasets import catalog

Way = Literal["join", "systems", "parts"]
SYSTEM = "system"


def ways_to_join(tables: Sequence[Table]) -> tuple[Way, ...]:
    """Return how these tables can belong together, the likeliest first; empty if they cannot."""
    possible = list[Way]()
    texts = [catalog.suggest_mapping(table).submission for table in tables]
    same_headings = all(_heading_set(table) == _heading_set(tables[0]) for table in tables)
    if len(tables) == 2 and key_of(*tables) is not None and not same_headings:
        possible.append("join")
    if all(texts) and len(set(map(str, texts))) == 1:
        ids = [_name_values(table) for table in tables]
        disjoint = len(set().union(*ids)) == sum(map(len, ids)) and all(ids)
        possible += ["parts", "systems"] if disjoint else ["systems", "parts"]
    return tuple(possible)


def joined_tables(tables: Sequence[Table], way: Way | None = None) -> Table:
    """Return the tables as one; ``way`` says how they belong together, by default the likeliest
    way.

    Raises:
        InputError: they share neither a column that names their rows, nor the column of texts.
    """
    could = ways_to_join(tables)
    if not could:
        names = " and ".join(repr(table.name) for table in tables)
        advice = "Give both a column that names the rows, or the same headings, or drop one alone."
        problem = Problem(f"{names} have no column in common that names their rows.", advice)
        raise InputError("These tables do not belong together.", (problem,))
    way = way if way in could else could[0]
    return _join_columns(tables[0], tables[1]) if way == "join" else _stack_rows(tables, way)


def key_of(left: Table, right: Table) -> tuple[str, str] | None:
    """Return the columns of two tables that identify the same rows, unique in both; or ``None``."""
    right_columns = {lower_heading(column): column for column in right.columns}
    best, most = None, 0
    for column in left.columns:
        right_column = right_columns.get(lower_heading(column))
        if right_column is None:
            continue
        left_values, right_values = (
            _column_values(left, column),
            _column_values(right, right_column),
        )
        unique = len(set(left_values)) == len(left.rows) and len(set(right_values)) == len(
            right.rows
        )
        common = len(set(left_values) & set(right_values))
        if unique and 2 * common >= min(len(left_values), len(right_values)) and common > most:
            best, most = (column, right_column), common
    return best


def _join_columns(left: Table, right: Table) -> Table:
    """Return the rows of the table with texts, with the other table's columns added."""
    if _column_of_texts(left) is None and _column_of_texts(right) is not None:
        left, right = right, left
    key = key_of(left, right)
    assert key is not None
    by_key = {str(row.get(key[1])): row for row in right.rows}
    names = {
        column: column if column not in left.columns else f"{column} ({_system_name(right)})"
        for column in right.columns
        if column != key[1]
    }
    rows = list[dict[str, Any]]()
    for row in left.rows:
        match = by_key.pop(str(row.get(key[0])), {})
        rows.append({**row, **{name: match.get(column, "") for column, name in names.items()}})
    unmatched = sum(
        1 for row in left.rows if str(row.get(key[0])) not in _column_values(right, key[1])
    )
    message = f"{left.name!r} and {right.name!r} are joined by {key[0]!r}."
    if unmatched or by_key:
        message += f" Without a counterpart are {unmatched:,} rows of the first, which stay, and "
        message += f"{len(by_key):,} of the second, which are left out."
    notices = (*left.notices, *right.notices, Problem(message))
    headings = (*left.columns, *names.values())
    return replace(left, columns=headings, rows=tuple(rows), notices=notices)


def _stack_rows(tables: Sequence[Table], way: Way) -> Table:
    """Return the rows of all tables; as ``systems``, with the system's name and a unique id."""
    headings = tuple(dict.fromkeys(column for table in tables for column in table.columns))
    rows, lines = list[dict[str, Any]](), list[int | None]()
    for table in tables:
        id = catalog.suggest_mapping(table).id
        for row, line in zip(table.rows, table.lines, strict=True):
            own_row = dict.fromkeys(headings, "") | row if table.flat else dict(row)
            if way == "systems":
                own_row[SYSTEM] = row.get(SYSTEM) or _system_name(table)
                own_row |= {id: f"{row.get(id)} ({_system_name(table)})"} if id else {}
            rows.append(own_row)
            lines.append(line)
    names = " and ".join(repr(table.name) for table in tables)
    parts = "answers of a system each" if way == "systems" else "parts of one table"
    notices = (*(n for t in tables for n in t.notices), Problem(f"{names} are read as {parts}."))
    headings = headings if way == "parts" or SYSTEM in headings else (*headings, SYSTEM)
    kind = tables[0].kind if all(table.flat for table in tables) else "jsonl"
    return Table(tables[0].name, kind, headings, tuple(rows), tuple(lines), notices=notices)


def _column_of_texts(table: Table) -> str | None:
    """Return the column of texts, unless it is named like a prompt."""
    column = catalog.suggest_mapping(table).submission
    return None if column and lower_heading(column) in ("prompt", *SYNONYMS["prompt"]) else column


def _heading_set(table: Table) -> set[str]:
    return {lower_heading(column) for column in table.columns}


def _column_values(table: Table, column: str) -> list[str]:
    return [str(row[column]) for row in table.rows if row.get(column) not in (None, "")]


def _name_values(table: Table) -> set[str]:
    column = naming_column(table, catalog.suggest_mapping(table))
    return set(_column_values(table, column)) if column else set()


def naming_column(table: Table, mapping: ColumnMapping) -> str:
    """Return the column of ids, or a note that distinguishes rows by a short word; empty without
    one.
    """
    if mapping.id:
        return mapping.id
    for column in mapping.meta:
        names = [str(row.get(column) or "").strip() for row in table.rows]
        if all(names) and len(set(names)) == len(names) and max(map(len, names)) <= 60:
            return column
    return ""


def _system_name(table: Table) -> str:
    return PurePath(table.name).stem
