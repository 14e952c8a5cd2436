"""Unsaved work on rubrics: leaving it, discarding it, and finding it in other tabs and browsers."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core.services.rubrics import library
from core.services.rubrics.library import KeptDraft
from core.text import numbers as fmt
from pages.ui import drafts, state
from pages.ui.drafts import RUBRIC_ACT, RUBRICS_ACT
from pages.ui.resources import store
from pages.ui.text import label, one_line
from pages.ui.trial.kept_drafts import is_own
from pages.ui.widgets import draw_row, shown_errors, tag

#: The work that was discarded last in this tab: its name, draft and text.
DISCARDED = "rubrics_discarded"
#: The last toast of this tab about other people's work on a rubric.
TOLD = "rubric_told"


def back_to_list(before: Callable[[], None] = lambda: None) -> None:
    """Draw the link back to the list; unsaved work is kept. A click first calls `before`."""
    st.button(
        "All rubrics",
        key=state.key(RUBRIC_ACT, "list"),
        type="tertiary",
        icon=":material/arrow_back:",
        on_click=_on_list,
        args=(before,),
    )


def _on_list(before: Callable[[], None]) -> None:
    with shown_errors():
        before()
    state.set_address(**{state.RUBRIC: None, state.VERSION: None, state.SIDE: None})


def show_other_editors(name: str) -> None:
    """List who else edits this rubric, and unsaved work on it from other tabs and browsers.

    A toast says each once in this tab.
    """
    for person, time in library.other_editors(store(), name):
        with st.container(horizontal=True, vertical_alignment="center"):
            _draw_news(name, f"{person} is editing this rubric, too")
            st.caption(
                f"{fmt.time_ago(time)}. The second person to save sees both versions and chooses."
            )
    for stored in drafts.work_of_other_tabs(name):
        editor = "Another tab" if is_own(stored) else stored.author or "Another browser"
        with st.container(horizontal=True, vertical_alignment="center"):
            _draw_news(name, f"{editor} has unsaved changes")
            st.caption(fmt.time_ago(stored.updated))
            st.button(
                "Look at them",
                key=state.key(RUBRIC_ACT, name, "others", stored.name),
                type="tertiary",
                on_click=drafts.continue_stored_work,
                args=(name, stored),
            )


def _draw_news(name: str, news: str) -> None:
    draw_row([tag(news, "info")], width="content")
    key = state.key(TOLD, name, news)
    if not state.get(key):
        state.put(key, True)
        st.toast(label(f"{news}."), icon=":material/group:")


def discard_work(stored: KeptDraft) -> None:
    """Delete unsaved work; `show_discarded` offers to bring it back."""
    with shown_errors():
        library.discard(store(), stored.name)
        drafts.forget_draft(stored.name)
        state.put(DISCARDED, (stored.name, stored.draft, stored.text))


def show_discarded() -> None:
    """Draw what was discarded last in this tab, and the button that brings it back."""
    discarded = state.get(DISCARDED)
    if discarded is None:
        return
    title = one_line(discarded[1]["name"] or "Untitled rubric", 60)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(label(f"Discarded: {title}."), width="content")
        st.button(
            "Undo",
            key=state.key(RUBRICS_ACT, "undo discard"),
            type="tertiary",
            icon=":material/undo:",
            on_click=_restore_work,
        )


def _restore_work() -> None:
    with shown_errors():
        name, draft, text = state.get(DISCARDED)
        library.keep(store(), name, draft, text, **drafts.draft_owner())
        state.drop(DISCARDED)
