"""The whole page: which queue, and which of its findings. The address is the truth."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core.domain.review import Seat
from core.domain.review_records import QueueRow
from core.services import numbers as fmt
from core.services import queueing, viewing
from pages.review._record import (
    again,
    away,
    everything,
    fitted,
    log,
    people,
    pull,
    session,
    timeline,
)
from pages.review._record.words import RECORD_FIELD
from pages.ui import routes, state
from pages.ui.identity import Header
from pages.ui.resources import store
from pages.ui.text import esc, one_line
from pages.ui.widgets import empty_state, page_header, row, show_flash, tag

VIEWS = {
    "all": "All cells",
    "session": "This queue",
    "calibrated": "Weights of judges",
    "people": "Reviewers",
    "record": "Record and export",
}
HEADER = Header(
    "Findings of review",
    "What people's verdicts say of everything that nobody looked at, and of the judges.",
)
#: Shown in place of a view, where the address asks for it.
AGAIN = "again"


def show(who: Seat) -> None:
    """The page."""
    page_header(HEADER.title, HEADER.tells)
    show_flash()
    queue = _queue()
    run = state.address_id(state.RUN)
    item, criterion = state.address(state.ITEM), state.address(state.CRITERION)
    if queue is None and run is not None and item and criterion:
        timeline.show(who, run, item, criterion)
        away.show(run)
    elif queue is None:
        _nothing()
    elif state.address(state.VIEW) == AGAIN:
        again.show(who, queue)
    else:
        _views(who, queue)


def _nothing() -> None:
    empty_state(
        "Nothing was reviewed yet",
        "Queue the doubtful cells of a run, with a random audit of the rest. What people decide "
        "says how far all other verdicts can be trusted.",
        lambda: routes.link(routes.QUEUES, "Review", icon=""),
    )


def _queue() -> QueueRow | None:
    """The queue of the address, else the newest one (of the run of the address)."""
    run = state.address_id(state.RUN)
    asked = state.address_id(state.QUEUE)
    rows = queueing.queues(store(), None if asked is not None else run)
    by_id = {one.id: one for one in rows}
    if asked is not None and asked not in by_id:
        by_id[asked] = queueing.queue(store(), asked)
    if not by_id:
        return None
    chosen = asked if asked is not None else rows[0].id
    key = state.key(RECORD_FIELD, "queue")
    state.put(key, chosen)
    st.selectbox(
        "Queue",
        list(by_id),
        key=key,
        format_func=lambda one: f"{one_line(by_id[one].name, 80)} · run {by_id[one].run_id}",
        on_change=_choose,
        args=(key,),
    )
    return by_id[chosen]


def _choose(key: str) -> None:
    gone = dict.fromkeys((state.RUN, state.ITEM, state.CRITERION))
    state.set_address(**{**gone, state.QUEUE: state.get(key)})


def _views(who: Seat, queue: QueueRow) -> None:
    progress = queueing.progress(store(), queue.id)
    run = viewing.require_run(store(), queue.run_id)
    row(
        [
            f'<span class="rs-num">{fmt.count(progress.resolved)} of '
            f"{fmt.plural(progress.total, 'cell')} resolved</span>",
            f'<span class="rs-quiet">{esc(one_line(run.name, 80))} · run {run.id}</span>',
            *([tag("put away")] if queue.archived else []),
        ]
    )
    shown: dict[str, Callable[[Seat, QueueRow], None]] = {
        "all": lambda _, queue: everything.show(queue),
        "session": _session,
        "calibrated": lambda _, queue: fitted.show(queue),
        "people": people.show,
        "record": _record,
    }
    shown[_view()](who, queue)


def _session(_: Seat, queue: QueueRow) -> None:
    session.show(queue)
    pull.show(queue)


def _record(who: Seat, queue: QueueRow) -> None:
    away.show(queue.run_id)
    timeline.choose(who, queue)
    log.show(who, queue)


def _view() -> str:
    asked = state.address(state.VIEW)
    value = asked if asked in VIEWS else "all"
    if state.address(state.ITEM) and asked is None:
        value = "record"
    key = state.key(RECORD_FIELD, "view")
    state.put(key, value)
    st.segmented_control(
        "What is shown",
        list(VIEWS),
        key=key,
        format_func=lambda one: VIEWS[one],
        required=True,
        label_visibility="collapsed",
        on_change=lambda: state.set_address(**{state.VIEW: state.get(key)}),
    )
    return value
