"""The verdicts of a run against the labels of its items, beside the simplest rule there is."""

from __future__ import annotations

import streamlit as st

from core.domain.runs import Run
from core.metrics.wilson import surely_below
from core.services import browsing, demo
from core.services import numbers as fmt
from core.services.demo import CriterionReport
from pages.ui.resources import remembered, store
from pages.ui.text import esc
from pages.ui.widgets import empty_state, table, tag


def show(run: Run) -> None:
    """One line per criterion that has labelled items."""
    found = remembered(
        "labels",
        browsing.stands_on(store(), run),
        lambda: demo.against_labels(store(), run.id),
    )
    told = [one for one in found if one.n + one.abstained]
    if not told:
        empty_state(
            "No labels to compare with",
            "Where people have labelled items of this dataset, this page shows how often the "
            "verdicts are right, beside what always giving the commonest answer would reach.",
        )
        return
    table(
        ("Criterion", "Right", "Commonest answer", "", "Kappa", "Items compared", "Abstained"),
        (_line(one) for one in told),
        name="Verdicts against labels",
        numbers=(1, 2, 4, 5, 6),
    )
    st.caption(
        "Right: the share of verdicts that equal the label, and below it where that share lies "
        "with 95 % confidence (Wilson 1927). Commonest answer: the share that "
        "always giving the commonest label would get on the same items; a panel that is not above "
        "it has added nothing. Kappa: agreement beyond chance (Cohen 1960), with quadratic weights "
        "where options have an order; 0 is chance, 1 is perfect. Items on which the panel "
        "abstained are counted, and left out of all three."
    )


def _line(one: CriterionReport) -> list[str]:
    return [
        esc(one.name),
        _right(one),
        fmt.percent(one.majority),
        _judged(one),
        fmt.score(one.kappa) if one.kappa is not None else _undefined(one.reason),
        fmt.count(one.n),
        fmt.count(one.abstained),
    ]


def _right(one: CriterionReport) -> str:
    if one.accuracy is None:
        return "undefined"
    if one.interval is None:
        return f'{fmt.percent(one.accuracy)}<br><span class="rs-quiet">no interval</span>'
    low, high = one.interval
    between = f"{fmt.percent(low)} to {fmt.percent(high)}"
    return f'{fmt.percent(one.accuracy)}<br><span class="rs-quiet">{between}</span>'


def _undefined(reason: str) -> str:
    return f'undefined<br><span class="rs-quiet">{esc(reason)}</span>'


def _judged(one: CriterionReport) -> str:
    """Whether the accuracy is above the commonest answer's, by more than chance would do."""
    if one.accuracy is None or one.majority is None or one.interval is None:
        return tag("judges switched off" if one.switched_off else "nothing to compare")
    low, high = one.interval
    if low > one.majority:
        return tag("▲ clearly above", "good")
    if surely_below(high, one.majority, one.n):
        return tag("▼ clearly below", "bad")
    return tag("≈ not clearly above" if one.accuracy > one.majority else "▼ not above", "warn")
