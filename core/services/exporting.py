"""A run in every form that leaves the app. Nothing is asked, nothing is changed."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from core.files.csv_writer import csv_bytes, csv_text
from core.files.html_paper import html_paper
from core.files.markdown_paper import markdown_paper
from core.services import contest_export, review_export
from core.services.exporting_canvas import canvas_csv
from core.services.exporting_folder import folder_files
from core.services.exporting_peer import experiment_files
from core.services.exporting_reviews import Row
from core.services.exporting_rows import (
    CALL,
    FAILURE,
    LONG,
    Graded,
    call_rows,
    failure_rows,
    graded,
    item_rows,
    judgements,
    verdict_rows,
)
from core.services.reporting import Report, report
from core.services.reporting_paper import paper
from core.store.store import Store

Format = Literal[
    "csv",
    "jsonl",
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
    "everything",
]
FORMATS: tuple[Format, ...] = get_args(Format)


@dataclass(frozen=True)
class Exported:
    """Texts by file name, of one file where ``single``. ``losses``: what the form cannot hold.

    Tables that are not ``for_programs`` begin with a mark in their files, for spreadsheets.
    """

    files: dict[str, str]
    single: bool
    losses: tuple[str, ...] = ()
    for_programs: bool = False

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
        }


def export(store: Store, run_id: int, form: Format) -> Exported:
    """The run in that form. Raises ``NotFound`` for an unknown run."""
    if form in ("report", "html", "markdown"):
        return _written(report(store, run_id), "markdown" if form == "markdown" else "html")
    if form in ("reviews", "events", "labelled"):
        return _reviewed(store, run_id, form)
    if form == "contest":
        return _single("contest.json", contest_export.as_json(store, run_id).decode())
    found = graded(store, run_id)
    makers: dict[str, Callable[[Graded], Exported]] = {
        "csv": lambda g: _single("judgements.csv", csv_text(LONG, _values(LONG, judgements(g)))),
        "jsonl": lambda g: _single("judgements.jsonl", _jsonl(judgements(g))),
        "canvas": _canvas,
        "autorubric": lambda g: _folder(*experiment_files(g)),
        "folder": lambda g: _folder(*folder_files(g)),
        "everything": lambda g: Exported(_everything(g, report(store, run_id)), False),
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


def written(found: Report, form: Literal["html", "markdown"]) -> str:
    """A report that is at hand, as a file's text."""
    return _written(found, form).text


def _written(found: Report, form: Literal["html", "markdown"]) -> Exported:
    if form == "markdown":
        return _single("report.md", markdown_paper(paper(found)))
    return _single("report.html", html_paper(paper(found)))


def _reviewed(store: Store, run_id: int, form: str) -> Exported:
    """What people said, while they are still at it: verdicts, the record, the dataset."""
    if form == "reviews":
        rows = review_export.long_rows(store, run_id)
        return _single("reviews.csv", review_export.as_csv(rows, review_export.LONG))
    if form == "events":
        rows = review_export.event_rows(store, run_id)
        return _single("events.jsonl", review_export.as_jsonl(rows))
    version = store.runs.get(run_id).dataset_version_id
    return _single("labelled.jsonl", review_export.labelled_dataset(store, version))


def _single(name: str, text: str, losses: tuple[str, ...] = ()) -> Exported:
    return Exported({name: text}, True, losses)


def _folder(files: dict[str, str], losses: tuple[str, ...]) -> Exported:
    return Exported(files, False, losses, for_programs=True)


def _canvas(found: Graded) -> Exported:
    text, losses = canvas_csv(found)
    return Exported({"canvas.csv": text}, True, losses, for_programs=True)


def _everything(found: Graded, about: Report) -> dict[str, str]:
    files = {
        "items.csv": _table((), item_rows(found)),
        "verdicts.csv": _table((), verdict_rows(found)),
        "failures.csv": _table(FAILURE, failure_rows(found)),
        "calls.csv": _table(CALL, call_rows(found)),
    }
    files["votes.csv"] = csv_text(LONG, _values(LONG, judgements(found)))
    files["report.json"] = json.dumps(about.to_dict(), indent=2, ensure_ascii=False) + "\n"
    return files


def _table(heads: Sequence[str], rows: Iterable[Row]) -> str:
    """The rows; without ``heads`` those of the first row, which must be there."""
    kept = list(rows)
    heads = heads or tuple(kept[0])
    return csv_text(heads, _values(heads, kept))


def _values(
    heads: Sequence[str], rows: Iterable[Row]
) -> Iterable[Sequence[str | int | float | bool | None]]:
    return ([row[name] for name in heads] for row in rows)


def _jsonl(rows: Iterable[Row]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows)
