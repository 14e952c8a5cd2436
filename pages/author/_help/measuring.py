"""From what was written to what judges make of it: kept as a dataset, asked in a run."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core.domain.panel import Panel
from core.domain.runs import HelpTask, RunRow
from core.services import estimating, grading
from core.services import numbers as fmt
from core.services.planning import RunRequest
from pages.author._help import common
from pages.ui import routes, state
from pages.ui.resources import store
from pages.ui.statuses import status_tag
from pages.ui.text import esc
from pages.ui.widgets import row, shown_errors

DATA_FIELD = "data_field"
DATA_ACT = "data_act"


def keep(task: HelpTask, make: Callable[..., object], version: int | None) -> None:
    """The button that keeps it as a dataset, or the way to that dataset."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Keep as a dataset" if version is None else "Keep again",
            key=state.key(DATA_ACT, "keep", task.id),
            icon=":material/dataset:",
            on_click=_on_keep,
            args=(task, make),
            help="Its items carry what they were written for as tags, never as labels.",
        )
        if version is not None:
            routes.link(routes.DATASETS, "Datasets", icon="arrow_forward")


def _on_keep(task: HelpTask, make: Callable[..., object]) -> None:
    with shown_errors():
        make(store(), task, "")
        state.flash("Kept as a dataset.")


def ask(what: str, make: Callable[[Panel], RunRequest], run: RunRow | None) -> None:
    """Who judges, what it costs, and how far the newest run is."""
    panel = common.panel("Who judges", what)
    if panel is None:
        return
    request = make(panel)
    common.outlook(estimating.estimate(store(), request))
    if st.button(
        "Ask judges",
        key=state.key(DATA_ACT, what, "ask"),
        icon=":material/gavel:",
        disabled=run is not None and run.active,
    ):
        grading.start(store(), request)
        st.rerun()
    if run is not None:
        st.fragment(_live, run_every=common.POLL_SECONDS if run.active else None)(
            run.id, run.active
        )
        routes.link(routes.RUN, "The run, with every vote", {state.RUN: run.id})


def _live(run_id: int, was_active: bool) -> None:
    with shown_errors():
        look = grading.progress(store(), run_id)
        if look.row.active != was_active:
            st.rerun()
        facts = f"{fmt.count(look.settled)} of {fmt.plural(look.row.planned, 'vote')}"
        row([status_tag(look.row), f'<span class="rs-quiet rs-num">{esc(facts)}</span>'])
        if look.row.active:
            st.progress(min(1.0, look.share))
