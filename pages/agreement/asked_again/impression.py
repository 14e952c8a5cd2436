"""One overall impression compared with the rubric's scores, below the scores of a run."""

from __future__ import annotations

import streamlit as st

from core.errors import InputError
from core.metrics.variance_components import ITEM, JUDGE
from core.services.comparison import one_impression
from core.services.comparison.one_impression import OneImpression, ScoredWay
from core.text import numbers as fmt
from pages.agreement import selection as keys
from pages.agreement.selection import RatedSelection
from pages.agreement.words import show_section
from pages.ui import model_help, run_status, state
from pages.ui.resources import remembered, store
from pages.ui.text import esc
from pages.ui.widgets import draw_table, figure_cell, shown_errors

SAYS = (
    "A rubric takes more calls than a single question. Ask the same models for one "
    "overall mark of some answers, and see how much each of the two scores depends on "
    "the answer, and how much on who judged."
)


def show(chosen: RatedSelection) -> None:
    """Draw the newest result and the button to ask, if a model judged."""
    try:
        outlook = remembered(
            "impression outlook",
            (chosen.run_id,),
            lambda: one_impression.estimate(store(), chosen.run_id),
        )
    except InputError:
        return
    show_section("One overall mark, or the rubric?")
    st.html(f'<div class="rs-prose">{esc(SAYS)}</div>')
    impression_run = one_impression.latest(store(), chosen.run_id)
    if impression_run is not None:
        run_status.show_status(impression_run.id)
        if impression_run.votes:
            cache_key = (impression_run.id, impression_run.votes, impression_run.failures_open)
            _impression_findings(
                remembered(
                    "impression",
                    cache_key,
                    lambda: one_impression.result(store(), impression_run.id),
                )
            )
    with shown_errors():
        model_help.cost_line(outlook)
        if st.button(
            "Ask for an overall mark",
            key=state.key(keys.AGREEMENT_FIELD, "impression", str(chosen.run_id)),
            icon=":material/looks_one:",
            disabled=impression_run is not None and impression_run.active,
        ):
            one_impression.start(store(), chosen.run_id)
            st.rerun()


def _impression_findings(impression: OneImpression) -> None:
    st.html(f'<div class="rs-prose">{esc(one_impression.impression_words(impression))}</div>')
    if impression.rubric is None or impression.impression is None:
        return
    draw_table(
        ("Scores", "Variance", "In answers", "In judges", "In neither", "One judge's worth"),
        (
            _way_row(name, score)
            for name, score in (
                ("By the rubric", impression.rubric),
                ("One mark", impression.impression),
            )
        ),
        name="The variance of both scores",
        numbers=range(1, 6),
    )
    st.caption(
        "In answers, in judges: the shares of the variance due to the answers and to the "
        "strictness of judges. In neither: the share due to how a judge reads a single "
        "answer, and to chance. One judge's worth: the share of differences between "
        "answers that another judge would repeat (phi)."
    )


def _way_row(name: str, score: ScoredWay) -> list[str]:
    shares = [fmt.percent(score.share[part]) for part in (ITEM, JUDGE, "rest")]
    return [name, fmt.score(score.spread**2, 3), *shares, figure_cell(score.worth)]
