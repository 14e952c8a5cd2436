"""The ways from one look at a run to the others."""

from __future__ import annotations

import streamlit as st

from core.domain.runs import Run, RunRow
from pages.ui import routes, state
from pages.ui.routes import Screen

OTHER_VIEWS: dict[Screen, tuple[str, str]] = {
    routes.RUN: ("Items and votes", "Every item with its votes."),
    routes.AGREEMENT: ("Agreement", "How far its verdicts can be trusted."),
    routes.REPORT: ("Report", "Everything said of it, to take away."),
    routes.COMPARE: ("Compare", "This run beside another one."),
    routes.QUEUES: ("Review", "Choose doubtful cells for people to settle."),
}


def other_views(run: Run | RunRow, here: Screen) -> None:
    """A row of links to the other pages about this run; nothing before it has votes."""
    if not run.votes:
        return
    with st.container(horizontal=True, gap="small", key=state.key("ways", here.url)):
        for screen, (words, tells) in OTHER_VIEWS.items():
            if screen != here:
                routes.link(screen, words, _address(screen, run.id), help=tells)


def _address(screen: Screen, run_id: int) -> dict[str, object]:
    if screen == routes.COMPARE:
        return {state.RUNS: run_id}
    if screen == routes.QUEUES:
        return {state.NEW: state.QUEUE, state.RUN: run_id}
    return {state.RUN: run_id}
