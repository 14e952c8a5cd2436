"""Review queues in a terminal: create from a rule, refresh, list."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from core.cli import common
from core.cli.common import FiniteRange, db_option, json_option, open_db, open_to_read

if TYPE_CHECKING:
    from core.domain.review import QueueRule, Seat
    from core.store.store import Store

#: The reasons that --because accepts.
REASONS = ("split", "abstention", "failure", "flip", "stale", "near_gate", "everything")
#: The orders of ``domain.review.Order``, repeated here to avoid a slow import.
ORDERS = ("impact", "change", "entropy", "margin", "spread", "random", "dataset")

#: The draws of ``domain.review.DrawKind``.
DRAWN = ("even", "strata", "doubt")


@click.group()
def queue() -> None:
    """Manage queues of cells for people to settle."""


@queue.command("make")
@click.argument("run", type=click.IntRange(1))
@click.option("--name", default="Doubtful cells", show_default=True, help="What it is called.")
@click.option(
    "--because", multiple=True, type=click.Choice(REASONS),
    help="Only cells for these reasons (default: split, abstention, failure, flip, stale).",
)  # fmt: skip
@click.option("--criterion", "criteria", multiple=True, help="Only cells of these criteria.")
@click.option(
    "--audit", type=FiniteRange(0, 1), default=0.1, show_default=True,
    help="Chance of every cell that no reason chooses; with --most the share of N drawn at random.",
)  # fmt: skip
@click.option(
    "--most", type=click.IntRange(1, 1_000_000), metavar="N", help="At most N cells in all."
)
@click.option(
    "--order", type=click.Choice(ORDERS), default="impact", show_default=True,
    help="What comes first, and what a cap leaves out last.",
)  # fmt: skip
@click.option(
    "--confirm-same", "same", is_flag=True,
    help="Verdicts that are the judges' as well need no second press.",
)  # fmt: skip
@click.option("--seed", type=click.IntRange(0), help="Of the draws (default: any).")
@click.option("--dry-run", "dry", is_flag=True, help="Count only; make nothing.")
@db_option
@json_option
def queue_make(
    run: int, name: str, because: tuple[str, ...], criteria: tuple[str, ...], audit: float,
    most: int | None, order: Any, same: bool, seed: int | None, dry: bool, db: Path | None,
    as_json: bool,
) -> None:  # fmt: skip
    """Queue or count the cells of RUN for people to settle."""
    from core import clock
    from core.domain.review import QueueSettings
    from core.services.review import queues

    with common.plain_errors(as_json):
        store = open_to_read(db) if dry else open_db(db)
        queues.require_criteria(store, run, criteria)
        rule, settings = (
            _rule_from_options(because, criteria, audit, most),
            QueueSettings(confirm_same=same),
        )
        seed = clock.draw_seed() if seed is None else seed
        chosen = queues.preview_queue(store, run, rule, order=order, seed=seed)
        queue_id = None
        if not dry:
            queue_id = queues.make_queue(
                store, terminal_name(), run, name, rule, settings, order=order, seed=seed
            ).id
        report = {
            "queue": queue_id,
            "cells": chosen.cells,
            "doubtful": chosen.doubtful,
            "random": chosen.random,
            "items": chosen.items,
            "by_reason": dict(chosen.by_reason),
            "settled": chosen.settled,
            "left_out_by_cap": chosen.left_out,
            "minutes": queues.expected_minutes(store, run, chosen.cells, settings),
            "seed": seed,
        }
        common.print_result(report, lambda chosen: _made_queue_text(store, run, chosen), as_json)


def terminal_name() -> Seat:
    """Return the name under which the terminal creates queues; no reviewer uses it."""
    from core.domain.review import Seat

    return Seat("command line", "lead", "terminal")


def _rule_from_options(
    because: tuple[str, ...], criteria: tuple[str, ...], audit: float, most: int | None
) -> QueueRule:
    from core.domain.review import QueueRule

    chosen: dict[str, Any] = {"audit_share": audit, "criteria": criteria or None, "most": most}
    if because:
        chosen.update({reason: reason in because for reason in REASONS})
    return QueueRule(**chosen)


def _made_queue_text(store: Store, run: int, report: dict[str, Any]) -> str:
    from core.services.review import queues, random_labels

    earlier = partial(random_labels.number_drawn, store, run)
    parts = queues.queue_parts_text(report["doubtful"], report["random"], earlier)
    reasons = ", ".join(f"{reason} {n}" for reason, n in sorted(report["by_reason"].items()))
    head = "Would queue" if report["queue"] is None else f"Queue {report['queue']}:"
    lines = [
        f"{head} {report['cells']} cells of {report['items']} items: {parts}.",
        f"By reason: {reasons or 'none'}.",
    ]
    if report["left_out_by_cap"]:
        lines.append(f"{report['left_out_by_cap']} more also match and are left out by the cap.")
    if report["settled"]:
        lines.append(f"{report['settled']} are settled already.")
    if report["minutes"] is not None:
        lines.append(f"About {max(1, round(report['minutes']))} min at the reviewers' median pace.")
    return "\n".join(lines)


@queue.command("plan")
@click.argument("run", type=click.IntRange(1))
@click.option("--criterion", default="", help="Of this criterion (default: all, by weight).")
@click.option("--labels", type=click.IntRange(1), default=100, show_default=True)
@click.option(
    "--between", nargs=2, type=str, metavar="A B",
    help="Two systems of the run that are to be told apart.",
)  # fmt: skip
@click.option("--gap", type=FiniteRange(0, 1), help="How far apart (default: as now known).")
@click.option("--hourly", type=FiniteRange(0), help="What an hour of a reviewer costs.")
@click.option("--draw", type=click.Choice(DRAWN), help="Create a queue with this draw, too.")
@db_option
@json_option
def queue_plan(
    run: int, criterion: str, labels: int, between: tuple[str, str] | None, gap: float | None,
    hourly: float | None, draw: Any, db: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Estimate what more random labels of RUN would buy.

    Precision, power, time and money.

    With --draw, also creates a queue of about that many random cells.
    """
    from core.domain.review import QueueSettings
    from core.services.labelling import label_plan, plan_queue, plan_words
    from core.services.review import queues
    from core.text.numbers import plural

    with common.plain_errors(as_json):
        store = open_db(db) if draw else open_to_read(db)
        plan = label_plan.label_plan(
            store, run, criterion=criterion, labels=labels, pair=between, gap=gap, hourly=hourly
        )
        report, text = {**plan_words.as_data(plan), "queue": None}, plan_words.plan_as_text(plan)
        if draw and plan.left:
            rule = plan_queue.queue_rule(plan, labels, draw)
            name = plan_queue.queue_name(plan, labels)
            created = queues.make_queue(store, terminal_name(), run, name, rule, QueueSettings())
            report["queue"] = created.id
            cells = plural(store.queues.drawn(created.id, "audit"), "cell")
            text += f"\nQueue {created.id} is made: {cells}, drawn by chance."
        common.print_result(report, lambda _: text, as_json)


@queue.command("ten")
@click.argument("run", type=click.IntRange(1))
@click.option("--dry-run", "dry", is_flag=True, help="Tell only; make nothing.")
@db_option
@json_option
def queue_ten(run: int, dry: bool, db: Path | None, as_json: bool) -> None:
    """Queue the next ten texts of RUN, drawn at random.

    An unfinished ten is listed again. Also says what offline judges would learn from all labels.
    """
    from core.services.guided import ten_more

    with common.plain_errors(as_json):
        store = open_to_read(db) if dry else open_db(db)
        if not dry:
            ten_more.take_up(store, terminal_name(), run)
        now = ten_more.progress(store, run)
        report = ten_more.as_data(now, ten_more.current_learning(store, store.runs.get(run)))
        common.print_result(report, _ten_report_text, as_json)


def _ten_report_text(report: dict[str, Any]) -> str:
    from core.text.numbers import count, plural

    texts = plural(report["texts"], "text")
    heading = "Would queue" if report["queue"] is None else f"Queue {report['queue']}:"
    lines = [f"{heading} {texts}, drawn at random. {count(report['graded'])} are graded."]
    if learnt := report.get("learnt"):
        criteria = learnt["criteria"].items()
        lines += [f"{name}: {criterion['in_words']}" for name, criterion in criteria]
        lines.append(learnt["in_words"])
    return "\n".join(lines)


@queue.command("refresh")
@click.argument("number", metavar="QUEUE", type=click.IntRange(1))
@db_option
@json_option
def queue_refresh(number: int, db: Path | None, as_json: bool) -> None:
    """Add the cells to QUEUE that its rule now selects.

    No cell is removed.
    """
    from core.services.review import queues

    with common.plain_errors(as_json):
        added = queues.refresh(open_db(db), terminal_name(), number)
        report = {"queue": number, "added": added}
        common.print_result(report, lambda data: f"{data['added']} cells added.", as_json)


@queue.command("list")
@click.argument("run", type=click.IntRange(1), required=False)
@db_option
@json_option
def queue_list(run: int | None, db: Path | None, as_json: bool) -> None:
    """List the queues of RUN, or of all runs, and their state."""
    with common.plain_errors(as_json):
        common.print_result({"queues": _queues_data(open_to_read(db), run)}, _list_text, as_json)


def _queues_data(store: Store, run: int | None) -> list[dict[str, Any]]:
    from core.services.review import queues

    listed = []
    for row in queues.queues_of_run(store, run):
        progress = queues.queue_progress(store, row.id)
        listed.append(
            {
                "queue": row.id,
                "run": row.run_id,
                "name": row.name,
                "cells": progress.total,
                "doubtful": progress.total - progress.random,
                "random": progress.random,
                "resolved": progress.resolved,
                "most": row.rule.most,
            }
        )
    return listed


def _list_text(report: dict[str, Any]) -> str:
    rows = [
        [str(row["queue"]), str(row["run"]), f"{row['resolved']} of {row['cells']}", row["name"]]
        for row in report["queues"]
    ]
    return common.table(rows, ["queue", "run", "resolved", "name"]) if rows else "No queue yet."
