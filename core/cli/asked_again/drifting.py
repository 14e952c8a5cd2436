"""The command `drift`: the same questions to the same judges, repeated over weeks."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from core.cli import common
from core.cli.asked_again.outlook import budget_option, print_outlook
from core.cli.common import db_option, json_option, open_to_plan
from core.cli.measuring import follow


@click.command()
@click.argument("run")
@click.option("--ask", is_flag=True, help="Ask its judges the same again first.")
@click.option("--estimate", "only_estimate", is_flag=True, help="Only print what --ask will take.")
@budget_option
@db_option
@json_option
def drift(
    run: str, ask: bool, only_estimate: bool, budget: float | None, db: Path | None, as_json: bool
) -> None:
    """Check whether the judges of RUN have drifted.

    Suits a schedule or CI.

    RUN is the anchor. With --ask, the same judges answer its questions again today. Every
    repetition is compared with the first, within control limits that hold for any number of
    repetitions.

    Exit status: 0 nothing has drifted, 1 a judge has drifted or left questions unanswered, 2 wrong
    input.
    """
    from core.services.comparison.run_comparison import run_number
    from core.services.gate import drift as anchors
    from core.services.runs import lifecycle

    with common.plain_errors(as_json), open_to_plan(db, only_estimate or not ask) as store:
        number, complete = run_number(run), True
        if ask or only_estimate:
            outlook = anchors.estimate(store, number)
            print_outlook(outlook, "items", without_run=only_estimate, as_json=as_json)
            if only_estimate:
                return
            repeat = anchors.ask(store, number, budget)
            follow(store, repeat)
            complete = bool(lifecycle.run_summary(store, repeat)["complete"])
        result = anchors.drift(store, number)
        common.print_result(anchors.as_data(result), lambda _: anchors.as_text(result), as_json)
        sys.exit(common.DONE if complete and not result.alerts else common.NOT_ALL)
