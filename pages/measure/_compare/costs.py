"""Accuracy against cost over all chosen runs, with the efficient ones marked."""

from __future__ import annotations

import streamlit as st

from core import figures as draw
from core.services import comparing_costs
from core.services import numbers as fmt
from core.services.comparing_costs import Point
from pages.measure._compare.choosing import Chosen
from pages.ui import compare_keys as keys
from pages.ui import state
from pages.ui.resources import remembered, store
from pages.ui.text import esc
from pages.ui.widgets import table, tag


def show(chosen: Chosen) -> None:
    """The plot where two costs are known, and the table of all runs."""
    ids = tuple(chosen.runs)
    found = remembered(
        "accuracy and cost",
        chosen.about,
        lambda: comparing_costs.points(store(), ids, pair=chosen.paired),
    )
    priced = [
        draw.Priced(
            f"run {one.run_id}",
            one.per_thousand,
            one.accuracy.value,
            one.accuracy.low,
            one.accuracy.high,
            bool(one.efficient),
        )
        for one in found
        if one.per_thousand is not None and one.accuracy.value is not None
    ]
    if len(priced) > 1:
        st.plotly_chart(
            draw.frontier(priced),
            key=state.key(keys.COMPARE_FIELD, "frontier"),
            config={"displayModeBar": False},
            alt="Accuracy against cost per 1,000 items, a mark per run; efficient runs are filled "
            "diamonds. The table below has its numbers.",
        )
    else:
        st.caption("A plot needs two runs whose accuracy and cost are known.")
    table(
        ("Run", "Accuracy", "Cells decided", "Per 1,000 items", "Paid now", "Saved", "Calls", ""),
        map(_row, found),
        name="Accuracy and cost of the runs",
        numbers=(1, 2, 3, 4, 5, 6),
    )
    st.caption(
        "Efficient: no other run is at least as accurate for no more money. Cost per 1,000 items "
        "is what was paid now and, for answers kept from earlier runs (saved), what they cost "
        "then: what the run would cost from nothing. Accuracy: over the labelled cells of all "
        "criteria that every run graded, abstentions left out; 95 % intervals by resampling items."
    )


def _row(one: Point) -> list[str]:
    value = one.accuracy
    ends = (
        f"{fmt.percent(value.low)} to {fmt.percent(value.high)}"
        if value.low is not None
        else esc(f"no interval: {value.reason}")
    )
    accuracy = f'{fmt.percent(value.value)}<br><span class="rs-quiet rs-wrap">{ends}</span>'
    if value.value is None:
        accuracy = f'undefined<br><span class="rs-quiet rs-wrap">{esc(value.reason)}</span>'
    cost = fmt.cost(one.per_thousand)
    if one.spent.reason:
        cost += f'<br><span class="rs-quiet rs-wrap">{esc(one.spent.reason)}</span>'
    return [
        f"{one.run_id}: {esc(one.name)}",
        accuracy,
        f"{fmt.count(one.decided)} of {fmt.count(one.labelled)}",
        cost,
        fmt.cost(one.spent.now),
        fmt.cost(one.spent.saved) if one.spent.cached else fmt.DASH,
        fmt.count(one.spent.calls),
        tag("◆ efficient", "good") if one.efficient else "",
    ]
