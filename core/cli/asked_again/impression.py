"""The command `impression`: one overall mark next to the rubric's score."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from core.cli import common
from core.cli.asked_again.outlook import (
    answers_option,
    budget_option,
    estimate_option,
    print_outlook,
    seed_option,
)
from core.cli.common import db_option, json_option, open_to_plan
from core.cli.measuring import follow


@click.command()
@click.argument("run")
@answers_option
@seed_option
@budget_option
@estimate_option
@click.option("--last", is_flag=True, help="What was found last; calls nobody.")
@db_option
@json_option
def impression(
    run: str,
    answers: int,
    seed: int,
    budget: float | None,
    only_estimate: bool,
    last: bool,
    db: Path | None,
    as_json: bool,
) -> None:
    """Compare the rubric of RUN with one overall mark.

    Asks its models for one overall mark of each answer as well.

    Shows both scores, and for each the share of variance between answers.

    Exit status: 0 everything was asked, 1 something is missing, 2 the input is wrong.
    """
    from core.errors import NotFound
    from core.services.comparison import one_impression
    from core.services.comparison.run_comparison import run_number
    from core.services.runs import lifecycle

    with common.plain_errors(as_json), open_to_plan(db, only_estimate or last) as store:
        number = run_number(run)
        if last:
            newest = one_impression.latest(store, number)
            if newest is None:
                raise NotFound(f"Run {number} was not asked so yet. Leave --last away to ask.")
            task = newest.id
        else:
            outlook = one_impression.estimate(store, number, answers, seed)
            print_outlook(outlook, "answers", without_run=only_estimate, as_json=as_json)
            if only_estimate:
                return
            task = one_impression.start(store, number, answers, seed, budget)
            follow(store, task)
        impressions = one_impression.result(store, task)
        data = one_impression.impression_data(impressions)
        common.print_result(data, lambda _: one_impression.impression_words(impressions), as_json)
        sys.exit(common.DONE if lifecycle.run_summary(store, task)["complete"] else common.NOT_ALL)
