"""Headings of two parts that form a complete grid, such as `kim_tone, kim_depth, lee_tone, ...`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from core.formats.datasets.answer_columns import (
    could_answer,
    named_for_raters,
    names_a_criterion,
    names_a_rater,
    sharing,
    sums_up,
    words_in,
)
from core.formats.datasets.table import Table
from core.formats.source.csv_writer import number_of
from core.formats.source.heading_words import plain_heading

#: Headings with other separators are unambiguous.
_PARTS = (r"([^/|:]+?)[_\s.-]([^/|:_]+)", r"([^/|:_]+)[_\s.-]([^/|:]+?)")


class NameGrid(NamedTuple):
    """Raters and criteria, and the column of each pair."""

    raters: tuple[str, ...]
    criteria: tuple[str, ...]
    columns: dict[tuple[str, str], str]


def grid_of(columns: Sequence[str]) -> NameGrid | None:
    """Return the grid of at least two names by two, with a heading for each pair, or ``None``.

    >>> grid_of(["kim tone", "kim wit", "lee tone", "lee wit", "id"]).criteria
    ('tone', 'wit')
    >>> grid_of(["kim_tone", "lee_wit", "kim"]) is None
    True
    """
    for pattern in _PARTS:
        parted = dict[str, tuple[str, str]]()
        for column in columns:
            if parts := re.fullmatch(pattern, column.strip()):
                parted[column] = (parts[1].strip("()[] -"), parts[2].strip("()[] -"))
        by_first = dict[str, list[str]]()
        for first, second in parted.values():
            by_first.setdefault(first, []).append(second)
        sides = [tuple(seconds) for seconds in by_first.values() if len(seconds) > 1]
        largest = max(sides, key=lambda side: (sides.count(side), len(side)), default=())
        firsts = tuple(first for first, seconds in by_first.items() if set(seconds) == set(largest))
        if len(firsts) > 1:
            column_of = {parts: c for c, parts in parted.items() if parts[0] in firsts}
            return _with_likelier_raters(NameGrid(firsts, largest, column_of))
    return None


def _with_likelier_raters(grid: NameGrid) -> NameGrid:
    """Return the grid with the likelier names as raters."""
    are_criteria = [any(map(names_a_criterion, side)) for side in (grid.raters, grid.criteria)]
    named = [named_for_raters(side) for side in (grid.raters, grid.criteria)]
    if are_criteria == [True, False] or (
        are_criteria[0] == are_criteria[1] and named == [False, True]
    ):
        turned = {(second, first): c for (first, second), c in grid.columns.items()}
        return NameGrid(grid.criteria, grid.raters, turned)
    return grid


def without_asides(table: Table, columns: Sequence[str]) -> list[str]:
    """Return the columns without those whose heading continues that of a column of their kind.

    Columns are of one kind if both hold only numbers, or neither does.

    >>> table = Table("x.csv", "csv", (), ({"kim": "4", "kim_time": "9", "lee": "3"},), (2,))
    >>> without_asides(table, ["kim", "kim_time", "lee"])
    ['kim', 'lee']
    """
    heads = {c: plain_heading(c) for c in columns}
    numbers = {c: None not in map(number_of, words_in(table, c)) for c in columns}
    return [
        c
        for c in columns
        if not any(
            heads[c].startswith(f"{heads[o]} ")
            and len(heads[c]) > len(heads[o]) + 2
            and numbers[c] == numbers[o]
            for o in columns
        )
    ]


def answers_in_grid(table: Table) -> NameGrid | None:
    """Return the grid of a table's answer columns on one scale, or ``None``."""
    able = [c for c in table.columns if could_answer(table, c) and not sums_up(c)]
    grid = grid_of(able)
    if grid is None:
        return None
    columns = [c for c in able if c in grid.columns.values()]
    if columns == next(iter(sharing(table, columns)), []):
        return grid
    sides = [[grid.columns[r, c] for r in grid.raters] for c in grid.criteria]
    apart = all(map(names_a_rater, grid.raters)) and all(sharing(table, side) for side in sides)
    return grid if apart else None
