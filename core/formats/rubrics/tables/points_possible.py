"""Rubrics that list criteria and the points possible for each, without levels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.domain.rubric import Rubric
from core.errors import Problem
from core.formats.rubrics.foreign import Level, Scaling, criterion_of, first_names
from core.formats.rubrics.grid_headings import Role, names_a_total, points_in, role_of
from core.formats.rubrics.rubric_file import rubric_of_rows
from core.formats.source.csv_reader import RawRow, RawTable
from core.formats.source.csv_writer import unguarded
from core.formats.source.heading_words import plain_heading
from core.formats.source.parsed import Parsed, refusal, stem
from core.text.names import fold

#: The most whole points of a criterion that become its levels.
_MOST_LEVELS = 20
#: Beginnings of headings of criteria alone; a *name* or a *task* may be anything.
_CRITERIA = ("criter", "kriter", "kryter", "bewertungskrit", "beoordelingscrit", "крит")
_ASPECTS = frozenset({"aspect", "aspekt", "aspecto", "indicator", "indikator", "indicateur"})
_ROLES: frozenset[Role] = frozenset({"criterion", "requirement", "weight", "section", "aside"})


def looks_like_points_possible(heads: Sequence[str]) -> bool:
    """Return whether these are headings of criteria with the points possible for each.

    >>> looks_like_points_possible(["Criterion", "Description", "Points"])
    True
    >>> looks_like_points_possible(["Name", "Points"])
    False
    """
    roles = [role_of(fold(head)) for head in heads if head.strip()]
    named = [plain_heading(head) for head in heads]
    criteria = [name for name in named if name.startswith(_CRITERIA) or name in _ASPECTS]
    once = all(roles.count(role) < 2 for role in _ROLES - {"aside"})
    known = {*roles} <= _ROLES and roles.count("weight") == 1 and "criterion" in roles
    return known and once and len(criteria) == 1


def read_points_possible(table: RawTable, scaling: Scaling = "ratio") -> tuple[Parsed[Rubric]]:
    """Return the rubric: whole points up to the points possible are a criterion's levels.

    More points, or parts of one, make a question of yes or no with that weight. Totals are left
    out.

    Raises:
        InputError: a criterion without points, or no criterion, each with its line.
    """
    columns = {role_of(fold(head)): at for at, head in enumerate(table.heads) if head.strip()}
    criteria, lines = list[dict[str, Any]](), list[int | None]()
    notices, problems, questions = list[Problem](), list[Problem](), list[str]()
    section, heading = "", table.heads[columns["weight"]]

    def text_of(row: RawRow, role: Role) -> str:
        at = columns.get(role)
        return "" if at is None else " ".join(unguarded(row.text(at)).split())

    for row in table.rows:
        section = text_of(row, "section") or section
        name, asked = text_of(row, "criterion"), text_of(row, "requirement")
        written = text_of(row, "weight").removesuffix("%").strip(" /")
        points = points_in(written, heading=True).points
        if names_a_total(name) or (name and not (written or asked)):
            notices.append(Problem(f"is left out: “{name}”.", "", (), row.line))
        elif not name or points is None or points <= 0:
            message = f"has {written!r} as its points, and {name!r} as its criterion."
            mend = "Write a name and a number above 0, or leave the row out."
            problems.append(Problem(message, mend, (), row.line))
        else:
            criterion: dict[str, Any] = {"name": name, "requirement": asked or name}
            if points % 1 == 0 and points <= _MOST_LEVELS and "%" not in heading:
                steps = [Level(str(n), "", float(n)) for n in range(int(points) + 1)]
                criterion, _ = criterion_of(name, asked or name, steps, scaling)
            else:
                criterion |= {"weight": points}
                questions.append(name)
            criteria.append(criterion | ({"section": section} if section else {}))
            lines.append(row.line)
    if problems or not criteria:
        nothing = [Problem("has headings, but no criterion.", "", (), 1)]
        raise refusal("rubric", problems or nothing, table.name)
    if len(questions) < len(criteria):
        message = "No levels are described: whole points from 0 to the points possible are levels."
        notices.append(Problem(message))
    if questions:
        listed = first_names(questions)
        notices.append(Problem(f"These are yes-or-no questions with their weight: {listed}."))
    unread = [h for at, h in enumerate(table.heads) if h.strip() and at not in columns.values()]
    if unread:
        notices.append(Problem(f"Columns left out: {first_names(unread)}.", "", (), 1))
    data = {"name": stem(table.name, "Untitled rubric"), "criteria": criteria}
    return (rubric_of_rows(data, table.name, lines, notices),)
