"""Commands about runs: grade, resume, retry, runs, show, score."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from core.cli import output
from core.cli.common import db_option, open_to_plan, open_to_read
from core.cli.grade_options import ASKING, grade_options

if TYPE_CHECKING:
    from core.services.rescoring import RaterGroup
    from core.store.store import Store

json_option = click.option("--json", "as_json", is_flag=True, help="Result as JSON on stdout.")


@click.command()
@grade_options
@db_option
@json_option
def grade(
    rubric: Path, dataset: Path, db: Path | None, as_json: bool, only_estimate: bool, **options: Any
) -> None:
    """Make a run of RUBRIC over DATASET and work it off.

    RUBRIC and DATASET are files, or folders in the common layout.
    """
    from core.services import grading, headless

    with output.plain_errors(as_json), open_to_plan(db, only_estimate) as store:
        asking = {name: options.pop(name) for name in ASKING}
        request = headless.request_from_files(store, rubric, dataset, asking=asking, **options)
        for notice in request.notices:
            output.say(f"note: {notice}")
        for name in headless.unpriced(request.request):
            output.note(f"No price is known for {name}: --budget does not stop its calls.")
        if only_estimate:
            _print_estimate(headless.estimate_figures(store, request.request), as_json)
            return
        run_id = grading.start(store, request.request)
        if twins := headless.twins_in_words(store, run_id):
            output.say(f"note: {twins}")
        _follow(store, run_id, as_json)


@click.command()
@click.argument("run", type=int)
@db_option
@json_option
def resume(run: int, db: Path | None, as_json: bool) -> None:
    """Go on with what is left of RUN; no finished call is made again."""
    from core.services import grading

    with output.plain_errors(as_json):
        store = open_to_read(db)
        grading.resume(store, run)
        _follow(store, run, as_json)


@click.command()
@click.argument("run", type=int)
@db_option
@json_option
def retry(run: int, db: Path | None, as_json: bool) -> None:
    """Ask RUN's failed cells again."""
    from core.services import grading

    with output.plain_errors(as_json):
        store = open_to_read(db)
        count = grading.retry(store, run)
        output.say(f"Asking {count} failed cells again.")
        _follow(store, run, as_json)


@click.command()
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True)
@db_option
@json_option
def runs(limit: int, db: Path | None, as_json: bool) -> None:
    """List the runs, newest first."""
    from core.services import grading

    with output.plain_errors(as_json):
        rows = grading.runs(open_to_read(db), limit=limit)
        if as_json:
            keys = ("name", "status", "planned", "votes")
            output.result(
                {
                    "runs": [
                        {
                            "run": r.id,
                            **{key: getattr(r, key) for key in keys},
                            "status": grading.status_of(r),
                            "failures": r.failures_open,
                            "created": r.created,
                        }
                        for r in rows
                    ]
                }
            )
        elif rows:
            click.echo(
                output.table(
                    [
                        [
                            str(r.id),
                            grading.said_of(r),
                            f"{r.votes}/{r.planned}",
                            str(r.failures_open),
                            r.created,
                            r.name,
                        ]
                        for r in rows
                    ],
                    ["run", "status", "votes", "failed", "created", "name"],
                )
            )
        else:
            output.say("There are no runs yet. `rubric-studio demo` makes one.")


@click.command()
@click.argument("run", type=int)
@click.argument("item", required=False)
@db_option
@json_option
def show(run: int, item: str | None, db: Path | None, as_json: bool) -> None:
    """Show RUN, or one ITEM of it with every vote."""
    from core.services import grading, showing

    with output.plain_errors(as_json):
        store = open_to_read(db)
        if item is None:
            figures = grading.summary(store, run)
            if as_json:
                output.result(figures)
            else:
                click.echo(showing.run_as_text(store, run))
            return
        if as_json:
            output.result(showing.item_as_data(store, run, item))
        else:
            click.echo(showing.item_as_text(store, run, item))


@click.command()
@click.argument("source")
@click.option(
    "--rule",
    "rules",
    multiple=True,
    metavar="SCALE=RULE",
    help="An aggregation rule, e.g. ordinal=median. May be given several times.",
)
@click.option(
    "--abstain",
    type=click.Choice(["skip", "zero", "partial", "fail"]),
    help="What an abstention costs (default: the rubric's own).",
)
@click.option(
    "--raters",
    type=click.Choice(["all", "judges", "people"]),
    help="Whose votes count (default: in a run those that count there, in a folder all).",
)
@db_option
@json_option
def score(
    source: str,
    rules: tuple[str, ...],
    abstain: str | None,
    raters: RaterGroup | None,
    db: Path | None,
    as_json: bool,
) -> None:
    """Verdicts, agreement and scores from votes that exist; calls nobody.

    SOURCE is a run's number, or a folder in the common layout. What people settled in a run stands.
    """
    from core.services import rescoring

    with output.plain_errors(as_json):
        report = rescoring.score_source(
            lambda: open_to_read(db), source, rules, abstain, raters, output.note
        )
        if as_json:
            output.result(report)
        else:
            click.echo(rescoring.as_text(report))


def _follow(store: Store, run_id: int, as_json: bool) -> None:
    """Works the run off here, or watches it if another process has it; then says how it ended."""
    from core.services import grading, headless, jobs

    bar = output.ProgressBar()
    jobs.follow(store, run_id, lambda look: bar.show(headless.progress_line(look)))
    bar.end()
    figures = grading.summary(store, run_id)
    if as_json:
        output.result(figures)
    else:
        click.echo(headless.summary_as_text(figures))
    complete = figures["status"] == "done" and not figures["failures"]
    sys.exit(output.DONE if complete else output.NOT_ALL)


def _print_estimate(figures: dict[str, Any], as_json: bool) -> None:
    if as_json:
        output.result(figures)
        return
    cost = figures["cost_usd"]
    click.echo(
        f"{figures['items']} items, {figures['votes']} votes, {figures['calls']} calls, "
        f"about {figures['tokens_in']:,} tokens in and {figures['tokens_out']:,} out, "
        + ("cost unknown (no price is known for a model)" if cost is None else f"${cost:.4f}")
    )
    if figures["twins_in_words"]:
        click.echo(f"note: {figures['twins_in_words']}")
