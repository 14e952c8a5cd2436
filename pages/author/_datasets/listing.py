"""The list of datasets."""

from __future__ import annotations

import streamlit as st

from core.domain.library import DatasetRow
from core.services import datasets
from core.services import numbers as fmt
from pages.author._datasets.columns import IMPORT_INTO
from pages.author._datasets.items import (
    DATASET_VERSION,
    DATASETS_ACT,
    DATASETS_ARCHIVED,
    DATASETS_PAGE,
    DATASETS_SEARCH,
)
from pages.ui import state
from pages.ui.resources import store
from pages.ui.text import esc, label
from pages.ui.widgets import empty_state, page_header, row, show_flash, shown_errors, tag

PAGE = 25


def show() -> None:
    """The whole list screen."""
    page_header("Datasets", "What is judged: texts, with what they answer and how people saw them.")
    show_flash()
    _toolbar()
    archived = bool(state.get(DATASETS_ARCHIVED))
    search = str(state.get(DATASETS_SEARCH) or "")
    rows = datasets.listing(store(), search=search, archived=archived)
    if not rows:
        _nothing(bool(search), archived)
    for found in _paged(rows):
        _card(found, archived)


def _toolbar() -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text_input(
            "Search",
            key=DATASETS_SEARCH,
            type="search",
            live="300ms",
            placeholder="Search by name",
            label_visibility="collapsed",
            width=260,
        )
        _import_button("import")
        st.toggle("Archived", key=DATASETS_ARCHIVED)


def _import_button(where: str) -> None:
    st.button(
        "Import",
        key=state.key(DATASETS_ACT, where),
        type="primary",
        icon=":material/upload_file:",
        on_click=open_dataset,
        args=(state.NEW,),
    )


def open_dataset(reference: object) -> None:
    """Go to that dataset, or to an import that begins afresh."""
    state.drop(IMPORT_INTO)
    state.set_address(**{state.DATASET: reference, state.ITEM: None, DATASET_VERSION: None})


def _nothing(searched: bool, archived: bool) -> None:
    if searched:
        empty_state("Nothing found", "No dataset has these words in its name.")
    elif archived:
        empty_state("Nothing archived", "Datasets that you put away are listed here.")
    else:
        empty_state(
            "No datasets yet",
            "Bring in answers to judge: a CSV, TSV, JSON or JSONL file, or pasted text. You will "
            "see how they look before anything is saved.",
            lambda: _import_button("first"),
        )


def _paged(rows: list[DatasetRow]) -> list[DatasetRow]:
    if len(rows) <= PAGE:
        return rows
    page = st.pagination(-(-len(rows) // PAGE), key=DATASETS_PAGE)
    return rows[(page - 1) * PAGE : page * PAGE]


def _card(found: DatasetRow, archived: bool) -> None:
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        st.button(
            label(found.name, 80),
            key=state.key(DATASETS_ACT, "open", found.id),
            type="tertiary",
            icon=":material/dataset:",
            on_click=open_dataset,
            args=(found.id,),
        )
        used = f"used in {fmt.plural(found.runs, 'run')}" if found.runs else "not used yet"
        row(
            [
                tag(fmt.plural(found.items, "item")),
                labelled_tag(found.labelled, found.items),
                tag(f"version {found.number}"),
                f'<span class="rs-quiet">{esc(used)} · updated {fmt.ago(found.updated)}</span>',
            ]
        )
        st.space("stretch")
        key = state.key(DATASETS_ACT, "menu", found.id)
        st.menu_button(
            "Actions",
            ["Restore"] if archived else ["Archive"],
            key=key,
            type="tertiary",
            icon=":material/more_horiz:",
            on_click=_on_menu,
            args=(found.id, archived),
        )


def labelled_tag(labelled: int, items: int) -> str:
    """The HTML of a small tag: how many items people have labelled."""
    if not labelled:
        return tag("no labels")
    return tag("all labelled" if labelled == items else f"{fmt.count(labelled)} labelled", "good")


def _on_menu(dataset_id: int, archived: bool) -> None:
    with shown_errors():
        if archived:
            datasets.restore(store(), dataset_id)
            state.flash("Restored.")
        else:
            datasets.archive(store(), dataset_id)
            state.flash("Archived. Runs and versions are kept.")
