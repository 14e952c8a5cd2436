"""Runs on every page: what is said of their status, and the choice of one."""

from __future__ import annotations

import streamlit as st

from core.domain.runs import RunRow
from core.services import grading, viewing
from core.services import numbers as fmt
from core.services.grading import is_stalled, said_of
from core.services.viewing import Run
from pages.ui import state
from pages.ui.resources import store
from pages.ui.text import one_line
from pages.ui.widgets import Tone, tag

#: So many runs are offered.
LISTED = 100
STATUS: dict[str, tuple[str, Tone]] = {
    "queued": ("… Waiting to start", "neutral"),
    "running": ("▶ Grading", "info"),
    "done": ("✓ Done", "good"),
    "incomplete": ("◼ Incomplete", "warn"),
    "cancelled": ("◼ Cancelled", "warn"),
    "interrupted": ("◼ Nobody works on it", "warn"),
    "budget": ("◼ Budget spent", "warn"),
    "failed": ("✕ Failed", "bad"),
}
IMPORTED: tuple[str, Tone] = ("✓ Imported", "good")


def status_words(row: RunRow) -> tuple[str, Tone]:
    """The run's status in words, with how many questions had no answer, and its tone."""
    if not row.panel.askable:
        return IMPORTED
    if row.cancel and row.status == "running" and not is_stalled(row):
        return "◼ Stopping", "warn"
    words, tone = STATUS[said_of(row)]
    if row.failures_open and not row.active:
        words = f"{words}, {fmt.plural(row.failures_open, 'failure')}"
    return words, tone


def status_tag(row: RunRow) -> str:
    """The HTML tag of a run's status; its words tell what its colour tells."""
    return tag(*status_words(row))


def choose_run(key: str, forgotten: tuple[str, ...] = ()) -> Run | RunRow | None:
    """The run of the address, else the newest that has votes; its choice is drawn.

    Args:
        key: the key of the widget.
        forgotten: parameters of the address that say nothing of another run.
    """
    rows = grading.newest(store(), LISTED)
    asked = state.address_id(state.RUN)
    by_id: dict[int, Run | RunRow] = {row.id: row for row in rows}
    if asked is not None and asked not in by_id:
        by_id[asked] = viewing.require_run(store(), asked)
    if not by_id:
        return None
    chosen = asked if asked is not None else rows[0].id
    state.put(key, str(chosen))
    st.selectbox(
        "Run",
        [str(one) for one in by_id],
        key=key,
        format_func=lambda one: f"{one}: {one_line(by_id[int(one)].name, 80)}",
        on_change=lambda: state.set_address(
            **{**dict.fromkeys(forgotten), state.RUN: state.get(key)}
        ),
    )
    return by_id[chosen]
