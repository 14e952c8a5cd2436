"""Rubrics as grids: a row for each criterion, a column for each level."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from core.domain.base import Path
from core.domain.rubric import Rubric
from core.errors import Problem
from core.formats.rubrics.foreign import Level, Scaling, criterion_of, effect_of
from core.formats.rubrics.rubric_file import rubric_from
from core.formats.source.csv_reader import MAX_COLUMNS, RawRow, RawTable, read_raw
from core.formats.source.csv_writer import unguarded
from core.formats.source.parsed import MAX_RUBRIC_BYTES, Parsed, read_text, refusal, stem
from core.text.names import fold

Role = Literal["criterion", "requirement", "weight", "section", "aside", "level"]
#: Whether the best level stands first; ``None`` where neither points nor words tell.
Order = Literal["best_first", "worst_first"] | None


def _known(words: str) -> frozenset[str]:
    return frozenset(" ".join(word.split()) for word in words.split("|"))


_ROLES: dict[Role, frozenset[str]] = {
    "criterion": _known(
        """criterion|criteria|aspect|category|dimension|trait|element|component|objective|
        standard|skill|learning outcome|outcome|task|area|name|title|what is assessed"""
    ),
    "requirement": _known(
        """requirement|description|question|text|definition|what to look for|guiding question"""
    ),
    "weight": _known(
        """weight|weighting|points|pts|max|max points|max. points|maximum|maximum points|worth|
        points possible|possible points|out of"""
    ),
    "section": _known("section|group|part"),
    "aside": _known(
        """score|points earned|earned|your score|grade|mark|comment|comments|feedback|notes|
        total"""
    ),
}
#: Headings of tables of votes: a table with one of them is no grid of levels.
_VOTES = _known("item|item_id|item id|rater|rater_id|annotator|judge|label|vote|rating")
#: Words for levels, from the best to the worst; those of a line are alike.
_RANKS = (
    "exemplary|excellent|outstanding|exceptional|distinguished|advanced|superior|mastery|mastered|"
    "exceeds expectations|exceeds|expert|full marks|full credit|fully met|complete|strong|high|"
    "always|very good|a",
    "good|proficient|accomplished|meets expectations|meets|competent|above average|usually|"
    "mostly met|met|yes|b",
    "fair|satisfactory|adequate|developing|average|basic|acceptable|partially meets|partial|"
    "partial credit|partly met|partially met|approaching|approaches expectations|emerging|"
    "sometimes|medium|moderate|sufficient|c",
    "needs improvement|needs work|limited|weak|below expectations|below average|novice|marginal|"
    "rarely|low|d",
    "poor|unsatisfactory|inadequate|insufficient|beginning|failing|fail|no credit|no marks|"
    "not met|unmet|no|absent|missing|none|incomplete|never|unacceptable|does not meet|"
    "does not meet expectations|very poor|f",
)
_RANK = {word: at for at, line in enumerate(_RANKS) for word in line.split("|")}
_NUMBER = r"[-−+]?\d+(?:[.,]\d+)?"
_UNIT = r"(?:points?|pts?\.?|p\.|marks?)"
_SPAN = rf"(?P<first>{_NUMBER})(?:\s*(?:-|–|—|to)\s*(?P<second>{_NUMBER}))?"
#: Points alone, before words or after them; these have a unit, or are all there is.
_SURE = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"^(?P<label>){_SPAN}\s*{_UNIT}?$",
        rf"^(?P<label>.*\S)\s*[\[(]\s*{_SPAN}\s*{_UNIT}\s*[\])]\.?$",
        rf"^(?P<label>.*\S)\s*(?:[:,–—-]\s*|\s){_SPAN}\s*{_UNIT}$",
        rf"^[\[(]?\s*{_SPAN}\s*{_UNIT}\s*[\])]?\s*[:.=–—-]?\s+(?P<label>\S.*)$",
    )
)
#: The same without a unit, as headings have them.
_BARE = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"^(?P<label>.*\S)\s*[\[(]\s*{_SPAN}\s*[\])]$",
        rf"^(?P<label>.*[^\s\d])\s*[:,–—-]\s*{_SPAN}$",
        rf"^[\[(]?\s*{_SPAN}\s*[\])]?\s*[:.=)–—-]\s*(?P<label>[^\W\d].*)$",
        rf"^(?P<label>[^\W\d].*\S)\s+{_SPAN}$",
    )
)


class Points(NamedTuple):
    """What a heading or a cell says: its words, and points (``None``: it names none).

    Of a range of points (8-10) ``points`` are the most and ``least`` the fewest.
    """

    label: str
    points: float | None
    least: float | None


def points_in(text: str, *, heading: bool = False) -> Points:
    """The points at the beginning or the end of a text; in a ``heading`` they need no unit.

    >>> points_in("Good (3 points)"), points_in("8-10")
    (Points(label='Good', points=3.0, least=3.0), Points(label='8-10', points=10.0, least=8.0))
    >>> points_in("Good (3)").points, points_in("Good (3)", heading=True).points
    (None, 3.0)
    """
    words = " ".join(text.split())
    for pattern in (*_SURE, *_BARE) if heading else _SURE:
        match = pattern.match(words)
        if match:
            ends = [_number(n) for n in (match["first"], match["second"]) if n is not None]
            return Points(match["label"] or words, max(ends), min(ends))
    return Points(words, None, None)


def _number(text: str) -> float:
    return float(text.replace("−", "-").replace(",", "."))


def roles_of(heads: Sequence[str]) -> tuple[Role, ...] | None:
    """What every column of a grid is; ``None`` where the headings are none of a grid's.

    >>> roles_of(["Criterion", "Excellent", "Poor", "Comments"])
    ('criterion', 'level', 'level', 'aside')
    """
    if not 3 <= len(heads) <= MAX_COLUMNS:
        return None
    known = [fold(head) for head in heads]
    if any(head in _VOTES for head in known):
        return None
    roles = [_role(head) for head in known]
    named = "criterion" in roles
    if not named:
        # An empty corner, or a title of its own: the first column has the criteria.
        roles[0] = "criterion"
    levels = [head for head, role in zip(heads, roles, strict=True) if role == "level"]
    said = [points_in(head, heading=True) for head in levels]
    told = sum(fold(one.label) in _RANK or one.points is not None for one in said)
    if len(levels) < 2 or not all(map(fold, levels)) or roles.count("criterion") != 1:
        return None
    return tuple(roles) if (named or told >= 2) else None


def looks_like_grid(heads: Sequence[str]) -> bool:
    """Whether these are the headings of a grid.

    >>> looks_like_grid(["", "Good (2)", "Poor (0)"]), looks_like_grid(["id", "ann", "bob"])
    (True, False)
    """
    return roles_of(heads) is not None


def _role(head: str) -> Role:
    return next((role for role, words in _ROLES.items() if head in words), "level")


def order_of(labels: Sequence[str]) -> Order:
    """Which end is the best, by the words that are known; they must not contradict each other.

    >>> order_of(["Poor", "Fair", "Wonderful"]), order_of(["Gold", "Silver"])
    ('worst_first', None)
    """
    ranks = [_RANK[fold(label)] for label in labels if fold(label) in _RANK]
    if len(set(ranks)) < 2:
        return None
    if ranks == sorted(ranks):
        return "best_first"
    return "worst_first" if ranks == sorted(ranks, reverse=True) else None


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
