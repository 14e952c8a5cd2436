"""Who has what open, and who may do what."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import streamlit as st

from core.domain.review import ROLES, Role, Seat
from core.domain.review_records import ItemLease, QueueRow
from core.services import reviewers
from pages.review._queues.settings_form import QUEUE_ACT, QUEUE_FIELD
from pages.ui import routes, state
from pages.ui.resources import store
from pages.ui.text import esc, label
from pages.ui.widgets import shown_errors, table


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
