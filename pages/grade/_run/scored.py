"""Under which version of the rubric a run is scored, and whether there is a newer one."""

from __future__ import annotations

import streamlit as st

from core.domain.runs import Run
from core.services import authoring, staleness
from core.services import numbers as fmt
from pages.ui import routes, state
from pages.ui.resources import store
from pages.ui.text import esc
from pages.ui.widgets import row, tag


def show(run: Run) -> None:
    """One line, where there is anything to say: another version, stale cells, a newer version."""
    if run.kind != "run" or not run.votes:
        return
    newest = authoring.latest_number(store(), run.rubric_id)
    parts = []
    if run.scored_version_id != run.rubric_version_id:
        words = f"Scored under version {run.scored_number}; judges were asked {run.rubric_number}"
        parts.append(tag(words, "info"))
    cells = len(staleness.stale_cells(store(), run.id))
    if cells:
        parts.append(tag(f"{fmt.plural(cells, 'cell')} stale: asked otherwise now", "warn"))
    if newest > run.scored_number:
        parts.append(
            f'<span class="rs-quiet">{esc(f"The rubric has version {newest} by now.")}</span>'
        )
    if not parts:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        row(parts, width="content")
        routes.link(
            routes.RUBRICS,
            "What another version changes",
            {state.RUBRIC: run.rubric_id, state.RUN: run.id},
            icon="difference",
        )
