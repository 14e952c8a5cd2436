"""The whole page: what is compared, the figures, what to look at, one criterion closely."""

from __future__ import annotations

import streamlit as st

from core.services import agreeing
from pages.measure._agreement import choosing, confusion, findings, lines, raters
from pages.ui import agreement_keys as keys
from pages.ui import format as fmt
from pages.ui import state
from pages.ui.resources import remembered, store
from pages.ui.text import esc
from pages.ui.widgets import empty_state, page_header

#: From here on, working it out takes some seconds, and is done when asked for.
MANY = 50_000


def show() -> None:
    """The page."""
    page_header(
        "Agreement",
        "How far a run's verdicts agree with people's labels, and its judges with each other.",
    )
    run = choosing.run()
    if run is None:
        _no_runs()
        return
    if not run.votes:
        empty_state("No votes yet", "Figures appear here as soon as judges have answered.")
        return
    about = (run.id, run.votes, run.failures_open)
    if run.votes > MANY and not _asked_for(run.votes, about):
        return
    sheet = remembered("agreement sheet", about, lambda: agreeing.sheet_of(store(), run.id))
    if not sheet.labelled and len(sheet.judges) < 2:
        empty_state(
            "Nothing to compare with",
            "This run has one judge and its items have no labels. Agreement needs labels by "
            "people, or a second judge.",
        )
        return
    chosen = choosing.sides(run.id, about, sheet)
    _section("Criteria")
    lines.show(chosen)
    _section("What to look at")
    findings.show(chosen)
    _section(f"Confusion: {chosen.criterion}")
    confusion.show(chosen)
    _section(f"Raters: {chosen.criterion}")
    raters.show(chosen)


def _no_runs() -> None:
    empty_state(
        "No run has votes yet",
        "This page compares votes with labels and with each other. Grade something first.",
        lambda: st.page_link(
            "grade/runs.py", label="Runs", icon=":material/play_circle:", query_params={}
        ),
    )


def _asked_for(votes: int, about: tuple[object, ...]) -> bool:
    asked = state.key(keys.AGREEMENT_ASKED, *about)
    if state.get(asked):
        return True
    empty_state(
        f"{fmt.count(votes)} votes",
        "Working out the figures of so many takes some seconds. They are kept afterwards.",
        lambda: st.button(
            "Work them out",
            key=state.key(keys.AGREEMENT_ACT, "work"),
            type="primary",
            on_click=state.put,
            args=(asked, True),
        ),
    )
    return False


def _section(words: str) -> None:
    st.html(f'<div class="rs-section">{esc(words)}</div>')
