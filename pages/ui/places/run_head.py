"""The head of a run, the same on all its tabs: name, state, result, and the next action."""

from __future__ import annotations

import contextlib

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.domain.runs import Run
from core.errors import NotFound
from core.services.results import item_view
from core.services.runs import lifecycle
from pages.ui import routes, run_status, state
from pages.ui.grades import draw_trust, trust_of
from pages.ui.places import work
from pages.ui.resources import require_seen, store
from pages.ui.routes import AGREEMENT, COMPARE, GRADE, RECORD, REPORT, RUN, Screen
from pages.ui.run_status import raters_line
from pages.ui.text import esc, one_line
from pages.ui.widgets import show_flash

TABS = ((RUN, "Grid"), (AGREEMENT, "Agreement"), (RECORD, "Review"), (REPORT, "Report"))
#: The run that this browser tab opened last.
OPENED = "run_opened"


def remember_run(url: str) -> None:
    """Remember the run that a screen shows, for as long as this browser tab is open."""
    run_id = state.address_id(state.RUN)
    if run_id is not None and url in {screen.url for screen in (RUN, AGREEMENT, REPORT, GRADE)}:
        state.put(OPENED, run_id)


def run_of_page() -> Run | None:
    """Return the run in the address, else the last opened, else the newest, else `None`.

    Raises:
        NotFound: the address names an unknown run.
    """
    run_id = state.address_id(state.RUN)
    if run_id is not None:
        return item_view.require_run(store(), run_id)
    with contextlib.suppress(NotFound):  # Another data file may have been opened since.
        return store().runs.get(state.get(OPENED) or 0)
    newest = lifecycle.newest_with_votes(store(), 1)
    return store().runs.get(newest[0].id) if newest else None


def show_head(run: Run, screen: Screen) -> DeltaGenerator:
    """Draw the head, which refreshes only on the grid; return the row of tabs.

    A tab adds the choice of its views to that row.
    """
    require_seen(run.id)
    rubric = f"{one_line(run.rubric_name, 60)}, {run.version_words}"
    raters = f"{'' if run.panel.askable else 'rated elsewhere by '}{raters_line(run)}"
    details = f'<span class="rs-quiet">{esc(rubric)} · {esc(raters)}</span>'
    name = one_line(run.name, 100)
    # In the grid the line is inside the folded statement, so that the grid's items begin higher.
    folded, line = ("", details) if screen != RUN or not run.votes else (details, "")
    show_flash()
    with st.container(gap="xsmall"):
        if screen == RUN:
            run_status.show_status(run.id, title=name, details=line)
        else:
            with run_status.status_line(run, name, run_status.status_tag(run), line):
                pass
        if run.votes and screen != REPORT:  # The report itself begins with the statement.
            facts = run_status.facts_line(run) if folded and not run.active else ""
            draw_trust(run.id, facts + folded)
            if screen == RUN and trust_of(run.id).found.right.value is None:
                work.grade_ten(run.id)
        row_of_tabs = st.container(
            horizontal=True, vertical_alignment="center", gap="small", key="rs_tabs"
        )
    with row_of_tabs:
        _draw_tabs(run)
    return row_of_tabs


def _draw_tabs(run: Run) -> None:
    """Draw the tabs and the next action; a run without votes has its grid only."""
    if run.votes:
        for screen, words in TABS:
            routes.draw_link(screen, words, {state.RUN: run.id}, icon="", help=screen.help)
        routes.draw_link(COMPARE, "Compare", {state.RUNS: run.id}, icon="", help=COMPARE.help)
        st.space("stretch")
        work.link_to_settling(run.id)
