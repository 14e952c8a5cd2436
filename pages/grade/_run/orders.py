"""How much the order of options decides: every judge's answers in both orders."""

from __future__ import annotations

import streamlit as st

from core.domain.runs import Run
from core.services import flips
from core.services import numbers as fmt
from core.services.flips import FlipRate
from pages.grade._run import filters
from pages.grade._run.filters import ONLY
from pages.grade._run.status import RUN_ACT
from pages.ui import state
from pages.ui.resources import remembered, store
from pages.ui.text import esc
from pages.ui.widgets import empty_state, table, tag


def show(run: Run) -> None:
    """One line per judge that was asked in both orders."""
    about = (run.id, run.votes)
    rates = remembered("flip rates", about, lambda: flips.flip_rates(store(), run.id))
    if not any(one.pairs for one in rates):
        empty_state(
            "No pair of answers yet",
            "Here you will see how often a judge answers otherwise when the same options stand in "
            "the reversed order.",
        )
        return
    table(
        ("Judge", "Answers differ", "Chose the first", "Chose the last", "By chance", "Pull"),
        map(_line, rates),
        name="Answers in both orders",
        numbers=(1, 2, 3, 4, 5),
    )
    items = remembered("items apart", about, lambda: flips.items_apart(store(), run.id))
    if items:
        st.button(
            f"See the {fmt.plural(len(items), 'item')} where answers differ",
            key=state.key(RUN_ACT, "apart"),
            icon=":material/swap_vert:",
            on_click=filters.narrow,
            kwargs={ONLY: "order", state.VIEW: None},
        )
    st.caption(
        "Answers differ: of the pairs of answers to the same question in both orders, the share "
        "that is not the same, with its 95 % interval (Wilson 1927). A judge that does not care "
        "for the order still differs now and then, where it is unsure; asking it twice in the same "
        "order (replicates) shows how often. Chose the first, the last: of the answers that are no "
        "abstention, the share that went to the option shown there; by chance it would be the "
        "value beside. Pull: of the same answers, the share that went to the first place for its "
        "own sake; 0 is none, below 0 the first place is avoided."
    )


def _line(one: FlipRate) -> list[str]:
    if one.rate is None:
        return [esc(one.judge), "no pair yet", *[fmt.DASH] * 4]
    of = f"{fmt.count(one.differ)} of {fmt.count(one.pairs)}"
    return [
        f"{esc(one.judge)}<br>{_judged(one)}",
        f"{_share(one.rate, one.low, one.high)}<br>{_quiet(of)}",
        fmt.percent(one.first),
        fmt.percent(one.last),
        fmt.percent(one.expected),
        _share(one.pull, one.pull_low, one.pull_high),
    ]


def _share(value: float | None, low: float | None, high: float | None) -> str:
    if value is None or low is None or high is None:
        return fmt.DASH
    return f"{fmt.percent(value)}<br>{_quiet(f'{fmt.percent(low)} to {fmt.percent(high)}')}"


def _judged(one: FlipRate) -> str:
    """Whether the first place draws answers by more than chance would do."""
    if one.pull_low is None or one.pull_high is None:
        return ""
    if one.pull_low > 0:
        return tag("▲ drawn to the first", "warn")
    if one.pull_high < 0:
        return tag("▼ avoids the first", "warn")
    return tag("≈ no clear pull", "good")


def _quiet(words: str) -> str:
    return f'<span class="rs-quiet">{esc(words)}</span>'
