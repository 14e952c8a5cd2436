"""Pointwise and pairwise side by side: where scores and contests disagree, and on which tasks."""

from __future__ import annotations

import streamlit as st

from core.services import contest_choices, ranking_sides
from core.services import numbers as fmt
from core.services.ranking_sides import Side, Sides
from pages.grade._contests.chosen import Chosen
from pages.ui import contest_keys as keys
from pages.ui import routes, state
from pages.ui.resources import remembered, store
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import Figure, empty_state, figures, table, tag

KINDS = {
    "agree": ("✓ agree", "good"),
    "reversed": ("✕ opposite winners", "bad"),
    "contest_tie": ("scores differ, the contest is a tie", "neutral"),
    "score_tie": ("the contest has a winner, scores are level", "neutral"),
}
SHOWN = 12


def show(chosen: Chosen) -> None:
    """The run to compare with, then the two side by side."""
    runs = contest_choices.scored_runs(store(), chosen.run_id)
    if not runs:
        empty_state(
            "No run has scored these answers",
            "Grade the contest's dataset one answer at a time with a rubric; then scores and "
            "contests stand here side by side.",
            lambda: routes.link(routes.RUNS, "Runs", icon=""),
        )
        return
    names = {one.id: f"{one.id}: {one_line(one.name, 80)}" for one in runs}
    asked = state.address_id(keys.SCORES)
    run = asked if asked in names else runs[0].id
    key = state.key(keys.CONTEST_FIELD, keys.SCORES)
    state.put(key, run)
    st.selectbox(
        "Scores of run",
        list(names),
        key=key,
        format_func=names.__getitem__,
        on_change=lambda: state.set_address(**{keys.SCORES: state.get(key)}),
    )
    votes = next(one.votes for one in runs if one.id == run)
    found = remembered(
        "sides",
        (*chosen.about, run, votes, chosen.question),
        lambda: ranking_sides.side_by_side_with(store(), chosen.runs, run, chosen.question),
    )
    _head(found)
    _tasks(found)
    _worst(chosen, found)


def _head(found: Sides) -> None:
    total = len(found.sides)
    agree, opposite = found.counts.get("agree", 0), found.counts.get("reversed", 0)
    tau = found.tau
    figures(
        [
            Figure("Contests with both", fmt.count(total), f"{found.left_out} have not both."),
            Figure("Agree", f"{fmt.count(agree)} ({fmt.percent(agree / total)})"),
            Figure("Opposite winners", f"{fmt.count(opposite)} ({fmt.percent(opposite / total)})"),
            Figure(
                "Kendall's tau of systems",
                "undefined" if tau.value is None else fmt.score(tau.value),
                tau.reason or "Between mean scores and strengths.",
            ),
        ]
    )


def _tasks(found: Sides) -> None:
    if not found.by_task:
        st.caption("Nowhere do scores and contests name opposite winners.")
        return
    table(
        ("Task", "Contests with opposite winners"),
        ([esc(task), fmt.count(n)] for task, n in found.by_task[:SHOWN]),
        name="Tasks that cause the disagreement",
        numbers=(1,),
    )
    if len(found.by_task) > SHOWN:
        st.caption(f"And {len(found.by_task) - SHOWN} tasks more.")


def _worst(chosen: Chosen, found: Sides) -> None:
    st.html('<div class="rs-section">Furthest apart first</div>')
    places = {
        (one.task, one.question, one.first, one.second): at
        for at, one in enumerate(chosen.contests.held)
    }
    for side in [one for one in found.sides if one.kind != "agree"][:SHOWN]:
        at = places[side.task, side.question, side.first, side.second]
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.button(
                label(f"{side.task}: {side.first} against {side.second}", 90),
                key=state.key(keys.CONTEST_ACT, "side", at),
                type="tertiary",
                icon=":material/chevron_right:",
                on_click=state.set_address,
                kwargs={state.VIEW: "matrix", keys.BOUT: at, keys.CELL: None},
            )
            st.html(_words(side), width="content")


def _words(side: Side) -> str:
    words, tone = KINDS[side.kind]
    ahead = side.first if side.gap > 0 else side.second
    gap = f"scores: {ahead} ahead by {fmt.score(abs(side.gap))}" if side.gap else "scores level"
    return tag(words, tone) + f' <span class="rs-quiet rs-num">{esc(gap)}</span>'  # type: ignore[arg-type]
