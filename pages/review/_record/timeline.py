"""The timeline of one cell: who said what, what they had seen, what it was settled as."""

from __future__ import annotations

import streamlit as st

from core.domain.review import Seat
from core.domain.review_records import QueueRow
from core.services import review_story
from core.services.review_story import cells_of
from pages.review._record.lines import lines
from pages.review._record.words import RECORD_FIELD, said, section
from pages.ui import routes, state
from pages.ui.resources import store
from pages.ui.text import one_line


def choose(who: Seat, queue: QueueRow) -> None:
    """The timeline of a cell of the queue, chosen here or by the address."""
    section("One cell")
    cells = cells_of(store(), queue.id)
    if not cells:
        said("Nothing was decided yet.")
        return
    asked = (state.address(state.ITEM), state.address(state.CRITERION))
    at = cells.index(asked) if asked in cells else None
    key = state.key(RECORD_FIELD, "cell", queue.id)
    state.put(key, at)
    st.selectbox(
        "Cell",
        range(len(cells)),
        key=key,
        index=None,
        placeholder="Choose an item and criterion",
        format_func=lambda one: f"{one_line(cells[one][0], 60)} · {one_line(cells[one][1], 60)}",
        on_change=_choose,
        args=(key, cells),
    )
    if at is not None:
        show(who, queue.run_id, *cells[at])


def _choose(key: str, cells: list[tuple[str, str]]) -> None:
    at = state.get(key)
    item, criterion = (None, None) if at is None else cells[at]
    state.set_address(**{state.ITEM: item, state.CRITERION: criterion, state.VIEW: "record"})


def show(who: Seat, run_id: int, item: str, criterion: str) -> None:
    """The events of a cell."""
    found = review_story.story(store(), who, run_id, item, criterion)
    if not found:
        said("Nobody has said anything about this cell.")
        return
    lines(found, name=f"Timeline of {criterion}", places=False)
    routes.link(routes.RUN, "The item with its votes", {state.RUN: run_id, state.ITEM: item})
