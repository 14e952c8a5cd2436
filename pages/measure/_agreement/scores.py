"""Whole items: the score that each rater's own answers give, beside the reference's score."""

from __future__ import annotations

import streamlit as st

from core import figures as draw
from core.files.visible import visible
from core.services import agreeing_scores
from core.services import numbers as fmt
from core.services.agreeing_scores import ScoreLine, ScorePair, Scores
from core.services.agreeing_sheet import PEOPLE
from pages.measure._agreement.choosing import Chosen, said, versus, words_of
from pages.measure._agreement.criteria import caveats
from pages.measure._agreement.words import few, row, section
from pages.ui import agreement_keys as keys
from pages.ui import state
from pages.ui.resources import remembered, store
from pages.ui.text import esc, label
from pages.ui.widgets import empty_state, table

HEADS = ("Figure", "Value", "95 % interval", "Items")
LISTED = ("bias", "mae", "pearson", "spearman", "limit_low", "limit_high")
#: Points that a table lists at most.
MOST = 200


def show(chosen: Chosen) -> None:
    """The pair's scores as a plot of differences and as figures, then every rater's."""
    scores = remembered(
        "agreement scores",
        chosen.run_about,
        lambda: agreeing_scores.scores_of(store(), chosen.run_id, chosen.whole),
    )
    pair = remembered(
        "agreement score pair",
        chosen.pair,
        lambda: agreeing_scores.score_pair(scores, chosen.sheet, chosen.reference, chosen.rater),
    )
    mean = " (the mean of people's scores)" if PEOPLE in (chosen.reference, chosen.rater) else ""
    st.caption(
        f"{label(versus(chosen))}{mean}: "
        f"{fmt.plural(pair.n, 'item')} with a verdict of both on every criterion"
        f"{_abstained(pair)}. Everybody's answers are scored by the rubric's own policy. "
        f"{few(pair.n)}"
    )
    if not pair.n:
        empty_state(
            "No score from both",
            "A score needs a verdict on every criterion of an item from both sides: an answer, or "
            "that it cannot be assessed.",
        )
    else:
        _pair(chosen, pair)
    section("Every rater")
    _everybody(chosen, scores)
    caveats(chosen)


def _abstained(pair: ScorePair) -> str:
    """How many of the items count although something on them could not be assessed."""
    if not pair.abstained:
        return ""
    return (
        f"; on {fmt.count(pair.abstained)} of them one of the two could not assess some criterion, "
        "which is a verdict, too"
    )


def _pair(chosen: Chosen, pair: ScorePair) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        section("Differences of scores")
        figures = pair.figures
        limits = figures["limit_low"].value, figures["limit_high"].value
        sides = words_of(chosen.reference), words_of(chosen.rater)
        st.plotly_chart(
            draw.bland_altman(pair.points, figures["bias"].value, limits, sides),
            key=state.key(keys.AGREEMENT_CHART, "scores", *chosen.pair),
            config={"displayModeBar": False},
            alt=f"Differences of scores of {visible(sides[1])} and {visible(sides[0])} against "
            "their means, with bias and limits of agreement; the table below has the scores.",
        )
        with st.expander("The same as a table", icon=":material/table_rows:"):
            _points(pair)
    with right:
        section("Figures of scores")
        table(
            HEADS,
            (row(name, one) for name, one in figures.items()),
            name="Agreement of scores",
            numbers=(1, 2, 3),
        )
        st.caption(
            "Within the limits of agreement lie about 95 % of differences, if these are normal "
            "(Bland and Altman 1986)."
        )


def _points(pair: ScorePair) -> None:
    points = sorted(pair.points, key=lambda point: -abs(point[1] - point[0]))
    if len(points) > MOST:
        st.caption(f"The {MOST} pairs of scores that differ most, of {fmt.count(len(points))}.")
    table(
        ("Reference", "Rater", "Difference", "Items"),
        ([fmt.score(x), fmt.score(y), fmt.score(y - x), fmt.count(n)] for x, y, n in points[:MOST]),
        name="Pairs of scores",
        numbers=(0, 1, 2, 3),
    )


def _everybody(chosen: Chosen, scores: Scores) -> None:
    lines = remembered(
        "agreement score lines",
        (*chosen.about, chosen.reference),
        lambda: agreeing_scores.score_lines(scores, chosen.sheet, chosen.reference),
    )
    table(
        ("Rater", "Items", "Bias", "Mean error", "Pearson", "Spearman", "Limits of agreement"),
        map(_line, lines),
        name="Scores of every rater against the reference",
        numbers=range(1, 7),
    )
    st.caption(f"Against {label(said(chosen.reference))}; intervals are with the pair above.")


def _line(line: ScoreLine) -> list[str]:
    of = {name: line.figures[name] for name in LISTED}
    limits = of["limit_low"].value, of["limit_high"].value
    return [
        esc(words_of(line.column)),
        fmt.count(of["bias"].n),
        *(fmt.score(of[name].value) for name in LISTED[:4]),
        fmt.interval(*limits),
    ]
