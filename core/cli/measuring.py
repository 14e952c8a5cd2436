"""Commands that measure: metrics, compare, contest, rank, probe."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from core.cli import common
from core.cli.common import db_option, json_option, open_to_plan, open_to_read

if TYPE_CHECKING:
    from core.services.diagnostics.probes import ProbeRequest
    from core.services.pairwise.contests import ContestRequest
    from core.services.runs.cost_estimate import CostEstimate
    from core.store.store import Store


@click.command()
@click.argument("run_a")
@click.argument("run_b")
@common.resample_options(1000)
@db_option
@json_option
def compare(
    run_a: str, run_b: str, bootstrap: int, seed: int, db: Path | None, as_json: bool
) -> None:
    """Compare two runs on the items of both; calls nobody.

    Says what changed, which verdicts flipped, and how far accuracy, kappa, agreement, mean score
    and cost moved from RUN_A to RUN_B (numbers of `runs`). Imported votes are runs, too.
    """
    from core.cli import reports_as_text
    from core.services.comparison import run_comparison
    from core.services.review import corrected_estimates

    with common.plain_errors(as_json):
        pair = run_comparison.run_number(run_a), run_comparison.run_number(run_b)
        store = open_to_read(db)
        found = run_comparison.compare_runs(store, *pair, bootstrap=bootstrap, seed=seed)
        for run_id in pair:
            review = corrected_estimates.selected(store, run_id)
            if review is not None:
                common.note(f"run {run_id}: {corrected_estimates.in_words(review)}")
        if as_json:
            common.result(run_comparison.as_json(found))
        else:
            click.echo(reports_as_text.comparison_as_text(found))


_POSITIVE = click.IntRange(1)


class _ManyNames(click.Command):
    """A command whose ``--systems`` takes all names up to the next option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        spread: list[str] = []
        taking = False
        for arg in args:
            if arg == "--systems":
                taking = True
            elif arg.startswith("-"):
                taking = False
                spread.append(arg)
            else:
                spread += ["--systems", arg] if taking else [arg]
        return super().parse_args(ctx, spread)


@click.command(cls=_ManyNames)
@click.argument("datasets", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--systems",
    multiple=True,
    metavar="NAME ...",
    help="The systems to compare, up to the next option. All of them when absent.",
)
@click.option(
    "--criterion",
    "criteria",
    multiple=True,
    metavar="NAME|TEXT",
    help="A criterion of --rubric by its name, or a question of your own. All in one when absent.",
)
@click.option("--rubric", type=click.Path(path_type=Path), help="Where criteria come from.")
@click.option("--each", is_flag=True, help="Ask every criterion of --rubric by itself.")
@click.option("--join", "join_by", metavar="KEY", help="Key of the items' meta to join by.")
@click.option(
    "--design",
    type=click.Choice(["all", "baseline", "sampled", "adaptive"]),
    default="all",
    show_default=True,
    help="Which pairs meet.",
)
@click.option("--baseline", default="", metavar="NAME", help="Whom all meet (--design baseline).")
@click.option("--per-task", type=_POSITIVE, default=1, help="Pairs per task (sampled, adaptive).")
@click.option("--rounds", type=_POSITIVE, default=3, help="Rounds at most (adaptive).")
@click.option("--per-round", type=_POSITIVE, default=20, help="Contests per round (adaptive).")
@click.option("--one-order", is_flag=True, help="Show each pair in one order only, balanced.")
@click.option("--no-ties", is_flag=True, help="Offer no tie.")
@click.option("--both-bad", is_flag=True, help="Offer that both are bad.")
@click.option(
    "--disagreement",
    type=click.Choice(["tie", "inconclusive"]),
    default="tie",
    show_default=True,
    help="What a contest is whose two orders name different winners.",
)
@click.option("--summaries", is_flag=True, help="One more call per contest sums up the reasons.")
@click.option("--panel", type=click.Path(path_type=Path), help="Panel file (YAML or JSON).")
@click.option("--judge", "judges", multiple=True, metavar="MODEL", help="A model name.")
@click.option("--api-base", default="", help="Address of an OpenAI-compatible server.")
@click.option("--key-env", default="", metavar="NAME", help="Variable that holds the key.")
@click.option("--mode", type=click.Choice(["criterion", "rubric", "two_step"]))
@click.option("--cache/--no-cache", default=None, help="Use answers kept from earlier runs.")
@click.option("--seed", type=int, help="Decides who meets and who is shown first.")
@click.option("--replicates", type=click.IntRange(1, 100), default=1, show_default=True)
@click.option("--concurrency", type=click.IntRange(1, 1024), help="Calls in flight per judge.")
@click.option("--budget", type=click.FloatRange(0, min_open=True), metavar="USD")
@click.option("--name", default="", help="Name of the run.")
@click.option("--estimate", "only_estimate", is_flag=True, help="Only print calls and cost.")
@db_option
@json_option
def contest(
    db: Path | None,
    as_json: bool,
    only_estimate: bool,
    rounds: int,
    per_round: int,
    **options: Any,
) -> None:
    """Compare systems: ask which of two answers is better, in both orders.

    DATASETS is one file whose items name their system and share prompts, or one file per system
    whose items share ids. They stand before --systems.
    """
    from core.cli import contest_requests

    with common.plain_errors(as_json), open_to_plan(db, only_estimate) as store:
        design = _design(options)
        made = contest_requests.contest_from_files(store, design=design, **options)
        for notice in made.notices:
            common.say(f"note: {notice}")
        more = rounds - 1 if design["kind"] == "adaptive" else 0
        figures = contest_requests.contest_estimate_figures(store, made.request, more, per_round)
        if only_estimate:
            _say_estimate(figures, as_json)
            return
        common.say(contest_requests.estimate_line(figures))
        _hold(store, made.request, more, per_round, as_json)


@click.command()
@click.argument("source")
@click.option("--join", "by", metavar="KEY", help="Key of the items' meta to join by.")
@click.option(
    "--include-related",
    is_flag=True,
    help="Count a judge's scores for its own and its family's answers, too.",
)
@click.option("--bootstrap", type=click.IntRange(0), default=1000, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True)
@db_option
@json_option
def rank(
    source: str,
    by: str | None,
    include_related: bool,
    bootstrap: int,
    seed: int,
    db: Path | None,
    as_json: bool,
) -> None:
    """Rank the systems of SOURCE from votes that exist; calls nobody.

    SOURCE is a contest run, a run that graded several systems' answers, or a folder in the common
    layout.
    """
    from core.services.pairwise import rank_report
    from core.services.pairwise.pointwise_ranks import EXCLUDED

    with common.plain_errors(as_json):
        report = rank_report.rank_source(
            lambda: open_to_read(db),
            source,
            by=by,
            exclude=() if include_related else EXCLUDED,
            seed=seed,
            resamples=bootstrap,
        )
        common.report(report, rank_report.as_text, as_json)


def _design(options: dict[str, Any]) -> dict[str, Any]:
    """Takes what makes the design out of the options."""
    same = ("baseline", "per_task", "both_bad", "disagreement", "summaries")
    return {
        "kind": options.pop("design"),
        "orders": "one" if options.pop("one_order") else "both",
        "ties": not options.pop("no_ties"),
        **{name: options.pop(name) for name in same},
    }


def _hold(store: Store, request: ContestRequest, more: int, per_round: int, as_json: bool) -> None:
    """Works the contest off, round after round where it is adaptive, and says how it ended."""
    from core.cli import requests_from_files
    from core.services.pairwise import contests, leaderboard, rank_report
    from core.services.runs import lifecycle

    runs: list[int] = []
    following: ContestRequest | None = request
    while following is not None:
        runs.append(contests.start(store, following))
        _follow(store, runs[-1])
        done = lifecycle.summary(store, runs[-1])["status"] == "done"
        again = done and len(runs) <= more
        following = leaderboard.next_round(store, runs, per_round) if again else None
    ended = [lifecycle.summary(store, run) for run in runs]
    report = rank_report.contest_report(store, runs)
    if as_json:
        common.result({**ended[-1], "rounds": ended, "ranking": report})
    else:
        for figures in ended:
            click.echo(requests_from_files.summary_as_text(figures))
        click.echo(rank_report.as_text(report))
    complete = all(f["status"] == "done" and not f["failures"] for f in ended)
    sys.exit(common.DONE if complete else common.NOT_ALL)


def _follow(store: Store, run_id: int) -> None:
    from core.cli import requests_from_files
    from core.services.runs import runner

    bar = common.ProgressBar()
    runner.follow(store, run_id, lambda look: bar.show(requests_from_files.progress_line(look)))
    bar.end()


def _say_estimate(figures: dict[str, Any], as_json: bool) -> None:
    from core.cli import contest_requests

    if as_json:
        common.result(figures)
    else:
        click.echo(contest_requests.estimate_line(figures))


@click.command()
@click.argument("source")
@click.option(
    "--reference",
    metavar="RATER|human|gold",
    help="Compare only with people, with the labels, or with one rater (default: people, labels).",
)
@common.resample_options(0)
@db_option
@json_option
def metrics(
    source: str, reference: str | None, bootstrap: int, seed: int, db: Path | None, as_json: bool
) -> None:
    """Agreement and accuracy of raters, judges and panel; calls nobody.

    SOURCE is a run's number, or a folder in the common layout.
    """
    from core.cli import reports_as_text
    from core.services.agreement import metrics_report

    with common.plain_errors(as_json):
        report = metrics_report.metrics_source(
            lambda: open_to_read(db), source, reference, bootstrap, seed, common.note
        )
        common.report(report, reports_as_text.metrics_as_text, as_json)


@click.command()
@click.argument("run")
@click.option(
    "--edit",
    "edits",
    multiple=True,
    metavar="NAME",
    help="longer, shorter, confident, authority, markdown, typo, name, order or injection, all of "
    "these when absent; or longer-written, shorter-written, confident-written, with --writer. May "
    "be given several times.",
)
@click.option(
    "--answers",
    type=click.IntRange(1, 2000),
    default=100,
    show_default=True,
    help="How many of the run's answers are drawn.",
)
@click.option("--judge", "judges", multiple=True, metavar="NAME", help="Only these of its judges.")
@click.option("--writer", metavar="NAME", help="The judge whose model writes what no rule can.")
@click.option("--seed", type=int, default=0, show_default=True, help="Decides which are drawn.")
@click.option("--budget", type=click.FloatRange(0, min_open=True), metavar="USD")
@click.option("--estimate", "only_estimate", is_flag=True, help="Only print calls and cost.")
@click.option("--last", is_flag=True, help="What the newest probe of RUN found; calls nobody.")
@db_option
@json_option
def probe(
    run: str,
    db: Path | None,
    as_json: bool,
    only_estimate: bool,
    last: bool,
    writer: str | None,
    **options: Any,
) -> None:
    """Does length, tone or looks move the judges of RUN? Asks them again on edited twins.

    Some of its answers are asked twice as they were and once under each edit, which deserves no
    other answer; nothing of it enters the run. RUN is a number of `runs`.

    Exit status: 0 everything was asked, 1 something is missing, 2 the input is wrong.
    """
    from core.services.comparison.run_comparison import run_number
    from core.services.diagnostics import probes

    with common.plain_errors(as_json):
        number = run_number(run)
        if last:
            store = open_to_read(db)
            _say_found(store, _newest(store, number), as_json)
            return
        with open_to_plan(db, only_estimate) as store:
            names = {name: options[name] or None for name in ("edits", "judges")}
            chosen = {name: value for name, value in {**options, **names}.items() if value}
            request = probes.ProbeRequest(number, **chosen)
            outlook = probes.estimate(store, request)
            if only_estimate:
                common.report(_cost(outlook), lambda _: _in_words(outlook), as_json)
                return
            common.say(_in_words(outlook))
            if writer is not None:
                request = _written(store, request, writer)
            sys.exit(_asked(store, probes.start(store, request), as_json))


def _written(store: Store, request: ProbeRequest, writer: str) -> ProbeRequest:
    """The request with what a model wrote for it; what it takes is said first."""
    from core.errors import InputError
    from core.services.assist import help_tasks, written_twins
    from core.services.judges import registry

    judge = registry.get_judge(store, writer).judge
    wish = written_twins.TwinsRequest(judge, request, request.budget)
    outlook = written_twins.estimate(store, wish)
    common.say(f"to be written first: {outlook.calls:,} calls, {_priced(outlook.cost)}")
    begun = written_twins.begin(store, wish)
    while (task := help_tasks.wait(store, begun)).active:
        pass
    if task.status != "done":
        raise InputError(f"Writing ended as {task.status}. {task.message}".strip())
    return replace(written_twins.probe_of(store, task), budget=request.budget)


def _newest(store: Store, run: int) -> int:
    from core.errors import NotFound
    from core.services.diagnostics import probes

    made = probes.of_run(store, run)
    if not made:
        raise NotFound(f"Run {run} has no probes yet. Leave --last away to ask its judges.")
    return made[0].id


def _asked(store: Store, probe_id: int, as_json: bool) -> int:
    """Works the probe off and says what it found; the exit status."""
    from core.services.runs import lifecycle

    _follow(store, probe_id)
    _say_found(store, probe_id, as_json)
    ended = lifecycle.summary(store, probe_id)
    return common.DONE if ended["complete"] else common.NOT_ALL


def _say_found(store: Store, probe_id: int, as_json: bool) -> None:
    from core.services.diagnostics import probe_results

    found = probe_results.result(store, probe_id)
    common.report(probe_results.as_data(found), lambda _: probe_results.as_text(found), as_json)


def _cost(found: CostEstimate) -> dict[str, Any]:
    return {"texts": found.items, "calls": found.calls, "cost_usd": found.cost}


def _in_words(found: CostEstimate) -> str:
    return f"{found.items:,} texts, {found.calls:,} calls, {_priced(found.cost)}"


def _priced(cost: float | None) -> str:
    return "cost unknown" if cost is None else f"about ${cost:.4f}"
