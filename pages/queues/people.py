"""Who works on a queue: how far each is, what is open now, and everybody's role."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import streamlit as st

from core.domain.review import ROLES, Role, Seat
from core.domain.review_records import ItemLease, QueueRow
from core.services.review import reviewer_quality, reviewers
from core.services.review.reviewer_quality import PersonAtWork
from core.text import numbers as fmt
from pages.queues.outlook import QUEUE_ACT, QUEUE_FIELD
from pages.ui import routes, state
from pages.ui.resources import store
from pages.ui.text import esc, label
from pages.ui.widgets import shown_errors, table

#: So many people are named on a queue's card.
NAMED = 6


def show(who: Seat, queue: QueueRow) -> None:
    """How far everybody is, to a lead; to others how far they are themselves."""
    found = reviewer_quality.at_work(store(), who, queue.id)
    if not found:
        return
    st.html('<div class="rs-section">Who is how far</div>')
    table(
        ("Who", "Role", "Items done", "Left", "Time of one", "Time left", "Last active"),
        [_row(one, who) for one in found],
        name="Who is how far",
        numbers=(2, 3, 4, 5),
    )
    if any(one.pace.left for one in found) and not queue.settings.assignees and len(found) > 1:
        st.caption("Items that are left are there for all of them, until somebody takes them.")


def in_a_line(who: Seat, queue: QueueRow) -> str:
    """How far everybody is, in one line for a lead; empty to others and where nobody began."""
    if who.role != "lead":
        return ""
    found = reviewer_quality.at_work(store(), who, queue.id)
    parts = [
        f"{one.name} {fmt.count(one.pace.done)} of {fmt.count(one.pace.total)}" for one in found
    ]
    more = [f"{fmt.count(len(parts) - NAMED)} more"] if len(parts) > NAMED else []
    return " · ".join(parts[:NAMED] + more)


def _row(one: PersonAtWork, who: Seat) -> list[str]:
    pace, left = one.pace, one.pace.left_minutes
    time_left = fmt.DASH if left is None else fmt.about_minutes(left)
    active = "now" if one.open_now else fmt.DASH if one.last is None else fmt.ago(one.last)
    return [
        esc(one.name) + (" (you)" if one.name == who.name else ""),
        one.role,
        fmt.count(pace.done),
        fmt.count(pace.left),
        fmt.DASH if pace.each_seconds is None else fmt.seconds(pace.each_seconds),
        time_left if pace.left else fmt.DASH,
        esc(active),
    ]


def held(who: Seat, queue: QueueRow, leases: Sequence[ItemLease]) -> None:
    """The items that somebody has open now."""
    st.html('<div class="rs-section">Open now</div>')
    if not leases:
        st.caption("Nobody has an item open.")
        return
    rows = [
        (
            esc(lease.reviewer) + (" (you)" if lease.reviewer == who.name else ""),
            "resolves" if lease.part == "resolve" else "reviews",
            f"{datetime.fromtimestamp(lease.until, UTC):%H:%M:%S} UTC",
        )
        for lease in leases
    ]
    table(["Who", "Does", "Kept until"], rows, name="Items that are open")
    if who.role == "lead":
        _take_over(who, queue, [lease for lease in leases if lease.reviewer != who.name])


def _take_over(who: Seat, queue: QueueRow, leases: list[ItemLease]) -> None:
    """A lead may go on with what somebody left open; that it was taken over is recorded."""
    for lease in leases:
        words = f"Take over from {label(lease.reviewer, 40)}"
        key = state.key(QUEUE_ACT, "take over", lease.reviewer, lease.item_id)
        if st.button(words, key=key, type="tertiary", icon=":material/swap_horiz:"):
            state.put(state.REVIEW_TAKE, lease.item_id)
            routes.go(routes.REVIEW_ITEM, {state.QUEUE: queue.id})


def roles(who: Seat) -> None:
    """Everybody, with a role that a lead may change."""
    for one in reviewers.everyone(store()):
        key = state.key(QUEUE_FIELD, "role", one.id)
        state.seed(key, one.role)
        st.selectbox(
            label(one.name),
            ROLES,
            key=key,
            format_func=lambda role: f"{role}: {reviewers.ROLE_WORDS[role]}",
            on_change=_set,
            args=(who, one.name, key, one.role),
        )


def _set(who: Seat, name: str, key: str, before: Role) -> None:
    with shown_errors():
        try:
            reviewers.set_role(store(), who, name, state.get(key))
        except Exception:
            state.put(key, before)
            raise
