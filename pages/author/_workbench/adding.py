"""Rows into the workbench: written, pasted, from a dataset, or from worked examples."""

from __future__ import annotations

import streamlit as st

from core.errors import InputError
from core.files.visible import visible
from core.services import numbers as fmt
from core.services import rehearsing, workbench
from core.services.drafts import rubric_from
from core.services.workbench_rows import of_items, pasted, worked_examples
from core.services.workbench_standing import Standing
from core.services.workbench_types import Bench, BenchRow
from pages.author._rubric import work
from pages.ui import state
from pages.ui import workbench_keys as keys
from pages.ui.resources import store
from pages.ui.text import one_line
from pages.ui.widgets import shown_errors

MOST_SHOWN = 60


def show(name: str, now: Standing) -> None:
    """The ways in, side by side."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Write a row",
            key=state.key(keys.WORKBENCH_ACT, name, "write"),
            icon=":material/add:",
            on_click=_on_write,
            args=(name,),
        )
        with st.popover("Paste", icon=":material/content_paste:"):
            _paste(name)
        with st.popover("From a dataset", icon=":material/dataset:"):
            _dataset(name)
        worked = _worked(name, now.bench)
        if worked:
            st.button(
                f"Worked examples ({len(worked)})",
                key=state.key(keys.WORKBENCH_ACT, name, "worked"),
                icon=":material/local_library:",
                type="tertiary",
                on_click=_on_worked,
                args=(name,),
                help="What library criteria brought along, each with the option it shows.",
            )


def _on_write(name: str) -> None:
    with shown_errors():
        uid = workbench.add_row(store(), name)
        state.put(state.key(keys.WORKBENCH_OPEN, name), uid)
        state.put(state.key(keys.WORKBENCH_FIND, name), "all")
        # The new row is the last one.
        state.put(state.key(keys.WORKBENCH_PAGE, name), 10**6)


def _paste(name: str) -> None:
    key = state.key(keys.WORKBENCH_FIELD, name, "paste")
    st.text_area(
        "One submission a line, or a table",
        key=key,
        height=160,
        placeholder="submission,prompt,label:Accuracy\n...",
        help="A table has a header line (CSV, TSV, JSON or JSONL). Columns like label:NAME say "
        "what is expected.",
    )
    st.button(
        "Add these rows",
        key=state.key(keys.WORKBENCH_ACT, name, "paste"),
        type="primary",
        on_click=_on_paste,
        args=(name,),
    )


def _on_paste(name: str) -> None:
    with shown_errors():
        key = state.key(keys.WORKBENCH_FIELD, name, "paste")
        try:
            rubric = rubric_from(work.draft(name))
        except InputError:
            # It only helps to tell columns apart.
            rubric = None
        _added(workbench.add_rows(store(), name, pasted(str(state.get(key) or ""), rubric)))
        state.put(key, "")


def _dataset(name: str) -> None:
    found = {row.version_id: row for row in rehearsing.datasets(store())}
    if not found:
        st.caption("There is no dataset yet. Bring one in on the Datasets page.")
        return
    version = st.selectbox(
        "Dataset",
        list(found),
        key=state.key(keys.WORKBENCH_FIELD, name, "dataset"),
        format_func=lambda one: one_line(found[one].name, 60),
    )
    search = st.text_input(
        "Find items",
        type="search",
        live="300ms",
        key=state.key(keys.WORKBENCH_FIELD, name, "search"),
    )
    ids = rehearsing.first_items(store(), version, search=search, limit=MOST_SHOWN)
    key = state.key(keys.WORKBENCH_FIELD, name, "items")
    kept = [one for one in state.get(key, []) if one in ids]
    state.put(key, kept)
    st.multiselect(
        f"Items ({fmt.plural(len(ids), 'item')} found)"
        if len(ids) < MOST_SHOWN
        else f"Items (the first {MOST_SHOWN} found)",
        ids,
        key=key,
        format_func=visible,
        placeholder="Choose items",
    )
    st.button(
        "Add them with their labels",
        key=state.key(keys.WORKBENCH_ACT, name, "items"),
        type="primary",
        on_click=_on_items,
        args=(name, version),
    )


def _on_items(name: str, version: int) -> None:
    with shown_errors():
        key = state.key(keys.WORKBENCH_FIELD, name, "items")
        chosen = list(state.get(key) or [])
        if not chosen:
            raise InputError("No item is chosen.")
        _added(workbench.add_rows(store(), name, of_items(store(), version, chosen)))
        state.put(key, [])


def _on_worked(name: str) -> None:
    with shown_errors():
        rows = _worked(name, workbench.opened(store(), name))
        _added(workbench.add_rows(store(), name, rows))


def _worked(name: str, bench: Bench) -> list[BenchRow]:
    """The worked examples that are no row yet."""
    there = [row["submission"] for row in bench["rows"]]
    return [row for row in worked_examples(work.draft(name)) if row["submission"] not in there]


def _added(count: int) -> None:
    state.flash(f"{fmt.plural(count, 'row')} added.")
