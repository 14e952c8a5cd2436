"""The note of a cell, and notes that one keeps to use again."""

from __future__ import annotations

import streamlit as st

from core.domain.review import Given
from core.services import snippets
from pages.review._item import acts, hands
from pages.review._item.desk import REVIEW_ACT, REVIEW_NOTE, Desk
from pages.ui import state
from pages.ui.resources import store
from pages.ui.text import label

LONGEST = 20_000


def show(at: Desk, criterion: str, given: Given | None) -> None:
    """The field, which keeps what is typed as soon as one leaves it, and the kept notes."""
    key = state.key(REVIEW_NOTE, at.number, criterion)
    state.seed(key, given.note if given else "")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.text_area(
            f"Note on {label(criterion, 60)}",
            key=key,
            height=68,
            max_chars=LONGEST,
            placeholder="Note: why? Needed when you decide against judges who all agree.",
            label_visibility="collapsed",
            on_change=_typed,
            args=(at, key, criterion),
        )
        with st.popover("", icon=":material/bookmark:", help="Notes to use again"):
            _kept(at, key, criterion)


def _typed(at: Desk, key: str, criterion: str) -> None:
    text = str(state.get(key) or "")
    hands.guarded(at, lambda desk: acts.note(desk, criterion, text))


def _kept(at: Desk, key: str, criterion: str) -> None:
    known = snippets.snippets(store(), at.seat)
    if not known:
        st.caption("You keep no notes yet. Write one, then keep it here.")
    for place, text in enumerate(known):
        with st.container(horizontal=True, gap="small"):
            st.button(
                label(text, 90),
                key=state.key(REVIEW_ACT, "snippet", place),
                type="tertiary",
                on_click=_use,
                args=(at, key, criterion, text),
            )
            st.button(
                "",
                key=state.key(REVIEW_ACT, "snippet gone", place),
                icon=":material/close:",
                type="tertiary",
                help="Forget this note",
                on_click=_forget,
                args=(at, text),
            )
    st.button(
        "Keep this note",
        key=state.key(REVIEW_ACT, "snippet keep"),
        icon=":material/bookmark_add:",
        on_click=_keep,
        args=(at, key),
    )


def _use(at: Desk, key: str, criterion: str, text: str) -> None:
    """Put it behind what stands in the field."""
    before = str(state.get(key) or "").rstrip()
    state.put(key, f"{before}\n{text}" if before else text)
    _typed(at, key, criterion)


def _keep(at: Desk, key: str) -> None:
    hands.guarded(at, lambda desk: snippets.keep(store(), desk.seat, str(state.get(key) or "")))


def _forget(at: Desk, text: str) -> None:
    hands.guarded(at, lambda desk: snippets.forget(store(), desk.seat, text))
