"""The latest checks, each with a way to open it."""

from __future__ import annotations

import streamlit as st

from core.services import numbers as fmt
from core.services import spot
from core.services.spot import Recent
from pages.grade._spot.work import SPOT_ACT
from pages.ui import state
from pages.ui.resources import store
from pages.ui.statuses import status_words
from pages.ui.text import esc, one_line
from pages.ui.widgets import empty_state, shown_errors

SHOWN = 8


def show(open_run: int | None) -> None:
    """The list; where nothing was ever checked, what this page is for."""
    found = [check for check in spot.recent(store(), SHOWN + 1) if check.row.id != open_run]
    if not found:
        if open_run is None:
            empty_state(
                "Nothing checked yet",
                "Paste a submission, choose who judges it, and see every vote in seconds: "
                "before you plan a whole run.",
            )
        return
    st.html('<div class="rs-section">Recent checks</div>')
    for check in found[:SHOWN]:
        _card(check)


def _card(check: Recent) -> None:
    run = check.row
    with st.container(border=True, horizontal=True, vertical_alignment="center", gap="small"):
        words, tone = status_words(run)
        state_words = "" if tone == "good" else f" · {words.lower()}"
        judges = fmt.plural(len(run.panel.judges), "judge")
        quiet = f"{run.rubric_name} · {judges} · {fmt.ago(run.created)}{state_words}"
        with st.container(width="stretch"):
            st.html(
                f"<b>{fmt.score(check.score)}</b> {esc(one_line(check.preview, 90))}<br>"
                f'<span class="rs-quiet">{esc(quiet)}</span>'
            )
        st.button(
            "Open",
            key=state.key(SPOT_ACT, "open", run.id),
            type="tertiary",
            on_click=_on_open,
            args=(run.id,),
        )


def _on_open(run_id: int) -> None:
    with shown_errors():
        state.set_address(**{state.RUN: run_id})
