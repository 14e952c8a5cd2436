"""An item's score, how it came about in sentences, and the points of every criterion."""

from __future__ import annotations

import streamlit as st

from core.scoring.trace import ScorePart, Trace
from core.services import numbers as fmt
from core.services.viewing import ItemView
from pages.grade._run.filters import ITEM_OPEN
from pages.ui import state
from pages.ui.outcomes import outcome_tags
from pages.ui.text import esc
from pages.ui.widgets import row, table, tag


def show(view: ItemView) -> None:
    """The score, what is remarkable about it, and its trace."""
    trace, item = view.trace, view.row
    with st.container(border=True):
        if trace is None:
            st.html('<b>No score yet.</b> <span class="rs-quiet">No judge has answered.</span>')
            return
        shown = fmt.score(item.score) if item.score is not None else "none"
        interval = ""
        if item.low is not None and item.high is not None and item.low < item.high:
            interval = f" (between {fmt.interval(item.low, item.high).replace(' to ', ' and ')})"
        st.html(
            f'<span class="rs-num" style="font-size:1.7rem;font-weight:600">{shown}</span> '
            f'<span class="rs-quiet">score{esc(interval)}</span>'
        )
        marks = _marks(view, trace)
        if marks:
            row(marks)
        lines = "".join(f"<li>{esc(line)}</li>" for line in view.sentences)
        st.html(f'<ul class="rs-list">{lines}</ul>')
        _points(trace)


def _marks(view: ItemView, trace: Trace) -> list[str]:
    marks = outcome_tags(trace)
    marks += [] if trace.complete else [tag("Incomplete: a verdict is missing", "warn")]
    if view.row.failures:
        marks.append(tag(fmt.plural(view.row.failures, "failure"), "bad"))
    if view.row.agreement is not None and view.row.votes > len(trace.criteria):
        marks.append(tag(f"agreement {fmt.score(view.row.agreement)}"))
    return marks


def _points(trace: Trace) -> None:
    part = st.expander("Points by criterion", key=state.key(ITEM_OPEN, "points"), on_change="rerun")
    if not part.open:
        return
    with part:
        table(
            ("Criterion", "Weight", "Value", "Points"),
            map(_part, trace.criteria),
            name="Points by criterion",
            numbers=(1, 2, 3),
        )


def _part(part: ScorePart) -> list[str]:
    value = fmt.score(part.value)
    if part.missing:
        value = "no verdict"
    elif part.abstained:
        value = "abstained"
    return [esc(part.name), fmt.weight(part.weight), value, fmt.number(part.points)]
