"""Somebody else saved the rubric meanwhile: both are shown, piece by piece, and nothing is lost."""

from __future__ import annotations

import itertools

import streamlit as st

from core.errors import InputError
from core.services import authoring
from core.services import numbers as fmt
from core.services.draft_types import Draft
from core.services.drafts import rubric_from, with_rubric
from core.services.merging import Piece, Side, merged, pieces
from core.services.wording import word_changes
from pages.author._rubric import work
from pages.author._rubric.going import RUBRIC_ACT, open_rubric
from pages.author._rubric.work import RUBRIC_CONFLICT
from pages.ui import state
from pages.ui.resources import store
from pages.ui.text import esc, label, marked
from pages.ui.widgets import row, shown_errors, tag

CONFLICT_TAKE = "conflict_take"

SIDES: dict[Side, str] = {"mine": "Mine", "theirs": "Theirs"}
ACTS = (
    ("merge", "Save with the pieces chosen above"),
    ("apart", "Keep mine as a rubric of its own"),
    ("theirs", "Drop mine and open theirs"),
)


def show_conflict(name: str) -> None:
    """What differs between this draft and the newest version, and three ways on."""
    if not state.get(state.key(RUBRIC_CONFLICT, name)):
        return
    with st.container(border=True):
        can_merge = _compare(name)
        with st.container(horizontal=True):
            for act, words in ACTS:
                st.button(
                    words,
                    key=state.key(RUBRIC_ACT, name, "conflict", act),
                    type="primary" if act == "merge" else "secondary",
                    disabled=act == "merge" and not can_merge,
                    on_click=_on_choice,
                    args=(name, act),
                )


def show_others(name: str) -> None:
    """Unsaved work of others on this rubric: each is kept for itself, and can be opened."""
    for one in authoring.others_kept(store(), name, work.kept_as(name)):
        with st.container(horizontal=True, vertical_alignment="center"):
            row([tag("Somebody else has unsaved changes, too", "info")], width="content")
            st.caption(fmt.ago(one.updated))
            st.button(
                "Look at them",
                key=state.key(RUBRIC_ACT, name, "others", one.name),
                type="tertiary",
                on_click=open_rubric,
                args=(one.name,),
            )


def _compare(name: str) -> bool:
    """Both versions, side by side; whether they can be put together."""
    draft = work.draft(name)
    theirs = authoring.latest(store(), int(draft["rubric_id"] or 0))
    note = f" ({theirs.note})" if theirs.note else ""
    by = f" by {theirs.author}" if theirs.author else ""
    st.error(
        label(
            f"Version {theirs.number}{note} was saved {fmt.ago(theirs.created)}{by}, while you "
            f"were changing version {draft['parent']}. Nothing was overwritten."
        ),
        icon=":material/sync_problem:",
    )
    try:
        found = _pieces(draft)
    except InputError:
        st.caption("Your draft has problems, listed under Check; mend them to compare.")
        return False
    if not found:
        st.caption("Both say the same: saving adds nothing.")
        return True
    st.caption(
        "Take each piece from either. What only one of you changed is chosen already; what both "
        "changed is marked."
    )
    for criterion, group in itertools.groupby(found, lambda piece: piece.criterion):
        st.html(f'<div class="rs-section">{esc(criterion or "The rubric itself")}</div>')
        for piece in group:
            _piece(name, piece)
    return True


def _pieces(draft: Draft) -> tuple[Piece, ...]:
    rubric_id = int(draft["rubric_id"] or 0)
    base = authoring.numbered(store(), rubric_id, draft["parent"] or 1).rubric
    return pieces(base, rubric_from(draft), authoring.latest(store(), rubric_id).rubric)


def _piece(name: str, piece: Piece) -> None:
    key = _take(name, piece)
    state.seed(key, piece.suggested)
    with st.container(horizontal=True, vertical_alignment="center"):
        words = f'<span class="rs-quiet">{esc(piece.what)}</span>'
        row([words, tag("both changed it", "warn")] if piece.both else [words], width="content")
        st.segmented_control(
            label(piece.what),
            list(SIDES),
            key=key,
            format_func=SIDES.__getitem__,
            required=True,
            label_visibility="collapsed",
        )
    mine, theirs = word_changes(piece.mine, piece.theirs)
    one, other = st.columns(2)
    one.html(f'<div class="rs-card rs-prose">{marked(piece.mine, mine)}</div>')
    other.html(f'<div class="rs-card rs-prose">{marked(piece.theirs, theirs)}</div>')


def _take(name: str, piece: Piece) -> str:
    return state.key(CONFLICT_TAKE, name, piece.key)


def _on_choice(name: str, act: str) -> None:
    with shown_errors():
        draft = work.draft(name)
        if act == "merge":
            theirs = authoring.latest(store(), int(draft["rubric_id"] or 0)).rubric
            taken: dict[str, Side] = {
                piece.key: state.get(_take(name, piece), piece.suggested)
                for piece in _pieces(draft)
            }
            both = merged(rubric_from(draft), theirs, taken)
            work.change(name, authoring.on_top_of_latest(store(), with_rubric(draft, both)))
            _settled(name)
            work.save(name)
            return
        _settled(name)
        if act == "apart":
            fresh = authoring.new_name()
            authoring.keep(store(), fresh, authoring.detached(draft))
            work.drop_kept(name)
            work.forget(name)
            open_rubric(fresh)
        else:
            work.drop_kept(name)
            work.forget(name)


def _settled(name: str) -> None:
    state.drop(RUBRIC_CONFLICT, name)
    state.drop(CONFLICT_TAKE, name)
