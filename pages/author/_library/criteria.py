"""The criteria by pack: search, filter, pick, look at one, put them into a rubric."""

from __future__ import annotations

from typing import cast

import streamlit as st

from core.domain.rules import Scale
from core.services import library
from core.services.library import Entry, Pack
from pages.author._library import adding, one
from pages.ui import library_keys as keys
from pages.ui import state
from pages.ui.rule_words import SCALE_NAMES
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import empty_state

ANY = "any"


def show() -> None:
    """What to pick and where it goes; the list on the left, the one looked at on the right."""
    found = _filtered()
    first = found[0][1][0] if found else None
    looked = library.entry(str(state.get(keys.LIBRARY_LOOK) or "")) or first
    adding.show(picked(), looked)
    left, right = st.columns([5, 4], gap="large")
    with left:
        if not found:
            empty_state("Nothing found", "No criterion has these words in this pack and scale.")
        for pack, entries in found:
            _pack(pack, entries)
    with right, st.container(key="rs_beside"):
        if looked is not None:
            one.show(looked)


def picked() -> list[str]:
    """The keys of the criteria that are ticked, in the library's order."""
    every = [entry.key for pack in library.packs() for entry in pack.entries]
    return [key for key in every if state.get(state.key(keys.LIBRARY_PICK, key))]


def _filtered() -> list[tuple[Pack, list[Entry]]]:
    titles = {pack.name: pack.title for pack in library.packs()}
    with st.container(horizontal=True, vertical_alignment="center"):
        search = st.text_input(
            "Search",
            key=keys.LIBRARY_SEARCH,
            type="search",
            live="300ms",
            placeholder="Search in names, questions and anchors",
            label_visibility="collapsed",
            width=300,
        )
        pack = st.selectbox(
            "Pack",
            [ANY, *titles],
            key=keys.LIBRARY_PACK,
            format_func=lambda name: titles.get(name, "All packs"),
            label_visibility="collapsed",
            width=220,
        )
        state.seed(keys.LIBRARY_SCALE, ANY)
        scale = st.segmented_control(
            "Answer",
            [ANY, *SCALE_NAMES],
            key=keys.LIBRARY_SCALE,
            required=True,
            format_func=lambda scale: SCALE_NAMES.get(scale, "Any answer"),
            label_visibility="collapsed",
        )
    return library.find(
        search,
        pack=None if pack == ANY else pack,
        scale=None if scale == ANY else cast("Scale", scale),
    )


def _pack(pack: Pack, entries: list[Entry]) -> None:
    st.html(
        f'<div class="rs-section">{esc(pack.title)}</div>'
        f'<div class="rs-quiet">{esc(pack.description)}</div>'
    )
    with st.container(gap="xxsmall"):
        for entry in entries:
            _row(entry)


def _row(entry: Entry) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", wrap=False):
        st.checkbox(
            label(f"Pick {entry.criterion.name}"),
            key=state.key(keys.LIBRARY_PICK, entry.key),
            label_visibility="collapsed",
            width=24,
            persist_state="page",
        )
        st.button(
            label(entry.criterion.name, 60),
            key=state.key(keys.LIBRARY_ACT, "look", entry.key),
            type="tertiary",
            on_click=state.put,
            args=(keys.LIBRARY_LOOK, entry.key),
        )
        st.html(
            f'<div class="rs-line">{one.tags(entry.criterion)}'
            f'<span class="rs-cut rs-quiet">{esc(one_line(entry.criterion.requirement, 140))}'
            "</span></div>"
        )
