"""The event log of a queue, the timeline of a cell, and their downloads."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import streamlit as st

from core.domain.review import Seat
from core.domain.review_records import QueueRow
from core.services.exports import run_export
from core.services.exports.run_export import export
from core.services.review import audit_trail
from core.services.review.audit_trail import LogLine, cells_of
from pages.review_findings.words import RECORD_ACT, RECORD_FIELD, show_section, show_sentences
from pages.ui import routes, state
from pages.ui.resources import FileT, make_later, store
from pages.ui.text import esc, one_line
from pages.ui.widgets import tag

if TYPE_CHECKING:
    from core.store.store import Store


def show_events(events: Iterable[LogLine], *, name: str, places: bool) -> None:
    """Draw the events; with `places`, each with its item and criterion."""
    rows = "".join(_event_html(line, places=places) for line in events)
    st.html(f'<ul class="rs-list" aria-label="{esc(name)}">{rows}</ul>')


def _event_html(line: LogLine, *, places: bool) -> str:
    place = ""
    if places and line.item_id:
        cell = [one_line(line.item_id, 60)]
        cell += [one_line(line.criterion, 60)] if line.criterion else []
        place = f" · {esc(' · '.join(cell))}"
    undone = f" {tag('taken back')}" if line.undone else ""
    note = f'<div class="rs-quote">{esc(one_line(line.note, 400))}</div>' if line.note else ""
    time = f"{line.when[:10]} {line.when[11:16]} UTC"
    return (
        f"<li><b>{esc(line.who)}</b> {esc(line.what)}{undone}<br>"
        f'<span class="rs-quiet rs-num">{time}{place}</span>{note}</li>'
    )


PAGE = 25


def event_log(seat: Seat, queue: QueueRow) -> None:
    """Draw a page of events."""
    show_section("Everything that happened in this queue")
    key = state.key(RECORD_FIELD, "log", queue.id)
    page = int(state.get(key) or 1)
    lines, total = audit_trail.queue_log(
        store(), seat, queue.id, limit=PAGE, offset=PAGE * (page - 1)
    )
    if not total:
        show_sentences("Nothing yet.")
        return
    show_events(lines, name="Event log", places=True)
    if total > PAGE:
        st.pagination(-(-total // PAGE), key=key)


def choose_cell(seat: Seat, queue: QueueRow) -> None:
    """Draw the timeline of a cell, chosen here or by the address."""
    show_section("One cell")
    cells = cells_of(store(), queue.id)
    if not cells:
        show_sentences("Nothing was decided yet.")
        return
    address_cell = (state.address(state.ITEM), state.address(state.CRITERION))
    at = cells.index(address_cell) if address_cell in cells else None
    key = state.key(RECORD_FIELD, "cell", queue.id)
    state.put(key, at)
    st.selectbox(
        "Cell",
        range(len(cells)),
        key=key,
        index=None,
        placeholder="Choose an item and criterion",
        format_func=lambda cell: f"{one_line(cells[cell][0], 60)} · {one_line(cells[cell][1], 60)}",
        on_change=_choose_cell,
        args=(key, cells),
    )
    if at is not None:
        cell_timeline(seat, queue.run_id, *cells[at])


def _choose_cell(key: str, cells: list[tuple[str, str]]) -> None:
    at = state.get(key)
    item, criterion = (None, None) if at is None else cells[at]
    state.set_address(**{state.ITEM: item, state.CRITERION: criterion, state.VIEW: "record"})


def cell_timeline(seat: Seat, run_id: int, item: str, criterion: str) -> None:
    """Draw the events of a cell."""
    events = audit_trail.cell_story(store(), seat, run_id, item, criterion)
    if not events:
        show_sentences("No one has reviewed this cell.")
        return
    show_events(events, name=f"Timeline of {criterion}", places=False)
    address = {state.RUN: run_id, state.ITEM: item, state.AT: criterion}
    routes.draw_link(routes.RUN, "Open the item with its votes", address)


def draw_downloads(run_id: int) -> None:
    """Draw a download button for each format."""
    show_section("Downloads, also before the queue is finished")
    with st.container(horizontal=True):
        _link_button(
            "Judgements, CSV",
            lambda held: export(held, run_id, "reviews").data()["reviews.csv"],
            f"run-{run_id}-reviews.csv",
            "One row per vote and per person's verdict, first and final.",
        )
        _link_button(
            "Items, CSV",
            lambda held: run_export.csv_file(run_export.wide_rows(held, run_id)),
            f"run-{run_id}-items.csv",
            "One row per item: score, outcome, verdicts and who settled them.",
        )
        _link_button(
            "Judgements, JSON lines",
            lambda held: run_export.as_jsonl(run_export.long_rows(held, run_id)),
            f"run-{run_id}-reviews.jsonl",
            "The same rows as in the first file, as JSON lines.",
        )
        _link_button(
            "Record",
            lambda held: export(held, run_id, "events").text,
            f"run-{run_id}-events.jsonl",
            "Every event, including undone ones, with the state before and after.",
        )
        _link_button(
            "Labelled dataset",
            lambda held: export(held, run_id, "labelled").text,
            f"run-{run_id}-labelled.jsonl",
            "The dataset, with its labels replaced by those that people settled.",
        )
    st.caption("All files except the dataset contain names. All of them show the current state.")


def _link_button(words: str, make: Callable[[Store], FileT], name: str, help: str) -> None:
    st.download_button(
        words,
        data=make_later(make),
        file_name=name,
        icon=":material/download:",
        key=state.key(RECORD_ACT, "away", name),
        help=help,
        on_click="ignore",
    )
