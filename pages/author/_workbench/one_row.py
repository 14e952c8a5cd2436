"""An opened row: its texts to be edited, what is expected of each criterion, every vote in full."""

from __future__ import annotations

import streamlit as st

from core.services import workbench
from core.services.workbench_standing import Cell, Standing
from core.services.workbench_types import BenchRow, item_from
from core.services.workbench_views import Said, as_failure, as_vote, call_for, said
from pages.author._workbench import marks as shown
from pages.ui import state
from pages.ui import workbench_keys as keys
from pages.ui.item_view import context_words, show_submission
from pages.ui.resources import store
from pages.ui.text import esc, label, raw
from pages.ui.votes import vote_card
from pages.ui.widgets import shown_errors

TEXTS = {
    "submission": "Submission",
    "prompt": "Task (optional)",
    "reference": "Reference (optional)",
}


def show(name: str, now: Standing, row: BenchRow, criterion: str | None) -> None:
    """Texts and expectations on the left, votes on the right."""
    left, right = st.columns(2, gap="medium")
    with left:
        for what, words in TEXTS.items():
            _text(name, row, what, words)
            if what == "prompt":
                _contexts(name, row)
    with right:
        cells = now.cells.get(row["uid"], {})
        names = [criterion] if criterion is not None else list(now.subject.criteria)
        for one in names:
            if criterion is None:
                st.html(f'<div class="rs-section">{esc(one)}</div>')
                shown.expected(name, now, row, one)
            if one in cells:
                _votes(name, row, cells[one])


def _text(name: str, row: BenchRow, what: str, words: str) -> None:
    if what == "submission" and not isinstance(row["submission"], str):
        st.html('<div class="rs-section">Submission</div>')
        show_submission(item_from(row))
        return
    key = state.key(keys.WORKBENCH_FIELD, name, row["uid"], what)
    state.seed(key, dict(row)[what])
    st.text_area(
        words,
        key=key,
        height="content",
        max_chars=200_000,
        on_change=_on_text,
        args=(name, row["uid"], what),
    )


def _contexts(name: str, row: BenchRow) -> None:
    for one, text in (row["context"] or {"context": ""}).items():
        key = state.key(keys.WORKBENCH_FIELD, name, row["uid"], "context", one)
        state.seed(key, text)
        st.text_area(
            label(f"{context_words(one)} (optional)"),
            key=key,
            height="content",
            max_chars=200_000,
            on_change=_on_context,
            args=(name, row["uid"], one),
        )


def _on_context(name: str, uid: str, one: str) -> None:
    with shown_errors():
        typed = state.get(state.key(keys.WORKBENCH_FIELD, name, uid, "context", one)) or ""
        (row,) = [r for r in workbench.opened(store(), name)["rows"] if r["uid"] == uid]
        context = row["context"] | {one: typed}
        workbench.set_row(store(), name, uid, context=context)


def _on_text(name: str, uid: str, what: str) -> None:
    with shown_errors():
        typed = state.get(state.key(keys.WORKBENCH_FIELD, name, uid, what)) or ""
        workbench.set_row(store(), name, uid, **{what: typed})


def _votes(name: str, row: BenchRow, cell: Cell) -> None:
    reason = row["reasons"].get(cell.criterion.name)
    if reason:
        st.html(f'<div class="rs-quote">Expected because: {esc(reason)}</div>')
    text = item_from(row).text
    for one in said(store(), cell):
        _one(name, row["uid"], one, text)


def _one(name: str, uid: str, one: Said, text: str) -> None:
    marks = shown.state_tag(one)
    if one.vote is not None:
        vote_card(one.criterion, as_vote(one.vote), None, marks=marks, text=text)
    if one.twin is not None:
        vote_card(one.criterion, as_vote(one.twin), None, which="order reversed", text=text)
    failure = one.cell.failure
    if failure is not None:
        vote_card(one.criterion, as_failure(failure), None, marks="" if one.vote else marks)
    if one.vote is None and failure is None:
        st.html(f'<div class="rs-row"><b>{esc(one.cell.judge)}</b>{marks}</div>')
        return
    source = failure or one.vote
    key = state.key(keys.WORKBENCH_CALL, name, uid, one.criterion.name, one.cell.judge)
    if source is not None and source.call_id is not None and st.toggle("Prompt and reply", key=key):
        call = call_for(store(), source)
        for segment in call.prompt if call else ():
            st.caption(label(segment.role))
            raw(segment.text, height=220 if len(segment.text) > 900 else None)
        st.caption("reply, as it came")
        raw((call.reply if call else "") or "(nothing)")
