"""The list of rubrics, with unsaved drafts first, import and samples."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.domain.library import RubricRow
from core.services import authoring
from core.services import numbers as fmt
from core.services.draft_types import new_draft
from pages.author._help import drafting
from pages.author._rubric import importing, work
from pages.author._rubric.exporting import export_dialog
from pages.author._rubric.going import RUBRICS_PANEL, open_rubric, start
from pages.author._rubric.work import (
    RUBRICS_ACT,
    RUBRICS_ARCHIVED,
    RUBRICS_PAGE,
    RUBRICS_REFUSED,
    RUBRICS_SEARCH,
)
from pages.ui import state
from pages.ui.resources import store
from pages.ui.text import esc, label
from pages.ui.widgets import (
    empty_state,
    page_header,
    row,
    show_flash,
    shown_errors,
    tag,
)

PAGE = 25


def show() -> None:
    """The whole list screen."""
    page_header("Rubrics", "A rubric is a list of questions that judges and people answer.")
    show_flash()
    _toolbar()
    panel = state.get(RUBRICS_PANEL)
    if panel == "import":
        importing.import_panel()
    elif panel == "samples":
        importing.samples_panel()
    elif panel == "draft":
        drafting.panel()
    archived = bool(state.get(RUBRICS_ARCHIVED))
    search = str(state.get(RUBRICS_SEARCH) or "")
    rows = authoring.listing(store(), search=search, archived=archived)
    kept = {one.name: one for one in authoring.all_kept(store())}
    fresh = [one for one in kept.values() if not one.name.isdecimal()]
    if not archived and not search:
        for one in fresh:
            _fresh_row(one)
    if not rows:
        _nothing(bool(search), archived, bool(fresh))
        return
    for found in _paged(rows):
        _rubric_row(found, str(found.id) in kept, archived)


def _toolbar() -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text_input(
            "Search",
            key=RUBRICS_SEARCH,
            type="search",
            live="300ms",
            placeholder="Search by name",
            label_visibility="collapsed",
            width=260,
        )
        st.button(
            "New rubric",
            key=state.key(RUBRICS_ACT, "new"),
            type="primary",
            icon=":material/add:",
            on_click=_on_new,
        )
        for panel, words, icon in (
            ("import", "Import", "upload_file"),
            ("samples", "Samples", "auto_stories"),
            ("draft", "Draft with a model", "auto_awesome"),
        ):
            st.button(
                words,
                key=state.key(RUBRICS_ACT, panel),
                icon=f":material/{icon}:",
                on_click=_on_panel,
                args=(panel,),
            )
        st.toggle("Archived", key=RUBRICS_ARCHIVED)


def _on_new() -> None:
    with shown_errors():
        work.keep_open(start(new_draft()), work.ABOUT)


def _on_panel(panel: str) -> None:
    closed = state.get(RUBRICS_PANEL) == panel
    state.put(RUBRICS_PANEL, None if closed else panel)
    state.drop(RUBRICS_REFUSED)


def _nothing(searched: bool, archived: bool, drafts: bool) -> None:
    if searched:
        empty_state("Nothing found", "No rubric has these words in its name.")
    elif archived:
        empty_state("Nothing archived", "Rubrics that you put away are listed here.")
    elif not drafts:
        empty_state(
            "No rubrics yet",
            "Write one, bring one in, or begin with a sample: buttons above.",
            lambda: st.button("New rubric", type="primary", on_click=_on_new, key="rubrics_first"),
        )


def _paged(rows: list[RubricRow]) -> list[RubricRow]:
    if len(rows) <= PAGE:
        return rows
    page = st.pagination(-(-len(rows) // PAGE), key=RUBRICS_PAGE)
    return rows[(page - 1) * PAGE : page * PAGE]


def _fresh_row(kept: authoring.Kept) -> None:
    with _card():
        st.button(
            label(kept.draft["name"] or "Untitled rubric", 80),
            key=state.key(RUBRICS_ACT, "open", kept.name),
            type="tertiary",
            icon=":material/edit_note:",
            on_click=open_rubric,
            args=(kept.name,),
        )
        row(
            [
                tag(_unsaved(kept), "warn"),
                tag(_criteria(len(kept.draft["criteria"]))),
                _quiet(f"changed {fmt.ago(kept.updated)}"),
            ]
        )
        st.space("stretch")
        st.button(
            "Discard",
            key=state.key(RUBRICS_ACT, "discard", kept.name),
            on_click=_on_discard,
            args=(kept.name,),
        )


def _on_discard(name: str) -> None:
    with shown_errors():
        authoring.discard(store(), name)
        work.forget(name)


def _rubric_row(found: RubricRow, unsaved: bool, archived: bool) -> None:
    with _card():
        st.button(
            label(found.name, 80),
            key=state.key(RUBRICS_ACT, "open", found.id),
            type="tertiary",
            icon=":material/checklist:",
            on_click=open_rubric,
            args=(str(found.id),),
        )
        used = f"used in {fmt.plural(found.runs, 'run')}" if found.runs else "not used yet"
        parts = [
            tag(_criteria(found.criteria)),
            tag(f"version {found.number}"),
            _quiet(f"{used} · updated {fmt.ago(found.updated)}"),
        ]
        row([tag("Unsaved changes", "warn"), *parts] if unsaved else parts)
        st.space("stretch")
        key = state.key(RUBRICS_ACT, "menu", found.id)
        choice = st.menu_button(
            "Actions",
            ["Restore"] if archived else ["Duplicate", "Export", "Archive"],
            key=key,
            type="tertiary",
            icon=":material/more_horiz:",
            on_click=_on_menu,
            args=(found.id, key),
        )
        if choice == "Export":
            export_dialog(authoring.latest(store(), found.id).rubric)


def _on_menu(rubric_id: int, key: str) -> None:
    with shown_errors():
        match state.get(key):
            case "Duplicate":
                authoring.duplicate(store(), rubric_id)
                state.flash("Duplicated.")
            case "Archive":
                authoring.archive(store(), rubric_id)
                state.flash("Archived. Runs and versions are kept.")
            case "Restore":
                authoring.restore(store(), rubric_id)
                state.flash("Restored.")
            case _:
                pass


def _card() -> Any:
    return st.container(border=True, horizontal=True, vertical_alignment="center")


def _unsaved(kept: authoring.Kept) -> str:
    parent = kept.draft["parent"]
    return "Never saved" if parent is None else f"Unsaved changes to version {parent}"


def _criteria(number: int) -> str:
    return fmt.plural(number, "criterion", "criteria")


def _quiet(words: str) -> str:
    return f'<span class="rs-quiet">{esc(words)}</span>'
