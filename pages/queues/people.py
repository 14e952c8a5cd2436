"""The people of a queue: everyone's progress, the open items, and everyone's role."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import streamlit as st

from core.domain.review import ROLES, Role, Seat
from core.domain.review_records import ItemLease, QueueRow
from core.services.review import claims, reviewer_quality, reviewers
from core.services.review.reviewer_quality import PersonAtWork
from core.text import numbers as fmt
from pages.queues.outlook import QUEUE_ACT, QUEUE_FIELD
from pages.ui import routes, state
from pages.ui.resources import store
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import draw_table, shown_errors

#: The most people named on a queue's card.
NAMED = 6


def show(seat: Seat, queue: QueueRow) -> None:
    """Show everyone's progress to a lead, and their own to others."""
    people = reviewer_quality.people_at_work(store(), seat, queue.id)
    if not people:
        return
    st.html('<div class="rs-section">Progress of each reviewer</div>')
    draw_table(
        ("Who", "Role", "Items done", "Left", "Time of one", "Time left", "Last active"),
        [_work_row(person, seat) for person in people],
        name="Progress of each reviewer",
        numbers=(2, 3, 4, 5),
    )
    if (
        any(person.pace.left for person in people)
        and not queue.settings.assignees
        and len(people) > 1
    ):
        st.caption("Each remaining item is open to all reviewers until one of them takes it.")


def progress_line(seat: Seat, queue: QueueRow) -> str:
    """Return everyone's progress in one line for a lead; empty for others or before a start."""
    if seat.role != "lead":
        return ""
    people = reviewer_quality.people_at_work(store(), seat, queue.id)
    parts = [
        f"{person.name} {fmt.count(person.pace.done)} of {fmt.count(person.pace.total)}"
        for person in people
    ]
    more = [f"{fmt.count(len(parts) - NAMED)} more"] if len(parts) > NAMED else []
    return " · ".join(parts[:NAMED] + more)


def _work_row(work: PersonAtWork, seat: Seat) -> list[str]:
    pace, minutes_left = work.pace, work.pace.left_minutes
    time_left = fmt.DASH if minutes_left is None else fmt.about_minutes(minutes_left)
    active = "now" if work.open_now else fmt.DASH if work.last is None else fmt.time_ago(work.last)
    return [
        esc(work.name) + (" (you)" if work.name == seat.name else ""),
        work.role,
        fmt.count(pace.done),
        fmt.count(pace.left),
        fmt.DASH if pace.each_seconds is None else fmt.seconds(pace.each_seconds),
        time_left if pace.left else fmt.DASH,
        esc(active),
    ]


def open_items(seat: Seat, queue: QueueRow, leases: Sequence[ItemLease]) -> None:
    """Show the items that reviewers have open now."""
    st.html('<div class="rs-section">Open now</div>')
    if not leases:
        st.caption("No reviewer has an item open.")
        return
    rows = [
        (
            esc(lease.reviewer) + (" (you)" if lease.reviewer == seat.name else ""),
            "resolves" if lease.part == "resolve" else "reviews",
            f"{datetime.fromtimestamp(lease.until, UTC):%H:%M:%S} UTC",
        )
        for lease in leases
    ]
    draw_table(["Who", "Does", "Kept until"], rows, name="Open items")
    if seat.role == "lead":
        _draw_take_over_button(queue, [lease for lease in leases if lease.reviewer != seat.name])


def _draw_take_over_button(queue: QueueRow, leases: list[ItemLease]) -> None:
    """Draw a lead's button to take over items that others left open; the take-over is recorded."""
    for lease in leases:
        caption = f"Take over from {label(lease.reviewer, 40)}"
        key = state.key(QUEUE_ACT, "take over", lease.reviewer, lease.item_id)
        if st.button(caption, key=key, type="tertiary", icon=":material/swap_horiz:"):
            state.put(state.REVIEW_TAKE, lease.item_id)
            routes.go_to(routes.REVIEW_ITEM, {state.QUEUE: queue.id})


def show_roles(seat: Seat) -> None:
    """Show everyone with a role, which a lead may change."""
    for reviewer in reviewers.all_reviewers(store()):
        key = state.key(QUEUE_FIELD, "role", reviewer.id)
        state.seed(key, reviewer.role)
        st.selectbox(
            label(reviewer.name),
            ROLES,
            key=key,
            format_func=lambda role: f"{role}: {reviewers.ROLE_WORDS[role]}",
            on_change=_set_role,
            args=(seat, reviewer.name, key, reviewer.role),
        )


def _set_role(seat: Seat, name: str, key: str, before: Role) -> None:
    with shown_errors():
        try:
            reviewers.set_role(store(), seat, name, state.get(key))
        except Exception:
            state.put(key, before)
            raise


def draw_assignment_form(seat: Seat, queue: QueueRow) -> None:
    """Draw the form by which a lead assigns open items to people, or frees them for anyone."""
    items = claims.open_items(store(), queue.id)
    if not items:
        return
    chosen_key = state.key(QUEUE_FIELD, "hand over", queue.id)
    names_key = state.key(QUEUE_FIELD, "hand over to", queue.id)
    left, right = st.columns(2)
    with left:
        st.multiselect(
            "Open items",
            list(items),
            key=chosen_key,
            format_func=lambda item: _item_with_people(item, items[item]),
            placeholder="Choose items",
        )
    with right:
        names = [reviewer.name for reviewer in reviewers.all_reviewers(store())]
        st.multiselect("Only for", names, key=names_key, format_func=label, placeholder="Anyone")
    st.button(
        "Assign",
        key=state.key(QUEUE_ACT, "hand over"),
        disabled=not state.get(chosen_key),
        on_click=_assign_items,
        args=(seat, queue.id, chosen_key, names_key),
    )


def _item_with_people(item: str, names: Sequence[str]) -> str:
    text = one_line(item, 40)
    return f"{text} · {one_line(', '.join(names), 60)}" if names else text


def _assign_items(seat: Seat, queue_id: int, chosen_key: str, names_key: str) -> None:
    items, names = state.get(chosen_key) or [], state.get(names_key) or []
    with shown_errors():
        claims.assign(store(), seat, queue_id, items, names)
        assignees = ", ".join(names) or "anyone"
        state.flash(f"{fmt.plural(len(items), 'item')} assigned to {assignees}.")
        state.put(chosen_key, [])
        state.put(names_key, [])
