"""Commands that import data and export runs: import, export."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from core.cli import common
from core.cli.common import (
    FiniteRange,
    db_option,
    interval_option,
    json_option,
    level_option,
    no_bom,
    open_db,
    open_to_read,
    settings_for,
    write_files,
)
from core.errors import InputError

if TYPE_CHECKING:
    from core.metrics.estimate import IntervalChoice
    from core.services.exports.grade_lists import Filled
    from core.services.exports.run_export import Exported
    from core.store.store import Store


#: The fields of ``GradeChoices`` that options below set.
CHOICES = ("match", "by", "grade", "maximum", "scaling", "overwrite", "sheet")
_OPTIONS = (
    click.option(
        "--roster",
        type=click.Path(path_type=Path, dir_okay=False),
        help="The list of students as Canvas or Moodle exported it; only grades change in it.",
    ),
    click.option("--match", metavar="COLUMN", help="The column that says who."),
    click.option("--by", metavar="KEY", help="What of an item that is: id, or a key of its meta."),
    click.option("--grade", metavar="COLUMN", help="The column that takes the grade."),
    click.option("--maximum", type=FiniteRange(min=0, min_open=True), help="A full score."),
    click.option(
        "--scaling",
        type=click.Choice(["ratio", "range"]),
        default="ratio",
        show_default=True,
        help="Score of the most, or counted from the worst answers.",
    ),
    click.option("--overwrite", is_flag=True, help="Change grades that are there, too."),
    common.sheet_option,
    click.option("--dry-run", "dry", is_flag=True, help="Show what would change; write nothing."),
)


def roster_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that depend on --roster."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def fill_roster(
    store: Store,
    run: int,
    form: Literal["canvas", "moodle"],
    roster: Path,
    choices: dict[str, Any],
    *,
    out: Path | None,
    force: bool,
    dry: bool,
) -> None:
    """Show the changes in the list of students, and write it unless ``dry``."""
    from core.formats.folder import read_bytes
    from core.formats.source.parsed import MAX_DATASET_BYTES
    from core.services.exports.grade_lists import GradeChoices, fill

    data = read_bytes(roster, MAX_DATASET_BYTES)
    filled = fill(store, run, data, roster.name, GradeChoices(**choices))
    other_form = {"canvas": "moodle", "moodle": "canvas"}[form]
    if filled.roster.kind.startswith(other_form):
        advice = f"Use --format {other_form}."
        raise InputError(f"This is a file of {other_form.title()}. {advice}", (), str(roster))
    _print_filled_list(filled)
    if dry:
        common.print_message("Nothing is written (--dry-run).")
    elif out == Path("-"):
        common.print_file(filled.data)
    else:
        target = out or Path(filled.name)
        write_files({target / filled.name if target.is_dir() else target: filled.data}, force)


def _print_filled_list(filled: Filled) -> None:
    rows = [
        [str(c.line), c.student[:40], c.column[:40], c.old[:20] or "(empty)",
         "kept" if c.kept else c.new[:60].replace("\n", " "), c.origin]
        for c in filled.changes
    ]  # fmt: skip
    if rows:
        common.print_message(
            common.table(rows, ["line", "student", "column", "before", "after", "from"])
        )
    choices = filled.choices
    common.print_message(
        f"{filled.written} cells change; {filled.matched} of {filled.students} students are known "
        f"by {choices.match} = {choices.by} of the items."
    )
    for problem in filled.problems:
        common.print_message(f"Note: {problem}")
    if filled.effect:
        common.print_message(f"Note: {filled.effect}")


#: Copy of ``core.services.exports.run_export.FORMATS``, whose import is too slow for ``--help``.
FORMATS = (
    *("csv", "jsonl", "xlsx", "autorubric", "canvas", "report", "html", "markdown", "folder"),
    *("reviews", "events", "labelled", "contest", "direct", "fair", "everything"),
)
#: Programs whose lists of students can be completed.
LMS = ("canvas", "moodle")


#: The line with the backspace stops click from rewrapping the paragraph below it.
_HELP = """Write a run to a file or folder.

\b
csv, jsonl   one row per judgement, with reason, evidence and time
xlsx         a workbook: grades of every item and their graders, scores, verdicts
report       the report as HTML that opens without network (also: html)
markdown     the report as Markdown
everything   a zip of items, verdicts, votes, failures and calls as CSV, and report.json
folder       the common layout: rubric.yaml, items.jsonl, votes.csv
autorubric   its experiment folder: manifest.json, items.jsonl
canvas       rubric assessments as Canvas imports them
reviews      one row per vote and per person's verdict, first and final (CSV)
events       the record of reviewing, event by event (JSON lines)
labelled     the dataset with the labels that people settled (JSON lines)
contest      of a contest: leaderboards, and every contest with unitxt's fields (JSON)
direct       every judge's answers with the fields of unitxt's direct judge (JSON)
fair         what an average rater would give every item, severities apart (CSV)

What a format cannot hold is said on stderr. With --into FILE the results go into a copy of the
file that the items or votes came from: a log of Inspect, JSON of promptfoo, Label Studio or
Argilla, a CSV, .xlsx, JSON or JSON lines; nothing else of it changes.
"""


@click.command(help=_HELP)
@click.argument("run", type=click.IntRange(1))
@click.option("--format", "form", type=click.Choice((*FORMATS, "moodle")), help="See below.")
@click.option(
    "--into",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write results into a copy of this file, from which the items or votes came.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, allow_dash=True),
    help="File or folder to write; - for stdout (default: the format's own name here).",
)
@no_bom
@click.option("--force", is_flag=True, help="Write over files that are there.")
@level_option
@interval_option
@roster_options
@db_option
def export(
    run: int, form: Any, into: Path | None, out: Path | None, mark: bool, force: bool,
    db: Path | None, level: float, method: IntervalChoice, roster: Path | None, dry: bool,
    **choices: Any,
) -> None:  # fmt: skip
    """Write a run to a file or folder."""
    from core.metrics.estimate import Confidence
    from core.services.exports.run_export import export as exported

    with common.plain_errors():
        if (form is None) == (into is None):
            raise InputError("Say what to write: --format FORMAT, or --into FILE.")
        if into is not None:
            write_into_copy(open_to_read(db), run, into, out, force)
            sys.exit(common.DONE)
        _check_roster(form, roster, dry, choices)
        if roster is not None:
            store = open_to_read(db)
            fill_roster(store, run, form, roster, choices, out=out, force=force, dry=dry)
            sys.exit(common.DONE)
        exported_run = exported(open_to_read(db), run, form, Confidence(level, method))
        for loss in exported_run.losses:
            common.print_message(f"Note: {loss}")
        if form == "everything":
            _write_zip(exported_run, _target_path(out, f"run-{run}.zip"), mark, force)
        elif not exported_run.single:
            _write_folder(exported_run, _target_path(out, f"run-{run}-{form}"), force)
        elif out == Path("-"):
            common.print_file(*(exported_run.binary.values() or [exported_run.text]))
        else:
            _write_file(exported_run, out, run, mark, force)
        sys.exit(common.DONE)


def write_into_copy(store: Store, run: int, source: Path, out: Path | None, force: bool) -> None:
    """Write the results of a run into a copy of the file that it came from."""
    from core.formats.folder import read_bytes
    from core.formats.source.parsed import MAX_DATASET_BYTES
    from core.services.exports.written_back import written_back

    written = written_back(store, run, read_bytes(source, MAX_DATASET_BYTES), source.name)
    common.print_message(f"{written.written:,} of {written.records:,} records got their results.")
    if out == Path("-"):
        common.print_file(written.data)
    else:
        target = out or Path(f"{source.stem}-run-{run}{source.suffix}")
        write_files({target / source.name if target.is_dir() else target: written.data}, force)


def _check_roster(form: str, roster: Path | None, dry: bool, choices: dict[str, Any]) -> None:
    if roster is not None and form not in LMS:
        raise InputError(f"--roster goes with --format {' or '.join(LMS)}.")
    if roster is not None:
        return
    if form == "moodle":
        advice = (
            "Download it in Moodle (grading worksheet, or gradebook) and name it with --roster."
        )
        raise InputError(f"Moodle's grades go into its own file. {advice}")
    used = [name for name in CHOICES if choices[name] not in (None, False, "ratio")]
    if used or dry:
        raise InputError(f"--{used[0] if used else 'dry-run'} goes with --roster.")


def _target_path(out: Path | None, name: str) -> Path:
    if out == Path("-"):
        raise InputError("This format is several files. Name a file or folder with --out.")
    return out or Path(name)


def _write_file(exported: Exported, out: Path | None, run: int, mark: bool, force: bool) -> None:
    ((name, data),) = exported.data(mark=mark).items()
    target = out or Path(f"run-{run}-{name}")
    write_files({target / name if target.is_dir() else target: data}, force)


def _write_folder(exported: Exported, folder: Path, force: bool) -> None:
    if folder.exists() and not folder.is_dir():
        raise InputError("is a file, and this format is a folder. Name another.", (), str(folder))
    write_files({folder / name: data for name, data in exported.data().items()}, force)


def _write_zip(exported: Exported, target: Path, mark: bool, force: bool) -> None:
    from core.services.exports.run_export import zip_archive

    if target.is_dir():
        raise InputError("is a folder, and this format is a zip file.", (), str(target))
    write_files({target: zip_archive(exported, mark=mark)}, force)


IMPORT_SHAPES = (
    *("auto", "folder", "long", "wide", "criteria", "pairs", "autorubric", "gradescope"),
    *("rubric", "dataset"),
    *("inspect", "promptfoo", "deepeval", "ragas", "openai_evals", "mt_bench", "langfuse"),
    *("langsmith", "phoenix", "label_studio", "argilla", "openreview", "prodigy", "paperbench"),
    *("lm_eval", "arena", "open_webui"),
)
_path = click.Path(path_type=Path)


@click.command(name="import")
@click.argument(
    "files",
    metavar="FILE...",
    type=click.Path(path_type=Path, allow_dash=True),
    nargs=-1,
    required=True,
)
@click.option("--rubric", type=_path, help="What was asked (default: in FILE, or derived).")
@click.option("--dataset", type=_path, help="What was judged (default: in FILE, or ids only).")
@click.option(
    "--format", "shape", type=click.Choice(IMPORT_SHAPES), default="auto", show_default=True,
    help="The shape of FILE.",
)  # fmt: skip
@click.option(
    "--map",
    "changes",
    multiple=True,
    metavar="FIELD=COLUMN",
    help="Says which column is what, e.g. item=doc_id, raters=ann,bob, criteria=depth,tone; "
    "of a dataset submission=messages[-1].content, labels=depth,tone.",
)
@click.option(
    "--bins",
    multiple=True,
    metavar="[NAME=]STEPS",
    help="Cuts numeric scores of other tools into steps: a count, or edges as in tone=0,0.5,1.",
)
@click.option(
    "--map-label",
    "words",
    multiple=True,
    metavar="[CRITERION:]THEIRS=OURS",
    help="Says which option of --rubric a word for an answer or a label is, e.g. tone:kind=MET.",
)
@common.sheet_option
@click.option("--dry-run", "dry", is_flag=True, help="Say what would be imported; keep nothing.")
@click.option("--back", type=_path, help="Write the run's results into a copy of FILE, this one.")
@click.option("--force", is_flag=True, help="Let --back write over a file that is there.")
@db_option
@json_option
def import_(
    files: tuple[Path, ...], shape: str, db: Path | None, as_json: bool, back: Path | None,
    force: bool, **options: Any,
) -> None:  # fmt: skip
    """Import votes, rubrics, datasets or submissions.

    FILE is a table of votes (one row per judgement, or one column per rater or criterion, or pairs
    of answers), a folder or zip archive in the common layout, an autorubric experiment,
    Gradescope's evaluations (a table, or the archive of an assignment), results of another tool
    (docs/formats.md lists them), a rubric in any form that `convert` reads, a folder or archive of
    submissions (texts, programs, .docx, .odt, PDF), or - for standard input. Tables may be CSV,
    JSONL, .xlsx, .ods, Parquet or Arrow. Importing the same votes again gives the same run. With
    several FILEs, --json gives a list.
    """
    with common.plain_errors(as_json):
        if back is not None and (len(files) > 1 or options["dry"] or files[0] == Path("-")):
            raise InputError("--back takes one FILE, imported, not --dry-run.")
        kind: Any = None if shape == "auto" else shape
        opened = open_to_read if options["dry"] else open_db
        place = {"db": str(settings_for(db).db)}
        reports = [_import_file(opened(db), file, kind, as_json, options) | place for file in files]
        if back is not None and reports[0]["run"] is None:
            raise InputError("The file has no votes, so there are no results to write back.")
        if back is not None:
            write_into_copy(open_to_read(db), reports[0]["run"], files[0], back, force)
        if as_json:
            common.print_json(reports[0] if len(reports) == 1 else reports)


def _import_file(
    store: Store, file: Path, kind: Any, as_json: bool, options: dict[str, Any]
) -> dict[str, Any]:
    from core.services.imports import import_files, said

    data = None
    if file == Path("-"):
        # Without a file name, the format is recognised by the content.
        file, data = Path("standard input"), common.read_stdin()
    report = import_files.import_path(store, file, kind=kind, data=data, **options)
    for notice in report["notices"]:
        place = f"{notice['place']}: " if notice["place"] else ""
        common.print_message(f"note: {place}{notice['message']} {notice['mend']}".rstrip())
    if not as_json:
        common.print_text(said.as_text(report))
    return report
