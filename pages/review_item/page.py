"""Reviewing: one item of a queue next to its doubtful cells, blind until a verdict."""

from __future__ import annotations

import streamlit as st

from core.domain.review_records import QueueFilter
from core.services.guided import grading, ten_more
from core.services.review import claims, queues
from pages.review_item import bar, cards, keyboard, opened, submission
from pages.review_item.opened import REVIEW_ACT, REVIEW_REFUSED, OpenItem
from pages.ui import identity, routes, state
from pages.ui.places import work
from pages.ui.resources import store
from pages.ui.widgets import empty_state, page_header, shown_errors

#: Most seconds between two heartbeats while an item is open; a third of a shorter lease.
BEAT = 25


def none_chosen() -> None:
    """Draw the screen without a queue in the address."""
    page_header("Review")
    empty_state("No queue chosen", "Open one from the list of queues.", _to_queues)


def show(queue_id: int) -> None:
    """Draw the screen of a queue: the open item, or why there is none."""
    queue = queues.queue(store(), queue_id)
    who = identity.seat()
    if who is None:
        return
    at = opened.item_of(queue_id, who)
    where = QueueFilter(
        criterion=state.address(state.CRITERION), flagged=state.address(state.FLAGGED) is not None
    )
    if where != at.where:
        at.where = where
        opened.choose_active(at)
    if at.ticket is None and at.effect is None and not state.get(REVIEW_REFUSED):
        keyboard.guarded(at, _arrive)
    _screen(at, queue.name)
    st.fragment(_stay, run_every=min(BEAT, queue.settings.lease_seconds / 3))(at)


def _arrive(at: OpenItem) -> None:
    """Open the requested item, the one this tab had open, or the next one.

    If I have an item open in another window, ask where to go on first.
    """
    item_id = state.get(state.REVIEW_TAKE)
    state.drop(state.REVIEW_TAKE)
    if item_id is not None:
        opened.open_item(at, str(item_id), take_over=True)
    elif not opened.open_mine(at) and not opened.my_leases(at):
        opened.open_next(at)


@st.fragment
def _screen(at: OpenItem, queue_name: str) -> None:
    with shown_errors():
        bar.show(at, queue_name)
        if at.item is None:
            _nothing(at)
            return
        keyboard.show(at)
        left, right = st.columns([1, 1], gap="large")
        with left, st.container(key="rs_beside"):
            submission.show(at, at.item)
        with right:
            cards.show(at)


def _nothing(at: OpenItem) -> None:
    standing = claims.standing(store(), at.seat, at.queue_id, at.where)
    leases = opened.my_leases(at)
    if leases:
        caption = (
            "You have an item open in another window, or had when it closed. Your verdicts on it "
            "are kept."
        )
        empty_state("One item is still open", caption, lambda: _take_back(at, leases[0].item_id))
    elif standing.available:
        empty_state("Ready", "There is something for you to review.")
    else:
        run = queues.queue(store(), at.queue_id).run_id
        empty_state("Nothing left for you here", standing.why, lambda: _on_from(run))
    if standing.available:
        with st.container(horizontal=True, horizontal_alignment="center"):
            _start(at, first=not leases)


def _start(at: OpenItem, *, first: bool) -> None:
    st.button(
        "Open the next item" if first else "Open another item",
        key=state.key(REVIEW_ACT, "next"),
        type="primary" if first else "secondary",
        shortcut="Enter" if first else None,
        on_click=keyboard.guarded,
        args=(at, opened.open_next),
    )


def _take_back(at: OpenItem, item_id: str) -> None:
    st.button(
        "Go on with it here",
        key=state.key(REVIEW_ACT, "take back"),
        type="primary",
        shortcut="Enter",
        on_click=keyboard.guarded,
        args=(at, lambda now: opened.open_item(now, item_id, take_over=True)),
    )


def _on_from(run_id: int) -> None:
    routes.link(routes.RUN, "The run and its grades", {state.RUN: run_id}, icon="grid_on")
    _to_queues()


def _to_queues() -> None:
    routes.back(routes.QUEUES, "All queues")


def _stay(at: OpenItem) -> None:
    """Keep the open item's lease while the tab lives; show when another reviewer took it."""
    if at.ticket is None:
        return
    with shown_errors():
        if claims.heartbeat(store(), at.ticket):
            return
        st.warning(
            "Another reviewer has taken over this item. Your verdicts are kept as a draft.",
            icon=":material/lock:",
        )
        st.button("Go on", key=state.key(REVIEW_ACT, "lost"), on_click=_let_go, args=(at,))


def _let_go(at: OpenItem) -> None:
    keyboard.guarded(at, opened.leave)


def take_up(run_id: int, rule: str) -> None:
    """Open the run's queue for a rule named in a link; make it if it does not exist."""
    if who := identity.seat():
        if rule == work.RANDOM:
            queue = ten_more.take_up(store(), who, run_id)
        elif rule == work.UNGRADED:
            queue = grading.take_up_ungraded(store(), who, run_id)
        else:
            queue = queues.take_up(store(), who, run_id, *work.SETTLED_AT_ONCE[rule])
        state.set_address(**{state.QUEUE: queue.id, state.RUN: None, state.RULE: None})
        st.rerun()


_queue, _run = state.address_id(state.QUEUE), state.address_id(state.RUN)
_rule = state.address_in(state.RULE, (*work.SETTLED_AT_ONCE, work.RANDOM, work.UNGRADED))
if _queue is not None:
    show(_queue)
elif _run is not None and _rule is not None:
    take_up(_run, _rule)
else:
    none_chosen()
