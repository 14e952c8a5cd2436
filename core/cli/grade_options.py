"""The options of `grade`, in the order of its help."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

#: The options that say how models are asked (fields of ``Asking``).
ASKING = ("few_shot", "mode", "layout", "flip", "balanced", "cache")

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
    click.option("--panel", type=click.Path(path_type=Path), help="Panel file (YAML or JSON)."),
    click.option(
        "--judge",
        "judges",
        multiple=True,
        metavar="MODEL",
        help="A model name, or 'offline' for the offline panel. May be given several times.",
    ),
    click.option("--api-base", default="", help="Address of an OpenAI-compatible server."),
    click.option(
        "--key-env",
        default="",
        metavar="NAME",
        help="Name of the environment variable that holds the key.",
    ),
    click.option("--seed", type=int, help="Decides orders and splits; drawn when absent."),
    click.option(
        "--replicates",
        type=click.IntRange(1, 100),
        default=1,
        show_default=True,
        help="How often each judge is asked about each cell.",
    ),
    click.option("--concurrency", type=click.IntRange(1, 1024), help="Calls in flight per judge."),
    click.option(
        "--budget",
        type=click.FloatRange(0, min_open=True),
        metavar="USD",
        help="Stop when this much is spent.",
    ),
    click.option(
        "--label-share",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        default=0.2,
        show_default=True,
        help="Share of labelled items that offline judges learn from.",
    ),
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
    click.option(
        "--cache/--no-cache",
        default=None,
        help="Use answers kept from the same requests of earlier runs.",
    ),
]


def grade_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
