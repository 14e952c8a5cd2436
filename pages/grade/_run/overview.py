"""One run: how far it is, and one view of it at a time."""

from __future__ import annotations

import streamlit as st

from core.domain.runs import Run
from core.services import viewing
from pages.grade._run import figures, items, labels, orders, plan, scored, status
from pages.grade._run.words import raters_line, versions_line
from pages.ui import routes, state, ways
from pages.ui.resources import store
from pages.ui.text import one_line
from pages.ui.widgets import empty_state, page_header, show_flash

RUN_VIEW = "run_view"

VIEWS = {
    "items": "Items",
    "scores": "Scores and verdicts",
    "labels": "Against labels",
    "orders": "Order of options",
    "plan": "What was run",
}


def none_chosen() -> None:
    """What stands here without a run in the address."""
    page_header("Run")
    empty_state(
        "No run is chosen",
        "Pick one from the list of runs.",
        lambda: routes.link(routes.RUNS, "All runs"),
    )


def show(run_id: int) -> None:
    """The whole page of a run."""
    routes.back(routes.RUNS, "All runs")
    run = viewing.require_run(store(), run_id)
    how = "judged" if run.panel.askable else "rated elsewhere"
    about = f"Run {run.id} · {versions_line(run)} · {how} by {raters_line(run)}"
    page_header(one_line(run.name, 100), about, own_words=False)
    show_flash()
    ways.other_views(run, routes.RUN)
    status.show(run_id)
    scored.show(run)
    _view(run)


def _view(run: Run) -> None:
    key = state.key(RUN_VIEW)
    asked = state.address(state.VIEW)
    views = [name for name in VIEWS if name != "orders" or run.panel.asking.flip != "off"]
    state.put(key, asked if asked in views else "items")
    view = st.segmented_control(
        "View",
        views,
        key=key,
        format_func=VIEWS.__getitem__,
        required=True,
        label_visibility="collapsed",
        on_change=_on_view,
        args=(key,),
    )
    rubric = viewing.rubric_of(store(), run)
    match view:
        case "scores":
            figures.show(run, rubric)
        case "labels":
            labels.show(run)
        case "orders":
            orders.show(run)
        case "plan":
            plan.show(run, rubric)
        case _:
            items.show(run, rubric)


def _on_view(key: str) -> None:
    view = state.get(key)
    state.set_address(**{state.VIEW: None if view == "items" else view})
