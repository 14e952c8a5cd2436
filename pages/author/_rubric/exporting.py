"""Taking a rubric along as a file."""

from __future__ import annotations

import streamlit as st

from core.domain.rubric import Rubric
from core.services import authoring
from pages.ui.text import raw


@st.dialog("Export", width="large")
def export_dialog(rubric: Rubric) -> None:
    """The rubric as YAML and JSON, to download or to copy."""
    export_buttons(rubric)
    raw(authoring.written(rubric, "yaml"), height=360)


def export_buttons(rubric: Rubric) -> None:
    """A download per format."""
    with st.container(horizontal=True):
        for format, words in (("yaml", "Download YAML"), ("json", "Download JSON")):
            kind: authoring.Format = "yaml" if format == "yaml" else "json"
            st.download_button(
                words,
                data=authoring.written(rubric, kind),
                file_name=authoring.file_name(rubric.name, kind),
                mime="application/json" if kind == "json" else "application/yaml",
                icon=":material/download:",
                on_click="ignore",
                key=f"rubric_export_{kind}",
            )
