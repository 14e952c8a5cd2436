"""Report: what a run found, how sure that is, and what it cannot say (`?run=ID`)."""

from __future__ import annotations

import streamlit as st

from core.blocks.blocks import Paper
from core.services.reports import run_report
from core.services.reports.paper import paper
from pages.report import blocks
from pages.ui import routes, state
from pages.ui.blocks import drawn
from pages.ui.resources import remembered, require_seen, store
from pages.ui.run_status import choose_run
from pages.ui.text import esc, label
from pages.ui.widgets import confidence, empty_state, page_header, worked_out


def show() -> None:
    """The page."""
    page_header("Report", "What a run found, how sure that is, and what it cannot say.")
    run = choose_run(state.key(blocks.REPORT_FIELD, state.RUN))
    if run is None:
        _no_runs()
        return
    require_seen(run.id)
    if not run.votes:
        empty_state("No votes yet", "The report appears here as soon as judges have answered.")
        return
    routes.other_views(run, routes.REPORT)
    about = run_report.stands_on(store(), run.id)
    if not worked_out("report", run.votes, about):
        return
    how = confidence()
    found = remembered(
        "report", (*about, *how), lambda: run_report.report(store(), run.id, how=how)
    )
    blocks.download_buttons(run.id, found)
    _shown(run.id, paper(found))


def _shown(run_id: int, made: Paper) -> None:
    with st.container(key=blocks.REPORT):
        _sections(run_id, made)


def _sections(run_id: int, made: Paper) -> None:
    st.html(
        f'<div style="font-size:1.35rem;font-weight:650;line-height:1.3">{esc(made.title)}</div>'
        f'<div class="rs-quiet">{esc(made.subtitle)}</div>'
    )
    for at, section in enumerate(made.sections):
        st.subheader(label(section.title), anchor=f"part-{at}")
        for number, block in enumerate(section.blocks):
            drawn.show(run_id, block, f"{at}-{number}")
            blocks.work_through(run_id, block, f"{at}-{number}")
    st.caption(made.made)


def _no_runs() -> None:
    empty_state(
        "No run has votes yet",
        "A report tells what a run found. Grade something first.",
        lambda: routes.link(routes.RUNS, "Runs"),
    )


show()
