"""The command that brings things in: import."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from core.cli import output
from core.cli.common import db_option, open_db, open_to_read, settings_with

if TYPE_CHECKING:
    from core.store.store import Store

IMPORT_SHAPES = ("auto", "folder", "long", "wide", "autorubric", "gradescope", "rubric", "dataset")
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
    help="Says which column is what, e.g. item=doc_id, raters=ann,bob, kind:ann=human; "
    "of a dataset submission=messages[-1].content.",
)
@click.option("--dry-run", "dry", is_flag=True, help="Say what would be imported; keep nothing.")
@db_option
@click.option("--json", "as_json", is_flag=True, help="Result as JSON on stdout.")
def import_(
    files: tuple[Path, ...], shape: str, db: Path | None, as_json: bool, **options: Any
) -> None:
    """Bring votes in from each FILE as a run; or a rubric, or a dataset.

    FILE is a table of votes (a judgement a row, or a rater a column), a folder or zip archive in
    the common layout, an autorubric experiment, Gradescope's evaluations (a table, or the archive
    of an assignment), a rubric in any form that `convert` knows, or - for standard input. The same
    votes again are the same run. With several FILEs, --json gives a list.
    """
    with output.plain_errors(as_json):
        kind: Any = None if shape == "auto" else shape
        opened = open_to_read if options["dry"] else open_db
        place = {"db": str(settings_with(db).db)}
        reports = [_one(opened(db), file, kind, as_json, options) | place for file in files]
        if as_json:
            output.result(reports[0] if len(reports) == 1 else reports)


def _one(
    store: Store, file: Path, kind: Any, as_json: bool, options: dict[str, Any]
) -> dict[str, Any]:
    from core.services import importing_files

    data = None
    if file == Path("-"):
        # Without a name, the content tells what it is.
        file, data = Path("standard input"), sys.stdin.buffer.read()
    report = importing_files.import_path(store, file, kind=kind, data=data, **options)
    for notice in report["notices"]:
        place = f"{notice['place']}: " if notice["place"] else ""
        output.say(f"note: {place}{notice['message']} {notice['mend']}".rstrip())
    if not as_json:
        click.echo(importing_files.as_text(report))
    return report
