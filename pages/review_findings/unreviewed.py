"""A run without reviews: which cells are in doubt, and a button to begin."""

from __future__ import annotations

import streamlit as st

from core.domain.runs import Run
from core.services.results import browsing
from core.services.review import queues
from core.text import numbers as fmt
from pages.review_findings.words import RECORD_FIELD
from pages.ui import routes, state
from pages.ui.places import work
from pages.ui.resources import disabled_without, remembered, store
from pages.ui.text import esc
from pages.ui.widgets import empty_state


def show(run: Run) -> None:
    """Draw the number of cells and why, the button that opens the first, and other choices."""
    if not run.votes:
        empty_state("No votes yet", "Doubtful cells appear here once judges have answered.")
        return
    cache_key = browsing.results_state(store(), run)
    rule = work.SETTLED_AT_ONCE[work.DOUBT][1]
    doubtful = remembered(
        "in doubt", cache_key, lambda: queues.preview_queue(store(), run.id, rule)
    )
    by_reason = sorted(doubtful.by_reason.items(), key=lambda pair: -pair[1])
    reasons = ", ".join(f"{work.REASONS[reason]} ({fmt.count(n)})" for reason, n in by_reason)
    cells = f"{fmt.plural(doubtful.cells, 'cell')} of {fmt.count(doubtful.of)}"
    st.html(
        f"<div><b>Nobody has reviewed this run.</b> {esc(cells)} are worth a look, on "
        f"{esc(fmt.plural(doubtful.items, 'item'))}: {esc(reasons)}.</div>"
    )
    minutes = queues.expected_minutes(store(), run.id, doubtful.cells, queues.USUAL)
    if minutes is not None:
        st.caption(f"{fmt.about_minutes(minutes).capitalize()} of work.")
    address: dict[str, object] = {state.RUN: run.id, state.RULE: work.DOUBT}
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if st.button(
            "Start reviewing",
            key=state.key(RECORD_FIELD, "start"),
            type="primary",
            icon=":material/play_arrow:",
            shortcut="Enter",
            **{"disabled": not doubtful.cells} | disabled_without("organise"),
        ):
            routes.go_to(routes.REVIEW_ITEM, address)
        form: dict[str, object] = {state.NEW: state.QUEUE, state.RUN: run.id}
        routes.draw_link(routes.QUEUES, "Choose which cells", form, icon="tune")
        work.grade_ten(run.id)
