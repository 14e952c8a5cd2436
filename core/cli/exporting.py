"""The command that hands a run out: export."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from core.cli import output
from core.cli.common import db_option, open_db
from core.errors import InputError

if TYPE_CHECKING:
    from core.services.exporting import Exported

#: As ``core.services.exporting.FORMATS``, which is too heavy to import for ``--help``.
FORMATS = (
    *("csv", "jsonl", "autorubric", "canvas", "report", "html", "markdown", "folder"),
    *("reviews", "events", "labelled", "everything"),
)


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

What a format cannot hold is said on stderr.
"""


@click.command(help=_HELP)
@click.argument("run", type=click.IntRange(1))
@click.option("--format", "form", type=click.Choice(FORMATS), required=True, help="See below.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, allow_dash=True),
    help="File or folder to write; - for stdout (default: the format's own name here).",
)
@click.option("--force", is_flag=True, help="Write over files that are there.")
@db_option
def export(run: int, form: str, out: Path | None, force: bool, db: Path | None) -> None:
    """Writes a run to a file or folder."""
    from core.services.exporting import export as exported

    with output.plain_errors():
        made = exported(open_db(db), run, form)  # type: ignore[arg-type]
        for loss in made.losses:
            output.say(f"Note: {loss}")
        if form == "everything":
            _write_zip(made, _target(out, f"run-{run}.zip"), force)
        elif not made.single:
            _write_folder(made, _target(out, f"run-{run}-{form}"), force)
        elif out == Path("-"):
            click.echo(made.text, nl=False)
        else:
            _write_file(made, out, run, force)
        sys.exit(output.DONE)


def _target(out: Path | None, name: str) -> Path:
    if out == Path("-"):
        raise InputError("This format is several files. Name a file or folder with --out.")
    return out or Path(name)


def _write_file(made: Exported, out: Path | None, run: int, force: bool) -> None:
    ((name, text),) = made.files.items()
    target = out or Path(f"run-{run}-{name}")
    _write({target / name if target.is_dir() else target: text.encode("utf-8", "replace")}, force)


def _write_folder(made: Exported, folder: Path, force: bool) -> None:
    if folder.exists() and not folder.is_dir():
        raise InputError("is a file, and this format is a folder. Name another.", (), str(folder))
    files = {folder / name: text.encode("utf-8", "replace") for name, text in made.files.items()}
    _write(files, force)


def _write_zip(made: Exported, target: Path, force: bool) -> None:
    from core.services.exporting import zipped

    if target.is_dir():
        raise InputError("is a folder, and this format is a zip file.", (), str(target))
    _write({target: zipped(made)}, force)


def _write(files: dict[Path, bytes], force: bool) -> None:
    there = [path for path in files if path.exists()]
    if there and not force:
        raise InputError("is there already. Name another, or use --force.", (), str(there[0]))
    for path, data in files.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        except OSError as error:
            said = error.strerror or str(error)
            raise InputError(f"cannot be written: {said}.", (), str(path)) from None
        output.say(f"Written: {path}")
