"""Asking: what is open, or everything, with what it takes said before; progress; cancelling."""

from __future__ import annotations

import streamlit as st

from core.errors import InputError
from core.services import numbers as fmt
from core.services import workbench_asking as asking
from core.services.grading import is_stalled
from core.services.workbench_asking import Outlook, Want
from core.services.workbench_standing import Standing
from pages.author._rubric import work
from pages.ui import state
from pages.ui import workbench_keys as keys
from pages.ui.resources import store
from pages.ui.text import label
from pages.ui.widgets import shown_errors


def show(name: str, now: Standing, criterion: str | None) -> None:
    """The buttons with what each takes, or how far the judges are."""
    for need in asking.needs(store(), now):
        st.info(label(need), icon=":material/gavel:")
    if now.active:
        _progress(name, now)
        return
    for run in now.stopped:
        words = run.message or "The asking was interrupted. Ask what is open to go on."
        st.error(label(words, 600), icon=":material/error:")
    if not now.cells or not now.judges:
        return
    left = asking.outlook(store(), now, Want("open", criterion=criterion))
    whole = asking.outlook(store(), now, Want("all", criterion=criterion))
    failed = asking.outlook(store(), now, Want("failed", criterion=criterion))
    with st.container(horizontal=True, vertical_alignment="center"):
        words = f"Ask what is open ({left.cells})" if left.cells else "Nothing is open"
        _button(name, words, "open", criterion, primary=True, off=not left.cells)
        if failed.cells and failed.cells < left.cells:
            _button(name, f"Only what failed ({failed.cells})", "failed", criterion)
        _button(name, f"Ask all anew ({whole.cells})", "all", criterion, off=not whole.cells)
    told = [f"Open: {takes(left)}."] if left.cells else []
    st.caption(label(" ".join([*told, f"All: {takes(whole)}."]), 400))


def takes(of: Outlook) -> str:
    """What asking takes, in words."""
    if not of.calls:
        return f"{fmt.plural(of.answers, 'answer')}, no calls, no cost"
    parts = [fmt.plural(of.calls, "call"), f"about {fmt.tokens(of.tokens)}"]
    parts.append("price unknown" if of.cost is None else f"about {fmt.cost(of.cost)}")
    return ", ".join(parts)


def _button(
    name: str,
    words: str,
    which: str,
    criterion: str | None,
    *,
    primary: bool = False,
    off: bool = False,
) -> None:
    st.button(
        words,
        key=state.key(keys.WORKBENCH_ACT, name, "ask", which),
        type="primary" if primary else "secondary",
        icon=":material/play_arrow:" if primary else ":material/refresh:",
        disabled=off,
        on_click=on_ask,
        args=(name, which, None, criterion),
    )


def on_ask(name: str, which: asking.Which, row: str | None, criterion: str | None) -> None:
    """Callback: start asking these cells."""
    with shown_errors():
        started = asking.ask(store(), name, work.draft(name), Want(which, row, criterion))
        if not started:
            raise InputError("There is nothing to ask: every row has its answer.")


def _progress(name: str, now: Standing) -> None:
    planned = sum(run.planned for run in now.runs)
    done = sum(run.votes + run.failures_open for run in now.runs)
    if all(run.status == "queued" for run in now.runs):
        words = "waiting to be taken up"
    elif any(is_stalled(run) for run in now.runs):
        words = "the process that asked is gone; another takes over in some seconds"
    else:
        words = "asking"
    st.progress(
        min(1.0, done / planned) if planned else 0.0,
        text=f"{done} of {fmt.plural(planned, 'answer')} · {words}",
    )
    st.button(
        "Cancel",
        key=state.key(keys.WORKBENCH_ACT, name, "cancel"),
        icon=":material/stop:",
        on_click=_on_cancel,
        args=(name,),
        help="What was answered stays; what was not asked yet costs nothing.",
    )


def _on_cancel(name: str) -> None:
    with shown_errors():
        asking.cancel(store(), name)
