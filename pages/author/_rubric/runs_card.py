"""The card "Graded runs" in the editor: runs that follow an older version, and the way to them."""

from __future__ import annotations

import streamlit as st

from core.domain.library import RubricVersionInfo
from core.domain.runs import RunRow
from core.services import authoring, grading, version_uses
from core.services import numbers as fmt
from pages.author._rubric import work
from pages.ui import state
from pages.ui import version_keys as keys
from pages.ui.resources import store
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import row, tag

SHOWN = 8


def show(name: str) -> None:
    """Nothing, while no run with votes asked a version of this rubric."""
    rubric_id = work.draft(name)["rubric_id"]
    if rubric_id is None:
        return
    runs = [
        run
        for used in version_uses.uses(store(), rubric_id).values()
        for run in used.asked
        if run.votes
    ]
    if not runs:
        return
    runs.sort(key=lambda run: -run.id)
    newest = authoring.history(store(), rubric_id)[0]
    older = sum(run.scored_version_id != newest.id for run in runs)
    behind = f"{fmt.plural(older, 'run')} behind version {newest.number}" if older else "up to date"
    with st.expander(f"Graded runs · {behind}", icon=":material/history:", expanded=bool(older)):
        for run in runs[:SHOWN]:
            _line(name, run, newest)
        if len(runs) > SHOWN:
            st.caption(f"And {len(runs) - SHOWN} older ones, on the Runs page.")


def _line(name: str, run: RunRow, newest: RubricVersionInfo) -> None:
    follows = run.scored_version_id == newest.id
    with st.container(horizontal=True, vertical_alignment="center"):
        row(
            [
                f"<b>{run.id}</b> {esc(one_line(run.name, 50))}",
                tag(f"version {run.scored_number}", "good" if follows else "warn"),
            ],
            width="content",
        )
        st.space("stretch")
        busy = grading.is_stalled(run) or run.active
        st.button(
            "What it has" if follows else label(f"What version {newest.number} would change"),
            key=state.key(keys.SPREAD_ACT, name, "open", run.id),
            type="tertiary",
            icon=":material/difference:",
            disabled=busy,
            help="It is being graded." if busy else None,
            on_click=_on_open,
            args=(run.id,),
        )


def _on_open(run_id: int) -> None:
    state.drop(keys.SPREAD_VERSION, run_id)
    state.set_address(**{state.RUN: run_id})
