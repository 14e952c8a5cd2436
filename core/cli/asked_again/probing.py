"""The command `probe`: do edits that should change nothing move a run's judges?"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from core.cli import common
from core.cli.asked_again.outlook import (
    answers_option,
    budget_option,
    estimate_option,
    price_text,
    print_outlook,
    seed_option,
)
from core.cli.common import db_option, json_option, open_to_plan, open_to_read
from core.cli.measuring import follow

if TYPE_CHECKING:
    from core.services.diagnostics.probes import ProbeRequest
    from core.store.store import Store


@click.command()
@click.argument("run")
@click.option(
    "--edit",
    "edits",
    multiple=True,
    metavar="NAME",
    help="longer, shorter, confident, authority, bandwagon, refined, distraction, markdown, typo, "
    "name, order or injection, all of these when absent; or longer-written, shorter-written, "
    "confident-written, with --writer. May be given several times.",
)
@answers_option
@click.option("--judge", "judges", multiple=True, metavar="NAME", help="Only these of its judges.")
@click.option(
    "--earns",
    multiple=True,
    metavar="CRITERION=NAMES",
    help="Edits that a criterion rightly rewards, with commas: nobody is accused of them on it. "
    "May be given several times.",
)
@click.option("--writer", metavar="NAME", help="The judge whose model writes what no rule can.")
@seed_option
@budget_option
@estimate_option
@click.option("--last", is_flag=True, help="What the newest probe of RUN found; calls nobody.")
@db_option
@json_option
def probe(
    run: str,
    db: Path | None,
    as_json: bool,
    only_estimate: bool,
    last: bool,
    earns: tuple[str, ...],
    writer: str | None,
    **options: Any,
) -> None:
    """Test whether length, tone or looks move the judges.

    Asks the judges of RUN again on edited copies of its answers.

    Asks about some answers twice unchanged, and once under each edit, which should change no vote.
    The run stays as it is. RUN is a number of `runs`.

    Exit status: 0 everything was asked, 1 something is missing, 2 the input is wrong.
    """
    from core.services.comparison.run_comparison import run_number
    from core.services.diagnostics import probes

    with common.plain_errors(as_json):
        number = run_number(run)
        if last:
            store = open_to_read(db)
            _print_result(store, _newest_probe(store, number), as_json)
            return
        with open_to_plan(db, only_estimate) as store:
            names = {name: options[name] or None for name in ("edits", "judges")}
            chosen = {name: value for name, value in {**options, **names}.items() if value}
            request = probes.ProbeRequest(number, **chosen, earns=_edits_by_criterion(earns))
            _require_writer(store, request, writer)
            outlook = probes.estimate(store, request)
            print_outlook(outlook, "texts", without_run=only_estimate, as_json=as_json)
            if only_estimate:
                return
            if writer is not None:
                request = _with_written_texts(store, request, writer)
            sys.exit(_run_probe(store, probes.start(store, request), as_json))


def _edits_by_criterion(options: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Parse the options ``CRITERION=EDIT,EDIT``; return the edits that each criterion rewards.

    The last "=" separates the two, since a criterion's name may contain one.
    """
    from core.errors import InputError

    earned: dict[str, tuple[str, ...]] = {}
    for argument in options:
        criterion, separator, edits = argument.rpartition("=")
        if not separator or not edits:
            raise InputError(f"--earns {argument}: say CRITERION=EDIT, as in 'Long enough=longer'.")
        names = tuple(edit.strip() for edit in edits.split(","))
        earned[criterion] = (*earned.get(criterion, ()), *names)
    return earned


def _require_writer(store: Store, request: ProbeRequest, writer: str | None) -> None:
    """Refuse edits without a writer and a writer without edits, before printing any cost."""
    from core.errors import InputError
    from core.services.diagnostics.probe_edits import WRITTEN
    from core.services.judges import registry

    written = [name for name in request.edits if name in WRITTEN]
    if written and writer is None:
        raise InputError(f"A model writes {', '.join(written)}. Name its judge with --writer.")
    if writer is not None:
        registry.get_judge(store, writer)
        if not written:
            raise InputError(f"Name what --writer shall write: --edit {', '.join(WRITTEN)}.")


def _with_written_texts(store: Store, request: ProbeRequest, writer: str) -> ProbeRequest:
    """Return the request with texts that a model writes, after printing the cost."""
    from core.errors import InputError
    from core.services.assist import help_tasks, written_twins
    from core.services.judges import registry

    judge = registry.get_judge(store, writer).judge
    outlook = written_twins.estimate(store, judge, request)
    common.print_message(
        f"to be written first: {outlook.calls:,} calls, {price_text(outlook.cost)}"
    )
    begun = written_twins.begin(store, judge, request, request.budget)
    while (task := help_tasks.wait_for_task(store, begun)).active:
        pass
    if task.status != "done":
        raise InputError(f"Writing ended as {task.status}. {task.message}".strip())
    probe = written_twins.probe_of(store, task)
    return replace(probe, budget=request.budget, earns=request.earns)


def _newest_probe(store: Store, run: int) -> int:
    from core.errors import NotFound
    from core.services.diagnostics import probes

    probes_of_run = probes.of_run(store, run)
    if not probes_of_run:
        raise NotFound(f"Run {run} has no probes yet. Leave --last away to ask its judges.")
    return probes_of_run[0].id


def _run_probe(store: Store, probe_id: int, as_json: bool) -> int:
    """Work through the probe and print the result; return the exit status."""
    from core.services.runs import lifecycle

    follow(store, probe_id)
    _print_result(store, probe_id, as_json)
    ended = lifecycle.run_summary(store, probe_id)
    return common.DONE if ended["complete"] else common.NOT_ALL


def _print_result(store: Store, probe_id: int, as_json: bool) -> None:
    from core.services.diagnostics import probe_results

    result = probe_results.result(store, probe_id)
    common.print_result(
        probe_results.as_data(result), lambda _: probe_results.as_text(result), as_json
    )
