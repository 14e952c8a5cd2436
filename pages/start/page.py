"""Start: what this is, a graded example with its figures, where to go, and what one has."""

from __future__ import annotations

import streamlit as st

from core.domain.runs import RunRow
from core.services.reports import worked_example
from core.services.runs import lifecycle
from core.services.runs.lifecycle import counts
from core.text import numbers as fmt
from pages.start import example
from pages.ui import routes, state
from pages.ui.resources import store
from pages.ui.run_status import status_tag
from pages.ui.text import esc, one_line
from pages.ui.widgets import LabelledFigure, figures, page_header

LATEST = 5


def own_work() -> None:
    """The way in for it, before there is anything but the example."""
    have, example = counts(store()), worked_example.example_run(store())
    given = 0 if example is None else 1
    mine = max(have.rubrics, have.datasets, have.runs) > given or have.spot_checks
    if not mine:
        st.caption("Nothing of yours is here yet. Whatever you drop is read, and shown first.")
        words = "Bring your own: a table, submissions, or another tool's results"
        routes.link(routes.DATASETS, words, {state.DATASET: state.NEW}, icon="upload_file")
        return
    st.subheader("Your work", anchor=False)
    figures(
        [
            LabelledFigure("Rubrics", fmt.count(have.rubrics)),
            LabelledFigure("Datasets", fmt.count(have.datasets)),
            LabelledFigure("Runs", fmt.count(have.runs)),
            LabelledFigure("Spot checks", fmt.count(have.spot_checks)),
        ]
    )
    for run in _latest(example):
        _card(run)


def _latest(example: int | None) -> list[RunRow]:
    """The newest runs and spot checks together, without the example."""
    runs = lifecycle.runs(store(), limit=LATEST + 1)
    spots = lifecycle.runs(store(), kind="spot", limit=LATEST)
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


STEPS = (
    (
        "Write a rubric",
        "Questions with options. Check it, see the exact prompt, try its scoring.",
        routes.RUBRICS,
    ),
    (
        "Bring in what is judged",
        "A table of submissions; labels by people, where you have them.",
        routes.DATASETS,
    ),
    (
        "Connect a model",
        "Any provider, any name; keys stay in environment variables.",
        routes.JUDGES,
    ),
    (
        "Check one submission",
        "Paste a text, ask some judges, read every vote, in seconds.",
        routes.SPOT_CHECK,
    ),
    (
        "Grade everything",
        "See calls and cost first; stop, resume and retry at will.",
        routes.RUNS,
    ),
    (
        "Bring in votes",
        "What people or models said elsewhere, to measure and review it here.",
        routes.IMPORT_VOTES,
    ),
    (
        "Settle what is in doubt",
        "People review what judges left open, alone or several at once.",
        routes.QUEUES,
    ),
    (
        "Find the better system",
        "Two answers at a time, in both orders; a leaderboard with intervals.",
        routes.CONTESTS,
    ),
)


def _steps() -> None:
    with st.grid(4, min_column_width=210):
        for title, words, page in STEPS:
            with st.container(border=True, height="stretch"):
                st.html(f'<b>{esc(title)}</b><br><span class="rs-quiet">{esc(words)}</span>')
                st.space("stretch")
                routes.link(page, page.title, icon="arrow_forward")


page_header(
    "Rubric Studio",
    "Write rubrics, have submissions graded by models or by judges that learn from your labels, "
    "see every vote, and learn how far the grades can be trusted.",
)
own_work()
example.show()
_steps()
