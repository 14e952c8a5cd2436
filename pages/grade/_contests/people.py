"""People and judges on the same contests: one matrix of agreement, and how each ranks."""

from __future__ import annotations

import streamlit as st

from core import figures as draw
from core.services import contest_people
from core.services import numbers as fmt
from core.services.contest_people import Likeness, Together
from pages.grade._contests.chosen import Chosen
from pages.ui import contest_keys as keys
from pages.ui import routes, state
from pages.ui.resources import remembered, store
from pages.ui.text import esc
from pages.ui.widgets import empty_state, table, tag

KINDS = {"person": "person", "panel": "all judges", "judge": "judge"}
LISTED = 120


def show(chosen: Chosen) -> None:
    """The arenas, the matrix, and the win rates of every rater."""
    arenas = contest_people.arenas_of(store(), chosen.runs)
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
        lambda: contest_people.together(store(), chosen.runs, chosen.contests),
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


def pair_table(names: list[str], rows: list[Likeness]) -> None:
    """Two raters a row: on how many contests, how often the same, and kappa."""
    table(
        ("Two raters", "Contests", "Same", "Kappa"),
        (
            [
                f"{esc(names[p.one])} and {esc(names[p.other])}",
                fmt.count(p.n),
                _rate(p),
                f'<span class="rs-wrap">{esc(p.kappa.reason)}</span>'
                if p.kappa.value is None
                else fmt.score(p.kappa.value),
            ]
            for p in rows
        ),
        name="Agreement of every two raters",
        numbers=(1, 2, 3),
    )
    st.caption("Same: win, tie or loss alike, with a 95 % interval (Wilson). Kappa: Cohen's.")


def _rate(p: Likeness) -> str:
    if p.rate is None or p.low is None or p.high is None:
        return fmt.DASH
    ends = f"{fmt.percent(p.low)} to {fmt.percent(p.high)}"
    return f'{fmt.percent(p.rate)}<br><span class="rs-quiet">{ends}</span>'


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
