"""Commands that measure: metrics."""

from __future__ import annotations

from pathlib import Path

import click

from core.cli import output
from core.cli.common import db_option, open_to_read


@click.command()
@click.argument("source")
@click.option(
    "--reference",
    metavar="RATER|human|gold",
    help="Compare only with people, with the labels, or with one rater (default: people, labels).",
)
@click.option(
    "--bootstrap",
    type=click.IntRange(0, 1_000_000),
    default=0,
    show_default=True,
    metavar="N",
    help="Resamples of the items for 95 % intervals; 0 for none.",
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Decides the resamples."
)
@db_option
@click.option("--json", "as_json", is_flag=True, help="Result as JSON on stdout.")
def metrics(
    source: str, reference: str | None, bootstrap: int, seed: int, db: Path | None, as_json: bool
) -> None:
    """Agreement and accuracy of raters, judges and panel; calls nobody.

    SOURCE is a run's number, or a folder in the common layout.
    """
    from core.services import measuring, measuring_text

    with output.plain_errors(as_json):
        report = measuring.metrics_source(
            lambda: open_to_read(db), source, reference, bootstrap, seed, output.note
        )
        if as_json:
            output.result(report)
        else:
            click.echo(measuring_text.as_text(report))
