"""One contest: both answers side by side, and the votes in each order in which they were shown."""

from __future__ import annotations

import streamlit as st

from core.domain.dataset import Pair
from core.services import viewing
from core.services.contest_votes import Held, Outcome, Shown
from core.services.viewing import CriterionView, ItemView
from pages.grade._contests.board import WHY
from pages.grade._contests.chosen import Chosen
from pages.ui import contest_keys as keys
from pages.ui import format as fmt
from pages.ui import state
from pages.ui.resources import store
from pages.ui.text import esc, label
from pages.ui.two_texts import folded, side_by_side
from pages.ui.votes import standing_tags, vote_card, which_answer
from pages.ui.widgets import row, tag

RUN_PAGE = "grade/run.py"
NAMED = 40


def outcome_tag(found: Outcome, held: Held) -> str:
    """The HTML of what a contest came to."""
    if found.winner is None:
        return tag(f"undecided: {WHY[found.why]}", "warn")
    why = f", {WHY[found.why]}" if found.why else ""
    if found.winner in ("first", "second"):
        return tag(f"{_short(held.first if found.winner == 'first' else held.second)} won", "good")
    return tag(("both bad" if found.winner == "both_bad" else "tie") + why)


def _short(name: str) -> str:
    return name if len(name) <= NAMED else name[: NAMED - 1] + "…"


def show(chosen: Chosen, at: int) -> None:
    """The contest at a place of the list."""
    held = chosen.contests.held[at]
    with st.container(border=True):
        st.html(f'<div class="rs-section">{esc(held.task)}: {esc(held.question)}</div>')
        row([outcome_tag(chosen.outcome(held), held), *_by_orders(chosen, held)])
        leading = next((s for s in held.shown if not s.swapped), held.shown[0])
        view = viewing.item_view(store(), held.run_id, leading.item_id)
        _answers(held, view, leading)
        _orders(chosen, held)
        _steps(chosen, at)


def _by_orders(chosen: Chosen, held: Held) -> list[str]:
    lengths = " and ".join(fmt.plural(words, "word") for words in held.lengths)
    return [f'<span class="rs-quiet rs-num">{esc(lengths)}</span>']


def _answers(held: Held, view: ItemView, leading: Shown) -> None:
    folded("Task", view.item.prompt, opened=len(view.item.prompt) < 500)
    folded("Reference", view.item.reference)
    pair = view.item.submission
    assert isinstance(pair, Pair), "a contest holds pairs"
    answers = (pair.second, pair.first) if leading.swapped else (pair.first, pair.second)
    key = state.key(keys.CONTEST_FIELD, "mark")
    state.seed(key, True)
    mark = st.toggle("Mark what differs", key=key, persist_state="session")
    heads = tuple(f"<b>{esc(name)}</b>" for name in (held.first, held.second))
    side_by_side((heads[0], heads[1]), answers, mark=bool(mark))


def _orders(chosen: Chosen, held: Held) -> None:
    with st.grid(2, min_column_width=300):
        for shown in sorted(held.shown, key=lambda one: one.swapped):
            with st.container(gap="xsmall"):
                _order(chosen, held, shown)


def _order(chosen: Chosen, held: Held, shown: Shown) -> None:
    a, b = (held.second, held.first) if shown.swapped else (held.first, held.second)
    st.html(f'<div class="rs-section">Shown as A: {esc(a)}<br>Shown as B: {esc(b)}</div>')
    view = viewing.item_view(store(), held.run_id, shown.item_id)
    asked = _asked(view, held.question)
    answered = [one for one in asked.votes if one.result is not None]
    for one in answered:
        if one.result is None or chosen.judge not in (None, one.cell.judge):
            continue
        vote_card(
            asked.criterion,
            one.result,
            which=which_answer(one),
            text=view.item.text,
            marks=standing_tags(one),
        )
    if not answered:
        st.caption("Nobody answered in this order.")
    st.page_link(
        RUN_PAGE,
        label="What was sent and said",
        icon=":material/monitoring:",
        query_params={state.RUN: str(held.run_id), state.ITEM: shown.item_id},
    )


def _asked(view: ItemView, question: str) -> CriterionView:
    return next(one for one in view.criteria if one.criterion.name == question)


def _steps(chosen: Chosen, at: int) -> None:
    """On to the contest before or after, in the whole list."""
    last = len(chosen.contests.held) - 1
    with st.container(horizontal=True):
        for words, to, shortcut in (("Previous", at - 1, "Left"), ("Next", at + 1, "Right")):
            st.button(
                label(words),
                key=state.key(keys.CONTEST_ACT, words),
                shortcut=shortcut,
                disabled=not 0 <= to <= last,
                on_click=state.set_address,
                kwargs={keys.BOUT: to},
            )
