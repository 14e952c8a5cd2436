"""Commands that turn rubrics into other forms: convert, schema."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from core.cli import output
from core.cli.common import db_option, open_to_read
from core.cli.writing import no_bom, write_files

if TYPE_CHECKING:
    from core.services.sharing import Shared

#: As ``core.services.sharing.SHARE_FORMS``.
FORMS = ("yaml", "json", "autorubric", "csv", "canvas", "moodle", "sheet")
_out = click.Path(path_type=Path, allow_dash=True)

_CONVERT = """Write a rubric in another form.

RUBRIC is a file in any of these forms (or of criteria of unitxt or EvalAssist), or the number of
a rubric in the data file.

\b
yaml, json   everything
autorubric   JSON with its keys
csv          one level a row, for a spreadsheet
canvas       as Canvas imports rubrics
moodle       as Moodle's plugin for importing rubrics reads it
sheet        one HTML page to print

What a form cannot hold is said on stderr.
"""


@click.command(help=_CONVERT)
@click.argument("rubric")
@click.option("--to", "form", type=click.Choice(FORMS), required=True, help="See below.")
@click.option("--out", type=_out, help="File to write, or a folder (default: stdout).")
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@no_bom
@click.option(
    "--points",
    "scaling",
    type=click.Choice(["ratio", "range"]),
    default="ratio",
    show_default=True,
    help="How points of RUBRIC become values: of the most, or counted from the least.",
)
@db_option
def convert(
    rubric: str, form: Any, out: Path | None, force: bool, scaling: Any, db: Path | None, mark: bool
) -> None:
    """Writes a rubric in another form."""
    from core.services import sharing

    with output.plain_errors():
        found = sharing.rubrics_at(open_to_read(db), rubric, scaling)
        files: dict[Path, Shared] = {}
        for read in found:
            made = sharing.share(read.value, form)
            for notice in read.notices:
                output.say(f"note: {notice}")
            for loss in made.losses:
                output.say(f"Note: {loss}")
            target = out or Path("-")
            path = target / made.file_name if _is_folder(target, len(found)) else target
            files[path] = made
        if len(files) < len(found):
            alike = len({one.value.name for one in found}) == 1
            mend = "give them names of their own" if alike else "name a folder with --out"
            output.say(f"rubric-studio: {rubric} holds {len(found)} rubrics; {mend}.")
            sys.exit(output.WRONG_INPUT)
        if Path("-") in files:
            click.echo(files[Path("-")].text, nl=False)
        else:
            write_files({path: made.data(mark=mark) for path, made in files.items()}, force)


def _is_folder(target: Path, rubrics: int) -> bool:
    """Whether files go below it; for several rubrics a name without an ending is a new folder."""
    new = rubrics > 1 and target != Path("-") and not target.suffix and not target.exists()
    return new or target.is_dir()


@click.command()
@click.option("--out", type=_out, help="File to write (default: stdout).")
@click.option("--force", is_flag=True, help="Write over a file that is there.")
def schema(out: Path | None, force: bool) -> None:
    """Print the JSON Schema of rubric files, for editors that complete and check."""
    from core.files.rubric_schema import schema_text

    with output.plain_errors():
        if out is None or out == Path("-"):
            click.echo(schema_text(), nl=False)
        else:
            write_files({out: schema_text().encode()}, force)
