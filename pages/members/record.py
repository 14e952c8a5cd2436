"""The record of changes: who did what, when, to what; to read and download."""

from __future__ import annotations

import json

import streamlit as st

from core.domain.access import AuditRow
from core.services.access import members
from core.text import numbers as fmt
from pages.ui import state
from pages.ui.resources import make_later, store
from pages.ui.text import esc, one_line
from pages.ui.widgets import draw_table, empty_state

PAGE = 100
FILTER = "record_filter"


def show() -> None:
    """Draw the newest lines, or those of the chosen person."""
    people = members.recorded_people(store())
    with st.container(horizontal=True, vertical_alignment="bottom"):
        person = st.selectbox(
            "Who",
            people,
            index=None,
            key=state.key(FILTER, "who"),
            format_func=lambda name: name or "the terminal",
            placeholder="Everybody",
            width=300,
        )
        st.download_button(
            "All as CSV",
            data=make_later(members.audit_csv),
            file_name="record-of-changes.csv",
            mime="text/csv",
            icon=":material/download:",
            on_click="ignore",
        )
    total = members.audit_size(store(), person)
    if not total:
        empty_state("Nothing here yet", "Every change is recorded here permanently.")
        return
    page = 1
    if total > PAGE:
        page = st.pagination(-(-total // PAGE), key=state.key(FILTER, "page"))
    rows = members.audit_lines(store(), person, offset=(page - 1) * PAGE, limit=PAGE)
    draw_table(
        ("When (UTC)", "Who", "As", "Did", "To what"),
        map(_record_row, rows),
        name="The record of changes",
    )
    st.html(f'<span class="rs-quiet rs-num">{fmt.plural(total, "line")} in all</span>')


def _record_row(row: AuditRow) -> list[str]:
    details = ", ".join(
        f"{key} {_short_value(value)}" for key, value in dict(row.object or {}).items()
    )
    return [
        esc(row.at[:19].replace("T", " ")),
        esc(row.actor or "the terminal"),
        esc(row.role or "–"),
        esc(f"{row.act.rpartition('.')[2].replace('_', ' ')} ({row.verb})"),
        esc(one_line(details, 300)),
    ]


def _short_value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
