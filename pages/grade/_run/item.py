"""One item of a run: what was judged beside its score, its verdicts and every vote."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.services import browsing, provenance, viewing
from core.services import numbers as fmt
from core.services.browsing import Neighbours
from core.services.viewing import ItemView
from pages.grade._run import criterion, example, filters, score, settled, submission
from pages.grade._run.filters import ITEM_ACT, ITEM_OPEN
from pages.ui import state
from pages.ui.resources import remembered, store
from pages.ui.text import label, one_line
from pages.ui.widgets import show_flash

#: Criteria on one screen; rubrics may have hundreds.
PAGE = 15


def show(run_id: int, item_id: str) -> None:
    """The whole screen of an item."""
    view = viewing.item_view(store(), run_id, item_id)
    _bar(view)
    st.title(label(item_id, 120), anchor=False)
    st.caption(label(f"{one_line(view.run.name, 100)} · run {run_id}"))
    show_flash()
    left, right = st.columns([2, 3], gap="large")
    with left, st.container(key="rs_beside"):
        submission.show(view)
        example.show(view)
    with right:
        score.show(view)
        _criteria(view)


def _bar(view: ItemView) -> None:
    """Back to the list, and on to the item before or after in its order."""
    at = _place(view)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Items",
            key=state.key(ITEM_ACT, "back"),
            type="tertiary",
            icon=":material/arrow_back:",
            on_click=_go,
            args=(None,),
        )
        st.space("stretch")
        where = "not in this list" if at.place is None else f"{fmt.count(at.place)} of"
        found = ", as filtered" if filters.shown().filtered else ""
        st.html(f'<span class="rs-quiet rs-num">{where} {fmt.count(at.total)}{found}</span>')
        for words, to, icon, shortcut in (
            ("Previous", at.before, "chevron_left", "Left"),
            ("Next", at.after, "chevron_right", "Right"),
        ):
            st.button(
                words,
                key=state.key(ITEM_ACT, words),
                icon=f":material/{icon}:",
                disabled=to is None,
                shortcut=shortcut,
                on_click=_step,
                args=(view.item.id, to),
            )


def _place(view: ItemView) -> Neighbours:
    now = filters.shown()
    about = (*browsing.stands_on(store(), view.run), now, view.item.id)
    return remembered(
        "neighbours",
        about,
        lambda: browsing.neighbours(
            store(), view.run.id, view.item.id, now.where, now.sort, now.descending
        ),
    )


def _go(item_id: str | None) -> None:
    state.set_address(**{state.ITEM: item_id})


def _step(shown: str, to: str | None) -> None:
    # A key pressed twice can arrive with the item of the run before; then it is not for this one.
    if to is not None and state.address(state.ITEM) == shown:
        state.drop(ITEM_OPEN)
        _go(to)


def _criteria(view: ItemView) -> None:
    count = len(view.criteria)
    page = 1
    if count > PAGE:
        page = st.pagination(-(-count // PAGE), key=state.key(ITEM_ACT, "page"))
    decided = provenance.decided(store(), view.run.id, view.item.id)
    for one in view.criteria[(page - 1) * PAGE : page * PAGE]:
        found, name = decided.get(one.criterion.name), one.criterion.name
        line = partial(settled.show, view.run.id, view.item.id, name, found) if found else None
        criterion.show(one, view.item.text, over=view.run.status == "done", decided=line)
