"""How often the cells of a long table are looked at, from its kind to its items.

A file of 50 MB is read within five seconds. That cannot be timed here, but counted.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from core.formats.columns.absences import without_absences
from core.formats.datasets.dataset_file import dataset_of
from core.formats.tables.table import read_table
from core.formats.votes.vote_layouts import kind_of_table


class Row(dict[str, Any]):
    """A row that counts how often a cell of any row is looked at."""

    looks = 0

    def get(self, *key: Any) -> Any:
        Row.looks += 1
        return super().get(*key)

    def __getitem__(self, key: str) -> Any:
        Row.looks += 1
        return super().__getitem__(key)


def looks(rows: int) -> int:
    """How often cells are looked at until a table of so many answers with labels is items."""
    lines = (
        f"a{n},The sun leans north and stays {n},{('MET', 'UNMET')[n % 2]}" for n in range(rows)
    )
    table = read_table("\n".join(("id,submission,Cause", *lines)), "answers.csv")
    Row.looks = 0
    table = without_absences(replace(table, rows=tuple(map(Row, table.rows))))
    assert kind_of_table(table) == "dataset"
    assert len(dataset_of(table, "answers.csv", changes=[]).value.items) == rows
    return Row.looks


def test_each_further_cell_is_looked_at_a_few_times() -> None:
    # What is proposed from the first 1,000 rows costs the same for any number of rows.
    rows, columns = 1000, 3
    more = looks(3 * rows) - looks(2 * rows)
    # Nested, role, value: 3 for each; counting labels, an index and repeated ids: 5 of a row.
    assert more / (rows * columns) < 5
