"""The same items asked again over weeks: a line for each judge, within its control limits."""

from __future__ import annotations

import streamlit as st

from core import figures as draw
from core.domain.runs import Run
from core.services.gate import drift as anchors
from core.services.gate.drift import PROMISED, RIGHT, Drift, DriftPoint, JudgeSeries
from core.services.results import item_view
from core.text import numbers as fmt
from pages.agreement import selection as keys
from pages.agreement.selection import RatedSelection, chosen_judge, draw_switch
from pages.agreement.words import sentence_list, show_section
from pages.ui import model_help, routes, run_status, state
from pages.ui.resources import remembered, store
from pages.ui.text import esc
from pages.ui.widgets import draw_table, empty_state, shown_errors

MEASURE = "over_time"
MEASURES = {RIGHT: "Right", anchors.GIVES: "How kind"}
SAYS = (
    "A provider can change a model without changing its name. This run is an anchor: the same "
    "judges answer the same items again, today and any other day, and every repetition is "
    "compared with the first. To do this on a schedule, use rubric-studio drift RUN --ask."
)


def show(chosen: RatedSelection) -> None:
    """Draw what has changed, the series of one judge, and the form to ask again."""
    st.html(f'<div class="rs-prose">{esc(SAYS)}</div>')
    first = anchors.anchor_of(store(), chosen.run_id)
    # Repeats come and go while the page is open, so the running repeat is looked up each time.
    if repeats := anchors.repeats_in_order(store(), first):
        cache_key = (*chosen.run_about, *repeats)
        drift_found = remembered("drift", cache_key, lambda: anchors.drift(store(), first))
        if drift_found.repeats:
            _moved_criteria(drift_found)
    _repeat_form(item_view.require_run(store(), first))


def _moved_criteria(drift: Drift) -> None:
    show_section("Since the first time")
    repeat_count = fmt.plural(len(drift.repeats), "look")
    sentence_list(
        drift.alerts, none=f"No judge has moved beyond its limits in {repeat_count}.{drift.least}"
    )
    st.caption(PROMISED)
    judge = chosen_judge(MEASURE, (line.judge for line in drift.series))
    measure = draw_switch("Measure", MEASURE, MEASURES)
    series = next(line for line in drift.series if (line.judge, line.measure) == (judge, measure))
    _judge_series(series)


def _judge_series(series: JudgeSeries) -> None:
    defined = [point for point in series.points if point.look.now is not None]
    if len(defined) < 2:
        empty_state("Nothing to compare", series.points[-1].look.reason)
        return
    places = [fmt.day_of(point.at) for point in defined]
    axes = ("Asked", "Share of the items' answers" if series.measure == RIGHT else "Of the best")
    lines = [
        ("Now", [point.look.now for point in defined]),
        ("Lower limit", [point.look.low for point in defined]),
        ("Upper limit", [point.look.high for point in defined]),
    ]
    st.plotly_chart(
        draw.series_plot(places, lines, axes, kind="lines", share=True),
        key=state.key(keys.AGREEMENT_CHART, MEASURE, series.judge, series.measure, len(defined)),
        config={"displayModeBar": False},
        alt="Every repetition with its control limits; the table below has the numbers.",
    )
    draw_table(
        ("Asked", "Version", "Items", "Now", "At first", "Limits", ""),
        (_point_row(point) for point in series.points),
        name="Every look",
        numbers=(2, 3, 4, 5),
    )


def _point_row(point: DriftPoint) -> list[str]:
    look = point.look
    limits = fmt.DASH
    if look.low is not None and look.high is not None:
        low, high = max(0.0, look.low), min(1.0, look.high)
        limits = f"{fmt.percent(low)} to {fmt.percent(high)}"
    return [
        esc(fmt.day_of(point.at)),
        esc(point.version) or fmt.DASH,
        fmt.count(look.n),
        fmt.percent(look.now),
        fmt.percent(look.before),
        limits,
        _beyond_words(point),
    ]


def _beyond_words(point: DriftPoint) -> str:
    look = point.exceeding_look
    if look is None:
        return ""
    return "✕ beyond the limits" if look.over == 1 else f"✕ beyond the limits, mean of {look.over}"


def _repeat_form(anchor: Run) -> None:
    """Draw the form for asking again, with the cost, or the progress of the running repeat."""
    under_way = anchors.latest(store(), anchor.id)
    if under_way is not None:
        run_status.show_status(under_way.id)
        routes.draw_link(
            routes.RUN, "The newest repeat, with every vote", {state.RUN: under_way.id}
        )
    if not anchor.panel.askable:
        st.caption("The votes of this run were imported: its judges cannot be asked again.")
        return
    with shown_errors():
        outlook = remembered(
            "asked again", (anchor.id,), lambda: anchors.estimate(store(), anchor.id)
        )
        model_help.cost_line(outlook)
        if st.button(
            "Ask the same questions again",
            key=state.key(keys.AGREEMENT_FIELD, MEASURE, "ask", str(anchor.id)),
            icon=":material/update:",
            disabled=under_way is not None and under_way.active,
        ):
            anchors.ask(store(), anchor.id)
            st.rerun()
