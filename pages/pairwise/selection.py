"""A contest run as the page shows it: its contests, and which votes count."""

from __future__ import annotations

from typing import Literal, NamedTuple, cast

import streamlit as st

from core.services.pairwise import contest_votes, leaderboard
from core.services.pairwise.contest_votes import Contest, ContestOutcome, Contests
from core.services.pairwise.leaderboard_parts import Leaderboard
from core.services.results import item_view
from pages.ui import state
from pages.ui.resources import remembered, shared_value, store
from pages.ui.text import one_line
from pages.ui.widgets import chosen_confidence

# Keys of the Compare systems and Arena pages, next to those of `state`.

# URL parameters: the question, the votes that count, the cell of the matrix, the contest, the run
# of scores, and the metadata keys that name an item's system and its task.
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
    """The selection shown. ``question`` and ``judge`` are ``None`` if all count together."""

    runs: tuple[int, ...]
    about: tuple[object, ...]
    contests: Contests
    question: str | None
    judge: str | None
    counted: Literal["both", "listed", "swapped"]

    @property
    def run_id(self) -> int:
        """Return the id of the last round."""
        return self.runs[-1]

    def outcome(self, contest: Contest) -> ContestOutcome:
        """Return a contest's outcome from the votes that count."""
        return contest_votes.outcome_of_contest(self.contests, contest, self.judge, self.counted)

    def matching_contests(self, pair: frozenset[str] | None = None) -> list[tuple[int, Contest]]:
        """Return the question's contests (between these two), each with its place among all."""
        return [
            (index, contest)
            for index, contest in enumerate(self.contests.held)
            if self.question in (None, contest.question)
            and (pair is None or (contest.first in pair and contest.second in pair))
        ]


def read_contests(run_id: int) -> ContestSelection:
    """Return the contests of a run and of its earlier rounds."""
    runs = tuple(leaderboard.rounds_of(store(), run_id))
    rows = [item_view.require_run(store(), run) for run in runs]
    cache_key = tuple((row.id, row.votes, row.failures_open) for row in rows)
    contests = shared_value(
        "contests", cache_key, lambda: contest_votes.contests_of_runs(store(), runs)
    )
    return ContestSelection(
        runs,
        cache_key,
        contests,
        state.address_in(QUESTION, contests.questions),
        state.address_in(state.JUDGE, [judge.name for judge in contests.judges]),
        cast(
            'Literal["both", "listed", "swapped"]', state.address_in(ORDERS, ORDER_WORDS) or "both"
        ),
    )


def leaderboard_for(chosen: ContestSelection) -> Leaderboard:
    """Return the leaderboard of the votes that count."""
    level = chosen_confidence().level
    cache_key = (*chosen.about, chosen.question, chosen.judge, chosen.counted, level)
    return remembered(
        "leaderboard",
        cache_key,
        lambda: leaderboard.leaderboard(
            chosen.contests,
            question=chosen.question,
            judge=chosen.judge,
            counted=chosen.counted,
            level=level,
        ),
    )


def draw_pickers(chosen: ContestSelection, *, only_question: bool = False) -> None:
    """Choose the question, the judge and the orders; each only if there is a choice."""
    questions, judges = chosen.contests.questions, [j.name for j in chosen.contests.judges]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if len(questions) > 1:
            _draw_picker("Question", QUESTION, list(questions), "All, by weight", chosen.question)
        if only_question:
            return
        if len(judges) > 1:
            _draw_picker("Judged by", state.JUDGE, judges, "All judges together", chosen.judge)
        if any(run.design.orders == "both" for run in chosen.contests.rounds.values()):
            key = state.key(CONTEST_FIELD, ORDERS)
            state.put(key, chosen.counted)
            st.segmented_control(
                "What counts",
                list(ORDER_WORDS),
                key=key,
                format_func=ORDER_WORDS.__getitem__,
                required=True,
                help="What would a single order have shown? As listed: the system that is listed "
                "earlier is shown first.",
                on_change=_on_pick,
                args=(ORDERS, key, "both"),
            )


def _draw_picker(
    caption: str, name: str, options: list[str], every: str, chosen: str | None
) -> None:
    key = state.key(CONTEST_FIELD, name)
    state.put(key, chosen or ALL)
    st.selectbox(
        caption,
        [ALL, *options],
        key=key,
        format_func=lambda value: one_line(value, 60) if value else every,
        width=280,
        on_change=_on_pick,
        args=(name, key, ALL),
    )


def _on_pick(name: str, key: str, usual: str) -> None:
    value = state.get(key)
    state.set_address(**{name: None if value == usual else value, state.PAGE: None})
