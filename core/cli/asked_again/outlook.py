"""What asking a run's judges again will take: the options that say how much, and the words."""

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


def say_outlook(found: CostEstimate, texts: str, *, alone: bool, as_json: bool) -> None:
    """Says what asking will take; as the result where that ``alone`` is wanted.

    ``texts`` is what is counted: answers, items, or texts.
    """
    said = f"{found.items:,} {texts}, {found.calls:,} calls, {price(found.cost)}"
    if alone:
        data = {texts: found.items, "calls": found.calls, "cost_usd": found.cost}
        common.report(data, lambda _: said, as_json)
    else:
        common.say(said)


def price(cost: float | None) -> str:
    """A cost that is foreseen, in words."""
    return "cost unknown" if cost is None else f"about ${cost:.4f}"
