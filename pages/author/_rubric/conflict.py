"""Somebody else saved the rubric meanwhile: show both, lose nothing."""

from __future__ import annotations

import streamlit as st

from core.errors import InputError
from core.services import authoring
from core.services.drafts import rubric_from
from core.services.rubric_words import differences
from pages.author._rubric import work
from pages.author._rubric.going import open_rubric
from pages.ui import format as fmt
from pages.ui import state
from pages.ui.resources import store
from pages.ui.text import esc, label
from pages.ui.widgets import shown_errors

ACTS = (
    ("mine", "Save mine as the next version"),
    ("apart", "Keep mine as a rubric of its own"),
    ("theirs", "Drop mine and open theirs"),
)


def show_conflict(name: str) -> None:
    """What differs between this draft and the newest version, and three ways on."""
    if not state.get(state.key(state.RUBRIC_CONFLICT, name)):
        return
    with st.container(border=True):
        _compare(name)
        with st.container(horizontal=True):
            for act, words in ACTS:
                st.button(
                    words,
                    key=state.key(state.RUBRIC_ACT, name, "conflict", act),
                    on_click=_on_choice,
                    args=(name, act),
                )


def _compare(name: str) -> None:
    draft = work.draft(name)
    theirs = authoring.latest(store(), int(draft["rubric_id"] or 0))
    note = f" ({theirs.note})" if theirs.note else ""
    st.error(
        label(
            f"Version {theirs.number}{note} was saved {fmt.ago(theirs.created)}, while you were "
            f"changing version {draft['parent']}. Nothing was overwritten."
        ),
        icon=":material/sync_problem:",
    )
    try:
        lines = differences(theirs.rubric, rubric_from(draft))
    except InputError:
        lines = ["The draft has problems; they are listed under Check."]
    items = "".join(f"<li>{esc(line)}</li>" for line in lines)
    head = f"Going from their version {theirs.number} to yours would mean:"
    st.html(f'{esc(head)}<ul class="rs-list">{items or "<li>no difference</li>"}</ul>')


def _on_choice(name: str, act: str) -> None:
    with shown_errors():
        draft = work.draft(name)
        state.drop(state.RUBRIC_CONFLICT, name)
        if act == "mine":
            work.change(name, authoring.on_top_of_latest(store(), draft))
            work.save(name)
        elif act == "apart":
            fresh = authoring.new_name()
            authoring.keep(store(), fresh, authoring.detached(draft))
            authoring.discard(store(), name)
            work.forget(name)
            open_rubric(fresh)
        else:
            authoring.discard(store(), name)
            work.forget(name)
