"""What an import came to, and where to go from there."""

from __future__ import annotations

import streamlit as st

from pages.ui import import_keys as keys
from pages.ui import routes, state
from pages.ui.widgets import page_header


def show(run: int | None, existed: bool) -> None:
    """The links to the run and to its agreement, and the way to another file."""
    routes.back(routes.RUNS, "All runs")
    page_header("Import votes")
    if run is None:
        st.success("The rubric and the items are kept. There were no votes, so there is no run.")
    elif existed:
        st.info(f"These votes were here already, as run {run}. Nothing was added.")
    else:
        st.success(f"Imported as run {run}.", icon=":material/check:")
    with st.container(horizontal=True):
        if run is not None:
            for page, words, icon in (
                (routes.AGREEMENT, "See how far they agree", "balance"),
                (routes.RUN, "Open the run", "monitoring"),
            ):
                routes.link(page, words, {state.RUN: run}, icon=icon)
        st.button(
            "Import another file",
            key=state.key(keys.ACT, "another"),
            icon=":material/add:",
            on_click=_on_another,
        )


def _on_another() -> None:
    for family in (keys.DONE, keys.FILE, keys.SHAPE, keys.FIELD, keys.RATERS, keys.NAME):
        state.drop(family)
