"""A contest run as the page reads it: its contests, and what of them is counted."""

from __future__ import annotations

from typing import Literal, NamedTuple, cast

import streamlit as st

from core.services.pairwise import contest_votes, leaderboard
from core.services.pairwise.contest_votes import ContestOutcome, Contests, HeldContest
from core.services.pairwise.leaderboard_parts import Leaderboard
from core.services.results import item_view
from pages.ui import state
from pages.ui.resources import remembered, shared, store
from pages.ui.text import one_line
from pages.ui.widgets import confidence

# The keys of the Compare systems and Arena pages, beside those of `state`.

# Address parameters: the form, the view, what is counted, the cell of the matrix and the contest.
QUESTION = "question"
ORDERS = "orders"
CELL = "cell"
BOUT = "bout"
SCORES = "scores"
PART = "part"
JOIN = "join"

# Families of session keys.
CONTEST_ACT = "contest_act"
CONTEST_FIELD = "contest_field"
CONTEST_CHART = "contest_chart"
CONTEST_FORM = "contest_form"


ALL = ""
ORDER_WORDS: dict[str, str] = {
    "both": "Both orders",
    "listed": "Only as listed",
    "swapped": "Only exchanged",
}


class ContestSelection(NamedTuple):
    """What is shown. ``question`` and ``judge`` are ``None`` where all are taken together."""

    runs: tuple[int, ...]
    about: tuple[object, ...]
    contests: Contests
    question: str | None
    judge: str | None
    counted: Literal["both", "listed", "swapped"]

    @property
    def run_id(self) -> int:
        """The last round."""
        return self.runs[-1]

    def outcome(self, held: HeldContest) -> ContestOutcome:
        """What a contest comes to, by what is counted."""
        return contest_votes.outcome(self.contests, held, self.judge, self.counted)

    def held(self, pair: frozenset[str] | None = None) -> list[tuple[int, HeldContest]]:
        """The contests on the question (between these two), each with its place among all."""
        return [
            (at, one)
            for at, one in enumerate(self.contests.held)
            if self.question in (None, one.question)
            and (pair is None or (one.first in pair and one.second in pair))
        ]


def read(run_id: int) -> ContestSelection:
    """The contests of a run and of the rounds it goes on from."""
    runs = tuple(leaderboard.rounds_of(store(), run_id))
    rows = [item_view.require_run(store(), one) for one in runs]
    about = tuple((row.id, row.votes, row.failures_open) for row in rows)
    contests = shared("contests", about, lambda: contest_votes.read(store(), runs))
    return ContestSelection(
        runs,
        about,
        contests,
        state.address_in(QUESTION, contests.questions),
        state.address_in(state.JUDGE, [judge.name for judge in contests.judges]),
        cast(
            'Literal["both", "listed", "swapped"]', state.address_in(ORDERS, ORDER_WORDS) or "both"
        ),
    )


def board(chosen: ContestSelection) -> Leaderboard:
    """The leaderboard of what is counted."""
    level = confidence().level
    about = (*chosen.about, chosen.question, chosen.judge, chosen.counted, level)
    return remembered(
        "leaderboard",
        about,
        lambda: leaderboard.leaderboard(
            chosen.contests,
            question=chosen.question,
            judge=chosen.judge,
            counted=chosen.counted,
            level=level,
        ),
    )


def pickers(chosen: ContestSelection, *, only_question: bool = False) -> None:
    """Which question, whose votes, which orders; each only where there is a choice."""
    questions, judges = chosen.contests.questions, [j.name for j in chosen.contests.judges]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if len(questions) > 1:
            _pick("Question", QUESTION, list(questions), "All, by weight", chosen.question)
        if only_question:
            return
        if len(judges) > 1:
            _pick("Judged by", state.JUDGE, judges, "All judges together", chosen.judge)
        if _both_orders(chosen.contests):
            key = state.key(CONTEST_FIELD, ORDERS)
            state.put(key, chosen.counted)
            st.segmented_control(
                "What counts",
                list(ORDER_WORDS),
                key=key,
                format_func=ORDER_WORDS.__getitem__,
                required=True,
                help="What would one order alone have said? As listed: the system that is listed "
                "earlier is shown first.",
                on_change=_on_pick,
                args=(ORDERS, key, "both"),
            )


def _both_orders(contests: Contests) -> bool:
    return any(one.design.orders == "both" for one in contests.rounds.values())


def _pick(words: str, name: str, options: list[str], every: str, chosen: str | None) -> None:
    key = state.key(CONTEST_FIELD, name)
    state.put(key, chosen or ALL)
    st.selectbox(
        words,
        [ALL, *options],
        key=key,
        format_func=lambda one: one_line(one, 60) if one else every,
        width=280,
        on_change=_on_pick,
        args=(name, key, ALL),
    )


def _on_pick(name: str, key: str, usual: str) -> None:
    value = state.get(key)
    state.set_address(**{name: None if value == usual else value, state.PAGE: None})
