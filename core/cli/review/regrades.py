"""Regrade requests in a terminal: enter, import from a table, queue, list."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from core.cli import common
from core.cli.common import db_option, json_option, open_db, open_to_read
from core.cli.review.queues import terminal_name
from core.text.numbers import plural

if TYPE_CHECKING:
    from core.services.review.regrades import RegradeRequest

_run = click.argument("run", type=click.IntRange(1))
_queue = click.option("--queue", "queued", is_flag=True, help="Queue them for review at once.")


@click.group()
def regrade() -> None:
    """Manage requests to look at items again."""


@regrade.command("add")
@_run
@click.argument("item")
@click.option("--note", required=True, help="Why it should be looked at again.")
@click.option("--from", "by", required=True, help="Who asks.")
@click.option("--criterion", default="", help="The one that it is about (default: all).")
@_queue
@db_option
@json_option
def regrade_add(
    run: int, item: str, note: str, by: str, criterion: str, queued: bool, db: Path | None,
    as_json: bool,
) -> None:  # fmt: skip
    """Enter a request about ITEM of RUN."""
    from core.services.review.regrades import RegradeRequest

    with common.plain_errors(as_json):
        _store_requests(db, run, [RegradeRequest(item, criterion, note, by)], queued, as_json)


@regrade.command("import")
@_run
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@_queue
@db_option
@json_option
def regrade_import(run: int, file: Path, queued: bool, db: Path | None, as_json: bool) -> None:
    """Import the requests in a table.

    Its columns are item, note, from, and optionally criterion.
    """
    from core.formats.folder import read_bytes
    from core.formats.source.parsed import MAX_DATASET_BYTES
    from core.services.review import regrades

    with common.plain_errors(as_json):
        requests = regrades.read_requests(read_bytes(file, MAX_DATASET_BYTES), file.name)
        _store_requests(db, run, requests, queued, as_json)


def _store_requests(
    db: Path | None, run: int, requests: list[RegradeRequest], queued: bool, as_json: bool
) -> None:
    from core.services.review import regrades

    store = open_db(db)
    cells = regrades.request(store, terminal_name(), run, requests)
    queue = regrades.queue_open(store, terminal_name(), run).id if queued and cells else None
    common.print_result(
        {"run": run, "cells": cells, "queue": queue}, _stored_requests_text, as_json
    )


def _stored_requests_text(report: dict[str, Any]) -> str:
    queue_text = "" if report["queue"] is None else f" They wait in queue {report['queue']}."
    return f"Kept on {plural(report['cells'], 'cell')} of run {report['run']}.{queue_text}"


@regrade.command("withdraw")
@_run
@click.argument("request", type=click.IntRange(1))
@click.option("--reason", default="", help="Why, for the record.")
@db_option
@json_option
def regrade_withdraw(run: int, request: int, reason: str, db: Path | None, as_json: bool) -> None:
    """Withdraw a REQUEST that is in no queue.

    REQUEST is its number in `regrade list`.
    """
    from core.services.review import regrades

    with common.plain_errors(as_json):
        regrades.withdraw(open_db(db), terminal_name(), run, request, reason)
        common.print_result(
            {"withdrawn": request}, lambda _: f"Took back request {request}.", as_json
        )


@regrade.command("queue")
@_run
@db_option
@json_option
def regrade_queue(run: int, db: Path | None, as_json: bool) -> None:
    """Queue the requests of RUN that are in no queue."""
    from core.services.review import regrades

    with common.plain_errors(as_json):
        queue = regrades.queue_open(open_db(db), terminal_name(), run)
        common.print_result({"queue": queue.id}, lambda data: f"Queue {data['queue']}.", as_json)


@regrade.command("list")
@_run
@click.option("--csv", "as_csv", is_flag=True, help="As CSV on stdout, notes included.")
@db_option
@json_option
def regrade_list(run: int, as_csv: bool, db: Path | None, as_json: bool) -> None:
    """List the requests of RUN and their outcomes.

    The outcomes are open, withdrawn, kept, changed, and answered (there was no verdict before).
    """
    from core.services.review import regrades

    with common.plain_errors(as_json):
        store = open_to_read(db)
        if as_csv:
            common.print_file(regrades.requests_as_csv(store, run))
            return
        report = {"requests": [asdict(request) for request in regrades.requests_of(store, run)]}
        common.print_result(report, _list_text, as_json)


def _list_text(report: dict[str, Any]) -> str:
    rows = [
        [
            str(request["event_id"]),
            request["item_id"][:40],
            request["criterion"][:30],
            request["by"][:30],
            request["status"],
        ]
        for request in report["requests"]
    ]
    return (
        common.table(rows, ["request", "item", "criterion", "from", "status"])
        if rows
        else "No request."
    )
