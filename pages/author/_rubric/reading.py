"""Versions of a rubric: the history, and one version to read."""

from __future__ import annotations

import streamlit as st

from core.services import authoring
from core.services.drafts import with_rubric
from pages.author._rubric import work
from pages.author._rubric.exporting import export_buttons
from pages.author._rubric.going import back_to_list
from pages.ui import format as fmt
from pages.ui import state
from pages.ui.resources import store
from pages.ui.text import esc, raw
from pages.ui.widgets import empty_state, page_header, row, shown_errors, tag


def show_versions(name: str) -> None:
    """The history, newest first, each with a way to read it."""
    rubric_id = work.draft(name)["rubric_id"]
    if rubric_id is None:
        empty_state("No versions yet", "Every save makes one; runs refer to it for good.")
        return
    for found in authoring.history(store(), rubric_id):
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            used = f"used in {fmt.plural(found.runs, 'run')}" if found.runs else "not used"
            by = f" · {found.author}" if found.author else ""
            quiet = f"{fmt.ago(found.created)}{by} · {used} · {fmt.short_hash(found.hash)}"
            st.html(
                f"<b>Version {found.number}</b> {esc(found.note)}<br>"
                f'<span class="rs-quiet">{esc(quiet)}</span>'
            )
            st.space("stretch")
            st.button(
                "Read",
                key=state.key(state.RUBRIC_ACT, name, "version", found.id),
                type="tertiary",
                on_click=_on_read,
                args=(found.id,),
            )


def _on_read(version_id: int) -> None:
    state.set_address(**{state.VERSION: version_id})


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
            key=state.key(state.RUBRIC_ACT, "editor"),
            type="primary",
            icon=":material/edit:",
            on_click=_on_editor,
            args=(name,),
        )
        st.button(
            "Start from this version",
            key=state.key(state.RUBRIC_ACT, "from"),
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
