"""Reviewing: one item of a queue next to its doubtful cells, blind until a verdict."""

from __future__ import annotations

import streamlit as st

from core.domain.review_records import QueueFilter
from core.services.access import blindness
from core.services.guided import grading, own_grades, ten_more
from core.services.review import claims, queues, reviewers
from pages.review_item import bar, cards, keyboard, opened, submission
from pages.review_item.opened import REVIEW_ACT, REVIEW_REFUSED, OpenItem
from pages.ui import identity, routes, run_status, state
from pages.ui.places import work
from pages.ui.resources import store
from pages.ui.widgets import empty_state, page_header, shown_errors

#: The most seconds between two heartbeats while an item is open; a third of a shorter lease.
BEAT = 25


def show_without_queue() -> None:
    """Draw the screen without a queue in the address."""
    page_header("Review")
    empty_state("No queue chosen", "Open a queue from the list.", _link_to_queues)


def show(queue_id: int) -> None:
    """Draw the screen of a queue: the open item, or why none is open."""
    queue = queues.queue_by_id(store(), queue_id)
    seat = identity.current_seat()
    if seat is None:
        return
    at = opened.open_item_of(queue_id, seat)
    where = QueueFilter(
        criterion=state.address(state.CRITERION), flagged=state.address(state.FLAGGED) is not None
    )
    if where != at.where:
        at.where = where
        opened.choose_active(at)
    if at.ticket is None and at.effect is None and not state.get(REVIEW_REFUSED):
        keyboard.perform_guarded(at, _open_first)
    _draw_screen(at, queue.name)
    st.fragment(_keep_lease, run_every=min(BEAT, queue.settings.lease_seconds / 3))(at)


def _open_first(review: OpenItem) -> None:
    """Open the requested item, the item this tab had open, or the next item.

    If I have an item open in another window, ask where to continue.
    """
    item_id = state.get(state.REVIEW_TAKE)
    state.drop(state.REVIEW_TAKE)
    if item_id is not None:
        opened.open_item(review, str(item_id), take_over=True)
    elif not opened.reopen_item(review) and not opened.my_leases(review):
        opened.open_next(review)


@st.fragment
def _draw_screen(review: OpenItem, queue_name: str) -> None:
    with shown_errors():
        bar.show(review, queue_name)
        if review.item is None:
            _show_nothing(review)
            return
        keyboard.show(review)
        left, right = st.columns([1, 1], gap="large")
        with left, st.container(key="rs_beside"):
            submission.show(review, review.item)
        with right:
            cards.show(review)


def _show_nothing(review: OpenItem) -> None:
    queue_state = claims.queue_for_person(store(), review.seat, review.queue_id, review.where)
    leases = opened.my_leases(review)
    if leases:
        caption = (
            "You have an item open in another window, or had one open when that window closed. "
            "Your verdicts on it are kept."
        )
        empty_state(
            "One item is still open", caption, lambda: _take_back(review, leases[0].item_id)
        )
    elif queue_state.available:
        empty_state("Ready", "There are items for you to review.")
    else:
        run = queues.queue_by_id(store(), review.queue_id).run_id
        empty_state("No items left for you", queue_state.why, lambda: _on_run_choice(run))
    if queue_state.available:
        with st.container(horizontal=True, horizontal_alignment="center"):
            _show_start_links(review, first=not leases)


def _show_start_links(review: OpenItem, *, first: bool) -> None:
    st.button(
        "Open the next item" if first else "Open another item",
        key=state.key(REVIEW_ACT, "next"),
        type="primary" if first else "secondary",
        shortcut="Enter" if first else None,
        on_click=keyboard.perform_guarded,
        args=(review, opened.open_next),
    )


def _take_back(review: OpenItem, item_id: str) -> None:
    st.button(
        "Continue reviewing here",
        key=state.key(REVIEW_ACT, "take back"),
        type="primary",
        shortcut="Enter",
        on_click=keyboard.perform_guarded,
        args=(review, lambda now: opened.open_item(now, item_id, take_over=True)),
    )


def _on_run_choice(run_id: int) -> None:
    if not blindness.cells_to_decide(store(), run_id):
        run_status.grades_download(run_id)
    routes.draw_link(routes.RUN, "The run with its grades", {state.RUN: run_id}, icon="grid_on")
    _link_to_queues()


def _link_to_queues() -> None:
    routes.draw_back_link(routes.QUEUES, "All queues")


def _keep_lease(review: OpenItem) -> None:
    """Keep the open item's lease while the tab lives; show when another reviewer took it."""
    if review.ticket is None:
        return
    with shown_errors():
        if claims.heartbeat(store(), review.ticket):
            return
        st.warning(
            "Another reviewer has taken over this item. Your verdicts are kept as a draft.",
            icon=":material/lock:",
        )
        st.button(
            "Go on", key=state.key(REVIEW_ACT, "lost"), on_click=_release_item, args=(review,)
        )


def _release_item(review: OpenItem) -> None:
    keyboard.perform_guarded(review, opened.leave_item)


def open_queue_for(run_id: int, rule: str) -> None:
    """Open the run's queue for a rule named in a link; create it if it does not exist.

    If no one has reviewed yet, the person begins at once; *Not you?* on Review asks for a name.
    """
    if seat := identity.current_seat(alone=own_grades.GRADER):
        if rule == work.RANDOM:
            queue = ten_more.take_up(store(), seat, run_id)
        elif rule == work.UNGRADED:
            queue = grading.take_up_ungraded(store(), seat, run_id)
            reviewers.commit_at_once_alone(store(), seat)
        else:
            queue = queues.take_up(store(), seat, run_id, *work.SETTLED_AT_ONCE[rule])
        state.set_address(**{state.QUEUE: queue.id, state.RUN: None, state.RULE: None})
        st.rerun()


_queue, _run = state.address_id(state.QUEUE), state.address_id(state.RUN)
_rule = state.address_in(state.RULE, (*work.SETTLED_AT_ONCE, work.RANDOM, work.UNGRADED))
if _queue is not None:
    show(_queue)
elif _run is not None and _rule is not None:
    open_queue_for(_run, _rule)
else:
    show_without_queue()
