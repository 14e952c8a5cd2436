"""Write a run's grades into a list of students from Canvas or Moodle.

Items that judges learned from get their own labels as grades (`docs/decisions/0029`). All other
bytes of the file stay: names, the order of rows, quoting. The cell of a student without a settled
score stays unchanged, which both programs read as "do not change".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePath
from statistics import fmean

from core.domain.dataset import Item
from core.domain.rubric import Criterion
from core.domain.runs import RunItemRow
from core.errors import InputError, Problem
from core.formats.report.rosters import (
    KIND_WORDS,
    LOCKED,
    Roster,
    criterion_part,
    keys_of,
    read_roster,
)
from core.formats.rubrics.foreign import Scaling, first_names, shown_label
from core.formats.source.csv_writer import number_of, points_text, spreadsheet_safe
from core.services.exports.grade_sheet import TOO_LITTLE, Grade, grades, share
from core.services.exports.judgement_rows import Graded, load_graded
from core.store.store import Store
from core.text.numbers import percent


@dataclass(frozen=True)
class GradeChoices:
    """The choices of the person; ``None`` lets the file decide.

    ``match`` is the column that identifies students, ``by`` the field of an item to compare it with
    ("id", or a key of its meta), ``grade`` the column for grades, ``maximum`` the grade of a score
    of 1 if the file does not state it, ``sheet`` the sheet of a workbook.
    """

    match: str | None = None
    by: str | None = None
    grade: str | None = None
    maximum: float | None = None
    scaling: Scaling = "ratio"
    overwrite: bool = False
    sheet: str | None = None


def fields_of(items: tuple[Item, ...]) -> tuple[str, ...]:
    """Return the fields that may identify students: the item id, and short meta values."""
    keys = dict.fromkeys(key for item in items for key in item.meta)
    return ("id", *(key for key in keys if any(_match_key(item, key) for item in items)))


def _match_key(item: Item, field: str) -> str:
    value = item.id if field == "id" else item.meta.get(field)
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    return str(value).strip()


def best_match(
    items: tuple[Item, ...], roster: Roster, choices: GradeChoices
) -> tuple[str, str, dict[int, list[int]]]:
    """Return the column and field that match most students, and {row: positions of items}."""
    columns = [choices.match] if choices.match else roster.who
    fields = [choices.by] if choices.by else fields_of(items)
    best: tuple[str, str, dict[int, list[int]]] | None = None
    for column in columns:
        index = roster.table.column(column)
        if index is None:
            raise InputError(f"There is no column {column!r}.", (), roster.table.name)
        for by in fields:
            hits = _hits(items, by, roster, index)
            if hits and (best is None or len(hits) > len(best[2])):
                best = column, by, hits
    if best is None:
        ids = first_names([item.id for item in items], 3)
        searched = first_names(list(columns)) or "no column that says who"
        message = (
            f"No student of this file is in the run: {searched} is unlike the items' ids ({ids})."
        )
        advice = Problem("Name the column that holds them, or import items with the students' ids.")
        raise InputError(message, (advice,), roster.table.name)
    return best


def _hits(items: tuple[Item, ...], field: str, roster: Roster, column: int) -> dict[int, list[int]]:
    positions_by_key: dict[str, list[int]] = {}
    for position, item in enumerate(items):
        if key := _match_key(item, field):
            positions_by_key.setdefault(key, []).append(position)
    hits = dict[int, list[int]]()
    for row in roster.students:
        for key in keys_of(roster.table.rows[row].text(column)):
            if key in positions_by_key:
                hits[row] = positions_by_key[key]
                break
    return hits


@dataclass(frozen=True)
class GradeChange:
    """A cell before and after, and the origin of the grade.

    ``kept``: it had another value and was not changed.
    """

    line: int
    student: str
    column: str
    old: str
    new: str
    kept: bool = False
    origin: str = ""


@dataclass(frozen=True)
class Filled:
    """The filled file, its changes, and notes for the person."""

    data: bytes
    name: str
    roster: Roster
    choices: GradeChoices
    changes: tuple[GradeChange, ...]
    students: int
    matched: int
    problems: tuple[Problem, ...]
    effect: str = ""

    @property
    def written(self) -> int:
        """Return how many cells of the file change."""
        return sum(not change.kept for change in self.changes)


def fill(
    store: Store, run_id: int, data: bytes, name: str, choices: GradeChoices | None = None
) -> Filled:
    """Return the list of students with the run's grades. Nothing is stored or sent.

    Raises:
        NotFound: unknown run.
        InputError: the file is not a list of students, none of its students is in the run, or it
            needs a choice that was not made.
    """
    source = load_graded(store, run_id)
    choices = choices or GradeChoices()
    roster = read_roster(data, name, choices.sheet)
    all_grades = tuple(grades(source))
    match, by, hits = best_match(tuple(grade.item for grade in all_grades), roster, choices)
    student_column = roster.table.column(match)
    return _Filler(source, all_grades, roster, choices, hits, student_column).filled(match, by)


@dataclass
class _Filler:
    found: Graded
    grades: tuple[Grade, ...]
    roster: Roster
    choices: GradeChoices
    hits: Mapping[int, list[int]]
    who: int | None
    cells: dict[tuple[int, int], str] = field(default_factory=dict)
    changes: list[GradeChange] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    shares: list[tuple[float, float]] = field(default_factory=list)

    def filled(self, match: str, field: str) -> Filled:
        """Return the file with all grades written, in the rows' order."""
        grade = "" if self.roster.kind == "canvas_rubric" else self._grade()
        ready = dict(self._rows_to_grade())
        for row, position in ready.items():
            if grade:
                self._write_grade(row, position, grade)
            else:
                self._write_assessment(row, position)
        self._report_unmatched()
        self._report_columns()
        path = PurePath(self.roster.table.name.replace("\\", "/"))
        return Filled(
            data=self.roster.table.with_cells(self.cells),
            name=f"{path.stem}-graded{path.suffix or '.csv'}",
            roster=self.roster,
            choices=GradeChoices(
                match, field, grade or None, self.choices.maximum, self.choices.scaling,
                self.choices.overwrite, self.choices.sheet,
            ),
            changes=tuple(self.changes),
            students=len(self.roster.students),
            matched=len(self.hits),
            problems=tuple(self.problems),
            effect=self._effect(),
        )  # fmt: skip

    def _grade(self) -> str:
        chosen, columns = self.choices.grade, self.roster.grades
        if chosen:
            if self.roster.table.column(chosen) is None:
                raise InputError(f"There is no column {chosen!r}.", (), self.roster.table.name)
            return chosen
        if self.roster.kind == "table" or len(columns) != 1:
            kind = KIND_WORDS[self.roster.kind]
            message = f"This is {kind}; say which column takes the grade."
            advice = Problem(
                "It has these columns.", first_names(columns or self.roster.table.heads, 20)
            )
            raise InputError(message, (advice,), self.roster.table.name)
        return columns[0]

    def _rows_to_grade(self) -> Iterator[tuple[int, int]]:
        """Yield students whose item has a final score; report others once per reason."""
        rows_of_item: dict[int, list[int]] = {}
        for row, positions in self.hits.items():
            for position in positions:
                rows_of_item.setdefault(position, []).append(row)
        items_by_reason: dict[str, list[str]] = {}
        for row, positions in self.hits.items():
            reason = "match several items, or share one with another row"
            if len(positions) == 1 and len(rows_of_item[positions[0]]) == 1:
                reason = self._not_ready(row, positions[0])
                if not reason:
                    yield row, positions[0]
                    continue
            items_by_reason.setdefault(reason, []).append(self._student(row))
        for reason, students in items_by_reason.items():
            message = f"Left alone: {first_names(students)}, because they {reason}."
            advice = "Settle them under Review, then write the file again."
            self.problems.append(
                Problem(message, advice if "person" in reason or TOO_LITTLE in reason else "")
            )

    def _not_ready(self, row: int, position: int) -> str:
        grade = self.grades[position]
        result = grade.row
        if grade.too_little:
            return f"have no grade ({TOO_LITTLE})"
        if grade.score is None:
            return f"have no score ({grade.remark})" if grade.remark else "have no score"
        if result is not None and (reason := self._not_final(result, position)):
            return reason
        locked = self.roster.table.rows[row].text(self.roster.locked).strip().casefold()
        return "have a grade that may not be changed" if locked in LOCKED else ""

    def _not_final(self, result: RunItemRow, position: int) -> str:
        if result.review and not self._settled(position):
            return "wait for a person"
        # Criteria that people could not assess stay unassessed, and the score covers the other
        # criteria.
        final = result.low == result.high
        return "" if final else "have a score that is not final"

    def _settled(self, position: int) -> bool:
        """Return whether people settled every cell of the item."""
        grade = self.grades[position]
        return all(
            (grade.item.id, criterion.name) in self.settled for criterion in grade.rubric.criteria
        )

    @cached_property
    def settled(self) -> frozenset[tuple[str, str]]:
        """Return the cells that people settled."""
        return frozenset((cell.item_id, cell.criterion) for cell in self.found.settled)

    def _student(self, row: int) -> str:
        return self.roster.table.rows[row].text(self.who).strip()

    def _write_grade(self, row: int, position: int, grade: str) -> None:
        column = self.roster.table.column(grade)
        score = self.grades[position].score
        if column is None or score is None:
            return
        maximum = self.roster.maximum(row, column) or self.choices.maximum
        if maximum is None:
            advice = Problem("Say what a full score earns.", "In the command line: --maximum 100.")
            message = f"The file does not say the most that {grade!r} may be."
            raise InputError(message, (advice,), self.roster.table.name)
        rubric = self.grades[position].counted
        scalings = share(rubric, score, "ratio"), share(rubric, score, "range")
        self.shares.append(scalings)
        part = scalings[self.choices.scaling == "range"]
        if part > 1 + 1e-9:
            message = f"{self._student(row)} would get more than the most, {maximum:g}; left alone."
            self.problems.append(Problem(message, "", (), self.roster.table.rows[row].line))
            return
        self._put(row, position, column, points_text(part * maximum, comma=self.roster.uses_comma))
        self._put_feedback(row, position, grade)

    def _put_feedback(self, row: int, position: int, grade: str) -> None:
        """Write people's notes on settled cells; judges' reasons are not for students."""
        column = self.roster.feedback(grade)
        item = self.grades[position].item.id
        notes = [s for s in self.found.settled if s.item_id == item and s.note.strip()]
        if column is not None and notes:
            text = "\n".join(f"{s.criterion}: {s.note}" for s in notes)
            self._put(row, position, column, spreadsheet_safe(text))

    def _write_assessment(self, row: int, position: int) -> None:
        grade = self.grades[position]
        criteria = {c.name: c for c in grade.rubric.criteria}
        notes = {s.criterion: s.note for s in self.found.settled if s.item_id == grade.item.id}
        for column, head in enumerate(self.roster.table.heads):
            name, part = criterion_part(head) or ("", "")
            criterion = criteria.get(name)
            option, value = (None, None) if criterion is None else self._answer(grade, criterion)
            if criterion is None or option is None or value is None:
                continue
            text = {
                "Rating": spreadsheet_safe(shown_label(criterion, criterion.choices[option])),
                "Points": points_text(value * criterion.weight, comma=self.roster.uses_comma),
                "Comments": spreadsheet_safe(notes.get(name, "")),
            }[part]
            if text:
                self._put(row, position, column, text)

    def _answer(self, grade: Grade, criterion: Criterion) -> tuple[int | None, float | None]:
        """Return the option and value of an item's verdict or, if it was not graded, of its
        label.
        """
        if grade.row is None:
            option = grade.item.truth(criterion)
            return option, None if option is None else criterion.choices[option].value
        cell = self.found.cells.get((grade.item.id, criterion.name))
        return (None, None) if cell is None else (cell.option, cell.value)

    def _put(self, row: int, position: int, column: int, new: str) -> None:
        record = self.roster.table.rows[row]
        head = self.roster.table.heads[column]
        if column >= len(record.cells):
            message = f"has no cell for {head!r}; left alone."
            self.problems.append(Problem(message, "", (), record.line))
            return
        old = record.text(column)
        if _is_same_cell(old, new):
            return
        left_alone = bool(old.strip(" -")) and not self.choices.overwrite
        origin = self.grades[position].origin
        change = GradeChange(record.line, self._student(row), head, old, new, left_alone, origin)
        self.changes.append(change)
        if not left_alone:
            self.cells[row, column] = new

    def _report_unmatched(self) -> None:
        without = len(self.roster.students) - len(self.hits)
        if without:
            self.problems.append(
                Problem(f"Not in the run, left alone: {_count(without, 'student')}.")
            )
        used = {position for positions in self.hits.values() for position in positions}
        missing = [grade.item.id for index, grade in enumerate(self.grades) if index not in used]
        if missing:
            self.problems.append(Problem(f"Not in the file: {first_names(missing)}."))
        left_alone = sum(change.kept for change in self.changes)
        if left_alone:
            message = f"Left alone, because something else is there: {_count(left_alone, 'cell')}."
            self.problems.append(Problem(message, "Overwrite grades to change them, too."))

    def _report_columns(self) -> None:
        if self.roster.kind != "canvas_rubric":
            return
        parts = [criterion_part(head) for head in self.roster.table.heads]
        columns = {part[0] for part in parts if part}
        graded_here = [c.name for c in self.found.rubric.criteria]
        if unknown := sorted(columns - set(graded_here)):
            self.problems.append(Problem(f"No criterion of this run: {first_names(unknown)}."))
        if missing := [name for name in graded_here if name not in columns]:
            message = f"The file has no columns for {first_names(missing)}."
            advice = "A criterion must be called exactly as in Canvas."
            self.problems.append(Problem(message, advice))
        rubric = self.found.rubric
        if rubric.gates or rubric.prechecks or rubric.scoring.length_penalty:
            message = "Canvas adds points up: gates, pre-checks and penalties do not reach it."
            self.problems.append(Problem(message))

    def _effect(self) -> str:
        """Return how grades by ratio and by range differ here, in words; empty if they do not."""
        if not self.shares or all(abs(a - b) < 1e-9 for a, b in self.shares):
            return ""
        ratio, span = (fmean(values) for values in zip(*self.shares, strict=True))
        return (
            f"Ratio and range differ here. Mean grade: {percent(ratio, 1)} as a ratio (score / "
            f"most), {percent(span, 1)} as a range (counted from the worst answers, as Moodle "
            "does)."
        )


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _is_same_cell(old: str, new: str) -> bool:
    before, after = number_of(old), number_of(new)
    return old.strip() == new if before is None or after is None else before == after
