"""A run's scores into the list of students that Canvas or Moodle wrote, and nothing else of it.

Every byte that is not a grade stays: who is who, the order of rows, the way cells are quoted. A
student without a settled score keeps the cell as it is, which both take for "do not touch".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePath
from statistics import fmean

from core.errors import InputError, Problem
from core.files.cells import harmless, number_of, points_text
from core.files.points import shown
from core.files.rosters import KIND_WORDS, LOCKED, Roster, criterion_part, read_roster
from core.files.written import listed
from core.services.exporting_rows import Graded, graded
from core.services.sharing_match import GradeChoices, matched, share
from core.store.store import Store


@dataclass(frozen=True)
class Change:
    """A cell before and after. ``kept``: it held something else and was left alone."""

    line: int
    student: str
    column: str
    old: str
    new: str
    kept: bool = False


@dataclass(frozen=True)
class Filled:
    """The file to give back, what changed in it, and what a person should know."""

    data: bytes
    name: str
    roster: Roster
    choices: GradeChoices
    changes: tuple[Change, ...]
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
    roster = read_roster(data, name)
    choices = choices or GradeChoices()
    match, by, hits = matched(found.items, roster, choices)
    who = roster.table.column(match)
    return _Filler(found, roster, choices, hits, who).filled(match, by)


@dataclass
class _Filler:
    found: Graded
    roster: Roster
    choices: GradeChoices
    hits: Mapping[int, list[int]]
    who: int | None
    cells: dict[tuple[int, int], str] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)
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
                self.choices.overwrite,
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
            self.problems.append(Problem(message, mend if "person" in reason else ""))

    def _not_ready(self, row: int, position: int) -> str:
        result = self.found.rows[position]
        if result.review and not self._settled(position):
            return "wait for a person"
        if result.score is None:
            return "have no score"
        if not result.complete or result.low != result.high:
            return "have a score that is not final"
        locked = self.roster.table.rows[row].text(self.roster.locked).strip().casefold()
        return "have a grade that may not be changed" if locked in LOCKED else ""

    def _settled(self, position: int) -> bool:
        """Whether people settled every question about the item; nobody else can say more."""
        item = self.found.items[position]
        return all(
            (item.id, criterion.name) in self.settled
            for criterion in self.found.rubric_of(item.id).criteria
        )

    @cached_property
    def settled(self) -> frozenset[tuple[str, str]]:
        """The cells that people settled."""
        return frozenset((one.item_id, one.criterion) for one in self.found.settled)

    def _student(self, row: int) -> str:
        return self.roster.table.rows[row].text(self.who).strip()

    def _write_grade(self, row: int, position: int, grade: str) -> None:
        column = self.roster.table.column(grade)
        score = self.found.rows[position].score
        if column is None or score is None:
            return
        most = self.roster.maximum(row, column) or self.choices.maximum
        if most is None:
            mend = Problem("Say what a full score earns.", "In the command line: --maximum 100.")
            message = f"The file does not say the most that {grade!r} may be."
            raise InputError(message, (mend,), self.roster.table.name)
        rubric = self.found.rubric_of(self.found.items[position].id)
        both = share(rubric, score, "ratio"), share(rubric, score, "range")
        self.shares.append(both)
        part = both[self.choices.scaling == "range"]
        if part > 1 + 1e-9:
            message = f"{self._student(row)} would get more than the most, {most:g}; left alone."
            self.problems.append(Problem(message, "", (), self.roster.table.rows[row].line))
            return
        self._put(row, column, points_text(part * most, comma=self.roster.comma))
        self._put_feedback(row, position, grade)

    def _put_feedback(self, row: int, position: int, grade: str) -> None:
        """What people noted when they settled a cell; what judges said is not for students."""
        column = self.roster.feedback(grade)
        item = self.found.items[position].id
        notes = [s for s in self.found.settled if s.item_id == item and s.note.strip()]
        if column is not None and notes:
            self._put(row, column, harmless("\n".join(f"{s.criterion}: {s.note}" for s in notes)))

    def _write_assessment(self, row: int, position: int) -> None:
        item = self.found.items[position]
        criteria = {c.name: c for c in self.found.rubric_of(item.id).criteria}
        notes = {s.criterion: s.note for s in self.found.settled if s.item_id == item.id}
        for column, head in enumerate(self.roster.table.heads):
            name, part = criterion_part(head) or ("", "")
            cell = self.found.cells.get((item.id, name))
            if cell is None or cell.option is None or cell.value is None or name not in criteria:
                continue
            criterion = criteria[name]
            text = {
                "Rating": harmless(shown(criterion, criterion.choices[cell.option])),
                "Points": points_text(cell.value * criterion.weight, comma=self.roster.comma),
                "Comments": harmless(notes.get(name, "")),
            }[part]
            if text:
                self._put(row, column, text)

    def _put(self, row: int, column: int, new: str) -> None:
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
        self.changes.append(Change(record.line, self._student(row), head, old, new, kept))
        if not kept:
            self.cells[row, column] = new

    def _say_unmatched(self) -> None:
        without = len(self.roster.students) - len(self.hits)
        if without:
            self.problems.append(
                Problem(f"Not in the run, left alone: {_count(without, 'student')}.")
            )
        used = {position for positions in self.hits.values() for position in positions}
        missing = [item.id for at, item in enumerate(self.found.items) if at not in used]
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
            f"Ratio and range differ here. Mean grade: {_percent(ratio)} as a ratio (score / "
            f"most), {_percent(span)} as a range (counted from the worst answers, as Moodle does)."
        )


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _percent(part: float) -> str:
    return f"{part * 100:.1f} %"


def _same(old: str, new: str) -> bool:
    before, after = number_of(old), number_of(new)
    return old.strip() == new if before is None or after is None else before == after
