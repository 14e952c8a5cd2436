"""`rubric-studio backup` and `verify`: a copy of the data file, and whether it is sound."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from core.cli import output
from core.cli.common import db_option, open_db, settings_with
from core.errors import InputError

if TYPE_CHECKING:
    from core.store.store import Store


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Put it in place of a file that is there.")
@db_option
@click.option("--json", "as_json", is_flag=True, help="What the copy holds as JSON on stdout.")
def backup(file: Path, force: bool, db: Path | None, as_json: bool) -> None:
    """Copy the whole data file to FILE, consistent, also while others write.

    To go back to it, end every program that uses the data file, and put the copy in its place.
    """
    from core.services import verifying

    with output.plain_errors(as_json):
        made = verifying.backup(_existing(db), file, force=force)
        if as_json:
            output.result(made._asdict())
        else:
            click.echo(f"{made.file}: {made.bytes:,} bytes, {made.runs} runs, {made.votes} votes.")


@click.command()
@db_option
@click.option("--json", "as_json", is_flag=True, help="What was found as JSON on stdout.")
def verify(db: Path | None, as_json: bool) -> None:
    """Check the data file: its bytes, its versions, and every verdict and score.

    Exit status: 0 sound, 1 a problem was found.
    """
    from core.services import verifying

    with output.plain_errors(as_json):
        report = verifying.verify(lambda: _existing(db))
        if as_json:
            output.result(report)
        else:
            click.echo(verifying.as_text(report))
        sys.exit(output.DONE if report["ok"] else output.NOT_ALL)


def _existing(db: Path | None) -> Store:
    """The store of a data file that is there: these verbs make none."""
    path = settings_with(db).db
    if not path.exists():
        raise InputError("There is no data file here yet.", (), str(path))
    return open_db(db)
