"""Export a run in every format; Canvas and the common layout are written here."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

from core.blocks.html import html_paper
from core.blocks.markdown import markdown_paper
from core.domain.rubric import MET, UNMET, Criterion
from core.formats.datasets.dataset_file import dump_dataset
from core.formats.office.workbook_writer import workbook
from core.formats.source.csv_writer import Value, csv_bytes, csv_text
from core.metrics.estimate import USUAL, Confidence
from core.scoring.explanation import ungraded_words
from core.services.access.allowing import require
from core.services.access.blindness import require_open
from core.services.agreement.load_ratings import sheet_of_run
from core.services.agreement.rating_sheet import rater_table
from core.services.exports import common_layout, contest_export, direct_assessment
from core.services.exports.autorubric import experiment_files
from core.services.exports.call_rows import CALL, FAILURE, call_rows, failure_rows
from core.services.exports.grade_sheet import grade_rows, grades, grades_by_labels
from core.services.exports.judgement_rows import (
    Graded,
    item_rows,
    judgements,
    load_graded,
    reviews,
    verdict_rows,
)
from core.services.rating_models import severity
from core.services.reports.paper import report_as_paper
from core.services.reports.run_report import RunReport, report_run
from core.services.results.scored_items import (
    resolved_items,
    rubric_in_force,
    scored_rubric,
    with_settled_labels,
)
from core.store.store import Store
from core.text.names import fold

# Judgements on a run's cells as rows, at any time, even during a run.

Row = dict[str, Any]
#: The sheet with every item of the dataset: those that judges learned from, too.
GRADES = "Grades, whole dataset"


def long_rows(store: Store, run_id: int) -> Iterator[Row]:
    """Yield one row per judgement: votes, failures, and people's verdicts."""
    return reviews(load_graded(store, run_id))


def wide_rows(store: Store, run_id: int) -> Iterator[Row]:
    """Yield one row per item: score, coverage, outcome, and each criterion's verdict, rule, source.

    All rows have the same columns; columns of criteria that an item lacks are empty.
    """
    run = store.runs.get(run_id)
    rubric = scored_rubric(store, run)
    items = resolved_items(store, run.dataset_version_id, store.runs.item_ids(run_id), upto=0)
    rubrics = {item.id: rubric_in_force(item, rubric) for item in items}
    names = list(
        dict.fromkeys(c.name for item_rubric in rubrics.values() for c in item_rubric.criteria)
    )
    settled = {(s.item_id, s.criterion): s for s in store.settled.of_run(run_id)}
    columns = [f"{name} {part}" for name in names for part in ("verdict", "rule", "provenance")]
    for item in items:
        row = store.results.item(run_id, item.id)
        line: Row = {"item_id": item.id, "split": item.split or ""}
        line |= {"score": row.score, "coverage": row.coverage, "outcome": row.outcome or ""}
        line |= {"needs_a_person": row.review, **dict.fromkeys(columns, "")}
        for cell in store.results.cells(run_id, item.id):
            criterion = rubrics[item.id].criterion(cell.criterion)
            option = None if cell.option is None else criterion.choices[cell.option].label
            decided = settled.get((item.id, cell.criterion))
            line[f"{cell.criterion} verdict"] = option or "CANNOT_ASSESS"
            line[f"{cell.criterion} rule"] = cell.rule
            if decided is not None:
                line[f"{cell.criterion} provenance"] = f"{decided.provenance} ({decided.state})"
        yield line


def event_rows(store: Store, run_id: int) -> Iterator[Row]:
    """Yield the events of a run."""
    require_open(store, run_id)
    return map(asdict, store.events.of_run(run_id))


def labelled_dataset(store: Store, version_id: int) -> str:
    """Return a dataset version as JSON lines, with settled labels replacing its own."""
    dataset = store.datasets.load(version_id)
    truth = store.settled.truth(version_id)
    items = tuple(with_settled_labels(item, truth.get(item.id, {})) for item in dataset.items)
    return dump_dataset(dataset.model_copy(update={"items": items}))


def fair_scores(store: Store, run_id: int, level: float = USUAL.level) -> Iterator[Row]:
    """Yield the score that an average rater would give each item of a run, by all of its raters."""
    sheet = sheet_of_run(store, run_id)
    return severity.fair_rows(rater_table(sheet, sheet.everybody), level)


def as_jsonl(rows: Iterable[Row]) -> str:
    """Return rows as JSON lines, unchanged."""
    return "".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows)


def as_csv(rows: Iterable[Row], columns: Sequence[str] = ()) -> str:
    r"""Return rows as CSV, with these columns or the first row's columns.

    Texts that a spreadsheet would run as formulas get an apostrophe in front; JSON lines do not.

    >>> as_csv([{"a": "=1+1", "b": -1}])
    "a,b\n'=1+1,-1\n"
    """
    listed = list(rows)
    columns_written = tuple(columns or (listed[0] if listed else ()))
    return csv_text(columns_written, ([row[name] for name in columns_written] for row in listed))


def csv_file(rows: Iterable[Row]) -> bytes:
    """Return rows as a CSV file for spreadsheets."""
    return csv_bytes(as_csv(rows))


#: The names of a Canvas rubric's ratings for a yes/no question.
_BINARY = {fold(MET): "Met", fold(UNMET): "Not met"}


def canvas_csv(data: Graded) -> tuple[str, tuple[str, ...]]:
    """Return the file, and the facts that Canvas cannot store.

    It contains verdicts from judges and people. Points are the option's value times the weight. An
    abstention or a missing verdict leaves its cells empty, which Canvas does not change. All cells
    of an item without a grade are also empty, since Canvas would add up its few points. Comments
    are people's notes on settled cells; judges' reasons were not approved for students.
    """
    criteria = [c for c in data.rubric.criteria if c.weight > 0]
    notes = {(cell.item_id, cell.criterion): cell.note for cell in data.settled}
    columns_written = ["Student Id"]
    for criterion in criteria:
        columns_written += [
            f"{criterion.name} - {part}" for part in ("Rating", "Points", "Comments")
        ]
    rows = list[list[Value]]()
    for item, result in zip(data.items, data.rows, strict=True):
        row: list[Value] = [item.id]
        if item.rubric is None:
            for criterion in criteria if result.score is not None else ():
                row += _cells(data, item.id, criterion, notes.get((item.id, criterion.name), ""))
            rows.append(row + [None] * (len(columns_written) - len(row)))
    return csv_text(columns_written, rows), _canvas_losses(data, len(rows))


def _cells(data: Graded, item_id: str, criterion: Criterion, note: str) -> list[Value]:
    cell = data.cells.get((item_id, criterion.name))
    if cell is None or cell.option is None or cell.value is None:
        return [None, None, note or None]
    label = criterion.choices[cell.option].label
    rating = _BINARY.get(fold(label), label) if criterion.scale == "binary" else label
    return [rating, round(cell.value * criterion.weight, 2), note or None]


def _canvas_losses(data: Graded, students: int) -> tuple[str, ...]:
    losses = [
        "Student Id holds the items' ids: they must be those of Canvas.",
        "Judges' reasons are not written as comments for students; notes of people are.",
    ]
    negative = [c.name for c in data.rubric.criteria if c.weight <= 0]
    if negative:
        losses.append(f"Canvas knows no deductions; left out: {', '.join(negative)}.")
    if data.rubric.gates or data.rubric.prechecks or data.rubric.scoring.length_penalty:
        losses.append(
            "Canvas adds the points up: gates, pre-checks and length penalties do not reach it."
        )
    empty = sum(
        (cell := data.cells.get((item.id, c.name))) is None or cell.option is None or cell.abstained
        for item in data.items
        if item.rubric is None
        for c in data.rubric.criteria
        if c.weight > 0
    )
    if text := ungraded_words(sum(row.ungraded for row in data.rows)):
        losses.append(f"{text}. Their cells are empty.")
    if empty:
        losses.append(f"Left empty, without a verdict other than abstention: {empty:,} cells.")
    if students < len(data.items):
        with_own_rubrics = len(data.items) - students
        losses.append(
            f"Left out, because they have rubrics of their own: {with_own_rubrics:,} items."
        )
    return tuple(losses)


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
#: Formats that name reviewers with their verdicts, if any.
NAMING = frozenset[Format](
    {"csv", "jsonl", "folder", "autorubric", "reviews", "events", "everything"}
)


@dataclass(frozen=True)
class Exported:
    """The exported texts by file name; one file if ``single``. ``losses`` are the facts that the
    format cannot store.

    ``binary`` has files that are not text. Tables that are not ``for_programs`` begin with a byte
    order mark, for spreadsheets.
    """

    files: dict[str, str]
    single: bool
    losses: tuple[str, ...] = ()
    for_programs: bool = False
    binary: dict[str, bytes] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """Return the text of the only file."""
        (text,) = self.files.values()
        return text

    def data(self, *, mark: bool = True) -> dict[str, bytes]:
        """Return the files; ``mark=False`` omits the byte order mark that Excel needs."""
        marked = mark and not self.for_programs
        return {
            name: csv_bytes(text, mark=marked and name.endswith(".csv"))
            for name, text in self.files.items()
        } | self.binary


def export(store: Store, run_id: int, form: Format, confidence: Confidence = USUAL) -> Exported:
    """Return the run in that format; ``confidence`` determines intervals, if the format has any.

    Raises:
        NotFound: unknown run.
        NotAllowed: the person reviews it blind, or may not export reviewers' names.
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
        return _report_file(
            report_run(store, run_id, confidence=confidence),
            "markdown" if form == "markdown" else "html",
        )
    if form in ("reviews", "events", "labelled"):
        return _export_review(store, run_id, form)
    if form == "contest":
        return _single_file("contest.json", contest_export.as_json(store, run_id).decode())
    if form == "fair":
        return _single_file("fair.csv", as_csv(fair_scores(store, run_id, confidence.level)))
    if form == "direct":
        return _single_file("direct.json", direct_assessment.as_json(store, run_id))
    source = load_graded(store, run_id)
    makers: dict[str, Callable[[Graded], Exported]] = {
        "csv": lambda g: _single_file("judgements.csv", as_csv(judgements(g), g.long)),
        "jsonl": lambda g: _single_file("judgements.jsonl", as_jsonl(judgements(g))),
        "xlsx": _workbook,
        "canvas": _canvas,
        "autorubric": lambda g: _export_folder(*experiment_files(g)),
        "folder": lambda g: _export_folder(*common_layout.files(g)),
        "everything": lambda g: Exported(
            _all_files(g, report_run(store, run_id, confidence=confidence)), False
        ),
    }
    return makers[form](source)


def zip_archive(exported: Exported, *, mark: bool = True) -> bytes:
    """Return the files in one archive, byte for byte the same for the same texts."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in exported.data(mark=mark).items():
            # ZipInfo has a fixed date, so the bytes do not depend on the clock.
            archive.writestr(zipfile.ZipInfo(name), content)
    return data.getvalue()


def grades_workbook(store: Store, run_id: int) -> bytes:
    """Return the workbook of grades."""
    (content,) = export(store, run_id, "xlsx").data().values()
    return content


def own_workbook(store: Store, dataset_version: int, rubric_version: int) -> bytes:
    """Return the workbook of the grades that people's labels give, without any run."""
    require(store, "read")
    rubric = store.rubrics.version(rubric_version).rubric
    rows = grade_rows(grades_by_labels(store, dataset_version, rubric))
    return workbook({GRADES: _rows_as_lists(rows)})[0]


def report_as_file(run_report: RunReport, form: Literal["html", "markdown"]) -> str:
    """Return a loaded report as a file's text."""
    return _report_file(run_report, form).text


def _report_file(run_report: RunReport, form: Literal["html", "markdown"]) -> Exported:
    if form == "markdown":
        return _single_file("report.md", markdown_paper(report_as_paper(run_report)))
    return _single_file("report.html", html_paper(report_as_paper(run_report)))


def _export_review(store: Store, run_id: int, form: str) -> Exported:
    """Return a review's verdicts, events or labelled dataset, at any time."""
    if form == "reviews":
        source = load_graded(store, run_id)
        return _single_file("reviews.csv", as_csv(reviews(source), source.long))
    if form == "events":
        rows = event_rows(store, run_id)
        return _single_file("events.jsonl", as_jsonl(rows))
    version = store.runs.get(run_id).dataset_version_id
    return _single_file("labelled.jsonl", labelled_dataset(store, version))


def _single_file(name: str, text: str) -> Exported:
    return Exported({name: text}, True, ())


def _export_folder(files: dict[str, str], losses: tuple[str, ...]) -> Exported:
    return Exported(files, False, losses, for_programs=True)


def _workbook(data: Graded) -> Exported:
    """Return sheets of grades to hand back, of scores as judged, and of verdicts."""
    rows = grade_rows(grades(data))
    sheets = {
        GRADES: rows,
        "Scores, texts of this run": item_rows(data),
        "Verdicts, a row a criterion": verdict_rows(data),
    }
    content, cut = workbook({title: _rows_as_lists(rows) for title, rows in sheets.items()})
    losses = (f"{cut:,} texts are cut to what a cell can hold.",) if cut else ()
    return Exported({}, True, losses, binary={"scores.xlsx": content})


def _rows_as_lists(rows: Iterable[Row]) -> list[list[Value]]:
    listed = list(rows)
    columns_written = list(listed[0]) if listed else ["item_id"]
    return [
        list(columns_written),
        *([_cell_value(row.get(head)) for head in columns_written] for row in listed),
    ]


def _cell_value(value: Any) -> Value:
    """Return a value as a cell can hold it."""
    return value if value is None or isinstance(value, str | int | float) else str(value)


def _canvas(data: Graded) -> Exported:
    text, losses = canvas_csv(data)
    return Exported({"canvas.csv": text}, True, losses, for_programs=True)


def _all_files(data: Graded, report: RunReport) -> dict[str, str]:
    files = {
        "items.csv": as_csv(item_rows(data)),
        "verdicts.csv": as_csv(verdict_rows(data)),
        "failures.csv": as_csv(failure_rows(data), FAILURE),
        "calls.csv": as_csv(call_rows(data), CALL),
    }
    files["votes.csv"] = as_csv(judgements(data), data.long)
    files["report.json"] = json.dumps(report.to_dict(), indent=2, ensure_ascii=False) + "\n"
    return files
