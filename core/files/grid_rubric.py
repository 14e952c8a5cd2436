"""Rubrics as grids: a row for each criterion, a column for each level, with or without points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.domain.base import Path
from core.domain.names import fold
from core.domain.rubric import Rubric
from core.errors import Problem
from core.files.cells import unguarded
from core.files.grid_heads import Points, Role, order_of, points_in, roles_of
from core.files.parsed import Parsed, refusal, stem
from core.files.points import Level, Scaling, criterion_of, effect_of
from core.files.raw_csv import RawRow, RawTable, read_raw
from core.files.rubrics import rubric_from
from core.files.text import MAX_RUBRIC_BYTES, read_text

_ORDER = "Write points into the headings, e.g. “{label} (4)”, or call levels excellent, good, poor."


def read_grid(data: str | bytes, name: str, scaling: Scaling = "ratio") -> Parsed[Rubric]:
    """The rubric in a grid.

    Points stand in the headings, or in the cells; of a range the most count, which is said. Levels
    without points are spaced evenly, from excellent to poor by their names. A row with nothing but
    a name is a section. Every column and row that is no part of the rubric is named in a notice.

    Raises:
        InputError: with every problem found, each with its line: no grid, a row with too many or
            too few cells, fewer than two levels, or levels of which nobody can tell the best.
    """
    table = read_raw(read_text(data, name, "rubric", MAX_RUBRIC_BYTES), name, "rubric")
    roles = roles_of(table.heads)
    if roles is None:
        mend = "Its first line names a column of criteria and at least two levels."
        raise refusal("rubric", [Problem("is no grid of criteria and levels.", mend, (), 1)], name)
    return _Grid(table, roles, scaling).read()


def _is_total(cells: Sequence[str]) -> bool:
    """Whether a row sums up others: it says so, and holds nothing but numbers."""
    first, *others = [text for text in cells if text] or [""]
    return fold(first).startswith(("total", "sum")) and all(
        points_in(text).label == text and points_in(text).points is not None for text in others
    )


class _Grid:
    def __init__(self, table: RawTable, roles: Sequence[Role], scaling: Scaling) -> None:
        self._table, self._roles, self._scaling = table, roles, scaling
        self._heads = [points_in(head, heading=True) for head in table.heads]
        self._levels = [at for at, role in enumerate(roles) if role == "level"]
        self._problems = list[Problem]()
        self._notices = list[Problem]()

    def read(self) -> Parsed[Rubric]:
        made, lines, points = list[dict[str, Any]](), list[int](), list[list[Level]]()
        section = ""
        for row in self._table.rows:
            cells = self._cells(row)
            if cells is None:
                continue
            if _is_total(cells) or not any(cells[at] for at in self._levels):
                section = self._without_levels(row, cells, section)
                continue
            found, levels = self._criterion(row, cells)
            made.append(found | ({"section": section} if section else {}))
            lines.append(row.line)
            points += [levels] if levels else []
        self._say_aside()
        if not made and not self._problems:
            self._problems.append(Problem("has headings, but no criterion.", "", (), 1))
        if self._problems:
            raise refusal("rubric", self._problems, self._table.name)
        self._notices += effect_of(points, self._scaling) if points else ()

        def line_of(path: Path) -> int | None:
            at = path[1] if len(path) > 1 else None
            return lines[at] if isinstance(at, int) and at < len(lines) else None

        title = stem(self._table.name, "Untitled rubric")
        data = {"name": "Pasted rubric" if title == "pasted text" else title, "criteria": made}
        read = rubric_from(data, self._table.name, line_of)
        return Parsed(read.value, (*self._notices, *read.notices), read.line_of)

    def _cells(self, row: RawRow) -> list[str] | None:
        given = [" ".join(unguarded(cell.text).split()) for cell in row.cells]
        wide = len(self._table.heads)
        if len(given) > wide and any(given[wide:]):
            mend = "Paste the whole table, and keep every cell on one line or in double quotes."
            message = f"has {len(given)} cells, but there are {wide} headings."
            self._problems.append(Problem(message, mend, (), row.line))
            return None
        return (given + [""] * wide)[:wide]

    def _without_levels(self, row: RawRow, cells: Sequence[str], section: str) -> str:
        """A row that describes no level: a section's heading, or a total."""
        name = cells[self._roles.index("criterion")]
        if name and sum(map(bool, cells)) == 1:
            return name
        if _is_total(cells):
            said = " ".join(filter(None, cells))
            self._notices.append(Problem(f"is left out: “{said}”.", "", (), row.line))
        else:
            mend = "Describe at least two of its levels, or leave the row out."
            self._problems.append(Problem("describes no level.", mend, (), row.line))
        return section

    def _criterion(self, row: RawRow, cells: Sequence[str]) -> tuple[dict[str, Any], list[Level]]:
        name = cells[self._roles.index("criterion")]
        if not name:
            self._problem("names no criterion.", "Write its name into the first column.", row)
        named = points_in(name, heading=True)
        weight = self._weight(row, cells)
        if named.points is not None and weight is None and fold(named.label) != fold(name):
            name, weight = named.label, named.points
        requirement = self._text(cells, "requirement") or name
        found = [(at, self._worth(at, cells[at], row)) for at in self._levels if cells[at]]
        if len(found) < 2:
            self._problem("describes one level alone.", "Describe at least two.", row)
            return {"name": name, "requirement": requirement}, []
        given = [one.points for _, one in found]
        if all(points is None for points in given):
            return self._even(name, requirement, weight, found, row), []
        if any(points is None for points in given):
            self._problem("has points for some levels only.", "Give all of them points.", row)
            return {"name": name, "requirement": requirement}, []
        levels = [Level(self._label(at), one.label, one.points or 0.0) for at, one in found]
        data, remark = criterion_of(name, requirement, levels, self._scaling)
        if remark:
            self._notices.append(Problem(f"{name!r} {remark}", "", (), row.line))
        if weight is not None:
            data["weight"] = weight
        return data, levels

    def _worth(self, at: int, cell: str, row: RawRow) -> Points:
        """The description in a cell with the level's points: its own, or those of the heading."""
        own, head = points_in(cell), self._heads[at]
        found = own if own.points is not None else head
        if found.points is not None and found.least != found.points:
            said = Problem(
                f"{self._label(at)!r} is worth {found.least:g} to {found.points:g} points; the "
                "most are taken.",
                "A level has one value here. Split it into two levels to tell them apart.",
                (),
                row.line if own.points is not None else 1,
            )
            if said not in self._notices:
                self._notices.append(said)
        # A cell that is points alone describes nothing.
        words = "" if own.points is not None and own.label == cell else own.label
        return Points(words, found.points, found.least)

    def _label(self, at: int) -> str:
        return self._heads[at].label

    def _even(
        self,
        name: str,
        requirement: str,
        weight: float | None,
        found: Sequence[tuple[int, Points]],
        row: RawRow,
    ) -> dict[str, Any]:
        """Levels without points, evenly spaced, lowest first."""
        order = order_of([self._label(at) for at in self._levels])
        if order is None:
            mend = _ORDER.format(label=self._label(self._levels[0]))
            problem = Problem("name levels of which nobody can tell the best.", mend, (), 1)
            if problem not in self._problems:
                self._problems.append(problem)
        ranked = list(found) if order == "worst_first" else list(reversed(found))
        last = len(ranked) - 1
        options = [
            {"label": self._label(at), "description": one.label, "value": round(n / last, 9)}
            for n, (at, one) in enumerate(ranked)
        ]
        data = {"name": name, "requirement": requirement, "scale": "ordinal", "options": options}
        return data if weight is None else data | {"weight": weight}

    def _weight(self, row: RawRow, cells: Sequence[str]) -> float | None:
        given = self._text(cells, "weight")
        if not given:
            return None
        found = points_in(given.rstrip(" %"))
        if found.points is None:
            self._problem(f"has {given!r} as its weight.", "Use a number.", row)
        return found.points

    def _text(self, cells: Sequence[str], role: Role) -> str:
        return " ".join(c for c, r in zip(cells, self._roles, strict=True) if r == role and c)

    def _problem(self, message: str, mend: str, row: RawRow) -> None:
        self._problems.append(Problem(message, mend, (), row.line))

    def _say_aside(self) -> None:
        for at, role in enumerate(self._roles):
            if role == "aside":
                message = f"The column {self._table.heads[at]!r} is left out."
                self._notices.append(Problem(message, "It is no level of the rubric."))
