"""What the user has: counts and the latest runs, once there is own work."""

from __future__ import annotations

import streamlit as st

from core.domain.runs import RunRow
from core.services import demo, grading
from core.services import numbers as fmt
from core.services.overview import counts
from pages.ui import routes, state
from pages.ui.resources import store
from pages.ui.statuses import status_tag
from pages.ui.text import esc, one_line
from pages.ui.widgets import Figure, figures

LATEST = 5


def show() -> None:
    """Nothing, before there is anything but the example."""
    have, example = counts(store()), demo.example_run(store())
    given = 0 if example is None else 1
    mine = max(have.rubrics, have.datasets, have.runs) > given or have.spot_checks
    if not mine:
        return
    st.subheader("Your work", anchor=False)
    figures(
        [
            Figure("Rubrics", fmt.count(have.rubrics)),
            Figure("Datasets", fmt.count(have.datasets)),
            Figure("Runs", fmt.count(have.runs)),
            Figure("Spot checks", fmt.count(have.spot_checks)),
        ]
    )
    for run in _latest(example):
        _card(run)


def _latest(example: int | None) -> list[RunRow]:
    """The newest runs and spot checks together, without the example."""
    runs = grading.runs(store(), limit=LATEST + 1)
    spots = grading.runs(store(), kind="spot", limit=LATEST)
    both = sorted([r for r in runs if r.id != example] + spots, key=lambda r: -r.id)
    return both[:LATEST]


def _card(run: RunRow) -> None:
    spot = run.kind == "spot"
    page = routes.SPOT_CHECK if spot else routes.RUN
    quiet = f"{fmt.plural(run.votes, 'vote')} · {fmt.ago(run.created)}"
    with st.container(border=True, horizontal=True, vertical_alignment="center", gap="small"):
        with st.container(width="stretch"):
            st.html(
                f'<div class="rs-row"><b>{esc(one_line(run.name, 90))}</b>{status_tag(run)}</div>'
                f'<span class="rs-quiet">{esc(quiet)}</span>'
            )
        routes.link(page, "Open", {state.RUN: run.id}, icon="")
