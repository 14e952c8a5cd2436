"""Rubric grids: a row per criterion, a column per level."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from core.domain.rubric import Rubric
from core.errors import Problem
from core.formats.rubrics.foreign import (
    Level,
    Scaling,
    criterion_of,
    first_names,
    scaling_notices,
    weigh_by_names,
)
from core.formats.rubrics.grid_headings import (
    NUMBER,
    ROLE_WORDS,
    Points,
    Role,
    names_a_level,
    names_a_total,
    order_of_labels,
    percent_notices,
    points_in,
    points_of_levels,
    rank_of,
    role_of,
    roles_of,
    weight_in_name,
    words_between_bars,
)
from core.formats.rubrics.rubric_file import rubric_of_rows
from core.formats.source.csv_reader import RawRow, RawTable
from core.formats.source.csv_writer import unguarded
from core.formats.source.heading_words import plain_heading
from core.formats.source.parsed import Parsed, refusal, stem
from core.text.names import fold


def looks_like_grid(heads: Sequence[str]) -> bool:
    """Return whether these are the headings of a grid.

    >>> looks_like_grid(["", "Good (2)", "Poor (0)"]), looks_like_grid(["id", "ann", "bob"])
    (True, False)
    """
    return roles_of(heads) is not None


def holds_answers(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether numbered columns hold answers: all of one name, or with cells that repeat.

    >>> holds_answers(["id", "Kim 1", "Lee 2"], [["a", "yes", "no"], ["b", "no", "yes"]])
    True
    """
    ends = [re.match(r"(.*[^\W\d])[\s_-]*\d+$", head) for head in heads]
    cells = [
        {fold(r[at]) for r in rows if at < len(r)} - {""} for at, end in enumerate(ends) if end
    ]
    if heads[0] and not {*map(plain_heading, heads[:2])} & ROLE_WORDS["criterion"]:
        stems = [fold(end[1]) for end in ends if end]
        if len(stems) > 1 and len(set(stems)) == 1:
            return True
    return _repeats([word for column in cells for word in column])


def _repeats(texts: Sequence[str]) -> bool:
    """Return whether most texts occur more than once, as answers do and descriptions do not."""
    counts = Counter(map(fold, texts))
    return 2 * sum(times for times in counts.values() if times > 1) > len(texts)


def holds_marks(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether columns of marks are next to texts that differ in every row: graded work.

    >>> heads = ["No.", "Answer", "Content (0-4)", "Form (0-4)"]
    >>> holds_marks(heads, [["1", "It is so.", "3", "4"], ["2", "I am not sure.", "1", "0"]])
    True
    """
    marks = texts = 0
    for at, head in enumerate(heads):
        cells = [cell for row in rows if at < len(row) and (cell := row[at].strip())]
        label = points_in(head, heading=True).label
        if at and len(cells) > 1 and all(re.fullmatch(NUMBER, cell) for cell in cells):
            marks += role_of(fold(head)) == "level" and rank_of(label) is None
        elif len(cells) > 1 and len(set(cells)) == len(cells):
            texts += sum(len(cell.split()) for cell in cells) >= 3 * len(cells)
    return 1 <= texts < marks


_ORDER = "Write points into the headings, e.g. “{label} (4)”, or call levels excellent, good, poor."


def read_grid(table: RawTable, scaling: Scaling = "ratio") -> tuple[Parsed[Rubric]]:
    """Return the only rubric in a grid.

    Points are in the headings or in the cells. In a range the maximum counts, with a notice. Levels
    without points are spaced evenly, from excellent to poor by their names. A row with only a name
    is a section. Notices name every column and row that is left out.

    Raises:
        InputError: with every problem found, each with its line: no grid, a row with too many or
            too few cells, fewer than two levels, or levels in no clear order.
    """
    roles = roles_of(table.heads)
    if roles is None:
        mend = "Its first line names a column of criteria and at least two levels."
        problem = Problem("is not a grid of criteria and levels.", mend, (), 1)
        raise refusal("rubric", [problem], table.name)
    roles = _without_numbers(table, _with_groups(table, roles))
    return (_Grid(table, roles, scaling).read(),)


def _with_groups(table: RawTable, roles: Sequence[Role]) -> tuple[Role, ...]:
    """Return the roles of columns, if two columns hold names. If the first has blanks, which merged
    cells leave, it holds sections. Otherwise the second describes the criteria.
    """
    at, many = roles.index("criterion"), roles.count("criterion") > 1
    beside, heads = at + 1, table.heads
    if beside == len(roles):
        return tuple(roles)  # the criteria are the last column
    free = roles[beside] == "requirement" or (
        roles[beside] == "level"
        and not names_a_level(heads[beside])
        and sum(roles[n] == "level" and names_a_level(heads[n]) for n in range(len(roles))) > 1
    )
    left = at - 1
    if left >= 0 and roles[left] == "level" and not names_a_level(heads[left]):
        # An unknown column left of the criteria names their sections if it holds words.
        words = [text for row in table.rows if (text := row.text(left).strip())]
        kind: Role = "section" if words and not _are_points(words) else "aside"
        return (*roles[:left], kind, *roles[at:])
    names = [row.text(at).strip() for row in table.rows if row.text(beside).strip()]
    grouped = "" in names and bool(names[0])
    known = [*roles]
    if grouped and (many or free):
        known[at : beside + 1] = ["section", "criterion"]
    elif not many and free and roles[beside] == "level":
        # If all levels have points, a column without points holds the requirement.
        others = [head for n, head in enumerate(heads) if roles[n] == "level" and n != beside]
        pointed = None not in (points_in(head, heading=True).points for head in others)
        if pointed and not _are_points([row.text(beside).strip() for row in table.rows]):
            known[beside] = "requirement"
    elif many:
        repeated = len({*names}) < len(names)
        known[at : beside + 1] = (
            ["section", "criterion"] if repeated else ["criterion", "requirement"]
        )
    return tuple(known)


def _without_numbers(table: RawTable, roles: Sequence[Role]) -> tuple[Role, ...]:
    """Return the roles; a column of numbers next to plain descriptions is not a level."""
    levels = [at for at, role in enumerate(roles) if role == "level"]
    texts = {at: [t for row in table.rows if (t := row.text(at).strip(" %\t\n"))] for at in levels}
    described = [at for at in levels if all(points_in(t).points is None for t in texts[at])]
    numbers = [at for at in levels if _are_points(texts[at]) and not names_a_level(table.heads[at])]
    if len(described) < 2 or len({*described, *numbers}) < len(levels):
        return tuple(roles)
    return tuple("aside" if at in numbers else role for at, role in enumerate(roles))


def _are_points(texts: Sequence[str]) -> bool:
    """Return whether all texts are points without a word."""
    points = [points_in(text) for text in texts]
    bare = all(p.points is not None and p.label == t for p, t in zip(points, texts, strict=True))
    return bare and bool(texts)


#: `_____ / 20`: a place to write points into, beside the most that there are.
_TO_FILL_IN = re.compile(r"(?:[_…]+|\.{3,})\s*(?:/\s*\d+)?|\A/\s*\d+\Z")


def _is_total(cells: Sequence[str]) -> bool:
    """Return whether a row is a total: its name says so, and it holds only numbers."""
    filled = [t for text in cells if text and (t := _TO_FILL_IN.sub("", text).rstrip(" %"))]
    first, *numbers = filled or [""]
    return names_a_total(first) and all(
        points_in(text).label == text and points_in(text).points is not None for text in numbers
    )


#: Names of a row with the points of each level.
_POINTS_ROWS = words_between_bars(
    "points|score|scores|marks|weight|punkte|punktzahl|note|barème|puntos|puntaje|puntuación|punti|punteggio|punten|pontos"
    "|pontuação|value|values"
)


_BRACKETED = re.compile(rf".*\S\s*[\[(]\s*{NUMBER}(?:\s*[-–—]\s*{NUMBER})?\s*[\])]\.?", re.DOTALL)


class _Grid:
    def __init__(self, table: RawTable, roles: Sequence[Role], scaling: Scaling) -> None:
        self._table, self._roles, self._scaling = table, roles, scaling
        self._levels = [at for at, role in enumerate(roles) if role == "level"]
        heads = [table.heads[at] for at in self._levels]
        answers = _repeats([row.text(at) for row in table.rows for at in self._levels])
        points = [points_in(h, heading=True) for h in heads] if answers else points_of_levels(heads)
        self._heads = dict(zip(self._levels, points, strict=True))
        cells = [
            text for row in table.rows for at in self._levels if (text := row.text(at).strip())
        ]
        # `Clear (8-10)` in every cell: the points of a criterion's levels, without a unit.
        self._bracketed = bool(cells) and all(map(_BRACKETED.fullmatch, cells))
        self._problems = list[Problem]()
        self._notices = list[Problem]()
        self._weighed = list[bool]()

    def read(self) -> Parsed[Rubric]:
        criteria, lines, points = list[dict[str, Any]](), list[int](), list[list[Level]]()
        section, points_row, unused, headed = "", self._points_row(), dict[int, str](), 0
        for row in self._table.rows:
            cells = self._cells(row)
            if cells is None or row is points_row:
                continue
            section = self._cell_text(cells, "section") or section
            if _is_total(cells) or not any(cells[at] for at in self._levels):
                if (heading := self._without_levels(row, cells)) is not None:
                    section, headed = heading, row.line
                    unused[headed] = heading
                continue
            unused.pop(headed, None)
            criterion, levels = self._criterion(row, cells)
            criteria.append(criterion | ({"section": section} if section else {}))
            lines.append(row.line)
            points += [levels] if levels else []
        self._report_unread_columns()
        for line, text in unused.items():
            self._add_left_out(text, line)
        if not criteria and not self._problems:
            self._problems.append(Problem("has headings, but no criterion.", "", (), 1))
        if self._problems:
            raise refusal("rubric", self._problems, self._table.name)
        self._notices += weigh_by_names(criteria, self._weighed)
        for at, role in enumerate(self._roles):
            if role == "weight":
                rows = [row for row in self._table.rows if row.line in lines]
                texts = [row.text(at) for row in rows]
                self._notices += percent_notices(self._table.heads[at], texts)
        self._notices += scaling_notices(points, self._scaling) if points else ()
        title = stem(self._table.name, "Untitled rubric")
        data = {"name": "Pasted rubric" if title == "pasted text" else title, "criteria": criteria}
        return rubric_of_rows(data, self._table.name, lines, self._notices)

    def _points_row(self) -> RawRow | None:
        """Return the first or last row if it has only the levels' points, which are then theirs."""
        if not self._table.rows or any(h.points is not None for h in self._heads.values()):
            return None
        for row in (self._table.rows[0], self._table.rows[-1]):
            name = plain_heading(row.text(self._roles.index("criterion")))
            texts = {at: row.text(at).strip() for at in self._levels}
            points = {at: points_in(text) for at, text in texts.items()}
            if name in _POINTS_ROWS and _are_points([*texts.values()]):
                self._heads = {
                    at: points[at]._replace(label=head.label) for at, head in self._heads.items()
                }
                message = "gives the points of the levels."
                self._notices.append(Problem(message, "", (), row.line))
                return row
        return None

    def _cells(self, row: RawRow) -> list[str] | None:
        texts = [" ".join(unguarded(cell.text).split()) for cell in row.cells]
        wide = len(self._table.heads)
        if len(texts) > wide and any(texts[wide:]):
            mend = "Paste the whole table, and keep every cell on one line or in double quotes."
            message = f"has {len(texts)} cells, but there are {wide} headings."
            self._problems.append(Problem(message, mend, (), row.line))
            return None
        return (texts + [""] * wide)[:wide]

    def _without_levels(self, row: RawRow, cells: Sequence[str]) -> str | None:
        """Return the section that a row without levels heads; ``None`` for a total or a fault."""
        name = cells[self._roles.index("criterion")] or self._cell_text(cells, "section")
        if name and sum(map(bool, cells)) == 1:
            return name
        if _is_total(cells) or names_a_total(name):
            self._add_left_out(" ".join(filter(None, cells)), row.line)
        else:
            mend = "Describe at least two of its levels, or leave the row out."
            self._problems.append(Problem("describes no level.", mend, (), row.line))
        return None

    def _add_left_out(self, text: str, line: int) -> None:
        self._notices.append(Problem(f"is left out: “{text}”.", "", (), line))

    def _criterion(self, row: RawRow, cells: Sequence[str]) -> tuple[dict[str, Any], list[Level]]:
        name = cells[self._roles.index("criterion")]
        if not name:
            head = self._table.heads[self._roles.index("criterion")]
            place = f"below {head!r}" if head else "into the first column"
            self._add_problem("names no criterion.", f"Write its name {place}.", row)
        named = points_in(name, heading=True)
        weight = self._weight_of_row(row, cells)
        bare = weight is None and weight_in_name(name) is None
        if named.points is not None and bare and fold(named.label) != fold(name):
            name, weight = named.label, named.points
        self._weighed.append(weight is not None)
        requirement = self._cell_text(cells, "requirement") or name
        cells_of_levels = [
            (at, self._cell_points(at, cells[at], row)) for at in self._levels if cells[at]
        ]
        if len(cells_of_levels) < 2:
            self._add_problem("describes one level alone.", "Describe at least two.", row)
            return {"name": name, "requirement": requirement}, []
        given = [worth.points for _, worth in cells_of_levels]
        if all(points is None for points in given):
            return self._evenly_spaced(name, requirement, weight, cells_of_levels), []
        if any(points is None for points in given):
            without = [self._label_at(at) for at, w in cells_of_levels if w.points is None]
            message = f"has no points for {first_names(without)}, but for other levels."
            self._add_problem(message, "Give all of them points.", row)
            return {"name": name, "requirement": requirement}, []
        levels = [
            Level(self._label_at(at), worth.label, worth.points or 0.0)
            for at, worth in cells_of_levels
        ]
        data, remark = criterion_of(name, requirement, levels, self._scaling)
        if remark:
            self._notices.append(Problem(f"{name!r} {remark}", "", (), row.line))
        if weight is not None:
            data["weight"] = weight
        return data, levels

    def _cell_points(self, at: int, cell: str, row: RawRow) -> Points:
        """Return a cell's description and points, its own or the heading's."""
        points, head = points_in(cell, heading=self._bracketed), self._heads[at]
        worth = points if points.points is not None else head
        if worth.points is not None and worth.least != worth.points:
            notice = Problem(
                f"{self._label_at(at)!r} is worth {worth.least:g} to {worth.points:g} points; "
                "the most are taken.",
                "A level has one value here. Split it into two levels to tell them apart.",
                (),
                row.line if points.points is not None else 1,
            )
            if notice not in self._notices:
                self._notices.append(notice)
        # A cell with only points has no description.
        text = "" if points.points is not None and points.label == cell else points.label
        return Points(text, worth.points, worth.least)

    def _label_at(self, at: int) -> str:
        return self._heads[at].label

    def _evenly_spaced(
        self,
        name: str,
        requirement: str,
        weight: float | None,
        levels: Sequence[tuple[int, Points]],
    ) -> dict[str, Any]:
        """Return levels without points, evenly spaced, lowest first."""
        order = order_of_labels([self._label_at(at) for at in self._levels])
        if order is None:
            mend = _ORDER.format(label=self._label_at(self._levels[0]))
            problem = Problem("name levels, but not which of them is best.", mend, (), 1)
            if problem not in self._problems:
                self._problems.append(problem)
        ranked = list(levels) if order == "worst_first" else list(reversed(levels))
        last = len(ranked) - 1
        options = [
            {"label": self._label_at(at), "description": worth.label, "value": round(n / last, 9)}
            for n, (at, worth) in enumerate(ranked)
        ]
        data = {"name": name, "requirement": requirement, "scale": "ordinal", "options": options}
        return data if weight is None else data | {"weight": weight}

    def _weight_of_row(self, row: RawRow, cells: Sequence[str]) -> float | None:
        text = self._cell_text(cells, "weight")
        if not text:
            return None
        worth = points_in(text.strip(" %x×*/_.…"))
        if worth.points is None:
            self._add_problem(f"has {text!r} as its weight.", "Use a number.", row)
        return worth.points

    def _cell_text(self, cells: Sequence[str], role: Role) -> str:
        return " ".join(c for c, r in zip(cells, self._roles, strict=True) if r == role and c)

    def _add_problem(self, message: str, mend: str, row: RawRow) -> None:
        self._problems.append(Problem(message, mend, (), row.line))

    def _report_unread_columns(self) -> None:
        for at, role in enumerate(self._roles):
            if role == "aside":
                message = f"The column {self._table.heads[at]!r} is left out."
                mend = "It is not a level of the rubric."
                if plain_heading(self._table.heads[at]) not in ROLE_WORDS["aside"]:
                    mend = f"{mend} If it is the weight, call it Weight."
                self._notices.append(Problem(message, mend))
