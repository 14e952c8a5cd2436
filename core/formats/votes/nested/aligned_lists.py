"""Lists of names beside lists of their scores: each name and score become a record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from core.errors import Problem
from core.formats.columns.headings import names_a_criterion, names_a_rater
from core.formats.source.heading_words import ASPECTS, has_word
from core.formats.tables.cells import parsed_cell
from core.formats.tables.table import Table
from core.formats.votes.nested.record_names import LONGEST, fields_named
from core.formats.votes.structure.lists import list_in
from core.formats.votes.structure.named_fields import names_a_model

Lists = dict[str, list[Any]]


def with_names_beside_scores(table: Table) -> Table:
    """Return the table with a list of records for each lists of criteria beside their scores.

    The lists are in a cell's object (`{name: [...], value: [...]}`) or in columns side by side. A
    list of records of `name` and `value` is read like these.
    """
    for column in sorted(table.nested):
        cells = [_as_lists(parsed_cell(row.get(column))) for row in table.rows]
        if None not in cells and any(cells):
            lists = [cell or {} for cell in cells]
            if records := _records_of(lists):
                table = _with_records(table, column, (), records)
    listed = [c for c in table.columns if c in table.nested or _is_written_by_python(table, c)]
    columns = {c: [list_in(row.get(c)) for row in table.rows] for c in listed}
    named = [c for c, lists in columns.items() if _are_criteria(c, lists)]
    for names, scores in ((n, s) for n in named for s in columns if s not in named):
        of_rows = [{n: columns[n][at] for n in (names, scores)} for at in range(len(table.rows))]
        if records := _records_of(of_rows):
            return _with_records(table, names, (scores,), records)
    return table


def _as_lists(cell: Any) -> Lists | None:
    """Return the lists of an object, or of fields of records that name no rater and no criterion.

    ``None`` for another cell.
    """
    if isinstance(cell, dict) or not cell:
        return {k: list_in(of) for k, of in (cell or {}).items()}
    if not isinstance(cell, list) or not all(isinstance(of, dict) for of in cell):
        return None
    keys = dict.fromkeys(key for of in cell for key in of)
    told = {field for of in cell for key in of for field in fields_named(key, of)}
    return None if {"rater", "criterion"} & told else {k: [of.get(k) for of in cell] for k in keys}


def _is_written_by_python(table: Table, column: str) -> bool:
    return any(str(row.get(column)).startswith("['") for row in table.rows[:20])


def _with_records(
    table: Table, column: str, others: Sequence[str], records: Sequence[list[dict[str, Any]]]
) -> Table:
    kept = [{c: cell for c, cell in row.items() if c not in others} for row in table.rows]
    rows = tuple(row | {column: of} for row, of in zip(kept, records, strict=True))
    columns = tuple(c for c in table.columns if c not in others)
    listed = " and ".join(map(repr, (column, *others)))
    said = Problem(f"The lists in {listed} are criteria with a score each.")
    return replace(table, columns=columns, rows=rows, notices=(*table.notices, said))


def _records_of(rows: Sequence[Lists]) -> list[list[dict[str, Any]]]:
    """Return the records of each row if its lists are names of criteria and scores, or []."""
    names, keys = _names_in(rows), dict.fromkeys(key for of in rows for key in of)
    scores = [key for key in keys if key != names and _are_scores(rows, key)]
    if not names or len(scores) != 1 or any(len({*map(len, of.values())}) > 1 for of in rows):
        return []
    heads = {names: "criterion", scores[0]: "score"}
    return [
        [{heads.get(k, k): of[k][n] for k in of} for n in range(len(of.get(names, ())))]
        for of in rows
    ]


def _names_in(rows: Sequence[Lists]) -> str:
    """Return the only key whose lists name criteria, each once and in several rows, or ""."""
    keys = dict.fromkeys(key for of in rows for key in of)
    able = [key for key in keys if _are_criteria(key, [of.get(key, []) for of in rows])]
    return able[0] if len(able) == 1 else ""


def _are_criteria(heading: str, lists: Sequence[list[Any]]) -> bool:
    """Return whether names repeat over the rows, and one or their heading says what they are."""
    every = [name for of in lists for name in of]
    if not all(isinstance(name, str) and len(name) <= LONGEST for name in every):
        return False
    several = 2 * len({*every}) <= len(every) and all(len({*of}) == len(of) for of in lists)
    people = any(names_a_rater(name) or names_a_model(name) for name in {*every})
    named = has_word(heading, ASPECTS) or any(map(names_a_criterion, {*every}))
    return several and not people and named


def _are_scores(rows: Sequence[Mapping[str, list[Any]]], key: str) -> bool:
    every = [score for of in rows for score in of.get(key, [])]
    numbers = all(score is None or isinstance(score, int | float) for score in every)
    return numbers and "score" in fields_named(key.removesuffix("s"), {key.removesuffix("s"): 0})
