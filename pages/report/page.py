"""Report: a run's results, how certain they are, and their limits (`?run=ID`)."""

from __future__ import annotations

import streamlit as st

from core.blocks.blocks import Paper, Section, Sentences, TableBlock
from core.services.reports import run_report
from core.services.reports.paper import report_as_paper
from pages.report import blocks
from pages.ui import routes, state
from pages.ui.blocks import drawn
from pages.ui.places import run_head
from pages.ui.resources import remembered, store
from pages.ui.text import label
from pages.ui.widgets import (
    chosen_confidence,
    compute_now,
    empty_state,
    page_header,
    shown_errors,
)


def show() -> None:
    """Draw the page."""
    run = run_head.run_of_page()
    if run is None:
        page_header("Report", "The results of a run, their certainty and their limits.")
        _show_no_runs()
        return
    tabs = run_head.show_head(run, routes.REPORT)
    if not run.votes:
        empty_state("No votes yet", "The report appears here as soon as judges have answered.")
        return
    cache_key = run_report.report_state(store(), run.id)
    if not compute_now("report", run.votes, cache_key):
        return
    confidence = chosen_confidence()
    report = remembered(
        "report",
        (*cache_key, *confidence),
        lambda: run_report.report_run(store(), run.id, confidence=confidence),
    )
    with tabs:
        blocks.download_buttons(run.id, report)
    with st.container(key=blocks.REPORT):
        _show_sections(run.id, report_as_paper(report))


def _show_sections(run_id: int, paper: Paper) -> None:
    """Draw the page that is printed, then the annexes, each folded.

    The words before the first table stand next to it where there is room.
    """
    sections = list(enumerate(paper.sections))
    ahead = next((at for at, section in sections if _has_table(section)), 0)
    with st.container(horizontal=True, gap="large", key=blocks.REPORT_FIRST):
        for part in (sections[:ahead], sections[ahead : ahead + 1]):
            with st.container():
                for at, section in part:
                    _open_section(run_id, section, at)
    for at, section in sections[ahead + 1 :]:
        if section.annex:
            st.fragment(_show_annex)(run_id, section, at)
        else:
            _open_section(run_id, section, at)
    st.caption(paper.made)


def _has_table(section: Section) -> bool:
    return any(isinstance(block, TableBlock) for block in section.blocks)


def _open_section(run_id: int, section: Section, at: int) -> None:
    st.subheader(label(section.title), anchor=f"part-{at}")
    _show_blocks(run_id, section, at)


def _show_annex(run_id: int, section: Section, at: int) -> None:
    """Draw an annex, its blocks only where it is open: they hold most of the page, and its charts.

    An annex is a fragment, so that the rest stays as it is when one is opened.
    """
    key = state.key(blocks.REPORT_FIELD, "annex", at)
    annex = st.expander(label(section.title), key=key, on_change="rerun")
    if annex.open:
        with shown_errors(), annex:
            _show_blocks(run_id, section, at)


def _show_blocks(run_id: int, section: Section, at: int) -> None:
    # The only table or plot of a section needs no title of its own.
    is_only_block = sum(not isinstance(block, Sentences) for block in section.blocks) == 1
    for number, block in enumerate(section.blocks):
        drawn.show_block(run_id, block, f"{at}-{number}", titled=is_only_block)
        blocks.work_through(run_id, block, f"{at}-{number}")


def _show_no_runs() -> None:
    empty_state(
        "No run has votes yet",
        "A report summarises a run's results. Grade something first.",
        lambda: routes.draw_link(routes.RUNS, "Runs"),
    )


show()
