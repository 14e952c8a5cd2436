"""Where picked criteria go: a new rubric, or one that is there; the editor opens with them."""

from __future__ import annotations

import streamlit as st

from core.errors import InputError
from core.services import authoring, library
from core.services import numbers as fmt
from core.services.draft_types import Draft, new_draft
from core.services.library import Entry, Pack
from pages.author._rubric import work
from pages.ui import library_keys as keys
from pages.ui import routes, state
from pages.ui.resources import store
from pages.ui.state import NEW
from pages.ui.text import esc, label, one_line, prose
from pages.ui.widgets import shown_errors


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
    coming = _guidelines(library.missing_guidelines(_draft_of(target), chosen))
    if pressed and chosen:
        add(target, chosen, coming)


def _draft_of(target: str) -> Draft:
    if target == NEW:
        return new_draft()
    kept = authoring.kept(store(), target)
    return kept.draft if kept else authoring.opened(store(), int(target))


def _guidelines(missing: tuple[Pack, ...]) -> tuple[Pack, ...]:
    """What the criteria rely on and the target does not say yet; the person may leave it out."""
    if not missing:
        return ()
    state.seed(keys.LIBRARY_GUIDELINES, True)
    with st.container(horizontal=True, vertical_alignment="center"):
        wanted = st.toggle(
            label(f"With the guidelines of {_titles(missing)}", 200),
            key=keys.LIBRARY_GUIDELINES,
            help="Judges read guidelines before every criterion of the rubric, your own criteria "
            "among them. They are put below the guidelines that are there.",
        )
        with st.popover("What they say", icon=":material/visibility:"):
            for pack in missing:
                st.html(f'<div class="rs-section">{esc(pack.title)}</div>')
                prose(pack.guidelines)
    return missing if wanted else ()


def _titles(packs: tuple[Pack, ...]) -> str:
    *first, last = (f"“{pack.title}”" for pack in packs)
    return f"{', '.join(first)} and {last}" if first else last


def add(target: str, picked: list[str], guidelines: tuple[Pack, ...]) -> None:
    """Put the criteria, and the guidelines of these packs, into the target's draft; edit it."""
    with shown_errors():
        guided = bool(guidelines)
        own = bool(_draft_of(target)["guidelines"].strip())
        if target == NEW:
            name = _new(library.new_with(picked, guided=guided))
        else:
            name = _grown(target, picked, guided)
        added = work.draft(name)["criteria"][-len(picked)]
        work.keep_open(name, added["uid"])
        state.drop(keys.LIBRARY_PICK)
        state.drop(keys.LIBRARY_TARGET)
        added_too = f", and the guidelines of {_titles(guidelines)}" if guided else ""
        below = " below yours" if guided and own else ""
        undo = "" if target == NEW or not guided else " Undo takes both back."
        count = fmt.plural(len(picked), "criterion", "criteria")
        state.flash(f"Added {count}{added_too}{below}. Look them over, then save.{undo}")
        routes.go(routes.RUBRICS, {state.RUBRIC: name})


def start(draft: Draft) -> None:
    """Keep a new draft and go to its editor."""
    with shown_errors():
        name = _new(draft)
        routes.go(routes.RUBRICS, {state.RUBRIC: name})


def _new(draft: Draft) -> str:
    name = authoring.new_name()
    authoring.keep(store(), name, draft)
    work.load(name)
    return name


def _grown(name: str, picked: list[str], guided: bool) -> str:
    work.load(name)
    refused = work.refused_text(name)
    if refused is not None:
        raise InputError(
            "This rubric has YAML that is not applied yet. Mend it in the editor first.",
            refused.problems,
        )
    work.change(name, library.with_entries(work.draft(name), picked, guided=guided), redraw=True)
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
