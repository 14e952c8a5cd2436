"""Canvas rubric files: a row per criterion, three columns per rating."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from core.domain.rubric import Criterion, Rubric
from core.errors import Problem
from core.formats.rubrics.foreign import (
    Level,
    Scaling,
    WrittenRubric,
    criteria_losses,
    criterion_of,
    described_requirement,
    first_names,
    levels_of,
    point_losses,
    rubric_losses,
    scaling_notices,
)
from core.formats.rubrics.rubric_file import rubric_of_rows
from core.formats.source.csv_reader import RawRow, RawTable
from core.formats.source.csv_writer import (
    csv_text,
    number_of,
    points_text,
    spreadsheet_safe,
    unguarded,
)
from core.formats.source.parsed import Parsed, refusal

#: The first four headings; Canvas requires their exact names.
HEADS = ("Rubric Name", "Criteria Name", "Criteria Description", "Criteria Enable Range")
TRIPLE = ("Rating Name", "Rating Description", "Rating Points")
#: The Canvas template has three ratings; a rubric with more gets more columns.
LEAST_RATINGS = 3


def canvas_rubric(rubric: Rubric) -> WrittenRubric:
    """Return the rubric as a file for Canvas, with the losses.

    Criteria without positive weight are left out: Canvas has no negative points.
    """
    criteria = [c for c in rubric.criteria if c.weight > 0]
    levels = [levels_of(criterion) for criterion in criteria]
    width = max([LEAST_RATINGS, *map(len, levels)])
    rows = [
        [*_criterion_cells(rubric, criterion), *_rating_cells(levels_of_criterion, width)]
        for criterion, levels_of_criterion in zip(criteria, levels, strict=True)
    ]
    text = csv_text((*HEADS, *TRIPLE * width), rows, guarded=False)
    return WrittenRubric(text, (*_losses(rubric, criteria),))


def _criterion_cells(rubric: Rubric, criterion: Criterion) -> list[str]:
    return [
        *map(spreadsheet_safe, (rubric.name, criterion.name, described_requirement(criterion))),
        "false",
    ]


def _rating_cells(levels: Sequence[Level], width: int) -> Iterator[str]:
    for level in levels:
        yield from (
            spreadsheet_safe(level.label),
            spreadsheet_safe(level.description),
            points_text(level.points),
        )
    yield from [""] * (3 * (width - len(levels)))


def _losses(rubric: Rubric, criteria: Sequence[Criterion]) -> Iterator[Problem]:
    out = [c.name for c in rubric.criteria if c.weight <= 0]
    if out:
        mend = "Write each as a criterion that is met where the fault is absent."
        yield Problem(f"Canvas knows no deductions; left out: {first_names(out)}.", mend)
    yield from rubric_losses(rubric)
    yield from criteria_losses(criteria)
    yield from point_losses(criteria)
    risky = [c.name for c in criteria if spreadsheet_safe(c.name) != c.name]
    if risky:
        message = f"begins like a formula and gets an apostrophe before it: {first_names(risky)}."
        yield Problem(message, "Spreadsheets hide it; Canvas shows it.")


def looks_like_canvas(heads: Sequence[str]) -> bool:
    """Return whether these are the headings of a Canvas rubric file."""
    return tuple(heads[:2]) == HEADS[:2] and any("rating" in h.casefold() for h in heads)


def read_canvas_rubrics(table: RawTable, scaling: Scaling = "ratio") -> tuple[Parsed[Rubric], ...]:
    """Return every rubric of the file, in order.

    Rows may be ragged, and points may have a decimal comma. Ratings without a name and unknown
    columns are left out, with a notice.

    Raises:
        InputError: with every problem found, each with its line. Invalid points are refused,
            although Canvas would read them as 0.
    """
    return _CanvasReader(table, scaling).read()


class _CanvasReader:
    def __init__(self, table: RawTable, scaling: Scaling) -> None:
        self._table, self._scaling = table, scaling
        self._columns = [table.column(head) for head in HEADS]
        kinds = [head.casefold() for head in table.heads]
        parts = map(str.casefold, TRIPLE)
        places = [[at for at, kind in enumerate(kinds) if part in kind] for part in parts]
        self._triples = list(zip(*places, strict=False))
        self._problems: list[Problem] = []
        self._nameless: list[Problem] = []

    def read(self) -> tuple[Parsed[Rubric], ...]:
        rubrics: dict[str, list[tuple[int, dict[str, Any], list[Level]]]] = {}
        self._check_heads()
        notices = self._nameless
        for row in self._table.rows:
            rubric, criterion = self._cell_text(row, 0), self._cell_text(row, 1)
            if not rubric or not criterion:
                part = HEADS[1] if rubric else HEADS[0]
                mend = "Every row needs both names."
                self._problems.append(Problem(f"has no {part}.", mend, (), row.line))
                continue
            levels = self._levels_of_row(row)
            if not levels:
                message = f"has no rating for {criterion!r}."
                self._problems.append(Problem(message, "Give it two at least.", (), row.line))
                continue
            requirement = self._cell_text(row, 2) or criterion
            data, remark = criterion_of(criterion, requirement, levels, self._scaling)
            if remark:
                notices.append(Problem(f"{criterion!r} {remark}", "", (), row.line))
            rubrics.setdefault(rubric, []).append((row.line, data, levels))
        if self._problems or not rubrics:
            problems = self._problems or [Problem("holds no rubric.", "", (), 1)]
            raise refusal("rubric", problems, self._table.name)
        return tuple(self._build_rubric(name, rows, notices) for name, rows in rubrics.items())

    def _check_heads(self) -> None:
        for head, column in zip(HEADS[:2], self._columns, strict=False):
            if column is None:
                self._problems.append(Problem(f"has no column {head!r}.", "", (), 1))
        if not self._triples:
            mend = f"Ratings are in columns {', '.join(TRIPLE)}."
            self._problems.append(Problem("names no ratings.", mend, (), 1))

    def _cell_text(self, row: RawRow, part: int) -> str:
        return unguarded(row.text(self._columns[part]).strip())

    def _levels_of_row(self, row: RawRow) -> list[Level]:
        levels = list[Level]()
        for name, description, points in self._triples:
            label = unguarded(row.text(name).strip())
            if not label:
                self._note_nameless_rating(row, (description, points))
                continue
            number = number_of(row.text(points))
            if number is None:
                points_text = row.text(points).strip()
                message = f"has {points_text!r} as the points of {label!r}."
                mend = "Use one number; of a range like 8-10, its upper end."
                self._problems.append(Problem(message, mend, (), row.line))
                number = 0.0
            levels.append(Level(label, unguarded(row.text(description).strip()), number))
        return levels

    def _note_nameless_rating(self, row: RawRow, columns: tuple[int, int]) -> None:
        texts = ", ".join(text for at in columns if (text := row.text(at).strip()))
        if texts:
            message = f"a rating without a name ({texts[:80]}) of {self._cell_text(row, 1)!r}"
            self._nameless.append(Problem(f"Left out: {message}.", "", (), row.line))

    def _unknown_column_notices(self) -> list[Problem]:
        """Return notices about unknown columns."""
        used = {at for triple in self._triples for at in triple} | {*self._columns}
        return [
            Problem(f"The column {head!r} is left out.", "", (), 1)
            for at, head in enumerate(self._table.heads)
            if at not in used and head.strip()
        ]

    def _build_rubric(
        self, name: str, rows: list[tuple[int, dict[str, Any], list[Level]]], notices: list[Problem]
    ) -> Parsed[Rubric]:
        lines = [line for line, _, _ in rows]
        data = {"name": name, "criteria": [data for _, data, _ in rows]}
        own_notices = [notice for notice in notices if notice.line in lines]
        effect = scaling_notices([levels for _, _, levels in rows], self._scaling)
        return rubric_of_rows(
            data, self._table.name, lines, (*own_notices, *self._unknown_column_notices(), *effect)
        )
