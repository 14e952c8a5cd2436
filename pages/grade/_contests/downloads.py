"""A contest to take away."""

from __future__ import annotations

import streamlit as st

from core.services import contest_export
from pages.ui import contest_keys as keys
from pages.ui import state
from pages.ui.resources import store


def show(run_id: int) -> None:
    """Three downloads behind one button; a file is made when it is asked for."""
    # A click is answered outside the script's thread, where nothing of Streamlit may be asked.
    held = store()
    with st.popover("Export", icon=":material/download:"):
        for words, ending, mime, make, says in (
            (
                "JSON",
                "json",
                "application/json",
                contest_export.as_json,
                "Leaderboards, and every contest with the field names of unitxt.",
            ),
            (
                "CSV",
                "csv",
                "text/csv",
                contest_export.as_csv,
                "A row for every vote of judges and of people, with its reason.",
            ),
            (
                "Markdown",
                "md",
                "text/markdown",
                contest_export.as_markdown,
                "The leaderboard and what limits it, for a wiki or a pull request.",
            ),
        ):
            st.download_button(
                words,
                data=lambda make=make: make(held, run_id),  # type: ignore[misc]
                file_name=f"contest-{run_id}.{ending}",
                mime=mime,
                key=state.key(keys.CONTEST_ACT, "export", ending),
                help=says,
                on_click="ignore",
                width="stretch",
            )
