"""Systems that answered different tasks: ranked by the mean of their judges' scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from core.services import numbers as fmt
from pages.grade._contests.board import NAMED
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import table


def show(report: Mapping[str, Any]) -> None:
    """The standings as ``rank`` gives them, what limits them, and how every judge sees them."""
    for note in report["notes"]:
        st.caption(label(note))
    standings = sorted(report["standings"], key=lambda one: (one["rank"] is None, one["rank"]))
    table(
        ("System", "Ranks", "Mean of the judges' scores", "Items"),
        (_row(one) for one in standings),
        name="Systems by their judges' mean score",
        numbers=(1, 2, 3),
    )
    st.caption(
        "An item's score is the mean of what its judges' own answers come to, not that of the "
        "panel's verdicts, whose mean a report gives. Ranks: those that "
        "differences of means larger than chance allow (Welch 1947, corrected for the number of "
        "pairs). Intervals: 95 %, by resampling items."
    )
    order = [one["system"] for one in standings]
    table(
        ("Judge", *(one_line(name, NAMED) for name in order)),
        (
            [esc(judge), *(fmt.score(one["scores"][name]) for name in order)]
            for judge, one in report["judges"].items()
        ),
        name="Mean scores by every judge",
        numbers=range(1, len(order) + 1),
    )


def _row(one: Mapping[str, Any]) -> list[str]:
    score = one["score"]
    if score["value"] is None:
        said = f'undefined<br><span class="rs-quiet rs-wrap">{esc(score["reason"])}</span>'
    else:
        ends = (
            f"{fmt.score(score['ci'][0])} to {fmt.score(score['ci'][1])}"
            if score["ci"]
            else f"no interval: {score['reason']}"
        )
        said = f'{fmt.score(score["value"])}<br><span class="rs-quiet rs-wrap">{esc(ends)}</span>'
    return [
        esc(one_line(one["system"], NAMED)),
        f"<b>{esc(one['range'] or fmt.DASH)}</b>",
        said,
        fmt.count(one["items"]),
    ]
