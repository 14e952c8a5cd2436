"""One queue: how far it is, what is there for whom, and for a lead, how it goes on."""

from __future__ import annotations

import streamlit as st

from core.domain.review import CellState, Seat
from core.domain.review_records import QueueRow, TurnStatus
from core.services import claiming, queueing, viewing
from core.services import numbers as fmt
from pages.review._queues import people, sending, settings_form, starting
from pages.review._queues.settings_form import QUEUE_ACT, QUEUE_FIELD
from pages.ui import identity, routes, state
from pages.ui.resources import store
from pages.ui.text import esc, one_line
from pages.ui.widgets import Figure, figures, page_header, row, show_flash, shown_errors, table, tag

STATES: dict[CellState, str] = {
    "needs_review": "Needs a review",
    "needs_others": "Needs other reviewers",
    "disagreement": "Reviewers disagree",
    "resolved": "Resolved",
}
STATUSES: dict[TurnStatus, str] = {
    "available": "available to you",
    "locked": "open elsewhere",
    "assigned": "assigned to others, or written by you",
    "mine_done": "waiting for other reviewers",
    "waiting": "waiting for an adjudicator, or flagged",
    "filtered": "left out by a filter",
    "done": "done",
}


def show(who: Seat, queue_id: int) -> None:
    """The screen of a queue."""
    queue = queueing.queue(store(), queue_id)
    st.button("All queues", icon=":material/arrow_back:", type="tertiary", on_click=_all)
    page_header(queue.name, own_words=False)
    show_flash()
    run = viewing.require_run(store(), queue.run_id)
    row(
        [
            f'<span class="rs-quiet">{esc(one_line(run.name, 80))} · run {run.id} · made by '
            f"{esc(queue.author)}</span>",
            *([tag("put away")] if queue.archived else []),
        ]
    )
    identity.show_seat(who)
    standing = claiming.standing(store(), who, queue.id)
    starting.show(who, queue, standing)
    _progress(queue)
    _findings(queue)
    left, right = st.columns(2, gap="large")
    with left:
        _standing(standing)
    with right:
        people.held(who, queue, standing.held)
    _about(queue)
    if who.resolves:
        sending.show(who, queue)
    if who.role == "lead":
        _lead(who, queue)


def _all() -> None:
    state.set_address(**{state.QUEUE: None})


def _findings(queue: QueueRow) -> None:
    routes.link(routes.RECORD, "What these decisions say", {state.QUEUE: queue.id})


def _progress(queue: QueueRow) -> None:
    progress = queueing.progress(store(), queue.id)
    st.progress(progress.resolved / progress.total if progress.total else 0.0)
    figures(
        [
            Figure("Cells", fmt.count(progress.total)),
            Figure("Resolved", fmt.count(progress.resolved)),
            Figure(
                "Expected to flip",
                _about_so_many(progress.flips),
                "How many outcomes (or, without pass marks, verdicts) the open cells are expected "
                "to change.",
            ),
            Figure(
                "Expected change",
                fmt.score(progress.change),
                "The sum of the absolute changes of scores that the open cells are expected to "
                "bring.",
            ),
        ]
    )
    states = [(esc(STATES[s]), fmt.count(progress.cells.get(s, 0))) for s in STATES]
    with st.expander("Cells by state"):
        table(["State", "Cells"], states, name="Cells by state", numbers=(1,))


def _about_so_many(expected: float) -> str:
    """An expected count: nobody can use its decimals.

    >>> _about_so_many(31.7), _about_so_many(0.2), _about_so_many(0.0)
    ('about 32', 'fewer than 1', '0')
    """
    if expected < 0.5:
        return "fewer than 1" if expected else "0"
    return f"about {fmt.count(round(expected))}"


def _standing(standing: claiming.Standing) -> None:
    st.html('<div class="rs-section">The items, as they are for you</div>')
    rows = [
        (esc(words), fmt.count(standing.counts.get(status, 0)))
        for status, words in STATUSES.items()
        if standing.counts.get(status, 0)
    ]
    table(["Items", "How many"], rows, name="Items by status", numbers=(1,))


def _about(queue: QueueRow) -> None:
    name, formula = queueing.ORDERS[queue.order]
    settings = queue.settings
    with st.expander("How this queue works"):
        table(
            ["", ""],
            [
                ("Order", f"<b>{esc(name)}</b>: {esc(formula)}"),
                ("Judges' votes", esc(settings_form.MODES[settings.mode])),
                ("Reviewers per item", fmt.count(settings.reviewers)),
                ("A cell is settled when", esc(settings_form.POLICIES[settings.policy])),
                ("Who reviews", esc(", ".join(settings.assignees) or "whoever is free")),
                ("Audit", f"{round(100 * queue.rule.audit_share)} % of the cells left out"),
                ("Seed", str(queue.seed)),
            ],
            name="How this queue works",
        )


def _lead(who: Seat, queue: QueueRow) -> None:
    with st.expander("Lead: change the queue"):
        settings, order = settings_form.show(f"queue {queue.id}", queue.settings, queue.order)
        if st.button("Save", key=state.key(QUEUE_ACT, "save"), disabled=settings is None):
            with shown_errors():
                queueing.change(store(), who, queue.id, order=order, settings=settings)
                state.drop(QUEUE_FIELD)
                state.flash("Saved. What is resolved stays resolved.")
                st.rerun()
    with st.expander("Lead: people"):
        people.roles(who)
    with st.container(horizontal=True):
        st.button(
            "Queue what fits by now",
            key=state.key(QUEUE_ACT, "refresh"),
            help="For a run that went on. Nothing is taken out.",
            on_click=_refresh,
            args=(who, queue.id),
        )
        st.button(
            "Bring back" if queue.archived else "Put away",
            key=state.key(QUEUE_ACT, "archive"),
            on_click=_archive,
            args=(who, queue.id, queue.archived is not None),
        )


def _refresh(who: Seat, queue_id: int) -> None:
    with shown_errors():
        added = queueing.refresh(store(), who, queue_id)
        state.flash(f"{fmt.plural(added, 'cell')} added.")


def _archive(who: Seat, queue_id: int, restore: bool) -> None:
    with shown_errors():
        queueing.archive(store(), who, queue_id, restore=restore)
