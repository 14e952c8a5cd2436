"""Contests beside people's own votes, and beside scores given one answer at a time."""

from __future__ import annotations

import streamlit as st

from core import figures as draw
from core.services.pairwise import arena_people, contests, pointwise_contests
from core.services.pairwise.arena_people import RaterLikeness, Together
from core.services.pairwise.pointwise_contests import ScoredContest, ScoredContests
from core.text import numbers as fmt
from pages.pairwise import selection as keys
from pages.pairwise.selection import ContestSelection
from pages.ui import routes, state
from pages.ui.resources import remembered, store
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import LabelledFigure, empty_state, figure_cell, figures, table, tag

KINDS = {"person": "person", "panel": "all judges", "judge": "judge"}
LISTED = 120


def people_beside_judges(chosen: ContestSelection) -> None:
    """The arenas, the matrix, and the win rates of every rater."""
    arenas = arena_people.arenas_of(store(), chosen.runs)
    if not arenas:
        empty_state(
            "Nobody has voted yet",
            "In the arena a person sees the same answers without names and says which is better. "
            "Then people and judges stand on one matrix.",
            lambda: routes.link(routes.ARENA, "Vote on these contests", {state.RUN: chosen.run_id}),
        )
    else:
        table(
            ("Person", "Votes", "Taken back"),
            (
                [
                    esc(one.person),
                    f"{fmt.count(one.votes)} of {fmt.count(one.planned)}",
                    fmt.count(one.withdrawn),
                ]
                for one in arenas
            ),
            name="Who voted",
            numbers=(1, 2),
        )
    about = (*chosen.about, *((a.run_id, a.votes, a.withdrawn) for a in arenas))
    found = remembered(
        "together",
        about,
        lambda: arena_people.together(store(), chosen.runs, chosen.contests),
    )
    matrix(found)
    _rates(found)


def matrix(found: Together) -> None:
    """How often every two raters say the same, as a picture and as a table."""
    if len(found.raters) < 2:
        return
    size = range(len(found.raters))
    names = [rater.name for rater in found.raters]
    pairs = [[found.of(i, j) if i != j else None for j in size] for i in size]
    values = [[1.0 if i == j else getattr(pairs[i][j], "rate", None) for j in size] for i in size]
    st.html('<div class="rs-section">How often two of them say the same</div>')
    left, right = st.columns(2, gap="large")
    with left:
        st.plotly_chart(
            draw.agreement_cells(names, values),
            key=state.key(keys.CONTEST_CHART, "people"),
            config={"displayModeBar": False},
            alt="Share of contests on which two raters say the same. The table has its numbers.",
        )
    with right:
        people = {at for at, rater in enumerate(found.raters) if rater.kind == "person"}
        rows = sorted(found.pairs, key=lambda p: -len({p.one, p.other} & people))
        pair_table(names, rows[:LISTED])


def pair_table(names: list[str], rows: list[RaterLikeness]) -> None:
    """Two raters a row: on how many contests, how often the same, and kappa."""
    table(
        ("Two raters", "Contests", "Same", "Kappa"),
        (
            [
                f"{esc(names[p.one])} and {esc(names[p.other])}",
                fmt.count(p.same.n),
                figure_cell(p.same, fmt.percent),
                figure_cell(p.kappa, interval=False),
            ]
            for p in rows
        ),
        name="Agreement of every two raters",
        numbers=(1, 2, 3),
    )
    st.caption("Same: win, tie or loss alike, with a 95% interval (Wilson). Kappa: Cohen's.")


def _rates(found: Together) -> None:
    st.html('<div class="rs-section">The share of points that each gives</div>')
    table(
        ("Rater", "", "Contests decided", *found.systems),
        (
            [
                esc(rater.name),
                tag(KINDS[rater.kind], "info" if rater.kind == "person" else "neutral"),
                fmt.count(rater.contests),
                *(fmt.percent(rater.rates[system]) for system in found.systems),
            ]
            for rater in found.raters
        ),
        name="Win rate of every system by every rater",
        numbers=range(2, 3 + len(found.systems)),
    )


SCORE_KINDS = {
    "agree": ("✓ agree", "good"),
    "reversed": ("✕ opposite winners", "bad"),
    "contest_tie": ("scores differ, the contest is a tie", "neutral"),
    "score_tie": ("the contest has a winner, scores are level", "neutral"),
}
SHOWN = 12


def pointwise_beside(chosen: ContestSelection) -> None:
    """The run to compare with, then the two side by side."""
    runs = contests.scored_runs(store(), chosen.run_id)
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
    if asked not in (None, run):
        state.unknown(keys.SCORES, asked)
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
        lambda: pointwise_contests.side_by_side_with(store(), chosen.runs, run, chosen.question),
    )
    _head(found)
    _tasks(found)
    _worst(chosen, found)


def _head(found: ScoredContests) -> None:
    total = len(found.sides)
    agree, opposite = found.counts.get("agree", 0), found.counts.get("reversed", 0)
    tau = found.tau
    figures(
        [
            LabelledFigure(
                "Contests with both", fmt.count(total), f"{found.left_out} have not both."
            ),
            LabelledFigure("Agree", f"{fmt.count(agree)} ({fmt.percent(agree / total)})"),
            LabelledFigure(
                "Opposite winners", f"{fmt.count(opposite)} ({fmt.percent(opposite / total)})"
            ),
            LabelledFigure(
                "Kendall's tau of systems",
                tau.words(fmt.score).value,
                tau.reason or "Between mean scores and strengths.",
            ),
        ]
    )


def _tasks(found: ScoredContests) -> None:
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


def _worst(chosen: ContestSelection, found: ScoredContests) -> None:
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


def _words(side: ScoredContest) -> str:
    words, tone = SCORE_KINDS[side.kind]
    ahead = side.first if side.gap > 0 else side.second
    gap = f"scores: {ahead} ahead by {fmt.score(abs(side.gap))}" if side.gap else "scores level"
    return tag(words, tone) + f' <span class="rs-quiet rs-num">{esc(gap)}</span>'  # type: ignore[arg-type]
