"""The group, its common option, and the commands that are not about runs."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import click

from core.cli import output
from core.cli.common import db_option, open_db, settings_with
from core.cli.comparing import compare
from core.cli.contests import contest, rank
from core.cli.exporting import export
from core.cli.importing import import_
from core.cli.keeping import backup, verify
from core.cli.linting import lint
from core.cli.measure import metrics
from core.cli.runs import grade, resume, retry, runs, score, show
from core.cli.sharing import convert, schema


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="rubric-studio")
def main() -> None:
    """Write rubrics, grade with a panel of judges, and see every vote."""


for command in (grade, resume, retry, runs, show, score, import_, export, metrics, lint, compare):
    main.add_command(command)
for command in (contest, rank, convert, schema, backup, verify):
    main.add_command(command)


@main.command()
@db_option
def where(db: Path | None) -> None:
    """Print the path of the data file."""
    with output.plain_errors():
        click.echo(settings_with(db).db)


@main.command()
@db_option
@click.option(
    "--port",
    type=click.IntRange(1, 65_535),
    default=8501,
    show_default=True,
    help="Port of the app.",
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on; 0.0.0.0 lets other machines in. A login (README, Reviewing) says "
    "who reviews; it does not guard the other pages.",
)
@click.option(
    "--allow-host",
    "hosts",
    multiple=True,
    metavar="NAME",
    help="A further name by which browsers may ask for the app, e.g. that of a proxy before it.",
)
def app(db: Path | None, port: int, host: str, hosts: tuple[str, ...]) -> None:
    """Open the app. The first start grades the bundled example."""
    from core.services.serving import serve

    with output.plain_errors():
        settings = settings_with(db)
        serve(replace(settings, hosts=(*settings.hosts, *hosts)), port, host)


@main.command()
@db_option
@click.option("--with-parent", is_flag=True, hidden=True)
def worker(db: Path | None, with_parent: bool) -> None:
    """Work off queued runs without the app, until Ctrl-C."""
    from core.services.serving import work_until_told

    with output.plain_errors():
        store = open_db(db)
        if not with_parent:
            output.say("Waiting for runs. Ctrl-C ends.")
        work_until_told(store, with_parent=with_parent)


@main.command()
@db_option
@click.option("--json", "as_json", is_flag=True, help="Figures as JSON on stdout.")
def demo(db: Path | None, as_json: bool) -> None:
    """Grade the bundled example with the offline panel; no key, no network."""
    from core.services.demo import as_text, grade_example

    with output.plain_errors(as_json):
        report = grade_example(open_db(db))
        if as_json:
            output.result(report)
        else:
            click.echo(as_text(report))
        sys.exit(output.DONE if report["status"] == "done" else output.NOT_ALL)
