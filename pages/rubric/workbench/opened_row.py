"""An opened row: its texts, the expected answer per criterion, every vote in full."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from core.services.workbench import bench_rows
from core.services.workbench.bench_rows import BenchRow, item_from
from core.services.workbench.bench_state import (
    BenchCell,
    BenchReply,
    WorkbenchState,
    judge_answers,
)
from pages.rubric.workbench import subject as keys
from pages.ui import state
from pages.ui.items import FAILURE_WORDS, show_submission
from pages.ui.resources import store
from pages.ui.text import esc, label, one_line
from pages.ui.trial.texts import Fields, draw_texts_around, text_field
from pages.ui.trial.votes import show_vote
from pages.ui.widgets import shown_errors, tag

NOTHING = "no expectation"


def expected_choice(name: str, bench: WorkbenchState, row: BenchRow, criterion: str) -> None:
    """Draw the choice of the expected answer for a criterion of a row."""
    noun = bench.subject.criteria.get(criterion)
    if noun is None:
        return
    label_now = row["expected"].get(criterion)
    index = None if label_now is None else noun.index_of(label_now)
    key = state.key(keys.WORKBENCH_FIELD, name, row["uid"], "expected", criterion)
    state.put(key, index)
    st.selectbox(
        "Expected",
        range(len(noun.choices)),
        key=key,
        index=None,
        placeholder=NOTHING,
        format_func=lambda at: one_line(noun.choices[at].label, 60),
        on_change=_on_expected,
        args=(name, row["uid"], criterion, [option.label for option in noun.choices]),
    )
    if label_now is not None and index is None:
        caption = f"“{one_line(label_now, 60)}” is no longer an option. Choose again."
        st.caption(f":material/warning: {label(caption)}")


def _on_expected(name: str, uid: str, criterion: str, labels: list[str]) -> None:
    with shown_errors():
        index = state.get(state.key(keys.WORKBENCH_FIELD, name, uid, "expected", criterion))
        chosen = None if index is None else labels[index]
        bench_rows.expect(store(), name, uid, criterion, chosen)


def agreement_tag(cell: BenchCell) -> str:
    """Return a tag: whether verdict and expectation agree; empty if either is missing."""
    if cell.agrees is None:
        return ""
    return tag("✓ as expected", "good") if cell.agrees else tag("✕ differs", "bad")


def state_tag(reply: BenchReply) -> str:
    """Return the state of a judge's answer as tags; empty if it is current and was asked
    in one order only.
    """
    cell = reply.cell
    tags = ""
    if cell.failure is not None:
        tags = tag(f"✕ {FAILURE_WORDS.get(cell.failure.kind, cell.failure.kind)}", "bad")
    state_tags = {
        "stale": tag("stale", "warn"),
        "asking": tag("asking …", "info"),
        "never": tag("not asked"),
        "half": tag("reversed order not asked", "warn"),
    }
    tags += state_tags.get(cell.state, "")
    if cell.flips:
        tags += tag(f"flips: reversed, {one_line(cell.twin_label, 40)}", "warn")
    elif cell.flips is False:
        tags += tag("same in both orders", "neutral")
    return tags


def show_row(name: str, bench: WorkbenchState, row: BenchRow, criterion: str | None) -> None:
    """Draw texts and expectations on the left, votes on the right."""
    left, right = st.columns(2, gap="medium")
    with left:
        _text_fields(name, row)
    with right:
        cells = bench.cells.get(row["uid"], {})
        names = [criterion] if criterion is not None else list(bench.subject.criteria)
        for criterion_name in names:
            if criterion is None:
                st.html(f'<div class="rs-section">{esc(criterion_name)}</div>')
                expected_choice(name, bench, row, criterion_name)
            if criterion_name in cells:
                _show_votes(row, cells[criterion_name])


def _text_fields(name: str, row: BenchRow) -> None:
    def field_value(field: str) -> Any:
        rows = [
            bench_row
            for bench_row in bench_rows.saved_workbench(store(), name)["rows"]
            if bench_row["uid"] == row["uid"]
        ]
        return dict(rows[0] if rows else row)[field]

    def on_changed(field: str, typed: Any) -> None:
        bench_rows.set_row(store(), name, row["uid"], **{field: typed})

    fields = Fields(
        partial(state.key, keys.WORKBENCH_FIELD, name, row["uid"]), field_value, on_changed
    )
    if isinstance(row["submission"], str):
        text_field(fields, "submission", "Submission", tall=True)
    else:
        st.html('<div class="rs-section">Submission</div>')
        show_submission(item_from(row))
    draw_texts_around(fields)


def _show_votes(row: BenchRow, cell: BenchCell) -> None:
    reason = row["reasons"].get(cell.criterion.name)
    if reason:
        st.html(f'<div class="rs-quote">Expected because: {esc(reason)}</div>')
    text = item_from(row).text
    for answer in judge_answers(store(), cell):
        if not answer.answers:
            name = esc(answer.cell.judge)
            st.html(f'<div class="rs-row"><b>{name}</b>{state_tag(answer)}</div>')
        for index, view in enumerate(answer.answers):
            show_vote(answer.criterion, view, text, marks="" if index else state_tag(answer))
