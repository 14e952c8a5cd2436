"""The list: contests held, and other runs that say something of systems or of orders."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.domain.runs import RunRow
from core.services import contest_choices
from core.services import numbers as fmt
from pages.grade._run.words import cost_words, raters_line, votes_words
from pages.ui import contest_keys as keys
from pages.ui import routes, state
from pages.ui.resources import store
from pages.ui.statuses import status_tag
from pages.ui.text import esc, label
from pages.ui.widgets import empty_state, page_header, row, show_flash, shown_errors

POLL_SECONDS = 2.0
SHOWN = 30


def show() -> None:
    """The list screen."""
    page_header(
        "Compare systems",
        "Which of several systems is better: two answers at a time, in both orders, with names "
        "hidden from the judges.",
    )
    show_flash()
    found = contest_choices.comparable(store())
    if not (found.contests or found.scored or found.imported):
        empty_state(
            "Nothing to compare yet",
            "A contest shows judges two systems' answers to one task and asks which is better. It "
            "needs a dataset whose items name their system, or a dataset for each system.",
            lambda: _plan_button("first"),
        )
        return
    _plan_button("plan")
    active = any(one.active for one in found.contests)
    if found.contests:
        st.fragment(_contests, run_every=POLL_SECONDS if active else None)(active)
    _others(
        "Systems ranked from scores",
        "These runs graded answers of several systems one by one; they rank them without a call.",
        found.scored,
    )
    _others(
        "Judges asked in both orders elsewhere",
        "Imported votes whose raters answered each pair more than once.",
        found.imported,
    )


def _plan_button(name: str) -> None:
    st.button(
        "Plan a contest",
        key=state.key(keys.CONTEST_ACT, name),
        type="primary",
        icon=":material/add:",
        on_click=state.set_address,
        kwargs={state.PLAN: "new"},
    )


def _contests(was_active: bool) -> None:
    with shown_errors():
        found = contest_choices.comparable(store())
        if was_active and not any(one.active for one in found.contests):
            st.rerun()
        for one in found.contests[:SHOWN]:
            _card(one, found.rounds.get(one.id))


def _card(one: RunRow, begins: int | None) -> None:
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center"):
            link(one, "swords")
            row([status_tag(one)])
        if one.active:
            done = one.votes + one.failures_open
            st.progress(min(1.0, done / one.planned) if one.planned else 1.0)
        facts = [f"run {one.id}", votes_words(one)]
        if begins is not None:
            facts.insert(1, f"goes on from run {begins}")
        if one.failures_open:
            facts.append(fmt.plural(one.failures_open, "failure"))
        if one.calls:
            facts.append(cost_words(one))
        facts.append(fmt.ago(one.created))
        for line in (raters_line(one), " · ".join(facts)):
            st.html(f'<div class="rs-quiet rs-num">{esc(line)}</div>')


def link(one: RunRow, icon: str) -> None:
    """A link to what this page says of a run."""
    routes.link(routes.CONTESTS, label(one.name, 100), {state.RUN: one.id}, icon=icon)


def _others(head: str, says: str, rows: Sequence[RunRow]) -> None:
    if not rows:
        return
    st.html(f'<div class="rs-section">{esc(head)}</div><div class="rs-quiet">{esc(says)}</div>')
    for one in rows[:SHOWN]:
        with st.container(horizontal=True, vertical_alignment="center"):
            link(one, "leaderboard")
            st.html(
                f'<span class="rs-quiet rs-num">run {one.id} · {esc(votes_words(one))}</span>',
                width="content",
            )
