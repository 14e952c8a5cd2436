"""The command that brings things in: import."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from core.cli import output
from core.cli.common import db_option, open_db

FORMATS = ("auto", "folder", "long", "wide", "autorubric", "rubric", "dataset")
_path = click.Path(path_type=Path)


@click.command(name="import")
@click.argument("file", type=_path)
@click.option("--rubric", type=_path, help="What was asked (default: in FILE, or derived).")
@click.option("--dataset", type=_path, help="What was judged (default: in FILE, or ids only).")
@click.option(
    "--format", "shape", type=click.Choice(FORMATS), default="auto", show_default=True,
    help="The shape of FILE.",
)  # fmt: skip
@click.option(
    "--map",
    "changes",
    multiple=True,
    metavar="FIELD=COLUMN",
    help="Changes which column is what, e.g. item=doc_id, others=llm, kind:ann=human.",
)
@click.option("--dry-run", "dry", is_flag=True, help="Say what would be imported; keep nothing.")
@db_option
@click.option("--json", "as_json", is_flag=True, help="Result as JSON on stdout.")
def import_(file: Path, shape: str, db: Path | None, as_json: bool, **options: Any) -> None:
    """Bring votes in from FILE as a run; or a rubric, or a dataset.

    FILE is a table of votes (a judgement a row, or a rater a column), a folder or zip archive in
    the common layout, or an autorubric experiment. The same votes again are the same run.
    """
    from core.services import importing_files

    with output.plain_errors(as_json):
        kind: Any = None if shape == "auto" else shape
        report = importing_files.import_path(open_db(db), file, kind=kind, **options)
        for notice in report["notices"]:
            place = f"{notice['place']}: " if notice["place"] else ""
            output.say(f"note: {place}{notice['message']} {notice['mend']}".rstrip())
        if as_json:
            output.result(report)
        else:
            click.echo(importing_files.as_text(report))
