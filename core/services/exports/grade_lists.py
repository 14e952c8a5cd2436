"""The grades of a run into a list of students from Canvas or Moodle; every other byte stays.

Items that judges learned from come back with their own labels (`docs/decisions/0029`).
Every byte that is not a grade stays: who is who, the order of rows, the way cells are quoted. A
student without a settled score keeps the cell as it is, which both take for "do not touch".
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
from core.formats.rubrics.foreign import Scaling, listed, shown
from core.formats.source.csv_writer import harmless, number_of, points_text
from core.services.exports.grade_sheet import TOO_LITTLE, Grade, grades, share
from core.services.exports.judgement_rows import Graded, graded
from core.store.store import Store
from core.text.numbers import percent


@dataclass(frozen=True)
class GradeChoices:
    """What a person may choose; ``None`` lets the file decide.

    ``match`` is the column that says who, ``by`` what of an item it is compared with ("id", or a
    key of its additional data), ``grade`` the column that takes grades, ``maximum`` the grade that
    a score of 1 earns where the file does not say, ``sheet`` the sheet of a workbook.
    """

    match: str | None = None
    by: str | None = None
    grade: str | None = None
    maximum: float | None = None
    scaling: Scaling = "ratio"
    overwrite: bool = False
    sheet: str | None = None


def fields_of(items: tuple[Item, ...]) -> tuple[str, ...]:
    """What of items may say who: their id, and short values of their additional data."""
    keys = dict.fromkeys(key for item in items for key in item.meta)
    return ("id", *(key for key in keys if any(_key(item, key) for item in items)))


def _key(item: Item, by: str) -> str:
    value = item.id if by == "id" else item.meta.get(by)
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    return str(value).strip()


def matched(
    items: tuple[Item, ...], roster: Roster, choices: GradeChoices
) -> tuple[str, str, dict[int, list[int]]]:
    """The pair of column and field that knows most students: {row: positions of items}."""
    columns = [choices.match] if choices.match else roster.who
    fields = [choices.by] if choices.by else fields_of(items)
    best: tuple[str, str, dict[int, list[int]]] | None = None
    for column in columns:
        at = roster.table.column(column)
        if at is None:
            raise InputError(f"There is no column {column!r}.", (), roster.table.name)
        for by in fields:
            hits = _hits(items, by, roster, at)
            if hits and (best is None or len(hits) > len(best[2])):
                best = column, by, hits
    if best is None:
        ids = listed([item.id for item in items], 3)
        who = listed(list(columns)) or "no column that says who"
        message = f"No student of this file is in the run: {who} is unlike the items' ids ({ids})."
        mend = Problem("Name the column that holds them, or import items with the students' ids.")
        raise InputError(message, (mend,), roster.table.name)
    return best


def _hits(items: tuple[Item, ...], by: str, roster: Roster, column: int) -> dict[int, list[int]]:
    known: dict[str, list[int]] = {}
    for position, item in enumerate(items):
        if key := _key(item, by):
            known.setdefault(key, []).append(position)
    found = dict[int, list[int]]()
    for row in roster.students:
        for key in keys_of(roster.table.rows[row].text(column)):
            if key in known:
                found[row] = known[key]
                break
    return found


@dataclass(frozen=True)
class GradeChange:
    """A cell before and after, and whose the grade is.

    ``kept``: it held something else and was left alone.
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
    """The file to give back, what changed in it, and what a person should know."""

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
        """How many cells are written."""
        return sum(not change.kept for change in self.changes)


def fill(
    store: Store, run_id: int, data: bytes, name: str, choices: GradeChoices | None = None
) -> Filled:
    """The list of students with the run's grades in it. Nothing is kept and nothing is sent.

    Raises:
        NotFound: no such run.
        InputError: the file is no list of students, no student of it is in the run, or a choice is
            missing that the file does not make.
    """
    found = graded(store, run_id)
    choices = choices or GradeChoices()
    roster = read_roster(data, name, choices.sheet)
    everyone = tuple(grades(found))
    match, by, hits = matched(tuple(one.item for one in everyone), roster, choices)
    who = roster.table.column(match)
    return _Filler(found, everyone, roster, choices, hits, who).filled(match, by)


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

    def filled(self, match: str, by: str) -> Filled:
        """Everything that is to be written, in the rows' order."""
        grade = "" if self.roster.kind == "canvas_rubric" else self._grade()
        ready = dict(self._ready())
        for row, position in ready.items():
            if grade:
                self._write_grade(row, position, grade)
            else:
                self._write_assessment(row, position)
        self._say_unmatched()
        self._say_columns()
        path = PurePath(self.roster.table.name.replace("\\", "/"))
        return Filled(
            data=self.roster.table.with_cells(self.cells),
            name=f"{path.stem}-graded{path.suffix or '.csv'}",
            roster=self.roster,
            choices=GradeChoices(
                match, by, grade or None, self.choices.maximum, self.choices.scaling,
                self.choices.overwrite, self.choices.sheet,
            ),
            changes=tuple(self.changes),
            students=len(self.roster.students),
            matched=len(self.hits),
            problems=tuple(self.problems),
            effect=self._effect(),
        )  # fmt: skip

    def _grade(self) -> str:
        chosen, known = self.choices.grade, self.roster.grades
        if chosen:
            if self.roster.table.column(chosen) is None:
                raise InputError(f"There is no column {chosen!r}.", (), self.roster.table.name)
            return chosen
        if self.roster.kind == "table" or len(known) != 1:
            what = KIND_WORDS[self.roster.kind]
            message = f"This is {what}; say which column takes the grade."
            mend = Problem("It has these columns.", listed(known or self.roster.table.heads, 20))
            raise InputError(message, (mend,), self.roster.table.name)
        return known[0]

    def _ready(self) -> Iterator[tuple[int, int]]:
        """Students whose item has a score that stands; the others are said, once per reason."""
        taken: dict[int, list[int]] = {}
        for row, positions in self.hits.items():
            for position in positions:
                taken.setdefault(position, []).append(row)
        why: dict[str, list[str]] = {}
        for row, positions in self.hits.items():
            reason = "stand for several items, or share one with another row"
            if len(positions) == 1 and len(taken[positions[0]]) == 1:
                reason = self._not_ready(row, positions[0])
                if not reason:
                    yield row, positions[0]
                    continue
            why.setdefault(reason, []).append(self._student(row))
        for reason, students in why.items():
            message = f"Left alone: {listed(students)}, because they {reason}."
            mend = "Settle them under Review, then write the file again."
            self.problems.append(
                Problem(message, mend if "person" in reason or TOO_LITTLE in reason else "")
            )

    def _not_ready(self, row: int, position: int) -> str:
        grade = self.grades[position]
        result = grade.row
        if grade.too_little:
            return f"have no grade ({TOO_LITTLE})"
        if grade.score is None:
            return f"have no score ({grade.remark})" if grade.remark else "have no score"
        if result is not None and (why := self._not_final(result, position)):
            return why
        locked = self.roster.table.rows[row].text(self.roster.locked).strip().casefold()
        return "have a grade that may not be changed" if locked in LOCKED else ""

    def _not_final(self, result: RunItemRow, position: int) -> str:
        if result.review and not self._settled(position):
            return "wait for a person"
        # What people said cannot be assessed stays so: the score is of the rest.
        final = result.low == result.high
        return "" if final else "have a score that is not final"

    def _settled(self, position: int) -> bool:
        """Whether people settled every question about the item; nobody else can say more."""
        grade = self.grades[position]
        return all((grade.item.id, one.name) in self.settled for one in grade.rubric.criteria)

    @cached_property
    def settled(self) -> frozenset[tuple[str, str]]:
        """The cells that people settled."""
        return frozenset((one.item_id, one.criterion) for one in self.found.settled)

    def _student(self, row: int) -> str:
        return self.roster.table.rows[row].text(self.who).strip()

    def _write_grade(self, row: int, position: int, grade: str) -> None:
        column = self.roster.table.column(grade)
        score = self.grades[position].score
        if column is None or score is None:
            return
        most = self.roster.maximum(row, column) or self.choices.maximum
        if most is None:
            mend = Problem("Say what a full score earns.", "In the command line: --maximum 100.")
            message = f"The file does not say the most that {grade!r} may be."
            raise InputError(message, (mend,), self.roster.table.name)
        rubric = self.grades[position].counted
        both = share(rubric, score, "ratio"), share(rubric, score, "range")
        self.shares.append(both)
        part = both[self.choices.scaling == "range"]
        if part > 1 + 1e-9:
            message = f"{self._student(row)} would get more than the most, {most:g}; left alone."
            self.problems.append(Problem(message, "", (), self.roster.table.rows[row].line))
            return
        self._put(row, position, column, points_text(part * most, comma=self.roster.comma))
        self._put_feedback(row, position, grade)

    def _put_feedback(self, row: int, position: int, grade: str) -> None:
        """What people noted when they settled a cell; what judges said is not for students."""
        column = self.roster.feedback(grade)
        item = self.grades[position].item.id
        notes = [s for s in self.found.settled if s.item_id == item and s.note.strip()]
        if column is not None and notes:
            text = "\n".join(f"{s.criterion}: {s.note}" for s in notes)
            self._put(row, position, column, harmless(text))

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
                "Rating": harmless(shown(criterion, criterion.choices[option])),
                "Points": points_text(value * criterion.weight, comma=self.roster.comma),
                "Comments": harmless(notes.get(name, "")),
            }[part]
            if text:
                self._put(row, position, column, text)

    def _answer(self, grade: Grade, criterion: Criterion) -> tuple[int | None, float | None]:
        """The verdict of an item that was graded, else its own label: the option and its value."""
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
        if _same(old, new):
            return
        kept = bool(old.strip(" -")) and not self.choices.overwrite
        origin = self.grades[position].origin
        change = GradeChange(record.line, self._student(row), head, old, new, kept, origin)
        self.changes.append(change)
        if not kept:
            self.cells[row, column] = new

    def _say_unmatched(self) -> None:
        without = len(self.roster.students) - len(self.hits)
        if without:
            self.problems.append(
                Problem(f"Not in the run, left alone: {_count(without, 'student')}.")
            )
        used = {position for positions in self.hits.values() for position in positions}
        missing = [one.item.id for at, one in enumerate(self.grades) if at not in used]
        if missing:
            self.problems.append(Problem(f"Not in the file: {listed(missing)}."))
        kept = sum(change.kept for change in self.changes)
        if kept:
            message = f"Left alone, because something else is there: {_count(kept, 'cell')}."
            self.problems.append(Problem(message, "Overwrite grades to change them, too."))

    def _say_columns(self) -> None:
        if self.roster.kind != "canvas_rubric":
            return
        parts = [criterion_part(head) for head in self.roster.table.heads]
        asked = {part[0] for part in parts if part}
        graded_here = [c.name for c in self.found.rubric.criteria]
        if strange := sorted(asked - set(graded_here)):
            self.problems.append(Problem(f"No criterion of this run: {listed(strange)}."))
        if lost := [name for name in graded_here if name not in asked]:
            message = f"The file has no columns for {listed(lost)}."
            mend = "A criterion must be called exactly as in Canvas."
            self.problems.append(Problem(message, mend))
        rubric = self.found.rubric
        if rubric.gates or rubric.prechecks or rubric.scoring.length_penalty:
            message = "Canvas adds points up: gates, pre-checks and penalties do not reach it."
            self.problems.append(Problem(message))

    def _effect(self) -> str:
        """How far ratio and range differ here, in words; empty where they do not."""
        if not self.shares or all(abs(a - b) < 1e-9 for a, b in self.shares):
            return ""
        ratio, span = (fmean(one) for one in zip(*self.shares, strict=True))
        return (
            f"Ratio and range differ here. Mean grade: {percent(ratio, 1)} as a ratio (score / "
            f"most), {percent(span, 1)} as a range (counted from the worst answers, as Moodle "
            "does)."
        )


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _same(old: str, new: str) -> bool:
    before, after = number_of(old), number_of(new)
    return old.strip() == new if before is None or after is None else before == after
