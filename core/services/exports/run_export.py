"""A run in every form that leaves the app; Canvas and the common layout are written here."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

from core.blocks.html import html_paper
from core.blocks.markdown import markdown_paper
from core.domain.review_records import EventRow
from core.domain.rubric import MET, UNMET, Criterion
from core.formats.datasets.dataset_file import dump_dataset
from core.formats.office.workbook_writer import workbook
from core.formats.source.csv_writer import Value, csv_bytes, csv_text
from core.metrics.estimate import USUAL, Confidence
from core.scoring.explanation import ungraded_words
from core.services.access.allowing import require
from core.services.access.blindness import require_open
from core.services.agreement.load_ratings import sheet_of
from core.services.agreement.rating_sheet import rater_table
from core.services.exports import common_layout, contest_export, direct_assessment
from core.services.exports.autorubric import experiment_files
from core.services.exports.call_rows import CALL, FAILURE, call_rows, failure_rows
from core.services.exports.grade_sheet import grade_rows
from core.services.exports.judgement_rows import (
    Graded,
    graded,
    item_rows,
    judgements,
    reviews,
    verdict_rows,
)
from core.services.rating_models import severity
from core.services.reports.paper import paper
from core.services.reports.run_report import RunReport, report
from core.services.results.scored_items import effective, resolved_items, scored_rubric, with_truth
from core.store.store import Store
from core.text.names import fold

# What was said about a run's cells, by whomever, as rows: any time, half-way too.

Row = dict[str, Any]


def long_rows(store: Store, run_id: int) -> Iterator[Row]:
    """One row per judgement: every vote and failure of the run, every verdict of a person."""
    return reviews(graded(store, run_id))


def wide_rows(store: Store, run_id: int) -> Iterator[Row]:
    """One row per item: score, coverage and outcome, and each criterion's verdict, rule and source.

    All rows have the same columns; those of criteria that an item does not have are empty.
    """
    run = store.runs.get(run_id)
    rubric = scored_rubric(store, run)
    items = resolved_items(store, run.dataset_version_id, store.runs.item_ids(run_id), upto=0)
    rubrics = {item.id: effective(item, rubric) for item in items}
    names = list(dict.fromkeys(c.name for each in rubrics.values() for c in each.criteria))
    settled = {(s.item_id, s.criterion): s for s in store.settled.of_run(run_id)}
    columns = [f"{name} {what}" for name in names for what in ("verdict", "rule", "provenance")]
    for item in items:
        row = store.results.item(run_id, item.id)
        found: Row = {"item_id": item.id, "split": item.split or ""}
        found |= {"score": row.score, "coverage": row.coverage, "outcome": row.outcome or ""}
        found |= {"needs_a_person": row.review, **dict.fromkeys(columns, "")}
        for cell in store.results.cells(run_id, item.id):
            criterion = rubrics[item.id].criterion(cell.criterion)
            option = None if cell.option is None else criterion.choices[cell.option].label
            decided = settled.get((item.id, cell.criterion))
            found[f"{cell.criterion} verdict"] = option or "CANNOT_ASSESS"
            found[f"{cell.criterion} rule"] = cell.rule
            if decided is not None:
                found[f"{cell.criterion} provenance"] = f"{decided.provenance} ({decided.state})"
        yield found


def event_rows(store: Store, run_id: int, queue_id: int | None = None) -> Iterator[Row]:
    """The record of a run, or of one of its queues, event by event."""
    require_open(store, run_id)
    return map(asdict, store.events.of_run(run_id, queue_id))


def timeline(store: Store, run_id: int, item_id: str, criterion: str) -> list[EventRow]:
    """What happened to a cell, and to its item as a whole, in its order."""
    require_open(store, run_id)
    return store.events.of_cell(run_id, item_id, criterion)


def labelled_dataset(store: Store, version_id: int) -> str:
    """A dataset version as JSON lines, with the labels that people settled laid over its own."""
    whole = store.datasets.load(version_id)
    truth = store.settled.truth(version_id)
    items = tuple(with_truth(item, truth.get(item.id, {})) for item in whole.items)
    return dump_dataset(whole.model_copy(update={"items": items}))


def fair_scores(store: Store, run_id: int, level: float = USUAL.level) -> Iterator[Row]:
    """What an average rater would give every item of a run, by all of its raters."""
    sheet = sheet_of(store, run_id)
    return severity.fair_rows(rater_table(sheet, sheet.everybody), level)


def as_jsonl(rows: Iterable[Row]) -> str:
    """Rows as JSON lines; exactly what was said."""
    return "".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows)


def as_csv(rows: Iterable[Row], columns: Sequence[str] = ()) -> str:
    r"""Rows as CSV, with these columns or those of the first row.

    Texts that a spreadsheet would run as a formula get an apostrophe in front; JSON lines are
    exact.

    >>> as_csv([{"a": "=1+1", "b": -1}])
    "a,b\n'=1+1,-1\n"
    """
    kept = list(rows)
    heads = tuple(columns or (kept[0] if kept else ()))
    return csv_text(heads, ([row[name] for name in heads] for row in kept))


def csv_file(rows: Iterable[Row]) -> bytes:
    """Rows as a CSV file for spreadsheets."""
    return csv_bytes(as_csv(rows))


#: As a Canvas rubric names the ratings of a question with yes or no.
_BINARY = {fold(MET): "Met", fold(UNMET): "Not met"}


def canvas_csv(found: Graded) -> tuple[str, tuple[str, ...]]:
    """The file, and what Canvas cannot be told.

    Verdicts are written whoever settled them. Points are the option's value times the weight. An
    abstention or a missing verdict leaves its cells empty, which Canvas leaves as they are. So are
    all cells of an item without a grade, of which Canvas would add the few points up.
    Comments hold what people noted when they settled a cell; a judge's reasons are for whoever
    grades, and nobody has approved them for the student.
    """
    criteria = [c for c in found.rubric.criteria if c.weight > 0]
    notes = {(one.item_id, one.criterion): one.note for one in found.settled}
    heads = ["Student Id"]
    for criterion in criteria:
        heads += [f"{criterion.name} - {part}" for part in ("Rating", "Points", "Comments")]
    rows = list[list[Value]]()
    for item, result in zip(found.items, found.rows, strict=True):
        row: list[Value] = [item.id]
        if item.rubric is None:
            for criterion in criteria if result.score is not None else ():
                row += _cells(found, item.id, criterion, notes.get((item.id, criterion.name), ""))
            rows.append(row + [None] * (len(heads) - len(row)))
    return csv_text(heads, rows), _canvas_losses(found, len(rows))


def _cells(found: Graded, item_id: str, criterion: Criterion, note: str) -> list[Value]:
    cell = found.cells.get((item_id, criterion.name))
    if cell is None or cell.option is None or cell.value is None:
        return [None, None, note or None]
    label = criterion.choices[cell.option].label
    rating = _BINARY.get(fold(label), label) if criterion.scale == "binary" else label
    return [rating, round(cell.value * criterion.weight, 2), note or None]


def _canvas_losses(found: Graded, students: int) -> tuple[str, ...]:
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
    if words := ungraded_words(sum(row.ungraded for row in found.rows)):
        lost.append(f"{words}. Their cells are empty.")
    if empty:
        lost.append(f"Left empty, for want of a verdict that is no abstention: {empty:,} cells.")
    if students < len(found.items):
        own = len(found.items) - students
        lost.append(f"Left out, because they have rubrics of their own: {own:,} items.")
    return tuple(lost)


Format = Literal[
    "csv",
    "jsonl",
    "xlsx",
    "autorubric",
    "canvas",
    "report",
    "html",
    "markdown",
    "folder",
    "reviews",
    "events",
    "labelled",
    "contest",
    "direct",
    "fair",
    "everything",
]
FORMATS: tuple[Format, ...] = get_args(Format)
#: Those that name reviewers beside what they said, where there are any.
NAMING = frozenset[Format](
    {"csv", "jsonl", "folder", "autorubric", "reviews", "events", "everything"}
)


@dataclass(frozen=True)
class Exported:
    """Texts by file name, of one file where ``single``. ``losses``: what the form cannot hold.

    ``binary`` holds files that are no text. Tables that are not ``for_programs`` begin with a mark
    in their files, for spreadsheets.
    """

    files: dict[str, str]
    single: bool
    losses: tuple[str, ...] = ()
    for_programs: bool = False
    binary: dict[str, bytes] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The text of the only file."""
        (text,) = self.files.values()
        return text

    def data(self, *, mark: bool = True) -> dict[str, bytes]:
        """The files; ``mark=False`` leaves out the mark by which Excel knows UTF-8."""
        marked = mark and not self.for_programs
        return {
            name: csv_bytes(text, mark=marked and name.endswith(".csv"))
            for name, text in self.files.items()
        } | self.binary


def export(store: Store, run_id: int, form: Format, how: Confidence = USUAL) -> Exported:
    """The run in that form; ``how`` decides intervals, where the form has any.

    Raises:
        NotFound: there is no such run.
        NotAllowed: whoever acts is to review it blind, or may not take away what names reviewers.
    """
    store.runs.row(run_id)
    require_open(store, run_id)
    if (
        form in NAMING
        and not store.actor.may("organise")
        and next(iter(store.events.of_run(run_id)), None)
    ):
        require(store, "organise")
    if form in ("report", "html", "markdown"):
        return _written(
            report(store, run_id, how=how), "markdown" if form == "markdown" else "html"
        )
    if form in ("reviews", "events", "labelled"):
        return _reviewed(store, run_id, form)
    if form == "contest":
        return _single("contest.json", contest_export.as_json(store, run_id).decode())
    if form == "fair":
        return _single("fair.csv", as_csv(fair_scores(store, run_id, how.level)))
    if form == "direct":
        return _single("direct.json", direct_assessment.as_json(store, run_id))
    found = graded(store, run_id)
    makers: dict[str, Callable[[Graded], Exported]] = {
        "csv": lambda g: _single("judgements.csv", as_csv(judgements(g), g.long)),
        "jsonl": lambda g: _single("judgements.jsonl", as_jsonl(judgements(g))),
        "xlsx": _workbook,
        "canvas": _canvas,
        "autorubric": lambda g: _folder(*experiment_files(g)),
        "folder": lambda g: _folder(*common_layout.files(g)),
        "everything": lambda g: Exported(_everything(g, report(store, run_id, how=how)), False),
    }
    return makers[form](found)


def zipped(exported: Exported, *, mark: bool = True) -> bytes:
    """The files in one archive, the same bytes for the same texts."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in exported.data(mark=mark).items():
            # ZipInfo's own date, so that the clock does not show in the bytes.
            archive.writestr(zipfile.ZipInfo(name), content)
    return data.getvalue()


def grades_workbook(store: Store, run_id: int) -> bytes:
    """The workbook of grades."""
    (content,) = export(store, run_id, "xlsx").data().values()
    return content


def written(found: RunReport, form: Literal["html", "markdown"]) -> str:
    """A report that is at hand, as a file's text."""
    return _written(found, form).text


def _written(found: RunReport, form: Literal["html", "markdown"]) -> Exported:
    if form == "markdown":
        return _single("report.md", markdown_paper(paper(found)))
    return _single("report.html", html_paper(paper(found)))


def _reviewed(store: Store, run_id: int, form: str) -> Exported:
    """What people said, while they are still at it: verdicts, the record, the dataset."""
    if form == "reviews":
        found = graded(store, run_id)
        return _single("reviews.csv", as_csv(reviews(found), found.long))
    if form == "events":
        rows = event_rows(store, run_id)
        return _single("events.jsonl", as_jsonl(rows))
    version = store.runs.get(run_id).dataset_version_id
    return _single("labelled.jsonl", labelled_dataset(store, version))


def _single(name: str, text: str, losses: tuple[str, ...] = ()) -> Exported:
    return Exported({name: text}, True, losses)


def _folder(files: dict[str, str], losses: tuple[str, ...]) -> Exported:
    return Exported(files, False, losses, for_programs=True)


def _workbook(found: Graded) -> Exported:
    """A sheet of grades to hand back, one of scores as judged, and one of verdicts."""
    sheets = {"Grades": grade_rows, "Scores": item_rows, "Verdicts": verdict_rows}
    made, cut = workbook({title: _lines(rows(found)) for title, rows in sheets.items()})
    losses = (f"{cut:,} texts are cut to what a cell can hold.",) if cut else ()
    return Exported({}, True, losses, binary={"scores.xlsx": made})


def _lines(rows: Iterable[Row]) -> list[list[Value]]:
    kept = list(rows)
    heads = list(kept[0]) if kept else ["item_id"]
    return [list(heads), *([_shown(row.get(head)) for head in heads] for row in kept)]


def _shown(value: Any) -> Value:
    """A value as a cell can hold it."""
    return value if value is None or isinstance(value, str | int | float) else str(value)


def _canvas(found: Graded) -> Exported:
    text, losses = canvas_csv(found)
    return Exported({"canvas.csv": text}, True, losses, for_programs=True)


def _everything(found: Graded, about: RunReport) -> dict[str, str]:
    files = {
        "items.csv": as_csv(item_rows(found)),
        "verdicts.csv": as_csv(verdict_rows(found)),
        "failures.csv": as_csv(failure_rows(found), FAILURE),
        "calls.csv": as_csv(call_rows(found), CALL),
    }
    files["votes.csv"] = as_csv(judgements(found), found.long)
    files["report.json"] = json.dumps(about.to_dict(), indent=2, ensure_ascii=False) + "\n"
    return files
