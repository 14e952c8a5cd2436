"""Lists of several answers beside the number of the best, as in best-of-n logs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from core.errors import Problem
from core.formats.source.csv_writer import number_of
from core.formats.source.several_answers import number_of_first, text_of_answer
from core.formats.tables.cells import parsed_cell
from core.formats.tables.table import Table, value_paths, with_paths
from core.formats.votes.structure.vote_headings import names_a_system


def with_listed_answers(table: Table) -> Table:
    """Return the table with a column for each answer of a list, headed by its number. The column
    that names the best answer shows whether numbers begin at 0 or at 1. Of answers with their
    authors, each row is a pair of the best and another. Any other table is unchanged.
    """
    for column in filter(table.nested.__contains__, table.columns):
        cells = [parsed_cell(row.get(column)) for row in table.rows]
        if len(sizes := {*map(_size_of_list, cells)}) > 1:
            continue
        size, are_records = sizes.pop(), all(map(_are_records, cells))
        for best in table.columns if size > (1 if are_records else 2) else ():
            numbers = [row.get(best) for row in table.rows] if best not in table.nested else []
            if (first := number_of_first(best, numbers, size)) is None:
                continue
            if are_records:
                return _pairs_with_best(table, column, best, first)
            heads = [f"{column}_{first + n}" for n in range(size)]
            kept = tuple(c for c in table.columns if c != column)
            rows = tuple(
                {c: row.get(c) for c in kept} | dict(zip(heads, texts, strict=True))
                for row, texts in zip(table.rows, cells, strict=True)
            )
            return replace(table, columns=(*kept, *heads), rows=rows, document=None)
    return table


def _size_of_list(cell: Any) -> int:
    """Return the number of texts in a list of nothing else, or of records with a text each."""
    texts = isinstance(cell, list) and all(isinstance(text, str) for text in cell)
    return len(cell) if texts or _are_records(cell) else 0


def _are_records(cell: Any) -> bool:
    records = isinstance(cell, list) and len(cell) > 1 and all(isinstance(r, dict) for r in cell)
    return records and all(map(text_of_answer, cell))


def _pairs_with_best(table: Table, column: str, best: str, first: int) -> Table:
    """Return a row for the best record of each list beside each other one, in the list's order."""
    table = with_paths(table, [path for path in value_paths(table) if "[" not in path])
    kept = [c for c in table.columns if c not in (*table.nested, column, best)]
    lists: list[list[dict[str, Any]]] = [parsed_cell(row[column]) for row in table.rows]
    author = _author_of([record for records in lists for record in records])
    rows, lines = list[dict[str, Any]](), list[int | None]()
    for row, line, records in zip(table.rows, table.lines, lists, strict=True):
        won = int(number_of(str(row[best])) or 0) - first
        for n in range(len(records)):
            if n != won:
                sides = [records[at] for at in sorted((n, won))]
                texts = dict(zip(("first", "second"), map(text_of_answer, sides), strict=True))
                names = {
                    f"{at}_system": side[author]
                    for at, side in zip(texts, sides, strict=True)
                    if author
                }
                better = "first" if won < n else "second"
                rows.append({c: row.get(c) for c in kept} | texts | names | {"preference": better})
                lines.append(line)
    message = f"{best!r} is the number of the best answer in the list {column!r}, from {first}"
    message += f"; {author!r} is what wrote it." if author else "."
    mend = "" if len(rows) == len(lists) else "Pairs of one list depend on each other."
    heads, notices = tuple(rows[0]), (*table.notices, Problem(message, mend))
    return replace(
        table, columns=heads, rows=tuple(rows), lines=tuple(lines), document=None, notices=notices
    )


def _author_of(records: Sequence[dict[str, Any]]) -> str:
    """Return the key of records' repeated short names, by its word if several have such, or ""."""
    short = [
        key
        for key in records[0]
        if all(isinstance(name := r.get(key), str) and 0 < len(name.split()) < 4 for r in records)
        and 2 * len({r[key] for r in records}) <= len(records)
    ]
    named = [*filter(names_a_system, short)] or short
    return named[0] if len(named) == 1 else ""
