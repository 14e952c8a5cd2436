"""Lists of three and more answers beside the number of the best, as in best-of-n logs."""

from __future__ import annotations

from dataclasses import replace

from core.formats.source.csv_writer import number_of
from core.formats.source.heading_words import PREFERENCES, has_word
from core.formats.tables.cells import parsed_cell
from core.formats.tables.table import Table


def with_listed_answers(table: Table) -> Table:
    """Return the table with a column for each answer of a list, headed by its number. The column
    that names the best answer shows whether numbers begin at 0 or at 1. Any other table is
    unchanged.
    """
    for column in table.columns:
        size = _size_of_lists(table, column)
        for best in table.columns if size > 2 else ():
            if (first := _first_number(table, best, size)) is None:
                continue
            heads = [f"{column}_{first + n}" for n in range(size)]
            answers = (parsed_cell(row[column]) for row in table.rows)
            rows = tuple(
                {
                    **{c: row.get(c) for c in table.columns if c != column},
                    **dict(zip(heads, texts, strict=True)),
                }
                for row, texts in zip(table.rows, answers, strict=True)
            )
            columns = (*(c for c in table.columns if c != column), *heads)
            return replace(table, columns=columns, rows=rows, document=None)
    return table


def _size_of_lists(table: Table, column: str) -> int:
    """Return the size of the lists of texts in a column, 0 if cells differ or hold no lists."""
    if column not in table.nested:
        return 0
    cells = [parsed_cell(row.get(column)) for row in table.rows]
    texts = all(isinstance(c, list) and all(isinstance(t, str) for t in c) for c in cells)
    sizes = {len(cell) for cell in cells} if texts else {0}
    return sizes.pop() if len(sizes) == 1 else 0


def _first_number(table: Table, column: str, size: int) -> int | None:
    """Return the number of the first answer, if a preference names answers by their numbers."""
    if not has_word(column, PREFERENCES) or column in table.nested:
        return None
    numbers = {number_of(str(row.get(column))) for row in table.rows}
    known = {int(n) for n in numbers if n is not None and n.is_integer()}
    if len(known) < len(numbers) or not (min(known) >= 0 and max(known) <= size):
        return None
    return None if min(known) > 0 and max(known) < size else int(0 not in known)
