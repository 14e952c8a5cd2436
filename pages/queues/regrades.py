"""Regrade requests (`?show=regrades&run=ID`): entered, uploaded as a table, queued, answered."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.domain.review import Seat
from core.domain.runs import RunRow
from core.errors import InputError
from core.services.results import item_view
from core.services.review import regrades
from core.services.review.regrades import Regrade, RegradeRequest
from core.text import numbers as fmt
from pages.queues import making
from pages.queues.outlook import QUEUE_ACT, QUEUE_FIELD, QUEUES_ACT
from pages.ui import routes, state
from pages.ui.resources import require_seen, store
from pages.ui.text import esc, one_line
from pages.ui.widgets import (
    Tone,
    draw_row,
    draw_table,
    empty_state,
    page_header,
    show_flash,
    shown_errors,
    tag,
)

#: The address of this screen.
REGRADES = state.REGRADES
#: The most requests drawn; the file has all.
SHOWN = 200
TONES: dict[str, Tone] = {
    "open": "warn",
    "kept": "neutral",
    "changed": "good",
    "answered": "good",
    "withdrawn": "neutral",
}


def show(seat: Seat) -> None:
    """Draw the screen."""
    page_header(
        "Regrade requests",
        "Complaints and questions send items back to reviewers. Reviewers judge blind first, "
        "and read the note with the votes. The settled verdict holds until they decide.",
    )
    st.button("All queues", icon=":material/arrow_back:", type="tertiary", on_click=_leave_screen)
    show_flash()
    run = making.choose_run()
    if run is None:
        empty_state("No run has votes yet", "Grade something, or import votes, first.")
        return
    require_seen(run.id)
    requests = regrades.requests_of(store(), run.id)
    _queue_requests(seat, run, requests)
    _list_requests(run, requests)
    _take_back(
        seat,
        run,
        [request for request in requests if request.status == "open" and request.queue is None],
    )
    left, right = st.columns(2, gap="large")
    with left:
        _enter_request(seat, run)
    with right:
        _import_requests(seat, run)


def _leave_screen() -> None:
    state.drop(QUEUE_FIELD)
    state.set_address(**{state.SHOW: None, state.RUN: None, state.ITEM: None})


def _queue_requests(seat: Seat, run: RunRow, requests: list[Regrade]) -> None:
    """Show the queues of open requests, and queue the requests that have none."""
    unanswered = [request for request in requests if request.status == "open"]
    with st.container(horizontal=True, vertical_alignment="center"):
        for queue in dict.fromkeys(
            request.queue for request in unanswered if request.queue is not None
        ):
            cells = len(
                {
                    (request.item_id, request.criterion)
                    for request in unanswered
                    if request.queue == queue
                }
            )
            caption = f"Queue {queue}: {fmt.plural(cells, 'open cell')}"
            routes.draw_link(routes.QUEUES, caption, {state.QUEUE: queue}, icon="inbox")
        waiting = {
            (request.item_id, request.criterion) for request in unanswered if request.queue is None
        }
        if waiting:
            st.button(
                f"Have {fmt.plural(len(waiting), 'requested cell')} reviewed",
                key=state.key(QUEUE_ACT, "regrades"),
                type="primary",
                icon=":material/rate_review:",
                on_click=_on_queue,
                args=(seat, run.id),
            )


def _on_queue(seat: Seat, run_id: int) -> None:
    with shown_errors():
        queue = regrades.queue_open(store(), seat, run_id)
        state.set_address(**{state.SHOW: None, state.RUN: None, state.QUEUE: queue.id})


def _field_key(run: RunRow, field: str) -> str:
    return state.key(QUEUE_FIELD, "regrade", run.id, field)


def _enter_request(seat: Seat, run: RunRow) -> None:
    st.html('<div class="rs-section">Enter one</div>')
    rubric = item_view.rubric_of(store(), item_view.require_run(store(), run.id))
    if item_id := state.address(state.ITEM):
        state.guess(_field_key(run, "item"), item_id)
    st.text_input(
        "Item", key=_field_key(run, "item"), max_chars=500, help="The item's id, as in the grid."
    )
    st.selectbox(
        "Criterion",
        ["", *(c.name for c in rubric.criteria)],
        key=_field_key(run, "criterion"),
        format_func=lambda name: one_line(name, 80) or "All criteria",
    )
    st.text_input("From", key=_field_key(run, "by"), max_chars=regrades.LONGEST_NAME)
    st.text_area("Note", key=_field_key(run, "note"), max_chars=regrades.LONGEST_NOTE, height=100)
    st.button(
        "Keep the request",
        key=state.key(QUEUE_ACT, "regrade"),
        on_click=_on_enter,
        args=(seat, run),
    )


def _on_enter(seat: Seat, run: RunRow) -> None:
    fields = {field: str(state.get(_field_key(run, field)) or "") for field in _ENTERED}
    request = RegradeRequest(
        fields["item"].strip(), fields["criterion"], fields["note"], fields["by"]
    )
    with shown_errors():
        _store_requests(seat, run, [request])
        for field in _ENTERED:
            state.put(_field_key(run, field), "")


_ENTERED = ("item", "criterion", "note", "by")


def _import_requests(seat: Seat, run: RunRow) -> None:
    st.html('<div class="rs-section">Bring a table</div>')
    upload: Any = st.file_uploader(
        "Columns: item, note, from; optionally criterion",
        type=["csv", "tsv", "xlsx", "ods", "jsonl"],
        key=_field_key(run, "file"),
    )
    if upload is None:
        return
    with shown_errors():
        requests = regrades.read_requests(upload.getvalue(), upload.name)
        st.button(
            f"Keep {fmt.plural(len(requests), 'request')}",
            key=state.key(QUEUE_ACT, "Regrades from a table"),
            on_click=_on_bring,
            args=(seat, run, requests),
        )


def _on_bring(seat: Seat, run: RunRow, requests: list[RegradeRequest]) -> None:
    with shown_errors():
        _store_requests(seat, run, requests)


def _store_requests(seat: Seat, run: RunRow, requests: list[RegradeRequest]) -> None:
    added = regrades.request(store(), seat, run.id, requests)
    suffix = "" if added else " These requests existed already."
    state.flash(f"Recorded on {fmt.plural(added, 'cell')}.{suffix}")


def _list_requests(run: RunRow, requests: list[Regrade]) -> None:
    if not requests:
        st.caption("No regrades of this run were requested.")
        return
    draw_table(
        ("Item", "Criterion", "From", "Note", "Status"),
        map(_request_row, requests[:SHOWN]),
        name="Regrade requests",
    )
    if len(requests) > SHOWN:
        draw_row(
            [f'<span class="rs-quiet">and {fmt.count(len(requests) - SHOWN)} older ones.</span>']
        )
    st.download_button(
        "Download as CSV",
        data=regrades.requests_as_csv(store(), run.id),
        file_name=f"run-{run.id}-regrades.csv",
        mime="text/csv",
        icon=":material/download:",
        on_click="ignore",
        key=state.key(QUEUES_ACT, "regrades csv"),
    )


def _take_back(seat: Seat, run: RunRow, waiting: list[Regrade]) -> None:
    """Draw the form that withdraws a mistaken request; reviewers answer those in a queue."""
    if not waiting:
        return
    captions = {
        regrade.event_id: (
            f"{regrade.item_id}, {regrade.criterion}, from {regrade.by}: {regrade.note}"
        )
        for regrade in waiting[:SHOWN]
    }
    with st.popover("Withdraw a request", icon=":material/undo:"):
        st.selectbox(
            "Request in no queue",
            list(captions),
            index=None,
            key=_field_key(run, "mistaken"),
            format_func=lambda event_id: one_line(captions[event_id], 120),
            placeholder="Choose one",
        )
        st.text_input("Why", key=_field_key(run, "mistake"), max_chars=regrades.LONGEST_NAME)
        st.button(
            "Take it back",
            key=state.key(QUEUE_ACT, "regrade back"),
            on_click=_on_take_back,
            args=(seat, run),
        )


def _on_take_back(seat: Seat, run: RunRow) -> None:
    with shown_errors():
        chosen = state.get(_field_key(run, "mistaken"))
        if chosen is None:
            raise InputError("Choose the request to withdraw.")
        regrades.withdraw(
            store(), seat, run.id, chosen, str(state.get(_field_key(run, "mistake")) or "")
        )
        for field in ("mistaken", "mistake"):
            state.drop(_field_key(run, field))
        state.flash("Withdrawn. The request stays in the record.")


def _request_row(regrade: Regrade) -> list[str]:
    was = f"{esc(regrade.before or 'no verdict')}"
    words = (
        was if regrade.status in ("open", "kept") else f"{was} → {esc(regrade.now or 'uncertain')}"
    )
    return [
        esc(one_line(regrade.item_id, 60)),
        esc(one_line(regrade.criterion, 60)),
        esc(one_line(regrade.by, 60)),
        f'<div class="rs-prose">{esc(regrade.note)}</div>',
        f'{tag(regrade.status, TONES[regrade.status])} <span class="rs-quiet">{words}</span>',
    ]
