"""Headings of two parts that form a complete grid, such as `kim_tone, kim_depth, lee_tone, ...`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from core.formats.columns.answer_columns import columns_by_scale, could_answer, same_scale, words_in
from core.formats.columns.headings import (
    NO_RATERS,
    is_quantity,
    is_sum,
    named_for_raters,
    names_a_criterion,
    names_a_person,
    names_a_rater,
    plain_name,
)
from core.formats.columns.label_words import may_be_marks
from core.formats.columns.text_columns import is_remark
from core.formats.source.csv_writer import number_of
from core.formats.source.heading_words import plain_heading
from core.formats.tables.table import Table, first_of_table

#: Separators that only join two names, then those that also stand inside of names.
_JOINED = r"(.+?)(?:\s+/\s+|\s*\|\s*|:\s+|\s+[-–—]\s+|__)(.+)"
#: `Tone (Kim)`: the rater, more often than the criterion, is in brackets.
_BRACKETS = r"(.+?)\s*[(\[（【]([^()\[\]（）【】]+)[)\]）】]"
_PARTS = (_JOINED, _BRACKETS, r"([^/|:]+?)[_\s.-]([^/|:_]+)", r"([^/|:_]+)[_\s.-]([^/|:]+?)")
#: The points possible, which belong to a criterion: `/8`, `(max. 8)`, `(0-8)`.
_MOST = re.compile(
    r"\s*(?:/ ?\d+|[(\[](?:/|max(?:imum|\.)?:?|\d+ ?[-–]) ?\d+[^\W\d_.]*\.?[)\]])\Z", re.I
)
#: Initials, and codes that no rater has: `GH`, and `AO1`.
_INITIALS, _CODE = re.compile(r"[^\W\d_a-z]{2,3}\Z"), re.compile(r"[^\W\d_a-z]{2,}\d+\Z")
#: The most rows to look at for marks that all differ.
_FIRST = 500
#: Words in headings of numbers that say where or when, not how good.
_PLACES = NO_RATERS | {"page", "line", "offset", "start", "end", "begin", "min", "max", "x", "y"}
#: `Anna`, `KB`: a name, if the other part of the headings is not a name.
_NAME = re.compile(r"[^\W\d_a-z]+\w*\Z")
#: `M. de Vries`, `R2 (Dr. Silva)`: a person by an initial or a number.
_CODED = re.compile(r"(?:[^\W\d_a-z]\.[ -]?)+[^\W\d_]{2}|[A-Z]{1,2}\d+ \([^\W\d]")
#: `ann1`, `annot_2`, `ANN B`: an annotator, and no system.
_ANNOTATOR = re.compile(r"ann(o|ot)? ?\d{1,2}|ann(o|ot)? [a-z]")
#: `harm_max` beside `harm_ann` and `harm_bo`, which it sums up, unless Max rated all else, too.
_SUMMED_UP = frozenset({"max", "maximum", "min", "median", "mode", "majority", "worst", "best"})
_TITLE = re.compile(
    r"(dr|dra|prof|mr|mrs|ms|mme|mlle|m|herr|frau|hr|fr|pan|pani|sr|sra|sig|dott)\.? [^\W\d]"
)


class NameGrid(NamedTuple):
    """Raters and criteria, and the column of each pair."""

    raters: tuple[str, ...]
    criteria: tuple[str, ...]
    columns: dict[tuple[str, str], str]

    @property
    def swapped(self) -> NameGrid:
        """Return the grid with the names of raters as criteria, and the reverse."""
        columns = {(second, first): c for (first, second), c in self.columns.items()}
        return NameGrid(self.criteria, self.raters, columns)

    @property
    def changes(self) -> list[str]:
        """Return the grid as changes of a mapping."""
        return [*(f"raters={r}" for r in self.raters), *(f"criteria={c}" for c in self.criteria)]

    @property
    def has_titled_raters(self) -> bool:
        """Return whether the raters are people: `Prof. Amin`, `M. de Vries`, `Interviewer A`,
        `R2 (Dr. Silva)`, `ann2`.
        """
        return all(
            is_titled_name(r) or _ANNOTATOR.fullmatch(plain_heading(r)) or names_a_person(r)
            for r in self.raters
        )


def is_titled_name(heading: str) -> bool:
    """Return whether a heading is the name of a person, with a title or an initial.

    >>> is_titled_name("Prof. Amin"), is_titled_name("M. de Vries"), is_titled_name("Amin")
    (True, True, False)
    """
    return bool(_TITLE.match(plain_heading(heading)) or _CODED.match(_MOST.sub("", heading)))


def grid_of(columns: Sequence[str]) -> NameGrid | None:
    """Return the grid of at least two names by two, with a heading for each pair, or ``None``.

    >>> grid_of(["kim tone", "kim wit", "lee tone", "lee wit", "id"]).criteria
    ('tone', 'wit')
    >>> grid_of(["Tone (R1)", "Tone (R2)", "Use of wit (R1)", "Use of wit (R2)"]).criteria
    ('Tone', 'Use of wit')
    >>> grid_of(["KL AO1 (max. 8)", "KL AO2 /5", "ST AO1 (max. 8)", "ST AO2 /5"])[:2]
    (('KL', 'ST'), ('AO1 (max. 8)', 'AO2 /5'))
    >>> grid_of(["kim_tone", "lee_wit", "kim"]) is None
    True
    """
    grids = [grid for pattern in _PARTS if (grid := _two_part_grid(columns, pattern))]
    return max(grids, key=lambda grid: len(grid.columns), default=None)


def _two_part_grid(columns: Sequence[str], pattern: str) -> NameGrid | None:
    """Return the largest grid of headings with two parts."""
    parted = dict[str, tuple[str, str]]()
    for column in columns:
        name = _MOST.sub("", column.strip())
        if parts := re.fullmatch(pattern, name):
            most = column.strip().removeprefix(name)
            parted[column] = (parts[1].strip(" -"), parts[2].strip(" -") + most)
    times = Counter(second for _, second in parted.values())
    alone = {c for c, (_, s) in parted.items() if times[s] == 1 and s.lower() in _SUMMED_UP}
    parted = {c: parts for c, parts in parted.items() if c not in alone}
    by_first = dict[str, list[str]]()
    for first, second in parted.values():
        by_first.setdefault(first, []).append(second)
    sides = [tuple(seconds) for seconds in by_first.values() if len(seconds) > 1]
    largest = max(sides, key=lambda side: (sides.count(side), len(side)), default=())
    firsts = tuple(first for first, seconds in by_first.items() if set(seconds) == set(largest))
    if len(firsts) < 2:
        return None
    column_of = {parts: c for c, parts in parted.items() if parts[0] in firsts}
    grid = NameGrid(firsts, largest, column_of)
    return _with_likelier_raters(grid.swapped if pattern == _BRACKETS else grid)


def _with_likelier_raters(grid: NameGrid) -> NameGrid:
    """Return the grid with the likelier names as raters."""
    are_criteria = [any(map(names_a_criterion, side)) for side in (grid.raters, grid.criteria)]
    named = [named_for_raters(side) for side in (grid.raters, grid.criteria)]
    if grid.has_titled_raters or grid.swapped.has_titled_raters:
        return grid if grid.has_titled_raters else grid.swapped
    for way in (grid, grid.swapped):
        codes = all(_CODE.match(_MOST.sub("", c)) for c in way.criteria)
        if codes and all(map(_INITIALS.match, way.raters)):
            return way
    capital = [all(map(_NAME.match, side)) for side in (grid.raters, grid.criteria)]
    if are_criteria == [False, False] and named == [False, False] and any(capital):
        return grid if capital[0] else grid.swapped
    if are_criteria == [True, False] or (
        are_criteria[0] == are_criteria[1] and named == [False, True]
    ):
        return grid.swapped
    return grid


def without_continued_headings(table: Table, columns: Sequence[str]) -> list[str]:
    """Return the columns, without each whose heading continues the heading of another column.

    Two columns are compared only if both hold only numbers, or neither does.

    >>> table = Table("x.csv", "csv", (), ({"kim": "4", "kim_time": "9", "lee": "3"},), (2,))
    >>> without_continued_headings(table, ["kim", "kim_time", "lee"])
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
    """Return the grid of a table's answers, on one scale or on one for each criterion, or ``None``.

    If the criteria have different scales, these show which names are the raters.
    """
    columns = [c for c in table.columns if not (is_sum(c) or _holds_remarks(table, c))]
    able = [c for c in columns if could_answer(table, c, of_each=True)]
    grid = grid_of(able)
    if grid is not None:
        answers = [c for c in able if c in grid.columns.values()]
        if answers == next(iter(columns_by_scale(table, answers)), []):
            return grid
        people = grid.has_titled_raters or all(map(names_a_rater, grid.raters))
        if people and _has_scale_by_criterion(table, grid):
            return grid
    table = first_of_table(table, _FIRST)
    able = [c for c in columns if _may_hold_marks(table, c)]
    if (grid := grid_of(able)) is None:
        return None
    fits = [_on_one_range(table, way) for way in (grid, grid.swapped)]
    if fits == [True, True]:
        return grid
    return (grid if fits[0] else grid.swapped) if any(fits) else None


def likely_sides(table: Table, grid: NameGrid) -> tuple[NameGrid, ...]:
    """Return a grid, and swapped as well if neither names nor scales say which are the raters."""
    turned = grid.swapped
    named = grid.has_titled_raters or _with_likelier_raters(turned) != turned
    return (grid,) if named or not _on_one_range(table, turned) else (grid, turned)


def likely_items(table: Table, grid: NameGrid) -> tuple[NameGrid, ...]:
    """Return a grid with items in the place of raters: both ways, the likelier first, if unclear.

    Names of criteria are no items; names such as `Team Oak` and `Team Elm` rather are.
    """
    ways = [way for way in (grid, grid.swapped) if _on_one_range(table, way)] or [grid]
    criteria = [any(map(names_a_criterion, way.raters)) for way in ways]
    clear = [way for way, named in zip(ways, criteria, strict=True) if not named]
    ways = clear if len(clear) == 1 else ways
    return tuple(sorted(ways, key=lambda way: not _share_a_word(way.raters)))


def _share_a_word(names: Sequence[str]) -> bool:
    """Return whether names begin with the same word, and end in a name or a number.

    >>> _share_a_word(["Team Oak", "Team Elm"]), _share_a_word(["Use of time", "Use of sand"])
    (True, False)
    """
    parts = [name.rpartition(" ") for name in names]
    return len({first for first, _, _ in parts} - {""}) == 1 and all(
        last[:1].isupper() or last.isdecimal() for _, _, last in parts
    )


def _holds_remarks(table: Table, column: str) -> bool:
    """Return whether a column is headed for remarks and holds words: `Essay (Feedback)`."""
    numbers = map(number_of, words_in(table, column)) if is_remark(column) else ()
    return None in numbers


def _may_hold_marks(table: Table, column: str) -> bool:
    """Return whether a column holds answers, or different marks in each row."""
    if could_answer(table, column):
        return True
    if column in table.nested or is_quantity(column) or {*plain_name(column).split()} & _PLACES:
        return False
    numbers = [number_of(word) for word in words_in(table, column)]
    marks = [n for n in numbers if n is not None]
    return 1 < len(marks) == len(numbers) and min(marks) >= -10 and may_be_marks(marks)


def _has_scale_by_criterion(table: Table, grid: NameGrid) -> bool:
    sides = [[grid.columns[r, c] for r in grid.raters] for c in grid.criteria]
    return all(next(iter(columns_by_scale(table, side)), []) == side for side in sides)


def _on_one_range(table: Table, grid: NameGrid) -> bool:
    """Return whether the answers to each criterion share words, or a range of numbers."""
    for criterion in grid.criteria:
        words = [words_in(table, grid.columns[rater, criterion]) for rater in grid.raters]
        marks = [[n for word in of if (n := number_of(word)) is not None] for of in words]
        numbers = all(len(m) == len(of) > 0 for m, of in zip(marks, words, strict=True))
        tops = [max(map(abs, of), default=0) for of in marks]
        apart = numbers and max(tops) > 2.5 * min(tops)
        if apart or not (
            numbers or all(any(same_scale(a, b) for b in words if b is not a) for a in words)
        ):
            return False
    return True
