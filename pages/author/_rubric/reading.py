"""One version of a rubric, to read."""

from __future__ import annotations

import streamlit as st

from core.services import authoring
from core.services import numbers as fmt
from core.services.drafts import with_rubric
from pages.author._rubric import work
from pages.author._rubric.exporting import export_buttons
from pages.author._rubric.going import RUBRIC_ACT, back_to_list
from pages.ui import state
from pages.ui.resources import store
from pages.ui.text import esc, raw
from pages.ui.widgets import page_header, row, shown_errors, tag


def show(version_id: int) -> None:
    """One version as it was saved, which nothing can change."""
    found = authoring.version(store(), version_id)
    name = str(found.rubric_id)
    back_to_list()
    page_header(found.rubric.name, own_words=False)
    row(
        [
            tag(f"Version {found.number}, read only", "info"),
            f'<span class="rs-quiet">saved {esc(fmt.ago(found.created))}</span>',
            f"<span>{esc(found.note)}</span>",
        ]
    )
    with st.container(horizontal=True):
        st.button(
            "Back to the editor",
            key=state.key(RUBRIC_ACT, "editor"),
            type="primary",
            icon=":material/edit:",
            on_click=_on_editor,
            args=(name,),
        )
        st.button(
            "Start from this version",
            key=state.key(RUBRIC_ACT, "from"),
            icon=":material/history:",
            on_click=_on_start,
            args=(name, version_id),
            help="Puts this version's content into the editor, unsaved.",
        )
    export_buttons(found.rubric)
    raw(authoring.written(found.rubric, "yaml"))


def _on_editor(name: str) -> None:
    state.set_address(**{state.RUBRIC: name, state.VERSION: None})


def _on_start(name: str, version_id: int) -> None:
    with shown_errors():
        work.load(name)
        rubric = authoring.version(store(), version_id).rubric
        work.change(name, with_rubric(work.draft(name), rubric), redraw=True)
        _on_editor(name)
