"""Where picked criteria go: a new rubric, or one that is there; the editor opens with them."""

from __future__ import annotations

import streamlit as st

from core.errors import InputError
from core.services import authoring, library
from core.services.draft_types import Draft
from core.services.library import Entry
from pages.author._rubric import work
from pages.ui import format as fmt
from pages.ui import library_keys as keys
from pages.ui import state
from pages.ui.families import NEW
from pages.ui.resources import store
from pages.ui.text import label, one_line
from pages.ui.widgets import shown_errors

EDITOR = "author/rubrics.py"


def show(picked: list[str], looked: Entry | None) -> None:
    """The target and the button; the ticked criteria go, else the one that is looked at."""
    titles = _targets()
    asked = state.address(state.RUBRIC)
    state.seed(keys.LIBRARY_TARGET, asked if asked in titles else NEW)
    if state.get(keys.LIBRARY_TARGET) not in titles:
        state.put(keys.LIBRARY_TARGET, NEW)
    with st.container(horizontal=True, vertical_alignment="center"):
        target = st.selectbox(
            "Put them into",
            list(titles),
            key=keys.LIBRARY_TARGET,
            format_func=lambda name: one_line(titles[name], 60),
            label_visibility="collapsed",
            width=300,
        )
        words = fmt.plural(len(picked), "criterion", "criteria")
        if not picked and looked is not None:
            words = f"“{looked.criterion.name}”"
        pressed = st.button(
            label(f"Add {words}", 60),
            key=state.key(keys.LIBRARY_ACT, "add"),
            type="primary",
            icon=":material/add:",
            disabled=not picked and looked is None,
            help=None if picked else "Or tick several criteria in the list.",
        )
        if picked:
            st.button(
                "Clear",
                key=state.key(keys.LIBRARY_ACT, "clear"),
                type="tertiary",
                on_click=state.drop,
                args=(keys.LIBRARY_PICK,),
            )
    chosen = picked or ([looked.key] if looked else [])
    if pressed and chosen:
        add(target, chosen)


def add(target: str, picked: list[str]) -> None:
    """Put the criteria into the target's draft and go to its editor."""
    with shown_errors():
        name = _new(library.new_with(picked)) if target == NEW else _grown(target, picked)
        added = work.draft(name)["criteria"][-len(picked)]
        work.keep_open(name, added["uid"])
        state.drop(keys.LIBRARY_PICK)
        state.drop(keys.LIBRARY_TARGET)
        count = fmt.plural(len(picked), "criterion", "criteria")
        state.flash(f"Added {count}. Look them over, then save.")
        st.switch_page(EDITOR, query_params={state.RUBRIC: name})


def start(draft: Draft) -> None:
    """Keep a new draft and go to its editor."""
    with shown_errors():
        name = _new(draft)
        st.switch_page(EDITOR, query_params={state.RUBRIC: name})


def _new(draft: Draft) -> str:
    name = authoring.new_name()
    authoring.keep(store(), name, draft)
    work.load(name)
    return name


def _grown(name: str, picked: list[str]) -> str:
    work.load(name)
    refused = work.refused_text(name)
    if refused is not None:
        raise InputError(
            "This rubric has YAML that is not applied yet. Mend it in the editor first.",
            refused.problems,
        )
    work.change(name, library.with_entries(work.draft(name), picked), redraw=True)
    return name


def _targets() -> dict[str, str]:
    """The names of drafts and rubrics, the unsaved first, with what to call them."""
    titles = {NEW: "Into a new rubric"}
    for kept in authoring.all_kept(store()):
        if not kept.name.isdecimal():
            titles[kept.name] = f"Into {kept.draft['name'] or 'Untitled rubric'} (never saved)"
    for found in authoring.listing(store()):
        titles[str(found.id)] = f"Into {found.name}"
    return titles
