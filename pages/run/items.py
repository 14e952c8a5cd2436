"""The items of a run: filtered, sorted and paged in the data file; click one to open it."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.domain.rubric import Rubric
from core.domain.runs import Run, RunItemRow
from core.services.results import browsing
from core.text import numbers as fmt
from core.text.names import visible
from pages.run import filters
from pages.run.filters import OUTCOME, RUN_FILTER
from pages.ui import state
from pages.ui.resources import remembered, store
from pages.ui.run_status import RUN_ACT
from pages.ui.text import one_line
from pages.ui.widgets import OUTCOME_WORDS, OUTCOMES, empty_state

RUN_TABLE = "run_table"

PAGE = 50


def show(run: Run, rubric: Rubric) -> None:
    """Filters, the table, and a plain way to open an item."""
    groups = remembered("groups", (run.id,), lambda: browsing.groups(store(), run.id))
    filters.controls(groups, rubric, flipped=run.panel.asking.flip != "off")
    now = filters.shown()
    rows, total = browsing.run_items(
        store(),
        run.id,
        now.where,
        sort=now.sort,
        descending=now.descending,
        offset=(now.page - 1) * PAGE,
        limit=PAGE,
    )
    if not rows:
        _nothing(total)
        return
    _opener(rows, total, now)
    _outcomes(run, now)
    _table(run, rubric, rows)
    _pages(total, now.page)


def _nothing(total: int) -> None:
    words = "This page is past the end." if total else "No item of this run fits the filters."
    empty_state(
        "Nothing here",
        words,
        lambda: st.button(
            "Show all items",
            key=state.key(RUN_ACT, "all"),
            on_click=filters.clear,
        ),
    )


def _opener(rows: list[RunItemRow], total: int, now: filters.ItemSelection) -> None:
    ids = [one.item_id for one in rows]
    key = state.key(RUN_TABLE, "pick", now.page)
    # At the left, because the table's own tools appear over what stands at its upper right.
    with st.container(horizontal=True, vertical_alignment="center"):
        filters.sorting()
        st.selectbox(
            "Open an item",
            ids,
            index=None,
            key=key,
            format_func=visible,
            placeholder="Open an item",
            label_visibility="collapsed",
            width=170,
            on_change=_on_pick,
            args=(key,),
        )
        st.button(
            "Read one by one",
            key=state.key(RUN_ACT, "first"),
            icon=":material/menu_book:",
            help="Opens the first of these items; the arrow keys go on from there.",
            on_click=_open,
            args=(ids[0],),
        )
    first = (now.page - 1) * PAGE + 1
    st.html(
        f'<span class="rs-quiet rs-num">{fmt.plural(total, "item")}'
        f"{' found' if now.filtered else ''}, "
        f"{fmt.count(first)} to {fmt.count(first + len(rows) - 1)} shown. "
        "Click a row to open it.</span>"
    )


def _outcomes(run: Run, now: filters.ItemSelection) -> None:
    """How the whole run ends, each count leading to its items."""
    found = browsing.outcomes(store(), run.id)
    if not found:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.html('<span class="rs-quiet">In all:</span>', width="content")
        for one, (words, _) in OUTCOMES.items():
            if found.get(one):
                st.button(
                    f"{words}: {fmt.count(found[one])}",
                    key=state.key(RUN_ACT, "outcome", one),
                    type="tertiary",
                    disabled=now.where.outcome == one,
                    on_click=filters.narrow,
                    kwargs={OUTCOME: one},
                )


def _table(run: Run, rubric: Rubric, rows: list[RunItemRow]) -> None:
    columns: dict[str, list[object]] = {
        "Item": [visible(one.item_id) for one in rows],
        "Submission": [one_line(one.preview, 140) for one in rows],
        "Score": [one.score for one in rows],
        "Agreement": [one.agreement for one in rows],
        "Notes": [notes(one) for one in rows],
        "Votes": [f"{one.votes} of {one.planned}" for one in rows],
    }
    if any(one.system for one in rows):
        columns["System"] = [visible(one.system) for one in rows]
    ids = [one.item_id for one in rows]
    key = state.key(RUN_TABLE, run.id, ids[0], len(ids))
    st.dataframe(
        columns,
        key=key,
        hide_index=True,
        height="content",
        column_config=_configuration(rubric),
        on_select=lambda: _on_cell(key, ids),
        selection_mode="single-cell",
        placeholder=fmt.DASH,
        alt="The items of this run with score, agreement and notes",
    )


def _configuration(rubric: Rubric) -> dict[str, Any]:
    config = st.column_config
    score = (
        config.ProgressColumn("Score", min_value=0, max_value=1, format="%.2f", width=120)
        if rubric.scoring.normalize
        else config.NumberColumn("Score", format="%.2f", width=90)
    )
    return {
        "Item": config.TextColumn(width=120),
        "Submission": config.TextColumn(width=340),
        "Score": score,
        "Agreement": config.NumberColumn(
            format="%.2f",
            width=90,
            help="Mean over the criteria of the share of votes that chose the verdict.",
        ),
        "Notes": config.TextColumn(width=210),
        "Votes": config.TextColumn(width=85),
    }


def notes(one: RunItemRow) -> str:
    """What is remarkable about an item, in words."""
    parts = [OUTCOME_WORDS[one.outcome]] if one.outcome in ("pass", "fail") else []
    parts += ["needs a person"] if one.review else []
    parts += [fmt.plural(one.failures, "failure")] if one.failures else []
    parts += [fmt.plural(one.abstentions, "abstention")] if one.abstentions else []
    asked = one.votes or one.failures
    parts += [] if one.complete else ["incomplete" if asked else "not asked yet"]
    if one.low is not None and one.high is not None and one.low < one.high:
        parts.append(f"score between {fmt.score(one.low)} and {fmt.score(one.high)}")
    return ", ".join(parts)


def _pages(total: int, page: int) -> None:
    if total <= PAGE:
        return
    count = -(-total // PAGE)
    key = state.key(RUN_FILTER, "page")
    state.put(key, min(page, count))
    st.pagination(count, key=key, on_change=_on_page, args=(key,))


def _on_page(key: str) -> None:
    state.set_address(**{state.PAGE: state.get(key)})


def _on_pick(key: str) -> None:
    _open(state.get(key))


def _on_cell(key: str, ids: list[str]) -> None:
    cells = state.get(key, {}).get("selection", {}).get("cells", [])
    if cells:
        _open(ids[cells[0][0]])


def _open(item_id: str | None) -> None:
    state.set_address(**{state.ITEM: item_id})
