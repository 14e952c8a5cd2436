"""The report to take away: HTML, Markdown, everything as CSV, and grades for students."""

from __future__ import annotations

import streamlit as st

from core.services import exporting
from core.services.reporting import Report
from pages.ui import report_keys as keys
from pages.ui import state
from pages.ui.grades import grades_button
from pages.ui.resources import store


def show(run_id: int, found: Report) -> None:
    """A button per file, which is made when it is pressed; and the way to grades for students."""
    # A click is answered outside the script's thread, where nothing of Streamlit may be asked.
    held = store()
    with st.container(horizontal=True):
        st.download_button(
            "HTML",
            data=lambda: exporting.written(found, "html"),
            file_name=f"report-run-{run_id}.html",
            mime="text/html",
            icon=":material/description:",
            key=state.key(keys.REPORT_ACT, "html"),
            help="One file that opens anywhere, without network, and prints well.",
            on_click="ignore",
        )
        st.download_button(
            "Markdown",
            data=lambda: exporting.written(found, "markdown"),
            file_name=f"report-run-{run_id}.md",
            mime="text/markdown",
            icon=":material/notes:",
            key=state.key(keys.REPORT_ACT, "markdown"),
            help="The same words and tables, for a wiki or a pull request.",
            on_click="ignore",
        )
        st.download_button(
            "CSV of everything",
            data=lambda: exporting.zipped(exporting.export(held, run_id, "everything")),
            file_name=f"run-{run_id}.zip",
            mime="application/zip",
            icon=":material/table:",
            key=state.key(keys.REPORT_ACT, "everything"),
            help="Items, verdicts, votes, failures and calls as tables, and the report as JSON.",
            on_click="ignore",
        )
        grades_button(run_id)
