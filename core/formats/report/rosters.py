"""Student rosters from Canvas and Moodle: identity columns and grade columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from core.errors import Problem
from core.formats.office.sheet_editing import sheet_table
from core.formats.source.csv_reader import RawTable, read_raw
from core.formats.source.csv_writer import number_of
from core.formats.source.opened import Opened
from core.formats.source.parsed import refusal

RosterKind = Literal[
    "canvas_rubric", "canvas_gradebook", "moodle_worksheet", "moodle_gradebook", "table"
]
KIND_WORDS: dict[RosterKind, str] = {
    "canvas_rubric": "a rubric assessment file of Canvas",
    "canvas_gradebook": "a gradebook of Canvas",
    "moodle_worksheet": "an offline grading worksheet of Moodle",
    "moodle_gradebook": "a gradebook of Moodle",
    "table": "a table",
}
#: The parts of a criterion in a rubric assessment; a heading is split at its last " - ".
PARTS = ("Rating", "Points", "Comments")
_ASSIGNMENT = re.compile(r"\(\d+\)\Z")
#: Identity columns, in the order in which they are tried.
_WHO: dict[RosterKind, tuple[str, ...]] = {
    "canvas_rubric": ("Student Id",),
    "canvas_gradebook": ("ID", "SIS User ID", "SIS Login ID"),
    "moodle_worksheet": ("Identifier", "ID number", "Email address"),
    "moodle_gradebook": ("ID number", "Email address"),
    "table": (),
}
#: The word "no" in the languages of a gradebook, where a column says if a grade can be changed.
LOCKED = frozenset({"no", "nein", "non", "nee", "n\u00e3o", "nej"})


@dataclass(frozen=True)
class Roster:
    """A list of students; ``locked`` and ``feedback`` are columns, if there are any.

    ``students`` are the rows of ``table`` with a student. Canvas has a row of points before them,
    ``possible``.
    """

    kind: RosterKind
    table: RawTable
    who: tuple[str, ...]
    grades: tuple[str, ...]
    students: tuple[int, ...]
    possible: int | None = None
    locked: int | None = None

    def maximum(self, row: int, column: int) -> float | None:
        """Return the maximum grade of a cell, if the file has it."""
        if self.kind == "moodle_worksheet":
            most = self.table.column("Maximum grade")
            return number_of(self.table.rows[row].text(most))
        if self.possible is None:
            return None
        return number_of(self.table.rows[self.possible].text(column))

    def feedback(self, grade: str) -> int | None:
        """Return the feedback column of that grade."""
        if self.kind == "moodle_worksheet":
            return self.table.column("Feedback comments")
        if self.kind == "moodle_gradebook":
            return self.table.column(grade.removesuffix("(Real)") + "(Feedback)")
        return None

    @cached_property
    def uses_comma(self) -> bool:
        """Return whether its numbers have a decimal comma."""
        texts = (cell.text for row in self.table.rows for cell in row.cells)
        return any(re.fullmatch(r"\s*\d+,\d+\s*", text) for text in texts)


def read_roster(data: bytes, name: str, sheet: str | None = None) -> Roster:
    r"""Return the roster in a file of Canvas or Moodle, or in any table with a header.

    In a workbook it reads the only sheet with rows, or the named one.

    Raises:
        InputError: not a table, or no rows of students.

    >>> made = b"Identifier,Grade,Maximum Grade,Last modified (grade)\nParticipant 7,,10,-\n"
    >>> roster = read_roster(made, "x.csv")
    >>> roster.kind, roster.grades, roster.maximum(0, 1)
    ('moodle_worksheet', ('Grade',), 10.0)
    """
    table = sheet_table(Opened(data, name), sheet) or read_raw(data, name, "list of students")
    kind = _kind_of_roster(table)
    grades = tuple(head for head in table.heads if _takes_grades(kind, head))
    possible = _points_possible_row(table) if kind == "canvas_gradebook" else None
    students = tuple(at for at in range(len(table.rows)) if at != possible)
    if not students:
        problem = Problem("has no rows of students.", "Export it with its students.", (), 1)
        raise refusal("list of students", [problem], name)
    heads = {head.casefold() for head in table.heads}
    identity = tuple(head for head in _WHO[kind] if head.casefold() in heads)
    undecided = grades if kind == "table" else ()
    locked = table.column("Grade can be changed") if kind == "moodle_worksheet" else None
    return Roster(kind, table, (*identity, *undecided), grades, students, possible, locked)


def _kind_of_roster(table: RawTable) -> RosterKind:
    heads = {head.casefold() for head in table.heads}
    if "student id" in heads and any(criterion_part(head) for head in table.heads):
        return "canvas_rubric"
    if {"student", "id"} <= heads and any(map(_ASSIGNMENT.search, table.heads)):
        return "canvas_gradebook"
    if {"identifier", "grade"} <= heads:
        return "moodle_worksheet"
    if any(head.endswith("(Real)") for head in table.heads):
        return "moodle_gradebook"
    return "table"


def _takes_grades(kind: RosterKind, heading: str) -> bool:
    if kind == "canvas_gradebook":
        return bool(_ASSIGNMENT.search(heading))
    if kind == "moodle_worksheet":
        return heading.casefold() == "grade"
    if kind == "moodle_gradebook":
        return heading.endswith("(Real)") and not heading.casefold().startswith("course total")
    return kind == "table" and bool(heading)


def _points_possible_row(table: RawTable) -> int | None:
    for at, row in enumerate(table.rows[:3]):
        if any(cell.text.strip().casefold() == "points possible" for cell in row.cells[:1]):
            return at
    return None


def criterion_part(heading: str) -> tuple[str, str] | None:
    """Return the criterion and part in a rubric assessment's heading, or ``None``.

    >>> criterion_part("Style - tone - Points"), criterion_part("Student Id")
    (('Style - tone', 'Points'), None)
    """
    name, dash, part = heading.rpartition(" - ")
    return (name, part) if dash and part in PARTS else None


def keys_of(text: str) -> Sequence[str]:
    """Return the keys of an identity cell: its text, and a participant's number.

    >>> keys_of(" Participant 1234 "), keys_of("a7")
    (('Participant 1234', '1234'), ('a7',))
    """
    text = text.strip()
    number = re.fullmatch(r"\D+ (\d+)", text)
    return (text, number[1]) if number else (text,) if text else ()
