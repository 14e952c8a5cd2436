"""How far every figure moved, as a forest plot with its table."""

from __future__ import annotations

import streamlit as st

from core import figures as draw
from core.services import numbers as fmt
from core.services.comparing import FEW, Comparison
from core.services.comparing_figures import LEVEL, Delta
from core.services.numbers import points
from pages.ui import compare_keys as keys
from pages.ui import state
from pages.ui.text import esc, one_line
from pages.ui.widgets import Figure, figures, table, tag

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


def show(found: Comparison) -> None:
    """Overall figures, then a forest plot of the chosen figure over the criteria."""
    spent = found.spent
    figures(
        [
            _overall("Mean score", found.deltas.score),
            _overall("Accuracy", found.deltas.accuracy, share=True),
            Figure("Calls", f"{fmt.count(spent[0].calls)} → {fmt.count(spent[1].calls)}"),
            Figure("Cost, paid now", f"{fmt.cost(spent[0].now)} → {fmt.cost(spent[1].now)}"),
        ]
    )
    chosen = state.address(keys.FIGURE)
    chosen = chosen if chosen in FIGURES else "accuracy"
    key = state.key(keys.COMPARE_FIELD, keys.FIGURE)
    state.put(key, chosen)
    st.segmented_control(
        "Figure",
        list(FIGURES),
        key=key,
        format_func=FIGURES.__getitem__,
        required=True,
        label_visibility="collapsed",
        on_change=_on_figure,
        args=(key,),
    )
    _forest(found, chosen)


def _on_figure(key: str) -> None:
    state.set_address(**{keys.FIGURE: state.get(key)})


def _overall(name: str, delta: Delta, *, share: bool = False) -> Figure:
    if delta.difference.value is None:
        return Figure(name, "undefined", delta.difference.reason)
    low, high = delta.interval.low, delta.interval.high
    ends = (
        f"95 %: {points(low, share=share)} to {points(high, share=share)}"
        if low is not None
        else f"no interval: {delta.interval.reason}"
    )
    form = fmt.percent if share else fmt.score
    both = f"{form(delta.first.value)} → {form(delta.second.value)}"
    return Figure(f"{name}: {both}", points(delta.difference.value, share=share), ends)


def _forest(found: Comparison, name: str) -> None:
    rows: list[tuple[str, Delta]] = [(ALL, found.deltas.accuracy)] if name == "accuracy" else []
    rows += [(one.name, getattr(one, name)) for one in found.deltas.criteria]
    share = name == "accuracy"
    st.plotly_chart(
        draw.differences(
            [_gap(row, delta, share) for row, delta in rows], _axis(name), share=share
        ),
        key=state.key(keys.COMPARE_FIELD, "forest", name),
        config={"displayModeBar": False},
        alt=f"{FIGURES[name]}: how far B lies above A, with 95 % intervals, a row per criterion. "
        "The table below has its numbers.",
    )
    table(
        ("Criterion", "Items", "A", "B", "Difference", "p", "p, corrected"),
        (_row(row, delta, share) for row, delta in rows),
        name=f"Differences in {FIGURES[name]}",
        numbers=(1, 2, 3, 4, 5, 6),
    )
    st.caption(
        f"{SAYS[name]} Corrected: for the number of criteria (Holm 1979). Intervals: 95 %, from "
        f"{fmt.count(found.resamples)} resamples of the items, the same for both runs. Filled: "
        f"corrected p below {LEVEL:.2f}; an interval is of one criterion alone and may leave out "
        "no difference before that."
    )


def _axis(name: str) -> str:
    return f"{FIGURES[name]}, B minus A (right: higher in B)"


def _gap(name: str, delta: Delta, share: bool) -> draw.DifferenceDot:
    value, (low, high, *_) = delta.difference.value, delta.interval
    said = f"{one_line(name, 60)}: {points(value, share=share)}, {delta.n} items"
    said += ", significant" if delta.significant else ", not significant"
    return draw.DifferenceDot(name, value, low, high, said, delta.significant)


def _row(name: str, delta: Delta, share: bool) -> list[str]:
    few = tag("few", "warn") if 0 < delta.n < FEW else ""
    unit = " cells" if name == ALL else ""
    head = [esc(name), f"{fmt.count(delta.n)}{unit} {few}"]
    form = fmt.percent if share else fmt.score
    if delta.difference.value is None:
        why = f'undefined<br><span class="rs-quiet rs-wrap">{esc(delta.difference.reason)}</span>'
        return [*head, form(delta.first.value), form(delta.second.value), why, fmt.DASH, fmt.DASH]
    low, high = delta.interval.low, delta.interval.high
    ends = (
        f"{points(low, share=share)} to {points(high, share=share)}"
        if low is not None
        else f"no interval: {delta.interval.reason}"
    )
    moved = points(delta.difference.value, share=share)
    return [
        *head,
        form(delta.first.value),
        form(delta.second.value),
        f'{moved}<br><span class="rs-quiet rs-wrap">{esc(ends)}</span>',
        _p(delta.p.value),
        _p(delta.p_holm),
    ]


def _p(value: float | None) -> str:
    if value is None:
        return fmt.DASH
    return "&lt;.001" if value < 0.001 else f"{value:.3f}".lstrip("0") if value < 1 else "1"
