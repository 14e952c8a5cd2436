"""Try the open criterion on a few real answers, directly below its card.

It is the workbench itself, reduced to a few rows: expected answers compared with given ones.
"""

from __future__ import annotations

import streamlit as st

from core.errors import InputError
from core.services.rubrics.draft_shapes import CriterionDraft
from core.services.workbench import asking as service
from core.services.workbench import bench_rows, rows_in_out
from core.services.workbench.asking import CellsToAsk
from core.services.workbench.bench_state import (
    WorkbenchState,
    figures_of,
)
from core.text import numbers as fmt
from pages.rubric.workbench import asking, subject, table
from pages.ui import drafts, state
from pages.ui.drafts import RUBRIC_VIEW
from pages.ui.resources import store
from pages.ui.text import label
from pages.ui.trial.texts import choose_dataset
from pages.ui.widgets import draw_row, shown_errors

#: The most rows shown, and the number of answers taken at a time.
SHOWN, TAKEN = 4, 3
#: The number of rows on which a newly saved version is tried.
FIVE = 5
LOOK_EVERY = 0.7


def show(name: str, criterion: CriterionDraft) -> None:
    """Draw the rows and the ways to add some; it refreshes while judges are called."""
    place = st.container(border=True, gap="small", key=f"rubric_tried_{name}_{criterion['uid']}")
    with place, shown_errors():
        bench = subject.current_state(name)
        st.fragment(_live_rows, run_every=LOOK_EVERY if bench.active else None)(
            name, criterion["uid"], bench.active
        )


def _live_rows(name: str, uid: str, polled: bool) -> None:
    with shown_errors():
        bench = subject.current_state(name)
        if bench.active != polled:
            st.rerun()
        called = next((c["name"] for c in drafts.draft(name)["criteria"] if c["uid"] == uid), None)
        if called is None:
            return
        _result_bar(name, bench, called)
        # Rows with an expectation for the criterion come first.
        rows = sorted(bench.tests, key=lambda row: called not in row["expected"])
        for row in rows[:SHOWN]:
            table.show_row(name, bench, row, called)
        hidden = len(bench.tests) - SHOWN
        if hidden > 0:
            st.caption(f"and {fmt.plural(hidden, 'more row')} in the workbench")


def _result_bar(name: str, bench: WorkbenchState, criterion: str) -> None:
    """Draw the rows' result so far, the judges, and *Try*."""
    cells, cost = service.cost_estimate(store(), bench, CellsToAsk("open", criterion=criterion))
    rows = (
        figures_of(bench, [criterion])
        if bench.judges and criterion in bench.subject.criteria
        else []
    )
    parts = ["<b>Tried on real answers</b>"]
    if rows and rows[0].agreement.n:
        agreement = rows[0].agreement
        parts.append(f'<span class="rs-num">{agreement.hits} of {agreement.n} as expected</span>')
    with st.container(horizontal=True, vertical_alignment="center"):
        draw_row(
            [*parts, *(subject.missing_tags(rows[0]) if rows and bench.tests else [])],
            width="content",
        )
        st.space("stretch")
        st.button(
            "Workbench",
            key=state.key(subject.WORKBENCH_ACT, name, "whole"),
            type="tertiary",
            icon=":material/open_in_full:",
            help="All rows and criteria; examples for judges; import and export of rows.",
            on_click=_on_whole,
            args=(name,),
        )
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            f"Try ({fmt.count(cells)})" if cells else "Try",
            key=state.key(subject.WORKBENCH_ACT, name, "ask", "open"),
            type="primary",
            icon=":material/play_arrow:",
            disabled=bench.active or not cells or bool(service.obstacle_to_asking(bench)),
            help=label(
                _no_judge_reason(bench, criterion) or f"Asks the open questions: {cost.words}.", 300
            ),
            on_click=asking.on_ask,
            args=(name, "open", None, criterion),
        )
        _take_popover(name, criterion)
        with st.popover(label(_judges_words(bench), 40), icon=":material/gavel:", type="tertiary"):
            asking.draw_judge_choice(name, bench)
    if bench.active:
        st.caption("asking …")
    for run in bench.stopped:
        st.error(label(run.message or "The calls were interrupted. Try again.", 600))


def _no_judge_reason(bench: WorkbenchState, criterion: str) -> str:
    """Return why no judge can be called, in a sentence; empty if one can."""
    if criterion not in bench.subject.criteria:
        return "The criterion is not complete yet: see the check for missing parts."
    if not bench.tests:
        return "There is no text to try the criterion on yet."
    return service.obstacle_to_asking(bench)


def _judges_words(bench: WorkbenchState) -> str:
    names = ", ".join(judge.name for judge in bench.judges)
    return names or "Choose judges"


def _take_popover(name: str, criterion: str) -> None:
    """Draw a popover with the dataset from which answers are taken."""
    with st.popover("Take answers", icon=":material/dataset:", type="tertiary"):
        likely_id = rows_in_out.likely_dataset(store(), drafts.draft(name)["rubric_id"])
        if choose_dataset(state.key(subject.WORKBENCH_FIELD, name, "from"), likely_id) is None:
            return
        st.button(
            f"Take {TAKEN} answers",
            key=state.key(subject.WORKBENCH_ACT, name, "take"),
            type="primary",
            help="Texts that people labelled for this criterion come first, one per label.",
            on_click=_on_take,
            args=(name, criterion, TAKEN),
        )


def _on_take(name: str, criterion: str, count: int) -> None:
    with shown_errors():
        version = state.get(state.key(subject.WORKBENCH_FIELD, name, "from"))
        rows_in_out.take_answers(store(), name, version, criterion, count)
        state.drop(subject.WORKBENCH_FIELD, name, "judges")
        state.drop(subject.WORKBENCH_FIELD, name, "learn_from")


def _on_whole(name: str) -> None:
    state.put(state.key(RUBRIC_VIEW, name), subject.BENCH_VIEW)
    state.set_address(**{state.SIDE: subject.BENCH})


def on_five_rows(name: str) -> None:
    """Callback: put five rows into the workbench, and open it."""
    with shown_errors():
        draft = drafts.draft(name)
        missing_rows = FIVE - len(bench_rows.saved_workbench(store(), name)["rows"])
        version = rows_in_out.likely_dataset(store(), draft["rubric_id"])
        if missing_rows > 0 and version is None:
            raise InputError("There is no dataset yet. Import a dataset on the Datasets page.")
        if missing_rows > 0 and version is not None:
            first = next((c["name"] for c in draft["criteria"]), "")
            rows_in_out.take_answers(store(), name, version, first, missing_rows)
        state.put(state.key(subject.WORKBENCH_CRITERION, name), subject.ALL)
        _on_whole(name)
