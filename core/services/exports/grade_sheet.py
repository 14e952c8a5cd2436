"""A run's grades to hand back: every item of the dataset, with the origin of its grade.

Items that judges learned from were not graded; their own labels are their grade. Figures do not
include these grades, since figures are made of votes (see `docs/decisions/0029`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from core.domain.dataset import Item
from core.domain.rubric import Rubric
from core.domain.runs import RunItemRow
from core.domain.votes import ADJUDICATED, Verdict
from core.formats.datasets.labels import TEXT_AVAILABLE
from core.formats.rubrics.foreign import Scaling
from core.scoring import ScorePart, assessed_words
from core.scoring.explanation import missing_words
from core.scoring.points import parts_of
from core.scoring.trace import Assessed, assessed_of
from core.services.exports.judgement_rows import Graded, Row
from core.services.results.item_view import choice_label
from core.services.results.scored_items import (
    labels_of,
    resolved_items,
    rubric_in_force,
    score_by_labels,
)
from core.store.store import Store
from core.text.numbers import DASH, score

JUDGES, LABELS, REVIEW = "judges", "your labels", "a person's review"
NO_VERDICT, CANNOT = "no verdict", "cannot assess"
TOO_LITTLE = "too little was assessed"
LONGEST_NOTE = 200
#: The first characters are enough to recognise the text; the dataset has the full text.
LONGEST_TEXT = 500


@dataclass(frozen=True)
class Grade:
    """One item's grade: its score, the labels of its answers, its origin, and open parts.

    ``origin`` is empty without a grade; ``remark`` says why, or what the grade lacks. ``parts`` are
    the criteria's contributions; ``row`` is the run's row, if the run graded the item.
    """

    item: Item
    rubric: Rubric
    score: float | None
    answers: Mapping[str, str | None]
    origin: str = ""
    remark: str = ""
    row: RunItemRow | None = None
    parts: tuple[ScorePart, ...] = ()
    needs_a_person: bool = False

    @cached_property
    def counted(self) -> Rubric:
        """Return the rubric with only the criteria that count in the score."""
        if self.score is None or all(part.counted for part in self.parts):
            return self.rubric
        pairs = zip(self.rubric.criteria, self.parts, strict=True)
        criteria = tuple(criterion for criterion, part in pairs if part.counted)
        return self.rubric.model_copy(update={"criteria": criteria})

    @property
    def points(self) -> float | None:
        """Return the score in points of the criteria that count."""
        if self.score is None or not self.rubric.scoring.normalize:
            return self.score
        return self.score * self.counted.max_points

    @property
    def assessed(self) -> Assessed | None:
        """Return what was assessed; ``None`` without any answer."""
        answered = any(not part.missing for part in self.parts)
        return assessed_of(self.parts) if answered else None

    @property
    def too_little(self) -> bool:
        """Return whether there is no grade because too little was assessed."""
        return self.score is None and self.remark.startswith(TOO_LITTLE)


def grades(data: Graded) -> Iterator[Grade]:
    """Yield a grade for every item of the run's dataset, in its order."""
    version, chosen = data.run.dataset_version_id, data.run.plan.calibration
    teaching_items = chosen["items"] if chosen and chosen["dataset_version"] == version else ()
    rows = {row.item_id: row for row in data.rows}
    return iter(
        _Grader(data.store, version, data.rubric, rows, data.cells, frozenset(teaching_items))
    )


def grades_by_labels(store: Store, version: int, rubric: Rubric) -> Iterator[Grade]:
    """Yield a grade for every item of a dataset version by its labels, without any run."""
    return iter(_Grader(store, version, rubric))


@dataclass(frozen=True)
class _Grader:
    """Yields grades. ``learned`` are the items that judges of the run learned from; ``None``
    without a run.
    """

    store: Store
    version: int
    rubric: Rubric
    rows: Mapping[str, RunItemRow] = field(default_factory=dict)
    cells: Mapping[tuple[str, str], Verdict] = field(default_factory=dict)
    learned: frozenset[str] | None = None

    def __iter__(self) -> Iterator[Grade]:
        for item in resolved_items(self.store, self.version, None):
            rubric = rubric_in_force(item, self.rubric)
            row = self.rows.get(item.id)
            own_grade = (
                self._grade_by_labels(item, rubric) if row is None or row.score is None else None
            )
            if row is not None and (own_grade is None or own_grade.score is None):
                yield self._grade_by_verdicts(item, rubric, row)
            elif own_grade is not None:
                yield own_grade

    @cached_property
    def _settled(self) -> Mapping[str, Mapping[str, object]]:
        """Return what people settled in this dataset, in any run."""
        return self.store.settled.truth(self.version)

    def _grade_by_verdicts(self, item: Item, rubric: Rubric, row: RunItemRow) -> Grade:
        cells = {c.name: self.cells.get((item.id, c.name)) for c in rubric.criteria}
        answers = {
            c.name: None
            if (cell := cells[c.name]) is None
            else choice_label(c, cell.option, cell.abstained)
            for c in rubric.criteria
        }
        present = {name: cell for name, cell in cells.items() if cell is not None}
        people = sum(cell.rule == ADJUDICATED for cell in present.values())
        origins = [JUDGES] * (people < len(present)) + [REVIEW] * (people > 0)
        parts = parts_of(rubric, {name: cell.option for name, cell in present.items()})
        waits = row.review and people < len(cells)
        remarks = [_coverage_remark(parts, graded=row.score is not None)]
        remarks += ["a person must look"] * waits
        origin = "" if row.score is None else ", and ".join(origins)
        fields = (origin, _joined_remarks(remarks), row, parts, waits)
        return Grade(item, rubric, row.score, answers, *fields)

    def _grade_by_labels(self, item: Item, rubric: Rubric) -> Grade:
        """Return the grade by the item's labels, if all criteria have one."""
        labels = labels_of(item, rubric)
        answers = {
            c.name: c.choices[labels[c.name]].label if c.name in labels else None
            for c in rubric.criteria
        }
        learned = item.id in (self.learned or ())
        ungraded = "" if self.learned is None else "not graded in this run"
        if not labels:
            remark = "judges learned from it" if learned else ungraded or "no label"
            return Grade(item, rubric, None, answers, remark=remark)
        missing = [name for name, label in answers.items() if label is None]
        remarks = ["judges learned from its labels" if learned else ungraded]
        result = score_by_labels(item, rubric)
        if result is None:
            remark = _joined_remarks([*remarks, _named_list("no label", missing)])
            return Grade(item, rubric, None, answers, remark=remark)
        settled = self._settled.get(item.id, {}).keys() & labels.keys()
        origins = [LABELS] * (len(settled) < len(labels)) + [REVIEW] * bool(settled)
        origin = "" if result.score is None else ", and ".join(origins)
        parts = result.trace.criteria
        remark = _coverage_remark(parts, graded=result.score is not None)
        return Grade(item, rubric, result.score, answers, origin, remark, None, parts)


def points_words(grade: Grade) -> str:
    """Return the grade in points, like ``6 of 12``, with the unassessed parts."""
    if grade.score is None:
        return DASH if grade.assessed is None else f"no grade: {assessed_words(grade.parts)}"
    if not grade.rubric.scoring.normalize:
        points = score(grade.score)
    else:
        points = f"{round(grade.points or 0.0, 2):g} of {grade.counted.max_points:g}"
    return "; ".join(filter(None, [points, missing_words(grade.parts)]))


def _coverage_remark(parts: Sequence[ScorePart], *, graded: bool) -> str:
    """Return what a score does not cover, and why; empty if it covers everything.

    >>> done = ScorePart("a", 4, 1, 4, counted=True, abstained=False, missing=False)
    >>> open_ = ScorePart("b", 4, None, 0, counted=False, abstained=False, missing=True)
    >>> _coverage_remark([done], graded=True), _coverage_remark([done, open_], graded=True)
    ('', 'assessed 4 of 4; 4 of 8 not assessed (no verdict: b)')
    """
    missing = [part.name for part in parts if part.missing]
    abstained = [part.name for part in parts if part.abstained]
    reason = ", ".join(
        filter(None, [_named_list(CANNOT, abstained), _named_list(NO_VERDICT, missing)])
    )
    if not reason or len(missing) == len(parts):
        return reason
    head = "assessed" if graded else f"{TOO_LITTLE} for a grade:"
    return f"{head} {assessed_words(parts)} ({reason})"


def _named_list(prefix: str, names: list[str]) -> str:
    return f"{prefix}: {', '.join(names)}" if names else ""


def _joined_remarks(remarks: list[str]) -> str:
    return "; ".join(filter(None, remarks))


def grade_rows(all_grades: Iterable[Grade]) -> Iterator[Row]:
    """Yield the grades as rows that all have the same columns, including items' notes, such as
    names.
    """
    all_grades = list(all_grades)
    names = list(dict.fromkeys(name for grade in all_grades for name in grade.answers))
    notes = dict.fromkeys(
        key for grade in all_grades for key in grade.item.meta if _short_note(grade.item, key)
    )
    reserved = {*_OWN, *_COVERAGE, *names}
    systems = any(grade.item.system for grade in all_grades)
    for grade in all_grades:
        row: Row = {"item_id": grade.item.id}
        row |= {key: _short_note(grade.item, key) or None for key in notes if key not in reserved}
        row |= {"system": grade.item.system} if systems else {}
        row |= {"score": _round_grade(grade.score), "points": _round_grade(grade.points)}
        row |= (
            {"of": grade.counted.max_points} | _coverage_of(grade) | {"from": grade.origin or None}
        )
        row |= {name: grade.answers.get(name) for name in names}
        text = " ".join(grade.item.text.split())
        yield row | {"remark": grade.remark or None, "text": text[:LONGEST_TEXT] or None}


_OWN = ("item_id", "system", "score", "points", "of", "from", "remark", "text")
_COVERAGE = ("coverage", "assessed_points", "needs_a_person")


def _coverage_of(grade: Grade) -> Row:
    """Return what the grade covers, and whether a person must look."""
    assessed = grade.assessed
    shares = (None, None) if assessed is None else (assessed.coverage, assessed.points)
    return dict(zip(_COVERAGE, (*map(_round_grade, shares), grade.needs_a_person), strict=True))


def _round_grade(number: float | None) -> float | None:
    return None if number is None else round(number, 4)


def _short_note(item: Item, key: str) -> str | int | float | None:
    """Return a note of an item that fits into a cell: a short text or a number."""
    value = item.meta.get(key)
    if key == TEXT_AVAILABLE or isinstance(value, bool):
        return None
    if isinstance(value, str):
        return value if len(value) <= LONGEST_NOTE else None
    return value if isinstance(value, int | float) else None


def share(rubric: Rubric, score: float, scaling: Scaling) -> float:
    """Return a score as a share of the possible points; as a range, relative to the worst answers.

    >>> from core.domain.rubric import Criterion, Option
    >>> low, high = Option(label="a", value=0.5), Option(label="b", value=1)
    >>> asked = Criterion(name="x", requirement="y", scale="ordinal", options=(low, high))
    >>> [share(Rubric(criteria=(asked,)), 0.75, how) for how in ("ratio", "range")]
    [0.75, 0.5]
    """
    best = 1.0 if rubric.scoring.normalize else rubric.max_points
    if not best:
        return 0.0
    part = score / best
    if scaling == "range":
        low, high = _range_of_shares(rubric)
        part = (part - low) / (high - low) if high > low else part
    return max(0.0, part)


def _range_of_shares(rubric: Rubric) -> tuple[float, float]:
    """Return the shares of the worst and the best answers to everything."""
    low = high = 0.0
    for criterion in rubric.criteria:
        points = [v * criterion.weight for v in criterion.values if v is not None]
        low, high = low + min(points), high + max(points)
    most = rubric.max_points
    return (max(0.0, low / most), min(1.0, high / most)) if most > 0 else (0.0, 1.0)
