"""The evidence behind one finding: its own plot, and the same check of all other subjects."""

from __future__ import annotations

import streamlit as st

from core import figures as draw
from core.files.visible import visible
from core.services import numbers as fmt
from core.services.ailing_plate import Plate
from core.services.ailing_plates import Among, Shown
from pages.measure._agreement.choosing import Chosen
from pages.measure._agreement.words import AILMENTS, ESTIMATES, section
from pages.ui import agreement_keys as keys
from pages.ui import state
from pages.ui.text import esc
from pages.ui.widgets import table

PLAIN = {"displayModeBar": False}
#: Subjects that the comparison shows at most: the farthest from what is healthy.
MOST = 30


def show(chosen: Chosen, one: Shown) -> None:
    """Both plots of a finding, each with its table."""
    section(f"{AILMENTS[one.finding.kind]}: {visible(one.finding.subject)}")
    key = (*chosen.run_about, one.finding.kind, one.finding.subject, one.finding.other)
    if one.plate is not None and one.plate.places:
        _plate(one.plate, state.key(keys.AGREEMENT_CHART, "plate", *key))
    if len(one.among) > 1 or one.plate is None:
        _among(one, state.key(keys.AGREEMENT_CHART, "among", *key))


def _plate(plate: Plate, key: str) -> None:
    st.plotly_chart(
        draw.series_plot(
            plate.places,
            [draw.Series(*series) for series in plate.series],
            plate.axes,
            kind=plate.kind,
            share=plate.share,
        ),
        key=key,
        config=PLAIN,
        alt=f"{plate.axes[1]} by {plate.axes[0]}; the table below has the numbers.",
    )
    form = fmt.percent if plate.share else fmt.score
    with st.expander("The same as a table", icon=":material/table_rows:"):
        table(
            (plate.axes[0], *(name for name, _ in plate.series), "Count"),
            (
                [
                    esc(place),
                    *(form(values[at]) for _, values in plate.series),
                    fmt.count(plate.counts[at]),
                ]
                for at, place in enumerate(plate.places)
            ),
            name="The evidence in numbers",
            numbers=range(1, len(plate.series) + 2),
        )


def _among(one: Shown, key: str) -> None:
    """The same check of everybody, with what a healthy one has."""
    subject = f"{one.finding.subject} and {one.finding.other}" if one.finding.other else ""
    subject = subject or one.finding.subject
    parts = sorted(one.among, key=lambda other: -abs((other.effect.estimate or 0.0) - one.bound))
    parts = parts[:MOST]
    words = ESTIMATES[one.finding.kind]
    st.caption(f"{words}, of all that were checked; the diamond is what a healthy one has.")
    dots = [_dot(other, one.bound) for other in parts]
    st.plotly_chart(
        draw.forest(dots, words, "Healthy", subject, whole=False),
        key=key,
        config=PLAIN,
        alt=f"{words} of all subjects of this check with 95% intervals; the table has them.",
    )
    with st.expander("The same as a table", icon=":material/table_rows:"):
        table(
            ("Subject", words, "95 % interval", "Count"),
            (
                [
                    esc(dot.name),
                    fmt.score(dot.value),
                    fmt.interval(dot.low, dot.high),
                    fmt.count(dot.n),
                ]
                for dot in dots
            ),
            name=f"{words} of every subject",
            numbers=(1, 2, 3),
        )


def _dot(other: Among, bound: float) -> draw.Dot:
    effect = other.effect
    return draw.Dot(other.subject, effect.estimate, effect.low, effect.high, bound, effect.n)
