"""The whole page: which run, the files to take away, and the report's sections."""

from __future__ import annotations

import streamlit as st

from core.domain.runs import Run, RunRow
from core.files.paper import Paper
from core.services import grading, reporting, viewing
from core.services import numbers as fmt
from core.services.reporting_paper import paper
from pages.measure._report import blocks, downloads
from pages.ui import report_keys as keys
from pages.ui import routes, state, ways
from pages.ui.resources import remembered, store
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import empty_state, page_header

RUNS = 100
#: From here on, working it out takes some seconds, and is done when asked for.
MANY = 50_000


def show() -> None:
    """The page."""
    page_header("Report", "What a run found, how sure that is, and what it cannot say.")
    run = _run()
    if run is None:
        _no_runs()
        return
    if not run.votes:
        empty_state("No votes yet", "The report appears here as soon as judges have answered.")
        return
    ways.other_views(run, routes.REPORT)
    about = reporting.stands_on(store(), run.id)
    if run.votes > MANY and not _asked_for(run.votes, about):
        return
    found = remembered("report", about, lambda: reporting.report(store(), run.id))
    downloads.show(run.id, found)
    _shown(run.id, paper(found))


def _shown(run_id: int, made: Paper) -> None:
    with st.container(key=keys.REPORT):
        _sections(run_id, made)


def _sections(run_id: int, made: Paper) -> None:
    st.html(
        f'<div style="font-size:1.35rem;font-weight:650;line-height:1.3">{esc(made.title)}</div>'
        f'<div class="rs-quiet">{esc(made.subtitle)}</div>'
    )
    for at, section in enumerate(made.sections):
        st.subheader(label(section.title), anchor=f"part-{at}")
        for number, block in enumerate(section.blocks):
            blocks.show(run_id, block, f"{at}-{number}")
    st.caption(made.made)


def _run() -> Run | RunRow | None:
    """The run of the address, else the newest that has votes; its choice is drawn."""
    rows = grading.newest(store(), RUNS)
    asked = state.address_id(state.RUN)
    by_id: dict[int, Run | RunRow] = {row.id: row for row in rows}
    if asked is not None and asked not in by_id:
        by_id[asked] = viewing.require_run(store(), asked)
    if not by_id:
        return None
    chosen = asked if asked is not None else rows[0].id
    key = state.key(keys.REPORT_FIELD, state.RUN)
    state.put(key, str(chosen))
    st.selectbox(
        "Run",
        [str(one) for one in by_id],
        key=key,
        format_func=lambda one: f"{one}: {one_line(by_id[int(one)].name, 80)}",
        on_change=lambda: state.set_address(**{state.RUN: state.get(key)}),
    )
    return by_id[chosen]


def _no_runs() -> None:
    empty_state(
        "No run has votes yet",
        "A report tells what a run found. Grade something first.",
        lambda: routes.link(routes.RUNS, "Runs"),
    )


def _asked_for(votes: int, about: tuple[object, ...]) -> bool:
    asked = state.key(keys.REPORT_ASKED, *about)
    if state.get(asked):
        return True
    empty_state(
        f"{fmt.count(votes)} votes",
        "Working out the figures of so many takes some seconds. They are kept afterwards.",
        lambda: st.button(
            "Work them out",
            key=state.key(keys.REPORT_ACT, "work"),
            type="primary",
            on_click=state.put,
            args=(asked, True),
        ),
    )
    return False
