"""The items of a version: filters in the URL, a page of items, and the chosen one in full."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.domain.library import DatasetVersion, ItemFilter, ItemRow
from core.errors import NotFound
from core.services.datasets import catalog
from core.text import numbers as fmt
from pages.ui import resources, state
from pages.ui.items import show_item
from pages.ui.resources import store
from pages.ui.text import esc, one_line
from pages.ui.widgets import draw_row, empty_state, shown_errors, tag

DATASETS_SEARCH = "datasets_search"
DATASETS_ARCHIVED = "datasets_archived"
DATASETS_PAGE = "datasets_page"
DATASETS_ACT = "datasets_act"
DATASET_VIEW = "dataset_view"
DATASET_VERSION = "dataset_version"
DATASET_ACT = "dataset_act"
DATASET_SEARCH = "dataset_search"
DATASET_LABELLED = "dataset_labelled"
DATASET_SYSTEM = "dataset_system"
DATASET_SPLIT = "dataset_split"
DATASET_PAGE = "dataset_page"
DATASET_TABLE = "dataset_table"
DATASET_PICK = "dataset_pick"
DATASET_RUBRIC = "dataset_rubric"
DATASET_PLOT = "dataset_plot"
DATASET_DRAW = "dataset_draw"
DATASET_PARTS = "dataset_parts"


PAGE = 50
#: The height of a table row, and of the tallest table, in pixels.
ROW_HEIGHT, TALLEST = 35, 640
#: The most systems offered as a select; otherwise the search finds them.
MAX_SYSTEMS = 200
ANY = "any"
LABELLED = {ANY: "Labelled or not", "yes": "Labelled", "no": "Not labelled"}
SPLITS = {ANY: "Any split", "calibration": "Calibration", "evaluation": "Evaluation"}


def show(version: DatasetVersion) -> None:
    """Draw the filters, the list on the left, and the chosen item on the right."""
    where = _draw_filters(version)
    total = resources.item_count(version.id, where)
    if not total:
        empty_state("Nothing found", "No item passes these filters.")
        return
    left, right = st.columns([5, 7], gap="medium")
    with left:
        offset, rows = _item_page(version, where, total)
    chosen = state.address(state.ITEM) or rows[0].id
    with left:
        _item_table(version, rows, chosen, offset, where)
    with right:
        _show_item(version, where, rows, offset, chosen)


def _draw_filters(version: DatasetVersion) -> ItemFilter:
    with st.container(horizontal=True, vertical_alignment="center"):
        search = st.text_input(
            "Search",
            key=DATASET_SEARCH,
            type="search",
            live="400ms",
            placeholder="Search in ids and texts",
            label_visibility="collapsed",
            width=260,
            bind="query-params",
            on_change=_on_filter,
        )
        labelled = _filter_choice("Labels", LABELLED, DATASET_LABELLED)
        systems = resources.systems_of(version.id)[:MAX_SYSTEMS]
        system = ANY
        if systems:
            named = {ANY: "Any system"} | {f"={name}": one_line(name, 60) for name in systems}
            system = _filter_choice("System", named, DATASET_SYSTEM)
        split = _filter_choice("Split", SPLITS, DATASET_SPLIT)
    return ItemFilter(
        search=(search or "").strip(),
        labelled=None if labelled == ANY else labelled == "yes",
        system=None if system == ANY else system[1:],
        split=None if split == ANY else split,
    )


def _filter_choice(caption: str, options: dict[str, str], key: str) -> str:
    chosen = st.selectbox(
        caption,
        list(options),
        format_func=lambda option: options.get(option, ANY),
        key=key,
        label_visibility="collapsed",
        width=170,
        bind="query-params",
        on_change=_on_filter,
    )
    return chosen or ANY


def _on_filter() -> None:
    state.put(DATASET_PAGE, 1)
    state.set_address(**{state.ITEM: None})


def _item_page(version: DatasetVersion, where: ItemFilter, total: int) -> tuple[int, list[ItemRow]]:
    pages = -(-total // PAGE)
    page = 1
    if pages > 1:
        page = st.pagination(
            pages,
            key=DATASET_PAGE,
            bind="query-params",
            max_visible_pages=5,
            on_change=_on_page,
        )
    offset = (min(page, pages) - 1) * PAGE
    rows = catalog.page_of_items(store(), version.id, where, offset=offset, limit=PAGE)
    shown = f"{fmt.count(offset + 1)} to {fmt.count(offset + len(rows))} of {fmt.count(total)}"
    st.caption(f"{shown} items")
    return offset, rows


def _on_page() -> None:
    state.set_address(**{state.ITEM: None})


def _item_table(
    version: DatasetVersion, rows: list[ItemRow], chosen: str, offset: int, where: ItemFilter
) -> None:
    ids = [item_row.id for item_row in rows]
    at = ids.index(chosen) if chosen in ids else None
    key = state.key(DATASET_TABLE, version.id, offset, repr(where))
    selected = {"rows": [] if at is None else [at], "columns": [], "cells": []}
    state.put(key, {"selection": selected})
    st.dataframe(
        _table_columns(rows),
        hide_index=True,
        height=min(TALLEST, ROW_HEIGHT * (len(rows) + 1) + 3),
        key=key,
        on_select=lambda: _on_select(key, ids),
        # If the item is not on this page, no row may be shown as chosen.
        selection_mode="single-row" if at is None else "single-row-required",
        column_config={
            "Id": st.column_config.TextColumn(width=95),
            "Submission": st.column_config.TextColumn(width=170),
            "Labels": st.column_config.NumberColumn(
                width=65, help=("The number of the item's labels.")
            ),
        },
        alt="A page of items: id, how many labels, system, split and the text's beginning.",
    )


def _table_columns(rows: list[ItemRow]) -> list[dict[str, Any]]:
    """Return the table's columns; system and split are empty unless an item has one."""
    cells: list[dict[str, Any]] = [
        {
            "Id": one_line(item_row.id, 60),
            "Submission": one_line(item_row.preview),
            "Labels": item_row.labelled,
        }
        for item_row in rows
    ]
    for head, values in (
        ("System", [one_line(item_row.system or "", 40) for item_row in rows]),
        ("Split", [item_row.split or "" for item_row in rows]),
    ):
        if any(values):
            for cell, value in zip(cells, values, strict=True):
                cell[head] = value
    return cells


def _on_select(key: str, ids: list[str]) -> None:
    rows = (state.get(key) or {}).get("selection", {}).get("rows", [])
    if rows and rows[0] < len(ids):
        state.set_address(**{state.ITEM: ids[rows[0]]})


def _show_item(
    version: DatasetVersion, where: ItemFilter, rows: list[ItemRow], offset: int, chosen: str
) -> None:
    try:
        item = catalog.item_of_version(store(), version, chosen)
    except NotFound:
        empty_state("No such item", "It is not in this version of the dataset.")
        return
    _step_buttons(version, where, rows, offset, chosen)
    draw_row([f"<b>{esc(one_line(item.id, 200))}</b>", *_unlisted_item(rows, chosen)])
    show_item(item)


def _unlisted_item(rows: list[ItemRow], chosen: str) -> list[str]:
    return (
        [] if any(item_row.id == chosen for item_row in rows) else [tag("not on this page", "info")]
    )


def _step_buttons(
    version: DatasetVersion, where: ItemFilter, rows: list[ItemRow], offset: int, chosen: str
) -> None:
    ids = [item_row.id for item_row in rows]
    at = offset + ids.index(chosen) if chosen in ids else None
    with st.container(horizontal=True, vertical_alignment="center"):
        for caption, icon, step, shortcut in (
            ("Previous", "arrow_back", -1, "K"),
            ("Next", "arrow_forward", 1, "J"),
        ):
            st.button(
                caption,
                key=state.key(DATASET_ACT, caption),
                icon=f":material/{icon}:",
                shortcut=shortcut,
                disabled=at == 0 and step < 0,
                on_click=_on_step,
                args=(version.id, where, offset if at is None else at + step),
            )
        key = state.key(DATASET_PICK, version.id)
        state.put(key, chosen if chosen in ids else None)
        names = {item_row.id: one_line(item_row.id, 60) for item_row in rows}
        st.selectbox(
            "Item",
            ids,
            format_func=lambda item_id: names.get(item_id, ""),
            key=key,
            label_visibility="collapsed",
            placeholder="Choose an item on this page",
            width=240,
            on_change=lambda: state.set_address(**{state.ITEM: state.get(key)}),
        )


def _on_step(version_id: int, where: ItemFilter, offset: int) -> None:
    with shown_errors():
        item_id = catalog.item_at_offset(store(), version_id, where, offset)
        if item_id is not None:
            state.put(DATASET_PAGE, offset // PAGE + 1)
            state.set_address(**{state.ITEM: item_id})
