"""How each metric changed between two runs, and overall accuracy against cost."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from core import figures as draw
from core.services.comparison import comparison_blocks as blocks
from core.services.comparison import costs
from core.services.comparison.comparison_blocks import FIGURES
from core.services.comparison.run_comparison import RunComparison
from pages.compare import selection as keys
from pages.compare.selection import ComparedRuns
from pages.ui import state
from pages.ui.blocks import drawn
from pages.ui.resources import remembered, store
from pages.ui.text import label
from pages.ui.widgets import choose_one, chosen_confidence, interval_choice


def show(comparison: RunComparison) -> None:
    """Draw the chosen figure of both runs by criterion, with the difference as a bar."""
    chosen = state.address_in(keys.FIGURE, FIGURES) or "accuracy"
    key = state.key(keys.COMPARE_FIELD, keys.FIGURE)
    state.put(key, chosen)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        choose_one("Figure", FIGURES, key=key, on_change=_on_figure, args=(key,))
        st.space("stretch")
        table = blocks.difference_table(comparison, chosen)
        with st.popover("What these figures are", icon=":material/help:", type="tertiary"):
            overall = (
                f"{name}; {words.below}." for name, words in blocks.overall_figures(comparison).rows
            )
            for text in (*blocks.opening_sentences(comparison), *overall, table.note):
                st.caption(label(text, 2_000))
            drawn.show_block(None, blocks.interval_sentences(comparison), "intervals")
        interval_choice()
    drawn.show_block(None, replace(table, note=""), chosen, titled=True)


def _on_figure(key: str) -> None:
    state.set_address(**{keys.FIGURE: state.get(key)})


def accuracy_and_cost(chosen: ComparedRuns) -> None:
    """Draw the plot if two costs are known, and the table of all runs."""
    ids = tuple(chosen.runs)
    points = remembered(
        "accuracy and cost",
        (*chosen.content_stamp, *chosen_confidence()),
        lambda: costs.cost_points(store(), ids, confidence=chosen_confidence(), pair=chosen.paired),
    )
    priced = {
        f"run {point.run_id}": (point.per_thousand, point.accuracy)
        for point in points
        if point.per_thousand is not None and point.accuracy.value is not None
    }
    efficient = {f"run {point.run_id}" for point in points if point.efficient} & priced.keys()
    if len(priced) > 1:
        st.plotly_chart(
            draw.frontier(priced, efficient),
            key=state.key(keys.COMPARE_FIELD, "frontier"),
            config={"displayModeBar": False},
            alt="Accuracy against cost per 1,000 items, a mark per run; efficient runs are filled "
            "diamonds. The table below has its numbers.",
        )
    else:
        st.caption("A plot needs two runs whose accuracy and cost are known.")
    drawn.show_block(
        None, blocks.cost_table(points, chosen_confidence().level), "cost", titled=True
    )
