"""The command that compares two runs."""

from __future__ import annotations

from pathlib import Path

import click

from core.cli import output
from core.cli.common import db_option, open_to_read


@click.command()
@click.argument("run_a")
@click.argument("run_b")
@click.option(
    "--bootstrap",
    type=click.IntRange(0, 1_000_000),
    default=1000,
    show_default=True,
    metavar="N",
    help="Resamples of the items for 95 % intervals; 0 for none.",
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Decides the resamples."
)
@db_option
@click.option("--json", "as_json", is_flag=True, help="Result as JSON on stdout.")
def compare(
    run_a: str, run_b: str, bootstrap: int, seed: int, db: Path | None, as_json: bool
) -> None:
    """Compare two runs on the items of both; calls nobody.

    Says what changed, which verdicts flipped, and how far accuracy, kappa, agreement, mean score
    and cost moved from RUN_A to RUN_B (numbers of `runs`). Imported votes are runs, too.
    """
    from core.services import comparing, comparing_text, selected

    with output.plain_errors(as_json):
        pair = comparing.run_number(run_a), comparing.run_number(run_b)
        store = open_to_read(db)
        found = comparing.compare_runs(store, *pair, bootstrap=bootstrap, seed=seed)
        for run_id in pair:
            review = selected.selected(store, run_id)
            if review is not None:
                output.note(f"run {run_id}: {selected.in_words(review)}")
        if as_json:
            output.result(comparing.as_json(found))
        else:
            click.echo(comparing_text.as_text(found))
