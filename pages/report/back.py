"""A run's results in a copy of the file that its items or votes came from."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

import streamlit as st

from core.errors import RubricStudioError
from core.services.exports.written_back import written_back
from core.text.numbers import plural
from pages.ui import state
from pages.ui.resources import store
from pages.ui.text import label

BACK_ACT = "back_act"
BACK_FILE = "back_file"


def back_button(run_id: int) -> None:
    """Draw the button that opens the dialog."""
    if st.button(
        "Add results to your own file",
        key=state.key(BACK_ACT, "open", run_id),
        icon=":material/file_export:",
        help="Writes results into a copy of the file that the items or votes came from.",
    ):
        _grades_dialog(run_id)


@st.dialog("Add results to your own file")
def _grades_dialog(run_id: int) -> None:
    back_panel(run_id)


def back_panel(run_id: int) -> None:
    """Take the file, say how many of its records are known, and offer the copy."""
    st.caption(
        "An Inspect log, JSON of promptfoo, Label Studio or Argilla, or a CSV, .xlsx, JSON "
        "or JSON Lines file. Results are added; nothing else in the file changes."
    )
    upload: Any = st.file_uploader(
        "The file that the items or votes came from",
        type=["csv", "tsv", "txt", "xlsx", "json", "jsonl", "eval"],
        key=state.key(BACK_FILE, run_id),
    )
    if upload is None:
        return
    try:
        written = written_back(store(), run_id, upload.getvalue(), upload.name)
    except RubricStudioError as error:
        st.error(label(str(error)), icon=":material/error:")
        return
    result = f"{written.written:,} of {plural(written.records, 'record')} got their results."
    st.success(result, icon=":material/check:")
    path = PurePosixPath(upload.name)
    st.download_button(
        "Download the copy",
        data=written.data,
        file_name=f"{path.stem}-run-{run_id}{path.suffix}",
        type="primary",
        icon=":material/download:",
        on_click="ignore",
        key=state.key(BACK_ACT, "download", run_id),
    )
