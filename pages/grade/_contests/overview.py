"""One contest run: how far it is, and one view of it at a time; or another run's systems."""

from __future__ import annotations

import streamlit as st

from core.domain.runs import Run
from core.services import contests, viewing
from pages.grade._contests import (
    beside,
    board,
    chosen,
    downloads,
    elsewhere,
    matrix,
    people,
    position,
    rounds,
)
from pages.grade._run import status
from pages.grade._run.words import raters_line
from pages.ui import contest_keys as keys
from pages.ui import routes, state
from pages.ui.resources import store
from pages.ui.text import one_line
from pages.ui.widgets import empty_state, page_header, show_flash, shown_errors

VIEWS = {
    "board": "Leaderboard",
    "matrix": "Who beats whom",
    "position": "Position and length",
    "scores": "Beside scores",
    "people": "People",
}


def show(run_id: int) -> None:
    """The whole page of a run."""
    routes.back(routes.CONTESTS, "All contests")
    run = viewing.require_run(store(), run_id)
    about = f"Run {run.id} · judged by {raters_line(run)}"
    page_header(one_line(run.name, 100), about, own_words=False)
    show_flash()
    if not contests.is_contest(store(), run_id):
        elsewhere.show(run)
        return
    status.show(run_id)
    found = chosen.read(run_id)
    _links(run)
    if not run.votes:
        empty_state("No vote yet", "The leaderboard appears here with the first votes.")
        return
    rounds.show(run, found)
    _view(found)


def _links(run: Run) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        routes.link(routes.RUN, "Votes and failures", {state.RUN: run.id})
        if run.panel.askable:
            routes.link(routes.ARENA, "Vote on these contests yourself", {state.RUN: run.id})
        st.space("stretch")
        if run.votes:
            downloads.show(run.id)


def _view(found: chosen.Chosen) -> None:
    key = state.key(keys.CONTEST_FIELD, state.VIEW)
    asked = state.address(state.VIEW)
    state.put(key, asked if asked in VIEWS else "board")
    view = st.segmented_control(
        "View",
        list(VIEWS),
        key=key,
        format_func=VIEWS.__getitem__,
        required=True,
        label_visibility="collapsed",
        on_change=_on_view,
        args=(key,),
    )
    with shown_errors():
        if view != "people":
            chosen.pickers(found, only_question=view == "scores")
        match view:
            case "matrix":
                matrix.show(found)
            case "position":
                position.show(found)
            case "scores":
                beside.show(found)
            case "people":
                people.show(found)
            case _:
                board.show(found)


def _on_view(key: str) -> None:
    view = state.get(key)
    state.set_address(**{state.VIEW: None if view == "board" else view, keys.BOUT: None})
