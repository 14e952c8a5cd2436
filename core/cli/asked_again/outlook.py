"""The cost of repeating a run's questions: its command line options, and its text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from core.cli import common
from core.cli.common import FiniteRange

if TYPE_CHECKING:
    from core.services.runs.cost_estimate import CostEstimate


answers_option = click.option(
    "--answers",
    type=click.IntRange(1, 2000),
    default=100,
    show_default=True,
    help="How many of the run's answers are drawn.",
)
seed_option = click.option(
    "--seed", type=int, default=0, show_default=True, help="Decides which are drawn."
)
budget_option = click.option("--budget", type=FiniteRange(0, min_open=True), metavar="USD")
estimate_option = click.option(
    "--estimate", "only_estimate", is_flag=True, help="Only print calls and cost."
)


def print_outlook(expected: CostEstimate, texts: str, *, without_run: bool, as_json: bool) -> None:
    """Print the expected cost, as the result if only the estimate is wanted (``without_run``).

    ``texts`` names the counted things: answers, items, or texts.
    """
    text = f"{expected.items:,} {texts}, {expected.calls:,} calls, {price_text(expected.cost)}"
    if without_run:
        data = {texts: expected.items, "calls": expected.calls, "cost_usd": expected.cost}
        common.print_result(data, lambda _: text, as_json)
    else:
        common.print_message(text)


def price_text(cost: float | None) -> str:
    """Return an expected cost in words."""
    return "cost unknown" if cost is None else f"about ${cost:.4f}"
