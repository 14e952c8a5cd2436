"""How far every figure moved between two runs, and accuracy against cost over all."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core import figures as draw
from core.scoring.explanation import ungraded_sides
from core.services.comparison import costs
from core.services.comparison.costs import Point
from core.services.comparison.differences import LEVEL, Delta
from core.services.comparison.run_comparison import FEW, RunComparison
from core.text import numbers as fmt
from core.text.numbers import points
from pages.compare import selection as keys
from pages.compare.selection import ComparedRuns
from pages.ui import state
from pages.ui.resources import remembered, store
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import (
    LabelledFigure,
    confidence,
    figure_cell,
    figures,
    level_words,
    one_of,
    table,
    tag,
)

FIGURES = {"accuracy": "Accuracy", "kappa": "Kappa", "agreement": "Judges' agreement"}
SAYS = {
    "accuracy": "Accuracy: the share of labelled items on which the verdict is the label. p: "
    "McNemar's exact test on the items that only one of the runs gets right; of all criteria "
    "together, from the resamples, since an item's cells hang together.",
    "kappa": "Kappa: agreement of verdicts and labels beyond chance, with quadratic weights on "
    "ordinal criteria. p: from the resamples.",
    "agreement": "Judges' agreement: Krippendorff's alpha among the judges of each run, ordinal on "
    "ordinal criteria. p: from the resamples.",
}
ALL = "All criteria together"


def show(found: RunComparison) -> None:
    """Overall figures, then a forest plot of the chosen figure over the criteria."""
    spent = found.spent
    figures(
        [
            _overall("Mean score", found.deltas.score),
            _overall("Accuracy", found.deltas.accuracy, share=True),
            LabelledFigure("Calls", f"{fmt.count(spent[0].calls)} → {fmt.count(spent[1].calls)}"),
            LabelledFigure(
                "Cost, paid now", f"{fmt.cost(spent[0].now)} → {fmt.cost(spent[1].now)}"
            ),
        ]
    )
    if lacking := ungraded_sides(found.ungraded):
        st.caption(label("; ".join(lacking)))
    chosen = state.address_in(keys.FIGURE, FIGURES) or "accuracy"
    key = state.key(keys.COMPARE_FIELD, keys.FIGURE)
    state.put(key, chosen)
    one_of("Figure", FIGURES, key=key, on_change=_on_figure, args=(key,))
    _forest(found, chosen)


def _on_figure(key: str) -> None:
    state.set_address(**{keys.FIGURE: state.get(key)})


def _overall(name: str, delta: Delta, *, share: bool = False) -> LabelledFigure:
    said = delta.difference.words(partial(points, share=share))
    if delta.difference.value is None:
        return LabelledFigure(name, said.value, said.why)
    form = fmt.percent if share else fmt.score
    both = f"{form(delta.first.value)} → {form(delta.second.value)}"
    below = f"{level_words()}: {said.ends}" if said.ends else said.why
    return LabelledFigure(f"{name}: {both}", said.value, below)


def _forest(found: RunComparison, name: str) -> None:
    rows: list[tuple[str, Delta]] = [(ALL, found.deltas.accuracy)] if name == "accuracy" else []
    rows += [(one.name, getattr(one, name)) for one in found.deltas.criteria]
    share = name == "accuracy"
    st.plotly_chart(
        draw.differences(
            [_gap(row, delta, share) for row, delta in rows], _axis(name), share=share
        ),
        key=state.key(keys.COMPARE_FIELD, "forest", name),
        config={"displayModeBar": False},
        alt=f"{FIGURES[name]}: how far B lies above A, with intervals, a row per criterion. "
        "The table below has its numbers.",
    )
    table(
        ("Criterion", "Items", "A", "B", "Difference", "p", "p, corrected"),
        (_row(row, delta, share) for row, delta in rows),
        name=f"Differences in {FIGURES[name]}",
        numbers=(1, 2, 3, 4, 5, 6),
    )
    st.caption(
        f"{SAYS[name]} Corrected: for the number of criteria (Holm 1979). Intervals: "
        f"{level_words()}, from "
        f"{fmt.count(found.resamples)} resamples of the items, the same for both runs. Filled: "
        f"corrected p below {fmt.score(LEVEL)}; an interval is of one criterion alone and may "
        "leave out no difference before that."
    )


def _axis(name: str) -> str:
    return f"{FIGURES[name]}, B minus A (right: higher in B)"


def _gap(name: str, delta: Delta, share: bool) -> draw.DifferenceDot:
    value, low, high, *_ = delta.difference
    said = f"{one_line(name, 60)}: {points(value, share=share)}, {delta.n} items"
    said += ", significant" if delta.significant else ", not significant"
    return draw.DifferenceDot(name, value, low, high, said, delta.significant)


def _row(name: str, delta: Delta, share: bool) -> list[str]:
    few = tag("few", "warn") if 0 < delta.n < FEW else ""
    unit = " cells" if name == ALL else ""
    head = [esc(name), f"{fmt.count(delta.n)}{unit} {few}"]
    form = fmt.percent if share else fmt.score
    known = delta.difference.value is not None
    return [
        *head,
        form(delta.first.value),
        form(delta.second.value),
        figure_cell(delta.difference, partial(points, share=share)),
        _p(delta.p.value if known else None),
        _p(delta.p_holm if known else None),
    ]


def _p(value: float | None) -> str:
    return fmt.DASH if value is None else fmt.p_value(value)


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
    table(
        ("Run", "Accuracy", "Cells decided", "Per 1,000 items", "Paid now", "Saved", "Calls", ""),
        map(_cost_row, found),
        name="Accuracy and cost of the runs",
        numbers=(1, 2, 3, 4, 5, 6),
    )
    st.caption(
        "Efficient: no other run is at least as accurate for no more money. Cost per 1,000 items "
        "is what was paid now and, for answers kept from earlier runs (saved), what they cost "
        "then: what the run would cost from nothing. Accuracy: over the labelled cells of all "
        "criteria that every run graded, abstentions left out; "
        f"{level_words()} intervals by resampling items."
    )


def _cost_row(one: Point) -> list[str]:
    cost = fmt.cost(one.per_thousand)
    if one.spent.reason:
        cost += f'<br><span class="rs-quiet rs-wrap">{esc(one.spent.reason)}</span>'
    return [
        f"{one.run_id}: {esc(one.name)}",
        figure_cell(one.accuracy, fmt.percent),
        f"{fmt.count(one.decided)} of {fmt.count(one.labelled)}",
        cost,
        fmt.cost(one.spent.now),
        fmt.cost(one.spent.saved) if one.spent.cached else fmt.DASH,
        fmt.count(one.spent.calls),
        tag("◆ efficient", "good") if one.efficient else "",
    ]
