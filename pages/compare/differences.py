"""How far every figure moved between two runs, and accuracy against cost over all."""

from __future__ import annotations

import streamlit as st

from core import figures as draw
from core.scoring.explanation import ungraded_sides
from core.services.comparison import comparison_blocks as blocks
from core.services.comparison import costs
from core.services.comparison.comparison_blocks import FIGURES
from core.services.comparison.differences import Delta
from core.services.comparison.run_comparison import RunComparison
from core.text.numbers import points
from pages.compare import selection as keys
from pages.compare.selection import ComparedRuns
from pages.ui import state
from pages.ui.blocks import drawn
from pages.ui.resources import remembered, store
from pages.ui.text import label, one_line
from pages.ui.widgets import confidence, one_of


def show(found: RunComparison) -> None:
    """Overall figures, then a forest plot of the chosen figure over the criteria."""
    drawn.show(None, blocks.overall(found), "overall")
    if lacking := ungraded_sides(found.ungraded):
        st.caption(label("; ".join(lacking)))
    chosen = state.address_in(keys.FIGURE, FIGURES) or "accuracy"
    key = state.key(keys.COMPARE_FIELD, keys.FIGURE)
    state.put(key, chosen)
    one_of("Figure", FIGURES, key=key, on_change=_on_figure, args=(key,))
    _forest(found, chosen)


def _on_figure(key: str) -> None:
    state.set_address(**{keys.FIGURE: state.get(key)})


def _forest(found: RunComparison, name: str) -> None:
    share = name == "accuracy"
    rows = [_gap(row, delta, share) for row, delta in blocks.figure_rows(found, name)]
    st.plotly_chart(
        draw.differences(rows, _axis(name), share=share),
        key=state.key(keys.COMPARE_FIELD, "forest", name),
        config={"displayModeBar": False},
        alt=f"{FIGURES[name]}: how far B lies above A, with intervals, a row per criterion. "
        "The table below has its numbers.",
    )
    drawn.show(None, blocks.difference_table(found, name), name, titled=True)
    drawn.show(None, blocks.intervals(found), "intervals")


def _axis(name: str) -> str:
    return f"{FIGURES[name]}, B minus A (right: higher in B)"


def _gap(name: str, delta: Delta, share: bool) -> draw.DifferenceDot:
    value, low, high, *_ = delta.difference
    said = f"{one_line(name, 60)}: {points(value, share=share)}, {delta.n} items"
    said += ", significant" if delta.significant else ", not significant"
    return draw.DifferenceDot(name, value, low, high, said, delta.significant)


def accuracy_and_cost(chosen: ComparedRuns) -> None:
    """The plot where two costs are known, and the table of all runs."""
    ids = tuple(chosen.runs)
    found = remembered(
        "accuracy and cost",
        (*chosen.about, *confidence()),
        lambda: costs.points(store(), ids, how=confidence(), pair=chosen.paired),
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
    drawn.show(None, blocks.cost_table(found, confidence().level), "cost", titled=True)
