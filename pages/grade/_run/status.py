"""How far the run is: live while it is worked on, from the data file."""

from __future__ import annotations

import time

import streamlit as st

from core.services import grading
from core.services import numbers as fmt
from core.services.grading import Look, Progress
from pages.grade._run.words import (
    IMPORTED_EMPTY,
    NOBODY,
    advice,
    cost_words,
    known_words,
    spent_words,
    votes_words,
)
from pages.ui import state
from pages.ui.resources import store
from pages.ui.statuses import status_tag
from pages.ui.text import esc, label
from pages.ui.votes import FAILURE_WORDS
from pages.ui.widgets import Figure, figures, row, shown_errors, tag

RUN_ACT = "run_act"
RUN_LOOK = "run_look"

POLL_SECONDS = 1.0
#: While it is worked on, the rest of the page follows this often.
REDRAW_SECONDS = 6.0


def show(run_id: int) -> None:
    """The status with its buttons; polls only while somebody works on the run."""
    row = grading.progress(store(), run_id).row
    began = time.monotonic()
    st.fragment(_live, run_every=POLL_SECONDS if row.active else None)(
        run_id, row.active, row.votes, began
    )


def _live(run_id: int, was_active: bool, votes: int, began: float) -> None:
    with shown_errors():
        key = state.key(RUN_LOOK, run_id)
        before = state.get(key)
        look = grading.progress(store(), run_id, None if before is None else Look(*before))
        state.put(key, tuple(look.look))
        follows = look.row.votes != votes and time.monotonic() - began > REDRAW_SECONDS
        if look.row.active != was_active or follows:
            st.rerun()
        _draw(look)


def _draw(look: Progress) -> None:
    run = look.row
    with st.container(horizontal=True, vertical_alignment="center"):
        votes = f'<span class="rs-num">{votes_words(run)}</span>'
        row([status_tag(run), votes])
        st.space("stretch")
        _buttons(look)
    _facts(look)
    if run.active:
        st.progress(min(1.0, look.share), text=f"{fmt.percent(look.share)} of the votes")
        _pace(look)
    if look.spared:
        st.caption(
            f"{fmt.count(look.spared)} of {fmt.plural(run.planned, 'vote')} were not needed: the "
            "verdicts stood without them."
        )
    if lost := grading.lost(run):
        st.caption(grading.lost_words(lost))
    if look.stalled:
        st.warning(f"{NOBODY} Resume takes it up again; no finished vote is lost.")
    if run.message:
        st.warning(label(run.message), icon=":material/info:")
    if look.failures:
        _failures(look)


def _facts(look: Progress) -> None:
    run = look.row
    facts = [fmt.plural(run.abstentions, "abstention")]
    if run.calls:
        facts += [fmt.plural(run.calls, "call"), cost_words(run)]
        facts.append(f"{fmt.tokens(run.tokens_in)} in, {fmt.tokens(run.tokens_out)} out")
    if run.cached:
        facts.append(known_words(run))
    if run.seconds and not run.active:
        facts.append(fmt.seconds(run.seconds))
    st.html(f'<span class="rs-quiet rs-num">{esc(" · ".join(facts))}</span>')


def _pace(look: Progress) -> None:
    if look.stalled:
        return
    waiting = look.row.status == "queued"
    rate = "waiting" if waiting else "measuring" if look.rate is None else _per_second(look.rate)
    left = fmt.seconds(look.seconds_left) if look.seconds_left is not None else fmt.DASH
    spent = spent_words(look.row) if look.row.calls else fmt.DASH
    figures(
        [
            Figure("Votes a second", rate),
            Figure("Time left", left, "At the pace of the last seconds."),
            Figure("Spent so far", spent),
            Figure("Failures", fmt.count(look.row.failures_open)),
        ]
    )


def _per_second(rate: float) -> str:
    return fmt.number(round(rate, 1 if rate < 10 else 0), 4)


def _buttons(look: Progress) -> None:
    run = look.row
    if run.active and not look.stalled:
        st.button(
            "Cancel",
            key=state.key(RUN_ACT, "cancel", run.id),
            icon=":material/stop_circle:",
            disabled=run.cancel,
            help="Stops asking. Finished votes are kept, and the run can be resumed.",
            on_click=_on_cancel,
            args=(run.id,),
        )
    left = run.planned - look.settled - look.spared
    if look.stalled or (not run.active and left > 0):
        st.button(
            f"Resume ({fmt.plural(left, 'vote')} left)",
            key=state.key(RUN_ACT, "resume", run.id),
            type="primary",
            icon=":material/play_arrow:",
            on_click=_on_resume,
            args=(run.id,),
        )
    if run.failures_open and not run.active and run.panel.askable:
        st.button(
            f"Retry {fmt.plural(run.failures_open, 'failure')}",
            key=state.key(RUN_ACT, "retry", run.id),
            icon=":material/replay:",
            on_click=_on_retry,
            args=(run.id,),
        )


def _failures(look: Progress) -> None:
    """Failures by kind: how many, whose, what was said last, and what to do."""
    judges = {judge.name: judge for judge in look.row.panel.judges}
    lines = []
    for kind in look.failures:
        of = [judges[name] for name in kind.judges if name in judges]
        lines.append(
            f"<div>{tag(f'✕ {kind.times} × {FAILURE_WORDS.get(kind.kind, kind.kind)}', 'bad')} "
            f"<span class='rs-quiet'>{esc(', '.join(kind.judges))}</span></div>"
            f"<div>{esc(advice(kind.kind, of) if look.row.panel.askable else IMPORTED_EMPTY)}</div>"
            f"<div class='rs-quiet'>Last message: {esc(kind.message[:400])}</div>"
        )
    head = "<div class='rs-section'>No vote came of these questions</div>"
    st.html(f'<div class="rs-card">{head}{"".join(lines)}</div>')


def _on_cancel(run_id: int) -> None:
    with shown_errors():
        grading.cancel(store(), run_id)


def _on_resume(run_id: int) -> None:
    with shown_errors():
        grading.resume(store(), run_id)


def _on_retry(run_id: int) -> None:
    with shown_errors():
        grading.retry(store(), run_id)
