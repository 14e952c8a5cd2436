"""What stands at a row: the choice of what is expected, and how an answer stands, as tags."""

from __future__ import annotations

import streamlit as st

from core.services import workbench
from core.services.workbench_standing import Cell, Standing
from core.services.workbench_types import BenchRow
from core.services.workbench_views import Said
from pages.ui import state
from pages.ui import workbench_keys as keys
from pages.ui.resources import store
from pages.ui.text import label, one_line
from pages.ui.votes import FAILURE_WORDS
from pages.ui.widgets import shown_errors, tag

NOTHING = "no expectation"


def expected(name: str, now: Standing, row: BenchRow, criterion: str) -> None:
    """The choice of what is right for a criterion of a row."""
    noun = now.subject.criteria.get(criterion)
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
        words = f"“{one_line(label_now, 60)}” is no option any more. Choose again."
        st.caption(f":material/warning: {label(words)}")


def _on_expected(name: str, uid: str, criterion: str, labels: list[str]) -> None:
    with shown_errors():
        index = state.get(state.key(keys.WORKBENCH_FIELD, name, uid, "expected", criterion))
        chosen = None if index is None else labels[index]
        workbench.expect(store(), name, uid, criterion, chosen)


def agrees(cell: Cell) -> str:
    """Whether verdict and expectation agree, as a tag; empty where one of both is missing."""
    if cell.agrees is None:
        return ""
    return tag("✓ as expected", "good") if cell.agrees else tag("✕ differs", "bad")


def state_tag(one: Said) -> str:
    """How a judge's answer stands, as tags; nothing where it is fresh and steady."""
    cell = one.cell
    tags = ""
    if cell.failure is not None:
        tags = tag(f"✕ {FAILURE_WORDS.get(cell.failure.kind, cell.failure.kind)}", "bad")
    words = {
        "stale": tag("stale", "warn"),
        "asking": tag("asking …", "info"),
        "never": tag("not asked"),
        "half": tag("reversed order not asked", "warn"),
    }
    tags += words.get(cell.state, "")
    answer = cell.answer
    if answer is not None and answer.flips:
        tags += tag(f"flips: reversed, {one_line(answer.twin_label, 40)}", "warn")
    elif answer is not None and answer.flips is False:
        tags += tag("same in both orders", "neutral")
    return tags
