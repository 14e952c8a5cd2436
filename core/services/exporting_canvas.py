"""A run as Canvas reads rubric assessments: one row per student, three columns per criterion."""

from __future__ import annotations

from core.domain.names import fold
from core.domain.rubric import MET, UNMET, Criterion
from core.files.csv_writer import Value, csv_text
from core.services.exporting_rows import Graded

#: As a Canvas rubric names the ratings of a question with yes or no.
_BINARY = {fold(MET): "Met", fold(UNMET): "Not met"}


def canvas_csv(found: Graded) -> tuple[str, tuple[str, ...]]:
    """The file, and what Canvas cannot be told.

    Verdicts are written whoever settled them. Points are the option's value times the weight. An
    abstention or a missing verdict leaves its cells empty, which Canvas leaves as they are.
    Comments hold what people noted when they settled a cell; a judge's reasons are for whoever
    grades, and nobody has approved them for the student.
    """
    criteria = [c for c in found.rubric.criteria if c.weight > 0]
    notes = {(one.item_id, one.criterion): one.note for one in found.settled}
    heads = ["Student Id"]
    for criterion in criteria:
        heads += [f"{criterion.name} - {part}" for part in ("Rating", "Points", "Comments")]
    rows = list[list[Value]]()
    for item in found.items:
        row: list[Value] = [item.id]
        if item.rubric is None:
            for criterion in criteria:
                row += _cells(found, item.id, criterion, notes.get((item.id, criterion.name), ""))
            rows.append(row)
    return csv_text(heads, rows), _losses(found, len(rows))


def _cells(found: Graded, item_id: str, criterion: Criterion, note: str) -> list[Value]:
    cell = found.cells.get((item_id, criterion.name))
    if cell is None or cell.option is None or cell.value is None:
        return [None, None, note or None]
    label = criterion.choices[cell.option].label
    rating = _BINARY.get(fold(label), label) if criterion.scale == "binary" else label
    return [rating, round(cell.value * criterion.weight, 2), note or None]


def _losses(found: Graded, students: int) -> tuple[str, ...]:
    lost = [
        "Student Id holds the items' ids: they must be those of Canvas.",
        "Judges' reasons are not written as comments for students; notes of people are.",
    ]
    negative = [c.name for c in found.rubric.criteria if c.weight <= 0]
    if negative:
        lost.append(f"Canvas knows no deductions; left out: {', '.join(negative)}.")
    if found.rubric.gates or found.rubric.prechecks or found.rubric.scoring.length_penalty:
        lost.append(
            "Canvas adds the points up: gates, pre-checks and length penalties do not reach it."
        )
    empty = sum(
        (cell := found.cells.get((item.id, c.name))) is None
        or cell.option is None
        or cell.abstained
        for item in found.items
        if item.rubric is None
        for c in found.rubric.criteria
        if c.weight > 0
    )
    if empty:
        lost.append(f"Left empty, for want of a verdict that is no abstention: {empty:,} cells.")
    if students < len(found.items):
        own = len(found.items) - students
        lost.append(f"Left out, because they have rubrics of their own: {own:,} items.")
    return tuple(lost)
