"""Asking judges in the workbench: the choice of judges, the cost of open cells, progress,
cancelling.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from core.errors import InputError
from core.services.runs import lifecycle
from core.services.workbench import asking, bench_rows
from core.services.workbench.asking import CellsToAsk
from core.services.workbench.bench_state import WorkbenchState
from core.text import numbers as fmt
from pages.rubric.workbench import subject as keys
from pages.ui import drafts, run_status, state
from pages.ui.resources import store
from pages.ui.text import label
from pages.ui.trial.judges import choose_judges, choose_teacher
from pages.ui.trial.texts import Fields, take_value
from pages.ui.widgets import shown_errors


def asking_bar(name: str, bench: WorkbenchState, criterion: str | None) -> None:
    """Draw the buttons with the cost of each, or the judges' progress."""
    if reason := asking.obstacle_to_asking(bench):
        st.info(label(reason), icon=":material/gavel:")
    if bench.active:
        _show_progress(name, bench)
        return
    for run in bench.stopped:
        caption = run.message or "The calls were interrupted. Ask the open questions to continue."
        st.error(label(caption, 600), icon=":material/error:")
    if not bench.cells or not bench.judges:
        return
    unanswered, cost = asking.cost_estimate(store(), bench, CellsToAsk("open", criterion=criterion))
    total, whole = asking.cost_estimate(store(), bench, CellsToAsk("all", criterion=criterion))
    failed, _ = asking.cost_estimate(store(), bench, CellsToAsk("failed", criterion=criterion))
    with st.container(horizontal=True, vertical_alignment="center"):
        caption = f"Ask open questions ({unanswered})" if unanswered else "Nothing is open"
        _ask_button(name, caption, "open", criterion, primary=True, disabled=not unanswered)
        if failed and failed < unanswered:
            _ask_button(name, f"Ask failed questions ({failed})", "failed", criterion)
        _ask_button(name, f"Ask all again ({total})", "all", criterion, disabled=not total)
    if failed:
        for run_id in bench.bench["last"]:
            run_status.show_failures(lifecycle.run_progress(store(), run_id))
    parts = [f"Open: {cost.words}."] if unanswered else []
    st.caption(label(" ".join([*parts, f"All: {whole.words}."]), 400))


def _ask_button(
    name: str,
    caption: str,
    which: str,
    criterion: str | None,
    *,
    primary: bool = False,
    disabled: bool = False,
) -> None:
    st.button(
        caption,
        key=state.key(keys.WORKBENCH_ACT, name, "ask", which),
        type="primary" if primary else "secondary",
        icon=":material/play_arrow:" if primary else ":material/refresh:",
        disabled=disabled,
        on_click=on_ask,
        args=(name, which, None, criterion),
    )


def on_ask(name: str, which: asking.Which, row: str | None, criterion: str | None) -> None:
    """Callback: start asking these cells."""
    with shown_errors():
        started = asking.ask(store(), name, drafts.draft(name), CellsToAsk(which, row, criterion))
        if not started:
            raise InputError("There is nothing to ask: every row has an answer.")


def _show_progress(name: str, bench: WorkbenchState) -> None:
    planned = sum(run.planned for run in bench.runs)
    answered = sum(run.votes + run.failures_open for run in bench.runs)
    at_work = next((run for run in bench.runs if run.status != "queued"), bench.runs[0])
    st.progress(
        min(1.0, answered / planned) if planned else 0.0,
        text=f"{answered} of {fmt.plural(planned, 'answer')} · {lifecycle.phase_words(at_work)}",
    )
    st.button(
        "Cancel",
        key=state.key(keys.WORKBENCH_ACT, name, "cancel"),
        icon=":material/stop:",
        on_click=_on_cancel,
        args=(name,),
        help="Answers are kept; questions not yet asked cost nothing.",
    )


def _on_cancel(name: str) -> None:
    with shown_errors():
        asking.cancel(store(), name)


def draw_judge_choice(name: str, now: WorkbenchState) -> None:
    """Choose the judges, the reversed order, and the dataset that offline judges learn from."""
    key, bench = partial(state.key, keys.WORKBENCH_FIELD, name), dict(now.bench)
    fields = Fields(key, bench.__getitem__, partial(_set_choice, name))
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    with left:
        choose_judges(fields)
    with right:
        state.seed(key("flip"), bench["flip"])
        st.toggle(
            "Ask in both orders",
            key=key("flip"),
            on_change=take_value,
            args=(fields, "flip"),
            help=(
                "Each question is asked again with the options reversed. An answer that changes "
                "depends on the order. This doubles the calls; cached answers cost nothing."
            ),
        )
    rubric = now.subject.rubric(list(now.subject.criteria), "w") if now.subject.criteria else None
    learners = any(judge.learns for judge in now.judges)
    if rubric is not None and learners and choose_teacher(fields, rubric):
        # Rerun, because the widgets above were drawn before this change.
        st.rerun()


def _set_choice(name: str, choice: str, value: Any) -> None:
    bench_rows.set_asking(store(), name, **{choice: value})
