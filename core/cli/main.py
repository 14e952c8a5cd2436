"""The command group, its common option, and commands about the program and its data file."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from core.cli import common
from core.cli.access import access
from core.cli.asked_again.drifting import drift
from core.cli.asked_again.impression import impression
from core.cli.asked_again.probing import probe
from core.cli.common import db_option, json_option, open_db, settings_for
from core.cli.gate import check
from core.cli.import_export import export, import_
from core.cli.measuring import cascade, compare, contest, metrics, rank
from core.cli.review.labels import labels
from core.cli.review.queues import queue
from core.cli.review.regrades import regrade
from core.cli.rubrics import convert, lint, schema
from core.cli.runs import cancel, grade, resume, retry, runs, score, show
from core.errors import InputError
from core.settings import Settings, load_settings

if TYPE_CHECKING:
    from core.store.store import Store


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Put it in place of a file that is there.")
@click.option("--damaged", is_flag=True, help="Keep the copy even if it is not sound.")
@click.option(
    "--nightly",
    is_flag=True,
    help="FILE is a folder: a copy of each data file of this server in it, named by the day.",
)
@click.option(
    "--keep",
    type=click.IntRange(1),
    default=14,
    show_default=True,
    help="With --nightly, keep this many copies of each. Older ones go once a new one is sound.",
)
@db_option
@click.option("--json", "as_json", is_flag=True, help="What the copy holds as JSON on stdout.")
def backup(
    file: Path,
    force: bool,
    damaged: bool,
    nightly: bool,
    keep: int,
    db: Path | None,
    as_json: bool,
) -> None:
    """Copy the data file to FILE and verify the copy.

    The copy is whole and consistent, even while others write. If the copy is not sound, it is
    deleted, FILE stays as it was, and the exit status is 1. To go back to a copy, end every program
    that uses the data file, and put the copy in its place.
    """
    from core.cli import integrity

    with common.plain_errors(as_json):
        if nightly:
            _copy_each(file, keep, db, as_json)
            return
        copy, checked = integrity.backup(_existing_store(db), file, force=force, damaged=damaged)
        if not checked["ok"]:
            common.print_error(integrity.report_as_text(checked))
        if copy is None:
            message = f"{file} was not written: what the data file holds is not sound. Put a good "
            common.print_error(message + "copy back, or keep one of it as it is with --damaged.")
        if as_json:
            common.print_json(checked if copy is None else copy._asdict())
        elif copy is not None:
            common.print_text(
                f"{copy.file}: {copy.bytes:,} bytes, {copy.runs} runs, {copy.votes} votes."
            )
        sys.exit(common.DONE if checked["ok"] else common.NOT_ALL)


def _copy_each(folder: Path, keep: int, db: Path | None, as_json: bool) -> None:
    from core import clock
    from core.cli import integrity

    command_settings = settings_for(db, every=True)
    file_settings = (
        command_settings.each()
        if db is None and command_settings.workspace is None
        else (command_settings,)
    )
    stores = [
        (
            settings.workspace.name if settings.workspace else settings.db.stem,
            partial(_existing_store_at, settings),
        )
        for settings in file_settings
    ]
    copies, failed = list[dict[str, Any]](), dict[str, str]()
    for name, copy, wrong in integrity.copy_nightly(stores, folder, clock.now()[:10], keep):
        if copy is None:
            failed[name] = wrong
            common.print_error(f"No copy of {name} was made, and its older copies stay: {wrong}")
        else:
            copies.append(copy._asdict())
            common.print_message(
                f"{copy.file}: {copy.bytes:,} bytes, {copy.runs} runs, {copy.votes} votes."
            )
    if as_json:
        common.print_json({"copies": copies, "failed": failed})
    sys.exit(common.NOT_ALL if failed else common.DONE)


@click.command()
@db_option
@click.option("--json", "as_json", is_flag=True, help="What was found as JSON on stdout.")
def verify(db: Path | None, as_json: bool) -> None:
    """Check the data file and all derived data.

    Its bytes, its versions, and every verdict and score.

    Exit status: 0 sound, 1 a problem was found.
    """
    from core.cli import integrity

    with common.plain_errors(as_json):
        report = integrity.verify_store(lambda: _existing_store(db))
        common.print_result(report, integrity.report_as_text, as_json)
        sys.exit(common.DONE if report["ok"] else common.NOT_ALL)


def _existing_store(db: Path | None) -> Store:
    """Return the store of an existing data file; these commands create none."""
    return _existing_store_at(settings_for(db))


def _existing_store_at(settings: Settings) -> Store:
    if not settings.db.exists():
        raise InputError("There is no data file here yet.", (), str(settings.db))
    return common.open_as(settings)


#: The commands by purpose, in the order of the help.
GROUPS = {
    "Author": ("lint", "convert", "schema"),
    "Grade": ("grade", "resume", "retry", "cancel", "runs", "show", "import", "export", "demo"),
    "Measure": (
        *("score", "metrics", "compare", "contest", "rank", "check", "drift", "cascade"),
        *("probe", "impression"),
    ),
    "Review": ("queue", "regrade", "labels"),
    "Operate": ("app", "worker", "where", "backup", "verify", "access"),
}


class _Grouped(click.Group):
    """Lists the commands by group."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, self.commands))
        limit = formatter.width - width - 6
        for title, names in GROUPS.items():
            with formatter.section(title):
                rows = [(n.ljust(width), self.commands[n].get_short_help_str(limit)) for n in names]
                formatter.write_dl(rows)


@click.group(
    cls=_Grouped,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="rubric-studio")
@click.pass_context
def main(context: click.Context) -> None:
    """Write rubrics, grade with a panel of judges, and see every vote."""
    if context.invoked_subcommand is None:
        common.print_file(f"{context.get_help()}\n")


_MADE = (grade, resume, cancel, retry, runs, show, score, import_, export, metrics, lint, compare)
_MEASURED = (contest, rank, cascade, probe, drift, impression, convert, schema)
for command in (*_MADE, *_MEASURED, backup, verify, check, queue, regrade, labels):
    main.add_command(command)


@main.command()
@db_option
@json_option
def where(db: Path | None, as_json: bool) -> None:
    """Print the path of the data file."""
    with common.plain_errors(as_json):
        path = settings_for(db).db
        if as_json:
            common.print_json({"db": str(path), "exists": path.exists()})
        else:
            common.print_file(f"{path}\n")


@main.command()
@click.option(
    "--db",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The data file (default: the app's own; see `where`).",
)
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
    help="Address to listen on; 0.0.0.0 lets other machines in, which needs a configuration with "
    "[access] (docs/access.md), or --open.",
)
@click.option(
    "--open",
    "is_open",
    is_flag=True,
    help="Let other machines in without a sign-in: they may do everything but change judges.",
)
@click.option(
    "--allow-host",
    "hosts",
    multiple=True,
    metavar="NAME",
    help="A further name by which browsers may ask for the app, e.g. that of a proxy before it.",
)
@click.option(
    "--base-path",
    default="",
    metavar="PATH",
    help="The path below which a proxy shows the app, e.g. /studio.",
)
def app(
    db: Path | None,
    port: int,
    host: str,
    is_open: bool,
    hosts: tuple[str, ...],
    base_path: str,
) -> None:
    """Open the app. The first start grades the bundled example."""
    from core.services import open_store
    from core.services.runs.server import serve_app

    with common.plain_errors():
        settings = load_settings() if db is None else settings_for(db)
        if db is not None and settings.workspaces:
            raise InputError("The configuration names workspaces: leave --db away.")
        hosts = (*settings.hosts, *hosts)
        settings = replace(settings, hosts=hosts, open=is_open or settings.open)
        for file_settings in settings.each():
            # Report an invalid file here; the server would print a traceback.
            open_store(file_settings).close()
        serve_app(settings, port, host, base_path)


@main.command()
@click.option(
    "--db",
    "files",
    type=click.Path(path_type=Path, dir_okay=False),
    multiple=True,
    help="A data file, may be repeated (default: the app's own, those of all workspaces).",
)
@click.option("--with-parent", is_flag=True, hidden=True)
def worker(files: tuple[Path, ...], with_parent: bool) -> None:
    """Process queued runs without the app, until Ctrl-C."""
    from core.services.runs import server_log
    from core.services.runs.keeping.keeper import keep_worker_running, work_until_stopped

    with common.plain_errors():
        server_log.begin_log(load_settings().json_log)
        named = files or [each.db for each in load_settings().each()]
        stores = [store for store in map(open_db, named) if not store.read_only]
        if not stores:
            raise InputError("There is nothing to work on: no data file can be written here.")
        if with_parent:
            work_until_stopped(*stores, with_parent=True, cluster=load_settings().cluster)
        else:
            common.print_message("Waiting for runs. Ctrl-C ends.")
            keep_worker_running(*(store.path for store in stores))


@main.command()
@db_option
@click.option("--json", "as_json", is_flag=True, help="Figures as JSON on stdout.")
def demo(db: Path | None, as_json: bool) -> None:
    """Grade the bundled example offline, without a key."""
    from core.services.reports.worked_example import grade_example, report_text

    with common.plain_errors(as_json):
        report = grade_example(open_db(db))
        common.print_result(report, report_text, as_json)
        sys.exit(common.DONE if report["status"] == "done" else common.NOT_ALL)


main.add_command(access)
for group in (main, access, queue, regrade):
    for command in group.commands.values():
        command.params.append(common.quiet_option)
