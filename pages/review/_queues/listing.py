"""All queues, newest first: how far each is, and what there is for me."""

from __future__ import annotations

import streamlit as st

from core.domain.review import Seat
from core.domain.review_records import QueueRow
from core.services import claiming, grading, queueing, viewing
from core.services import numbers as fmt
from pages.review._queues.settings_form import QUEUES_ACT
from pages.ui import identity, routes, state
from pages.ui.identity import Header
from pages.ui.resources import store
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import empty_state, page_header, row, show_flash, tag

HEADER = Header(
    "Review",
    "People settle what judges left in doubt. What they settle becomes the verdict, and truth.",
)


def show(who: Seat) -> None:
    """The list screen."""
    page_header(HEADER.title, HEADER.tells)
    show_flash()
    identity.show_seat(who)
    run = state.address_id(state.RUN)
    archived = bool(state.get(state.key(QUEUES_ACT, "archived")))
    rows = queueing.queues(store(), run, archived=archived)
    if not rows and not archived:
        _nothing()
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        _new()
        st.button(
            "What reviewers say of rubrics",
            key=state.key(QUEUES_ACT, "issues"),
            icon=":material/feedback:",
            on_click=_issues,
        )
        st.toggle("Put away", key=state.key(QUEUES_ACT, "archived"))
        if run is not None:
            st.caption(f"Only queues of run {run}.")
            st.button("All runs", key=state.key(QUEUES_ACT, "all"), on_click=_all_runs)
    if not rows:
        empty_state("Nothing here", "No queue was put away.")
    for one in rows:
        _card(who, one)


def _all_runs() -> None:
    state.set_address(**{state.RUN: None})


def _new() -> None:
    st.button(
        "New queue",
        key=state.key(QUEUES_ACT, "new"),
        type="primary",
        icon=":material/add:",
        on_click=_make,
    )


def _issues() -> None:
    state.set_address(**{state.SHOW: "issues"})


def _make() -> None:
    state.set_address(**{state.NEW: "queue"})


def _nothing() -> None:
    if not grading.listing(store(), limit=1).rows:
        empty_state(
            "Nothing to review yet",
            "A queue holds the doubtful cells of a run. Grade something first.",
            lambda: routes.link(routes.RUNS, "Runs", icon=""),
        )
        return
    empty_state(
        "No queue yet",
        "A queue holds the cells of a run that people should look at: split votes, abstentions, "
        "failures, and a random share of the rest.",
        _new,
    )


def _card(who: Seat, queue: QueueRow) -> None:
    progress = queueing.progress(store(), queue.id)
    standing = claiming.standing(store(), who, queue.id)
    run = viewing.require_run(store(), queue.run_id)
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            routes.link(routes.QUEUES, label(queue.name, 80), {state.QUEUE: queue.id}, icon="inbox")
            st.space("stretch")
            if standing.available and queue.archived is None:
                routes.link(
                    routes.REVIEW_ITEM,
                    f"Review {fmt.plural(standing.available, 'item')}",
                    {state.QUEUE: queue.id},
                    icon="play_arrow",
                )
        resolved = f"{fmt.count(progress.resolved)} of {fmt.count(progress.total)} cells resolved"
        waiting = progress.cells.get("disagreement", 0)
        tags = [tag(f"{fmt.count(waiting)} disagreements", "warn")] if waiting else []
        tags += [tag("put away")] if queue.archived else []
        row(
            [
                f'<span class="rs-num">{resolved}</span>',
                f'<span class="rs-quiet">{esc(one_line(run.name, 60))} · run {run.id}</span>',
                *tags,
            ]
        )
        st.progress(progress.resolved / progress.total if progress.total else 0.0)
