"""How a queue is worked off: what reviewers see, how many look, who decides, in which order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from core.domain.base import build
from core.domain.review import Order, QueueSettings
from core.services import queueing, reviewers
from pages.ui import state
from pages.ui.resources import store
from pages.ui.text import label
from pages.ui.widgets import shown_errors

QUEUES_ACT = "queues_act"
QUEUE_FIELD = "queue_field"
QUEUE_ACT = "queue_act"


#: The name of a field of the form, which gets a first value where it has none.
Key = Callable[[str, Any], str]
MODES: dict[str, str] = {
    "until_commit": "Blind until the verdict, then shown",
    "blind": "Blind, never shown",
    "assisted": "Shown at once on a random share of items",
}
POLICIES: dict[str, str] = {
    "unanimous": "All reviewers agree; else an adjudicator decides",
    "majority": "Most reviewers agree; else an adjudicator decides",
    "adjudicator": "An adjudicator always decides",
}
ASSIGNMENTS: dict[str, str] = {
    "pool": "Whoever is free",
    "round_robin": "Dealt out in turn",
    "named": "These people",
}


def show(form: str, now: QueueSettings, order: Order) -> tuple[QueueSettings | None, Order]:
    """The settings as they stand in the form; `None` while they do not go together (said)."""

    def key(what: str, value: Any) -> str:
        name = state.key(QUEUE_FIELD, form, what)
        state.seed(name, value)
        return name

    chosen_order = st.selectbox(
        "Order",
        list(queueing.ORDERS),
        key=key("order", order),
        format_func=lambda one: queueing.ORDERS[one][0],
    )
    st.caption(label(queueing.ORDERS[chosen_order][1]))
    said = {**_votes_shown(key, now), **_reviewers_each(key, now), **_people(key, now)}
    minutes = st.number_input(
        "An item is kept for its reviewer for so many minutes",
        0.5,
        600.0,
        key=key("lease", now.lease_seconds / 60),
        help="Without a sign of life it then goes to others. Drafts are kept.",
    )
    settings = None
    with shown_errors():
        settings = build(QueueSettings, {**said, "lease_seconds": 60 * minutes}, "These settings")
    return settings, chosen_order


def _votes_shown(key: Key, now: QueueSettings) -> dict[str, Any]:
    mode = st.selectbox(
        "Judges' votes", list(MODES), key=key("mode", str(now.mode)), format_func=MODES.__getitem__
    )
    share = now.assisted_share
    if mode == "assisted":
        share = _share(
            "Share of assisted items, in %",
            key("assisted", round(100 * share)),
            "The other items are blind until the verdict, so that anchoring shows.",
        )
    return {"mode": mode, "assisted_share": share}


def _reviewers_each(key: Key, now: QueueSettings) -> dict[str, Any]:
    each = st.number_input("Reviewers per item", 1, 5, key=key("reviewers", now.reviewers))
    overlap, policy = now.overlap_share, str(now.policy)
    if each > 1:
        overlap = _share(
            "On this share of the items, in %",
            key("overlap", round(100 * overlap)),
            "The other items are looked at by one reviewer.",
        )
        policy = st.selectbox(
            "A cell is settled when",
            list(POLICIES),
            key=key("policy", policy),
            format_func=POLICIES.__getitem__,
            persist_state="page",
        )
    return {"reviewers": each, "overlap_share": overlap, "policy": policy}


def _people(key: Key, now: QueueSettings) -> dict[str, Any]:
    assignment = st.selectbox(
        "Who reviews",
        list(ASSIGNMENTS),
        key=key("assignment", str(now.assignment)),
        format_func=ASSIGNMENTS.__getitem__,
    )
    people: list[str] = []
    if assignment != "pool":
        known = dict.fromkeys([*now.assignees, *(r.name for r in reviewers.everyone(store()))])
        people = st.multiselect(
            "People",
            list(known),
            key=key("people", list(now.assignees)),
            accept_new_options=True,
            persist_state="page",
        )
    return {"assignment": assignment, "assignees": people}


def _share(words: str, key: str, help: str) -> float:
    """A share between 0 and 1, asked for in percent."""
    return float(st.slider(words, 0, 100, key=key, help=help, persist_state="page")) / 100
