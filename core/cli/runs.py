"""Commands about runs: grade, resume, retry, runs, show, score."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from core.cli import common
from core.cli.common import cluster_option, db_option, json_option, open_to_plan, open_to_read

if TYPE_CHECKING:
    from core.cli.rescore import RaterGroup
    from core.store.store import Store


# The options of `grade`, in the order of its help.

#: The options for calling models (fields of ``Asking``).
ASKING = ("few_shot", "mode", "style", "layout", "flip", "balanced", "cache")
#: The options that apply to every judge (fields of ``Judge``).
LIMITS = ("timeout", "max_tokens", "temperature", "logprobs")

_OPTIONS = [
    click.argument("rubric", type=click.Path(path_type=Path)),
    click.argument("dataset", type=click.Path(path_type=Path)),
    click.option(
        "--map",
        "changes",
        multiple=True,
        metavar="FIELD=COLUMN",
        help="Says which column of DATASET is what, e.g. submission=messages[-1].content.",
    ),
    click.option(
        "--map-label",
        "words",
        multiple=True,
        metavar="[CRITERION:]THEIRS=OURS",
        help="Says which option of RUBRIC a word for a label is, e.g. tone:kind=MET.",
    ),
    common.sheet_option,
    click.option("--panel", type=click.Path(path_type=Path), help="Panel file (YAML or JSON)."),
    click.option(
        "--judge",
        "judges",
        multiple=True,
        metavar="MODEL",
        help="A model, file:PATH.gguf, or 'offline' for the offline panel. May be repeated.",
    ),
    common.address_option,
    click.option(
        "--key-env",
        default="",
        metavar="NAME",
        help="Name of the environment variable that holds the key.",
    ),
    click.option("--seed", type=int, help="Decides orders and splits; drawn when absent."),
    click.option("--replicates", type=click.IntRange(1, 100), default=1, show_default=True,
                 help="How often each judge is asked about each cell."),
    click.option("--concurrency", type=click.IntRange(1, 1024), help="Calls in flight per judge."),
    click.option("--timeout", type=common.FiniteRange(0, 3600, min_open=True), metavar="SECONDS",
                 help="How long a call may take (default: 60)."),
    click.option("--max-tokens", type=click.IntRange(1), help="Most tokens of a model's answer."),
    click.option("--temperature", type=common.FiniteRange(0, 2), help="Temperature of models."),
    click.option("--logprobs", is_flag=True, help="Ask models for the chances of their options."),
    click.option("--budget", type=common.FiniteRange(0, min_open=True), metavar="USD",
                 help="Stop when this much is spent."),
    click.option("--label-share", type=common.FiniteRange(0, 1, min_open=True, max_open=True),
                 default=0.2, show_default=True,
                 help="Share of labelled items that offline judges learn from."),
    click.option("--name", default="", help="Name of the run."),
    click.option(
        "--estimate", "only_estimate", is_flag=True, help="Only print calls, tokens and cost."
    ),
    click.option(
        "--few-shot",
        type=click.IntRange(0, 20),
        metavar="K",
        help="Show K labelled examples per criterion: surer judges, longer prompts.",
    ),
    click.option(
        "--mode",
        type=click.Choice(["criterion", "rubric", "two_step"]),
        help="One criterion a call (default), the whole rubric in one (cheapest), or two steps.",
    ),
    click.option(
        "--style",
        type=click.Choice(["full", "brief"]),
        help="All rules (default), or a fifth of the words and no reasons, for small models.",
    ),
    click.option(
        "--layout",
        type=click.Choice(["auto", "item_first", "criterion_first"]),
        help="What calls share comes first, so that the provider's prompt cache hits.",
    ),
    click.option(
        "--flip",
        type=click.Choice(["off", "check", "require"]),
        help="Ask again with the order of options reversed: record it, or require both to agree.",
    ),
    click.option(
        "--balanced/--drawn",
        default=None,
        help="Rotate the orders of options over items and replicates instead of drawing them.",
    ),
    click.option("--cache/--no-cache", default=None, help="Use answers kept from earlier runs."),
    click.option(
        "--batch",
        is_flag=True,
        help="Ask through the provider's batch interface: half the price, answers within a day.",
    ),
]  # fmt: skip


def grade_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


trust_option = click.option(
    "--trust",
    is_flag=True,
    help="Allow the programs among the judges, and which keys go where, on this machine, from now "
    "on (docs/checks.md).",
)


@click.command()
@grade_options
@trust_option
@cluster_option
@db_option
@json_option
def grade(
    rubric: Path, dataset: Path, db: Path | None, as_json: bool, only_estimate: bool, cluster: str,
    trust: bool, **options: Any,
) -> None:  # fmt: skip
    """Grade DATASET with RUBRIC, as a run.

    RUBRIC and DATASET are files, or folders in the common layout; either may be - (stdin).
    """
    from core.cli import requests_from_files
    from core.services.judges.programs import programs_of
    from core.services.runs import lifecycle

    with common.plain_errors(as_json), open_to_plan(db, only_estimate) as store:
        common.require_cluster(cluster)
        asking = {name: options.pop(name) for name in ASKING}
        limits = {name: options.pop(name) for name in LIMITS}
        request, notices, roles = requests_from_files.request_from_files(
            store, rubric, dataset, asking=asking, limits=limits, **options
        )
        for notice in notices:
            common.print_message(f"note: {notice}")
        for remark in requests_from_files.request_warnings(request):
            common.print_note(remark)
        if only_estimate:
            figures = requests_from_files.estimate_figures(store, request)
            figures |= {"roles": [role.data() for role in roles]}
            common.print_result(figures, requests_from_files.estimate_as_text, as_json)
            return
        panel = options["panel"]
        judges, typed = request.panel.judges, panel is None
        programs = programs_of(judges, trust=trust, typed=typed, source=str(panel or ""))
        run_id = lifecycle.start(store, request, programs)
        if twins := requests_from_files.twins_sentence(store, run_id):
            common.print_message(f"note: {twins}")
        _work_or_watch(store, run_id, as_json, programs, cluster)


@click.command()
@click.argument("run", type=int)
@trust_option
@cluster_option
@db_option
@json_option
def resume(run: int, trust: bool, cluster: str, db: Path | None, as_json: bool) -> None:
    """Continue the unfinished part of RUN.

    No finished call is repeated.
    """
    from core.services.judges.programs import programs_of
    from core.services.runs import lifecycle

    with common.plain_errors(as_json):
        common.require_cluster(cluster)
        store = open_to_read(db)
        source = f"run {run} of {store.path}"
        programs = programs_of(store.runs.row(run).panel.judges, trust=trust, source=source)
        lifecycle.resume(store, run, programs)
        _work_or_watch(store, run, as_json, programs, cluster)


@click.command()
@click.argument("run", type=int)
@trust_option
@db_option
@json_option
def cancel(run: int, trust: bool, db: Path | None, as_json: bool) -> None:
    """Stop RUN and keep its finished votes.

    Its batches are cancelled at the provider, too.
    """
    from core.services.access.permits import allow_sendings
    from core.services.access.providers import require_allowed
    from core.services.judges.programs import functions_that_refuse
    from core.services.runs import lifecycle, runner

    with common.plain_errors(as_json):
        store = open_to_read(db)
        if lifecycle.cancel(store, run) == "queued":
            # The provider has this run's batches and no worker has the run: cancel them here.
            judges = store.runs.row(run).panel.judges
            if trust:
                allow_sendings(judges)
            require_allowed(judges, source=f"run {run} of {store.path}")
            common.print_message("Telling the provider.")
            runner.work_here(store, run, functions=functions_that_refuse(judges))
        figures = lifecycle.run_summary(store, run)
        if as_json:
            common.print_json(figures)
        else:
            common.print_text(f"Run {run}: {figures['status']}, {figures['votes']} votes.")


@click.command()
@click.argument("run", type=int)
@trust_option
@cluster_option
@db_option
@json_option
def retry(run: int, trust: bool, cluster: str, db: Path | None, as_json: bool) -> None:
    """Ask RUN's failed cells again."""
    from core.services.judges.programs import programs_of
    from core.services.runs import lifecycle

    with common.plain_errors(as_json):
        common.require_cluster(cluster)
        store = open_to_read(db)
        source = f"run {run} of {store.path}"
        programs = programs_of(store.runs.row(run).panel.judges, trust=trust, source=source)
        count = lifecycle.retry(store, run, programs)
        common.print_message(f"Asking {count} failed cells again.")
        _work_or_watch(store, run, as_json, programs, cluster)


@click.command()
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True)
@db_option
@json_option
def runs(limit: int, db: Path | None, as_json: bool) -> None:
    """List the runs, newest first."""
    from core.services.runs import lifecycle

    with common.plain_errors(as_json):
        rows = lifecycle.newest_runs(open_to_read(db), limit=limit)
        if as_json:
            keys = ("name", "status", "planned", "votes")
            common.print_json(
                {
                    "runs": [
                        {
                            "run": r.id,
                            **{key: getattr(r, key) for key in keys},
                            "status": lifecycle.status_of(r),
                            "failures": r.failures_open,
                            "created": r.created,
                        }
                        for r in rows
                    ]
                }
            )
        elif rows:
            common.print_text(
                common.table(
                    [
                        [
                            str(r.id),
                            lifecycle.shown_status(r),
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
            common.print_message("There are no runs yet. `rubric-studio demo` makes one.")


@click.command()
@click.argument("run", type=int)
@click.argument("item", required=False)
@click.option(
    "--doubt",
    is_flag=True,
    help="List the cells whose calls failed, whose judges disagree (most first) or abstained.",
)
@db_option
@json_option
def show(run: int, item: str | None, doubt: bool, db: Path | None, as_json: bool) -> None:
    """Show RUN, or an ITEM of it with every vote."""
    from core.cli import reports_as_text
    from core.services.results import doubt as in_doubt
    from core.services.runs import lifecycle

    with common.plain_errors(as_json):
        store = open_to_read(db)
        if doubt:
            doubtful = in_doubt.doubt_data(store, run, item)
            if as_json:
                common.print_json(doubtful)
            else:
                common.print_text(in_doubt.doubt_text(doubtful))
            return
        if item is None:
            figures = lifecycle.run_summary(store, run)
            if as_json:
                common.print_json(figures)
            else:
                common.print_text(reports_as_text.run_as_text(store, run))
            return
        if as_json:
            common.print_json(reports_as_text.item_as_data(store, run, item))
        else:
            common.print_text(reports_as_text.item_as_text(store, run, item))


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
    """Compute verdicts and scores from existing votes.

    SOURCE is a run's number, or a folder in the common layout. Settled cells keep their decision.
    """
    from core.cli import rescore

    with common.plain_errors(as_json):
        report = rescore.score_source(
            lambda: open_to_read(db), source, rules, abstain, raters, common.print_note
        )
        common.print_result(report, rescore.scores_as_text, as_json)


def _work_or_watch(store: Store, run_id: int, as_json: bool, programs: Any, cluster: str) -> None:
    """Work through the run, or watch the process that works on it; then report how it ended."""
    from core.cli import requests_from_files
    from core.services.runs import lifecycle, runner

    bar = common.ProgressBar()
    look_at = requests_from_files.progress_line
    try:
        runner.follow(store, run_id, lambda look: bar.show(look_at(look)), programs, cluster)
    except KeyboardInterrupt:
        bar.end()
        if sentence := requests_from_files.batches_note(lifecycle.run_summary(store, run_id)):
            common.print_message(sentence)
        raise
    bar.end()
    figures = lifecycle.run_summary(store, run_id)
    if as_json:
        common.print_json(figures)
    else:
        common.print_text(requests_from_files.summary_as_text(figures))
    complete = figures["status"] == "done" and not figures["failures"]
    sys.exit(common.DONE if complete else common.NOT_ALL)
