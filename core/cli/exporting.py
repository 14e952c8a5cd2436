"""The command that hands a run out: export."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from core.cli import output
from core.cli.common import db_option, open_to_read
from core.cli.grades import CHOICES, fill_roster, roster_options
from core.cli.writing import no_bom, write_files
from core.errors import InputError

if TYPE_CHECKING:
    from core.services.exporting import Exported

#: As ``core.services.exporting.FORMATS``, which is too heavy to import for ``--help``.
FORMATS = (
    *("csv", "jsonl", "autorubric", "canvas", "report", "html", "markdown", "folder"),
    *("reviews", "events", "labelled", "contest", "everything"),
)
#: Programs whose own lists of students are filled in.
LMS = ("canvas", "moodle")


#: The line with the backspace keeps click from filling the paragraph below it.
_HELP = """Write a run to a file or folder; calls nobody.

\b
csv, jsonl   one row per judgement, with reason, evidence and time
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

What a format cannot hold is said on stderr.
"""


@click.command(help=_HELP)
@click.argument("run", type=click.IntRange(1))
@click.option(
    "--format", "form", type=click.Choice((*FORMATS, "moodle")), required=True, help="See below."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, allow_dash=True),
    help="File or folder to write; - for stdout (default: the format's own name here).",
)
@no_bom
@click.option("--force", is_flag=True, help="Write over files that are there.")
@roster_options
@db_option
def export(
    run: int, form: Any, out: Path | None, mark: bool, force: bool, db: Path | None,
    roster: Path | None, dry: bool, **choices: Any,
) -> None:  # fmt: skip
    """Writes a run to a file or folder."""
    from core.services.exporting import export as exported

    with output.plain_errors():
        _check_roster(form, roster, dry, choices)
        if roster is not None:
            store = open_to_read(db)
            fill_roster(store, run, form, roster, choices, out=out, force=force, dry=dry)
            sys.exit(output.DONE)
        made = exported(open_to_read(db), run, form)
        for loss in made.losses:
            output.say(f"Note: {loss}")
        if form == "everything":
            _write_zip(made, _target(out, f"run-{run}.zip"), mark, force)
        elif not made.single:
            _write_folder(made, _target(out, f"run-{run}-{form}"), force)
        elif out == Path("-"):
            click.echo(made.text, nl=False)
        else:
            _write_file(made, out, run, mark, force)
        sys.exit(output.DONE)


def _check_roster(form: str, roster: Path | None, dry: bool, choices: dict[str, Any]) -> None:
    if roster is not None and form not in LMS:
        raise InputError(f"--roster goes with --format {' or '.join(LMS)}.")
    if roster is not None:
        return
    if form == "moodle":
        mend = "Download it in Moodle (grading worksheet, or gradebook) and name it with --roster."
        raise InputError(f"Moodle's grades go into its own file. {mend}")
    given = [name for name in CHOICES if choices[name] not in (None, False, "ratio")]
    if given or dry:
        raise InputError(f"--{given[0] if given else 'dry-run'} goes with --roster.")


def _target(out: Path | None, name: str) -> Path:
    if out == Path("-"):
        raise InputError("This format is several files. Name a file or folder with --out.")
    return out or Path(name)


def _write_file(made: Exported, out: Path | None, run: int, mark: bool, force: bool) -> None:
    ((name, data),) = made.data(mark=mark).items()
    target = out or Path(f"run-{run}-{name}")
    write_files({target / name if target.is_dir() else target: data}, force)


def _write_folder(made: Exported, folder: Path, force: bool) -> None:
    if folder.exists() and not folder.is_dir():
        raise InputError("is a file, and this format is a folder. Name another.", (), str(folder))
    write_files({folder / name: data for name, data in made.data().items()}, force)


def _write_zip(made: Exported, target: Path, mark: bool, force: bool) -> None:
    from core.services.exporting import zipped

    if target.is_dir():
        raise InputError("is a folder, and this format is a zip file.", (), str(target))
    write_files({target: zipped(made, mark=mark)}, force)
