"""Taking a rubric along as a file: which form, what it cannot hold, and only then the file."""

from __future__ import annotations

import streamlit as st

from core.domain.rubric import Rubric
from core.services import sharing
from core.services.sharing import SHARE_FORMS, SHARE_WORDS, Shared, ShareForm
from pages.ui import state
from pages.ui.text import label, raw
from pages.ui.widgets import problem_list

RUBRIC_EXPORT = "rubric_export"


#: A long list of losses scrolls, so that the button below it stays in view.
MANY = 6


@st.dialog("Export", width="large")
def export_dialog(rubric: Rubric) -> None:
    """The panel, above the page."""
    export_panel(rubric)


def export_panel(rubric: Rubric) -> None:
    """Every form, its losses, the download, and the text to look at or copy."""
    form: ShareForm = st.selectbox(
        "Form",
        SHARE_FORMS,
        format_func=lambda one: SHARE_WORDS[one].title,
        key=state.key(RUBRIC_EXPORT, "form"),
        help="Other programs read these, and Import reads all of them but the sheet.",
    )
    made = sharing.share(rubric, form)
    st.caption(SHARE_WORDS[form].about)
    _losses(form, made)
    with st.container(horizontal=True):
        _download(made, f"Download {SHARE_WORDS[form].title}", form, primary=True)
        if form != "sheet":
            _download(sharing.share(rubric, "sheet"), "Sheet to print", "sheet", primary=False)
    if form != "sheet":
        raw(made.text, height=300)


def _losses(form: ShareForm, made: Shared) -> None:
    if not made.losses:
        st.success("Nothing is lost: imported again, it is the same.", icon=":material/check:")
        return
    if form == "sheet":
        st.info(label(made.losses[0].message), icon=":material/info:")
        return
    st.warning("This form cannot hold everything:", icon=":material/info:")
    with st.container(height=190 if len(made.losses) > MANY else "content", border=False):
        problem_list(made.losses)


def export_buttons(rubric: Rubric) -> None:
    """A download per form that holds everything, and the sheet."""
    with st.container(horizontal=True):
        _download(sharing.share(rubric, "yaml"), "Download YAML", "yaml", primary=False)
        _download(sharing.share(rubric, "json"), "Download JSON", "json", primary=False)
        _download(sharing.share(rubric, "sheet"), "Sheet to print", "sheet", primary=False)


def _download(made: Shared, words: str, form: ShareForm, *, primary: bool) -> None:
    st.download_button(
        words,
        data=made.data(),
        file_name=made.file_name,
        mime=made.mime,
        icon=":material/print:" if form == "sheet" else ":material/download:",
        type="primary" if primary else "secondary",
        on_click="ignore",
        key=state.key(RUBRIC_EXPORT, "download", form),
    )
