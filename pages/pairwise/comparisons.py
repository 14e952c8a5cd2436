"""Contests compared with people's own votes, and with scores of single answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from core import figures as draw
from core.services.pairwise import arena_people, contests, pointwise_contests
from core.services.pairwise.arena_people import ArenaRater, RaterAgreement
from core.services.pairwise.pointwise_contests import ScoredContest, ScoredContests
from core.text import numbers as fmt
from pages.pairwise import selection as keys
from pages.pairwise.selection import ContestSelection
from pages.ui import routes, state
from pages.ui.resources import remembered, store
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import LabelledFigure, draw_table, empty_state, figure_cell, show_figures, tag

KINDS = {"person": "person", "panel": "all judges", "judge": "judge"}
LISTED = 120


def people_beside_judges(chosen: ContestSelection) -> None:
    """Draw the arenas, the matrix, and the win rates of every rater."""
    arenas = arena_people.arenas_of(store(), chosen.runs)
    if not arenas:
        empty_state(
            "No votes yet",
            "In the arena a person sees the same answers without names and says which is better. "
            "Then one matrix shows people and judges.",
            lambda: routes.draw_link(
                routes.ARENA, "Vote on these contests", {state.RUN: chosen.run_id}
            ),
        )
    else:
        draw_table(
            ("Person", "Votes", "Taken back"),
            (
                [
                    esc(arena.person),
                    f"{fmt.count(arena.votes)} of {fmt.count(arena.planned)}",
                    fmt.count(arena.withdrawn),
                ]
                for arena in arenas
            ),
            name="Who voted",
            numbers=(1, 2),
        )
    cache_key = (*chosen.about, *((a.run_id, a.votes, a.withdrawn) for a in arenas))
    raters, pairs = remembered(
        "together",
        cache_key,
        lambda: arena_people.rater_agreement(store(), chosen.runs, chosen.contests),
    )
    show_matrix(raters, pairs)
    _agreement_rates(raters, chosen.contests.systems)


def show_matrix(
    raters: Sequence[ArenaRater], pairs: Mapping[tuple[int, int], RaterAgreement]
) -> None:
    """Draw how often every pair of raters agrees, as a picture and as a table."""
    if len(raters) < 2:
        return
    size = range(len(raters))
    names = [rater.name for rater in raters]
    same = {pair: equal.value for pair, (equal, _) in pairs.items()}
    values = [[1.0 if i == j else same[min(i, j), max(i, j)] for j in size] for i in size]
    st.html('<div class="rs-section">How often two raters agree</div>')
    left, right = st.columns(2, gap="large")
    with left:
        st.plotly_chart(
            draw.agreement_cells(names, values),
            key=state.key(keys.CONTEST_CHART, "people"),
            config={"displayModeBar": False},
            alt="Share of contests on which two raters agree. The table has the numbers.",
        )
    with right:
        people = {index for index, rater in enumerate(raters) if rater.kind == "person"}
        ordered = sorted(pairs, key=lambda pair: -len({*pair} & people))
        pair_table(names, {pair: pairs[pair] for pair in ordered[:LISTED]})


def pair_table(names: list[str], pairs: Mapping[tuple[int, int], RaterAgreement]) -> None:
    """Draw a row for every pair of raters: number of contests, how often they agree, and kappa."""
    draw_table(
        ("Two raters", "Contests", "Same", "Kappa"),
        (
            [
                f"{esc(names[first])} and {esc(names[other])}",
                fmt.count(same.n),
                figure_cell(same, fmt.percent),
                figure_cell(kappa, interval=False),
            ]
            for (first, other), (same, kappa) in pairs.items()
        ),
        name="Agreement between each pair of raters",
        numbers=(1, 2, 3),
    )
    st.caption(
        "Same: the share of contests with the same outcome (win, tie or loss) for both, with a "
        "95% interval (Wilson). Kappa: Cohen's."
    )


def _agreement_rates(raters: Sequence[ArenaRater], systems: Sequence[str]) -> None:
    st.html('<div class="rs-section">The share of points that each gives</div>')
    draw_table(
        ("Rater", "", "Contests decided", *systems),
        (
            [
                esc(rater.name),
                tag(KINDS[rater.kind], "info" if rater.kind == "person" else "neutral"),
                fmt.count(rater.contests),
                *(fmt.percent(rater.rates[system]) for system in systems),
            ]
            for rater in raters
        ),
        name="Win rate of every system by every rater",
        numbers=range(2, 3 + len(systems)),
    )


SCORE_KINDS = {
    "agree": ("✓ agree", "good"),
    "reversed": ("✕ opposite winners", "bad"),
    "contest_tie": ("scores differ, the contest is a tie", "neutral"),
    "score_tie": ("the contest has a winner, scores are level", "neutral"),
}
SHOWN = 12


def show_pointwise_comparison(chosen: ContestSelection) -> None:
    """Choose the run to compare with, then draw both side by side."""
    runs = contests.scored_runs(store(), chosen.run_id)
    if not runs:
        empty_state(
            "No run has scored these answers",
            "Grade the contest's dataset one answer at a time with a rubric; then this page shows "
            "scores and contests side by side.",
            lambda: routes.draw_link(routes.RUNS, "Runs", icon=""),
        )
        return
    names = {candidate.id: f"{candidate.id}: {one_line(candidate.name, 80)}" for candidate in runs}
    run_id = state.address_id(keys.SCORES)
    run = run_id if run_id in names else runs[0].id
    if run_id not in (None, run):
        state.report_unknown(keys.SCORES, run_id)
    key = state.key(keys.CONTEST_FIELD, keys.SCORES)
    state.put(key, run)
    st.selectbox(
        "Scores of run",
        list(names),
        key=key,
        format_func=names.__getitem__,
        on_change=lambda: state.set_address(**{keys.SCORES: state.get(key)}),
    )
    votes = next(candidate.votes for candidate in runs if candidate.id == run)
    scored = remembered(
        "sides",
        (*chosen.about, run, votes, chosen.question),
        lambda: pointwise_contests.side_by_side_with(store(), chosen.runs, run, chosen.question),
    )
    _score_head(scored)
    _show_tasks(scored)
    _worst_task(chosen, scored)


def _score_head(scored: ScoredContests) -> None:
    total = len(scored.sides)
    agree, opposite = scored.counts.get("agree", 0), scored.counts.get("reversed", 0)
    tau = scored.tau
    show_figures(
        [
            LabelledFigure(
                "Contests with both",
                fmt.count(total),
                (f"{scored.left_out} lack a score or an outcome."),
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


def _show_tasks(scored: ScoredContests) -> None:
    if not scored.by_task:
        st.caption("Scores and contests never have opposite winners.")
        return
    draw_table(
        ("Task", "Contests with opposite winners"),
        ([esc(task), fmt.count(n)] for task, n in scored.by_task[:SHOWN]),
        name="Tasks that cause the disagreement",
        numbers=(1,),
    )
    if len(scored.by_task) > SHOWN:
        st.caption(f"And {len(scored.by_task) - SHOWN} more tasks.")


def _worst_task(chosen: ContestSelection, scored: ScoredContests) -> None:
    st.html('<div class="rs-section">Furthest apart first</div>')
    places = {
        (contest.task, contest.question, contest.first, contest.second): index
        for index, contest in enumerate(chosen.contests.held)
    }
    for side in [contest for contest in scored.sides if contest.kind != "agree"][:SHOWN]:
        index = places[side.task, side.question, side.first, side.second]
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.button(
                label(f"{side.task}: {side.first} against {side.second}", 90),
                key=state.key(keys.CONTEST_ACT, "side", index),
                type="tertiary",
                icon=":material/chevron_right:",
                on_click=state.set_address,
                kwargs={state.VIEW: "matrix", keys.BOUT: index, keys.CELL: None},
            )
            st.html(_side_words(side), width="content")


def _side_words(side: ScoredContest) -> str:
    caption, tone = SCORE_KINDS[side.kind]
    ahead = side.first if side.gap > 0 else side.second
    gap = f"scores: {ahead} ahead by {fmt.score(abs(side.gap))}" if side.gap else "scores level"
    return tag(caption, tone) + f' <span class="rs-quiet rs-num">{esc(gap)}</span>'  # type: ignore[arg-type]
