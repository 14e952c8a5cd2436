"""How sure raters are, and whether they are right as often: figures, diagram, table."""

from __future__ import annotations

import streamlit as st

from core import figures as draw
from core.metrics.calibration import Calibration
from core.services.agreement import calibration
from core.services.agreement.calibration import RaterCalibration
from core.text import numbers as fmt
from core.text.names import visible
from pages.agreement import selection as keys
from pages.agreement.selection import RatedSelection, said, words_of
from pages.agreement.words import cell, few, section
from pages.ui import routes, state
from pages.ui.resources import remembered, store
from pages.ui.text import esc, label
from pages.ui.widgets import empty_state, table

ECE_SAYS = (
    "ECE, the expected calibration error (Guo et al. 2017): how far the share that is right lies "
    "from how sure the rater was, on average over ten bins. 0 is perfect; chance alone makes it "
    "larger, the more so the fewer answers there are. Brier score (1950): the mean squared "
    "distance of the chances from the truth, over all options; 0 is best, 2 worst."
)


def show(chosen: RatedSelection) -> None:
    """Everybody who says how sure they are; one of them closely."""
    section(f"Sure and right: {chosen.criterion}")
    found = remembered(
        "agreement calibration",
        (*chosen.about, chosen.criterion, chosen.reference),
        lambda: calibration.of_run(
            store(), chosen.run_id, chosen.sheet, chosen.criterion, chosen.reference
        ),
    )
    if not found:
        empty_state(
            "Nobody says how sure they are",
            "Offline judges do, and so does a model whose judge asks how likely each option was "
            "(a switch of the judge). Imported votes bring it as columns p_<label>.",
            lambda: routes.link(routes.JUDGES, "Judges", icon="gavel"),
        )
        return
    _figures(found)
    one = next((o for o in found if o.column == chosen.rater), found[0])
    _closely(chosen, one)


def _figures(found: list[RaterCalibration]) -> None:
    table(
        ("Rater", "Answers", "Without", "Sure", "Right", "ECE", "ECE by chance", "Brier score"),
        (
            [
                esc(words_of(one.column)),
                fmt.count(one.n),
                fmt.count(one.without),
                fmt.score(one.found.sure),
                cell(one.found.right),
                cell(one.found.ece),
                _chance(one.found),
                cell(one.found.brier),
            ]
            for one in found
        ),
        name="Calibration of every rater",
        numbers=range(1, 8),
    )
    st.caption(
        "Answers with a reference that say how sure they are, and those that do not. By chance: "
        "what a rater who is right as often as it is sure stays below in 19 of 20 samples.",
        help=ECE_SAYS,
    )


def _chance(found: Calibration) -> str:
    return f"up to {fmt.score(found.by_chance)}" if found.by_chance is not None else fmt.DASH


def _closely(chosen: RatedSelection, one: RaterCalibration) -> None:
    section(f"{words_of(one.column)} against {said(chosen.reference)}")
    if not one.n:
        empty_state("Nothing to count", one.found.ece.reason)
        return
    st.plotly_chart(
        draw.reliability_diagram(
            [(b.sure or 0.0, b.right) for b in one.found.bins if b.right.n],
        ),
        key=state.key(keys.AGREEMENT_CHART, "sure", one.column, chosen.criterion, *chosen.pair),
        config={"displayModeBar": False},
        alt=f"Reliability diagram of {visible(words_of(one.column))}: the share that is right "
        "against how sure it was, in ten bins. The table below has its figures.",
    )
    st.caption(
        label(
            "On the line, a rater is right as often as it is sure; below it, it is too sure. "
            f"Bars are 95% Wilson intervals. {few(one.n)}"
        )
    )
    with st.expander("The same as a table", icon=":material/table_rows:"):
        table(
            ("How sure", "Answers", "Mean", "Right"),
            (
                [
                    f"{fmt.score(b.low)} to {fmt.score(b.high)}",
                    fmt.count(b.right.n),
                    fmt.score(b.sure),
                    cell(b.right) if b.right.n else fmt.DASH,
                ]
                for b in one.found.bins
            ),
            name="Reliability diagram",
            numbers=(1, 2, 3),
        )
