"""Commands that measure: metrics, compare, contest, rank, cascade."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from core.cli import common
from core.cli.common import FiniteRange, db_option, json_option, open_to_plan, open_to_read
from core.cli.runs import trust_option

if TYPE_CHECKING:
    from core.metrics.estimate import IntervalChoice
    from core.services.pairwise.contests import ContestRequest
    from core.store.store import Store


@click.command()
@click.argument("run_a")
@click.argument("run_b")
@common.resample_options(1000)
@common.level_option
@common.interval_option
@db_option
@json_option
def compare(
    run_a: str,
    run_b: str,
    bootstrap: int,
    seed: int,
    level: float,
    method: IntervalChoice,
    db: Path | None,
    as_json: bool,
) -> None:
    """Compare two runs on the items of both.

    Says what changed, which verdicts flipped, and how accuracy, kappa, agreement, mean score and
    cost moved from RUN_A to RUN_B (numbers of `runs`). Imported votes are runs, too.
    """
    from core.blocks.terminal import terminal_text
    from core.metrics.estimate import Confidence
    from core.services.comparison import run_comparison
    from core.services.comparison.comparison_blocks import comparison_sections
    from core.services.review import corrected_estimates

    confidence = Confidence(level, method)
    with common.plain_errors(as_json):
        pair = run_comparison.run_number(run_a), run_comparison.run_number(run_b)
        store = open_to_read(db)
        result = run_comparison.compare_runs(
            store, *pair, bootstrap=bootstrap, seed=seed, confidence=confidence
        )
        for run_id in pair:
            review = corrected_estimates.selection_of(store, run_id, level)
            if review is not None:
                common.print_note(f"run {run_id}: {corrected_estimates.selection_warning(review)}")
        if as_json:
            common.print_json(run_comparison.comparison_data(result))
        else:
            common.print_text(terminal_text(comparison_sections(result)))


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
@common.address_option
@click.option("--key-env", default="", metavar="NAME", help="Environment variable of the key.")
@click.option("--mode", type=click.Choice(["criterion", "rubric", "two_step"]))
@click.option("--cache/--no-cache", default=None, help="Use answers kept from earlier runs.")
@click.option("--seed", type=int, help="Decides who meets and who is shown first.")
@click.option("--replicates", type=click.IntRange(1, 100), default=1, show_default=True)
@click.option("--concurrency", type=click.IntRange(1, 1024), help="Calls in flight per judge.")
@click.option("--budget", type=FiniteRange(0, min_open=True), metavar="USD")
@click.option("--name", default="", help="Name of the run.")
@click.option("--estimate", "only_estimate", is_flag=True, help="Only print calls and cost.")
@trust_option
@db_option
@json_option
def contest(
    db: Path | None,
    as_json: bool,
    only_estimate: bool,
    trust: bool,
    rounds: int,
    per_round: int,
    **options: Any,
) -> None:
    """Ask which of two answers is better, in both orders.

    DATASETS is one file whose items name their system and share prompts, or one file per system
    whose items share ids. They come before --systems.
    """
    from core.cli import contest_requests
    from core.services.access.permits import allow_sendings
    from core.services.access.providers import require_allowed

    with common.plain_errors(as_json), open_to_plan(db, only_estimate) as store:
        design = _take_design(options)
        request, notices = contest_requests.contest_from_files(store, design=design, **options)
        for notice in notices:
            common.print_message(f"note: {notice}")
        further = rounds - 1 if design["kind"] == "adaptive" else 0
        figures = contest_requests.contest_estimate_figures(store, request, further, per_round)
        if only_estimate:
            _print_estimate(figures, as_json)
            return
        judges, panel = request.panel.judges, options["panel"]
        if trust or panel is None:
            allow_sendings(judges)
        require_allowed(judges, source=str(panel or ""))
        common.print_message(contest_requests.estimate_line(figures))
        _run_contest(store, request, further, per_round, as_json)


@click.command()
@click.argument("source")
@click.option("--join", "by", metavar="KEY", help="Key of the items' meta to join by.")
@click.option(
    "--include-related",
    is_flag=True,
    help="Count a judge's scores for its own and its family's answers, too.",
)
@common.resample_options(1000)
@common.level_option
@db_option
@json_option
def rank(
    source: str,
    by: str | None,
    include_related: bool,
    bootstrap: int,
    seed: int,
    level: float,
    db: Path | None,
    as_json: bool,
) -> None:
    """Rank the systems of SOURCE from existing votes.

    SOURCE is a contest run, a run that graded several systems' answers, or a folder in the common
    layout.
    """
    from core.blocks.terminal import terminal_text
    from core.services.pairwise.pointwise_ranks import EXCLUDED
    from core.services.reports import rank_report

    with common.plain_errors(as_json):
        report, sections = rank_report.rank_answers(
            lambda: open_to_read(db),
            source,
            note_key=by,
            exclude=() if include_related else EXCLUDED,
            seed=seed,
            resamples=bootstrap,
            level=level,
        )
        common.print_result(report, lambda _: terminal_text(sections), as_json)


def _take_design(options: dict[str, Any]) -> dict[str, Any]:
    """Remove the options of the design from ``options`` and return them."""
    same = ("baseline", "per_task", "both_bad", "disagreement", "summaries")
    return {
        "kind": options.pop("design"),
        "orders": "one" if options.pop("one_order") else "both",
        "ties": not options.pop("no_ties"),
        **{name: options.pop(name) for name in same},
    }


def _run_contest(
    store: Store, request: ContestRequest, further: int, per_round: int, as_json: bool
) -> None:
    """Work through the contest, in rounds if it is adaptive, and report how it ended."""
    from core.blocks.terminal import terminal_text
    from core.cli import requests_from_files
    from core.services.pairwise import contests, leaderboard
    from core.services.reports import rank_report
    from core.services.runs import lifecycle

    runs: list[int] = []
    following: ContestRequest | None = request
    while following is not None:
        runs.append(contests.start(store, following))
        follow(store, runs[-1])
        finished = lifecycle.run_summary(store, runs[-1])["status"] == "done"
        is_finished = finished and len(runs) <= further
        following = leaderboard.next_round(store, runs, per_round) if is_finished else None
    ended = [lifecycle.run_summary(store, run) for run in runs]
    report, sections = rank_report.contest_report(store, runs)
    if as_json:
        common.print_json({**ended[-1], "rounds": ended, "ranking": report})
    else:
        for figures in ended:
            common.print_text(requests_from_files.summary_as_text(figures))
        common.print_text(terminal_text(sections))
    complete = all(f["status"] == "done" and not f["failures"] for f in ended)
    sys.exit(common.DONE if complete else common.NOT_ALL)


def follow(store: Store, run_id: int) -> None:
    """Work through a run with a progress bar, or watch the process that works on it."""
    from core.cli import requests_from_files
    from core.services.runs import runner

    bar = common.ProgressBar()
    runner.follow(store, run_id, lambda look: bar.show(requests_from_files.progress_line(look)))
    bar.end()


def _print_estimate(figures: dict[str, Any], as_json: bool) -> None:
    from core.cli import contest_requests

    if as_json:
        common.print_json(figures)
    else:
        common.print_text(contest_requests.estimate_line(figures))


@click.command()
@click.argument("run")
@click.option(
    "--first",
    multiple=True,
    metavar="NAME",
    help="A judge of the first stage; may be given several times. Its first judge when absent.",
)
@click.option(
    "--tolerance",
    type=FiniteRange(0, 1),
    default=0.01,
    show_default=True,
    help="How much less often right a cheaper threshold may be than the best.",
)
@db_option
@json_option
def cascade(
    run: str, first: tuple[str, ...], tolerance: float, db: Path | None, as_json: bool
) -> None:
    """Find the confidence at which one judge may decide alone.

    Replays a cascade on existing votes and labels, at every threshold: how many answers go on to
    the other judges, how many are right, what it costs. RUN is a number of `runs`.
    """
    from core.services.comparison import cascade_sweep
    from core.services.comparison.run_comparison import run_number

    with common.plain_errors(as_json):
        result = cascade_sweep.sweep_cascade(
            open_to_read(db), run_number(run), first, tolerance=tolerance
        )
        data = cascade_sweep.sweep_data(result)
        common.print_result(data, lambda _: cascade_sweep.sweep_words(result), as_json)


@click.command()
@click.argument("source")
@click.option(
    "--reference",
    metavar="RATER|human|gold",
    help="Compare only with people, with the labels, or with one rater (default: people, labels).",
)
@common.resample_options(0)
@common.level_option
@common.interval_option
@db_option
@json_option
def metrics(
    source: str,
    reference: str | None,
    bootstrap: int,
    seed: int,
    level: float,
    method: IntervalChoice,
    db: Path | None,
    as_json: bool,
) -> None:
    """Measure agreement and accuracy of raters and panel.

    SOURCE is a run's number, or a folder in the common layout.
    """
    from core.cli import reports_as_text
    from core.metrics.estimate import Confidence
    from core.services.agreement import metrics_report

    with common.plain_errors(as_json):
        arguments = (
            source,
            reference,
            bootstrap,
            seed,
            common.print_note,
            Confidence(level, method),
        )
        report = metrics_report.metrics_source(lambda: open_to_read(db), *arguments)
        common.print_result(report, reports_as_text.metrics_as_text, as_json)
