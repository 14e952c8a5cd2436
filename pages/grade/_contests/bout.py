"""One contest: both answers side by side, and the votes in each order in which they were shown."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.domain.dataset import Pair
from core.domain.votes import Vote
from core.services import numbers as fmt
from core.services import viewing
from core.services.contest_questions import choice_of
from core.services.contest_votes import Held, Outcome, Shown
from core.services.quoting import find_quote
from core.services.viewing import CriterionView, ItemView, VoteView
from pages.grade._contests.board import WHY
from pages.grade._contests.chosen import Chosen
from pages.ui import contest_keys as keys
from pages.ui import routes, state
from pages.ui.item_view import context_words
from pages.ui.resources import store
from pages.ui.text import esc, label
from pages.ui.two_texts import folded, side_by_side
from pages.ui.votes import standing_tags, vote_card, which_answer
from pages.ui.widgets import row, tag

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


def show(chosen: Chosen, at: int, order: Sequence[int]) -> None:
    """The contest at a place; ``order`` are the places that one can go through from it."""
    held = chosen.contests.held[at]
    with st.container(border=True):
        st.html(f'<div class="rs-section">{esc(held.task)}: {esc(held.question)}</div>')
        lengths = " and ".join(fmt.plural(words, "word") for words in held.lengths)
        quiet = f'<span class="rs-quiet rs-num">{esc(lengths)}</span>'
        row([outcome_tag(chosen.outcome(held), held), quiet])
        leading = next((s for s in held.shown if not s.swapped), held.shown[0])
        view = viewing.item_view(store(), held.run_id, leading.item_id)
        _answers(held, view, leading)
        _orders(chosen, held)
        _steps(order, order.index(at))


def _answers(held: Held, view: ItemView, leading: Shown) -> None:
    folded("Task", view.item.prompt, opened=len(view.item.prompt) < 500)
    for name, text in view.item.context.items():
        folded(context_words(name), text)
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
        if chosen.judge not in (None, one.cell.judge):
            continue
        if isinstance(one.result, Vote):
            _vote(one, one.result, _said(asked, one.result, a, b), view.item.text)
        elif one.result is not None:
            vote_card(asked.criterion, one.result, which=which_answer(one))
    if not answered:
        st.caption("Nobody answered in this order.")
    routes.link(
        routes.RUN, "What was sent and said", {state.RUN: held.run_id, state.ITEM: shown.item_id}
    )


def _said(asked: CriterionView, vote: Vote, a: str, b: str) -> str:
    """Whom a vote chose, and how it was called on the screen of the judge."""
    choice = choice_of(asked.criterion, vote.option)
    if choice in ("A", "B"):
        return tag(f"{choice}: {_short(a if choice == 'A' else b)}", "info")
    return tag({"tie": "tie", "both_bad": "both bad"}.get(choice, "abstained"))


def _vote(view: VoteView, vote: Vote, said: str, text: str) -> None:
    which = f'<span class="rs-quiet">{esc(which_answer(view))}</span>' if which_answer(view) else ""
    quotes = "".join(
        f'<div class="rs-quote">{esc(quote)}'
        + ("" if find_quote(text, quote) else f" {tag('quote not found', 'warn')}")
        + "</div>"
        for quote in vote.evidence
    )
    reason = f'<div class="rs-prose">{esc(vote.reason)}</div>' if vote.reason else ""
    head = f"<b>{esc(vote.cell.judge)}</b>{which}{said}{standing_tags(view)}"
    st.html(f'<div class="rs-card"><div class="rs-row">{head}</div>{quotes}{reason}</div>')


def _asked(view: ItemView, question: str) -> CriterionView:
    return next(one for one in view.criteria if one.criterion.name == question)


def _steps(order: Sequence[int], place: int) -> None:
    """On to the contest before or after, in the list as it is shown."""
    with st.container(horizontal=True):
        for words, to, shortcut in (("Previous", place - 1, "Left"), ("Next", place + 1, "Right")):
            st.button(
                label(words),
                key=state.key(keys.CONTEST_ACT, words),
                shortcut=shortcut,
                disabled=not 0 <= to < len(order),
                on_click=state.set_address,
                kwargs={keys.BOUT: order[to] if 0 <= to < len(order) else None},
            )
