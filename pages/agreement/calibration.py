"""How far a rater may be relied on: whether it is right as often as it is sure, and whether it may
stand in for a person.
"""

from __future__ import annotations

import streamlit as st

from core import figures as draw
from core.errors import InputError
from core.metrics.agreement.alt_test import EPSILON, FEWEST_ANNOTATORS, FEWEST_ITEMS, AltTest, Kind
from core.metrics.calibration import Calibration
from core.metrics.cascade import CascadePoint
from core.services.agreement import calibration
from core.services.agreement.calibration import RaterCalibration
from core.services.agreement.ratings import PANEL
from core.services.comparison import cascade_sweep
from core.services.comparison.cascade_sweep import SweptCascade
from core.text import numbers as fmt
from core.text.names import visible
from pages.agreement import selection as keys
from pages.agreement.selection import RatedSelection, said, words_of
from pages.agreement.words import few, section
from pages.ui import routes, state
from pages.ui.resources import remembered, store
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import empty_state, figure_cell, level_words, one_of, table

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
            store(),
            chosen.run_id,
            chosen.sheet,
            chosen.criterion,
            chosen.reference,
            how=chosen.how,
        ),
    )
    if not found:
        empty_state(
            "No rater gives a confidence",
            "Offline judges do, and so does a model whose judge asks how likely each option was "
            "(a switch of the judge). Imported votes bring it as columns p_<label>.",
            lambda: routes.link(routes.JUDGES, "Judges", icon="gavel"),
        )
        return
    _figures(found)
    one = next((o for o in found if o.column == chosen.rater), found[0])
    _closely(chosen, one)
    _alone(chosen)


def _figures(found: list[RaterCalibration]) -> None:
    table(
        ("Rater", "Answers", "Without", "Sure", "Right", "ECE", "ECE by chance", "Brier score"),
        (
            [
                esc(words_of(one.column)),
                fmt.count(one.n),
                fmt.count(one.without),
                fmt.score(one.found.sure),
                figure_cell(one.found.right),
                figure_cell(one.found.ece),
                _chance(one.found),
                figure_cell(one.found.brier),
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
            f"Bars are {level_words()} Wilson intervals. {few(one.n)}"
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
                    figure_cell(b.right) if b.right.n else fmt.DASH,
                ]
                for b in one.found.bins
            ),
            name="Reliability diagram",
            numbers=(1, 2, 3),
        )


# Which confidence threshold lets a judge decide alone?

#: Thresholds that are drawn and listed: every tenth.
_SHOWN = 5


def _alone(chosen: RatedSelection) -> None:
    """A cascade replayed: this judge first, the others where it is not sure enough."""
    about = chosen.run_about
    names = remembered(
        "cascade first", about, lambda: cascade_sweep.could_be_first(store(), chosen.run_id)
    )
    if not names:
        return
    section("Which confidence threshold lets a judge decide alone?")
    first = st.selectbox(
        "Who answers first",
        names,
        key=state.key(keys.AGREEMENT_FIELD, "first"),
        format_func=lambda one: one_line(one, 60),
    )
    try:
        found = remembered(
            "cascade sweep",
            (*about, first),
            lambda: cascade_sweep.sweep(store(), chosen.run_id, [first]),
        )
    except InputError as error:
        st.caption(label(str(error)))
        return
    st.html(f'<div class="rs-prose">{esc(cascade_sweep.in_words(found))}</div>')
    shown = found.points[::_SHOWN]
    places = [fmt.score(one.threshold) for one in shown]
    right = draw.Series("Right", [one.right.estimate for one in shown])
    goes = draw.Series("Go on", [one.goes_on for one in shown])
    axes = ("Escalates below this confidence", "Share of the cells")
    st.plotly_chart(
        draw.series_plot(places, [right, goes], axes, kind="lines", share=True),
        key=state.key(keys.AGREEMENT_CHART, "cascade", first, chosen.run_id),
        config={"displayModeBar": False},
        alt=(
            "The share that is right and the share that escalates at each threshold; the table "
            "below has the numbers."
        ),
    )
    with st.expander("The same as a table", icon=":material/table_rows:"):
        table(
            ("Goes on below", "Go on", "Right", "95% interval", "Decided", "Cost of 1,000 cells"),
            (_threshold(found, one) for one in shown),
            name="A cascade at every tenth threshold",
            numbers=range(6),
        )
    st.caption(
        "Replayed on the labelled cells of the whole run; no calls are made. A cell escalates if "
        "the first judge abstains, splits or fails. Undecided cells are not right."
    )


def _threshold(found: SweptCascade, one: CascadePoint) -> list[str]:
    return [
        fmt.score(one.threshold),
        fmt.percent(one.goes_on),
        one.right.figure.words(fmt.percent).value,
        esc(one.right.figure.words(fmt.percent).below),
        fmt.percent(one.decided),
        fmt.cost(found.cost(one.goes_on)),
    ]


# May a judge stand in for a person?

PEOPLE_ARE: dict[Kind, str] = {
    "expert": "Experts",
    "skilled": "Trained people",
    "crowd": "Crowd workers",
}
#: More people than these are told of in figures alone.
DRAWN = 30
STAND_IN_SAYS = (
    "The alternative annotator test (Calderon, Reichart and Dror, ACL 2025). Each person is set "
    "aside in turn; on every item it is asked who is nearer to the others, the judge or that "
    "person. The dearer people are, the further a judge may be behind: experts 0.20, trained "
    "people 0.15, crowd workers 0.10. A person is beaten where a t test refutes that they are "
    "ahead by as much (false discoveries held at 5% by Benjamini and Yekutieli)."
)


def stand_in(chosen: RatedSelection) -> None:
    """Every judge's test in a table, and the one that is looked at in a sentence and a picture."""
    section("May a judge stand in for a person?")
    kind = one_of(
        "These people are",
        PEOPLE_ARE,
        default="skilled",
        key=state.key(keys.AGREEMENT_FIELD, "people"),
    )
    epsilon, sheet = EPSILON[kind or "skilled"], chosen.sheet
    columns = (*((PANEL,) if len(sheet.judges) > 1 else ()), *sheet.judges)
    found = remembered(
        "agreement stand-in",
        (*chosen.about, chosen.criterion, epsilon),
        lambda: {
            one: [
                calibration.stand_in(sheet, one, epsilon, asked, chosen.how.level)
                for asked in (chosen.criterion, None)
            ]
            for one in columns
        },
    )
    one = chosen.rater if chosen.rater in found else columns[0]
    here = found[one][0]
    st.html(f'<div class="rs-prose">{esc(_stands(words_of(one), here, epsilon))}</div>')
    if here.passes is not None and len(here.annotators) <= DRAWN:
        _picture(chosen, one, here, epsilon)
    table(
        ("Judge", "Beats here", "As good here", "Beats on all", "As good on all"),
        ([esc(words_of(name)), *_beats(a), *_beats(b)] for name, (a, b) in found.items()),
        name="Which judge may stand in for a person",
        numbers=range(1, 5),
    )
    st.caption(
        "How many people the judge beats, and on what share of items it is as near to the others "
        "as a person or nearer: on this criterion, and on all together. It takes "
        f"{FEWEST_ANNOTATORS} people who rated the same {FEWEST_ITEMS} items or more; 50 to 100 "
        "are usually enough.",
        help=STAND_IN_SAYS,
    )


def _stands(name: str, found: AltTest, epsilon: float) -> str:
    rate, rho = found.winning_rate, found.advantage
    if rate.value is None or rho.value is None:
        return f"Whether {name} may stand in for one of these people is unknown: {rate.reason}"
    said = (
        f"{name} {'may' if found.passes else 'may not'} stand in for one of these people on this "
        f"criterion: {calibration.keeps_up(f'{round(rate.value * rate.n)} of {rate.n}', epsilon)}"
    )
    if found.passes:
        return said
    if found.items_needed is None:
        return f"{said} More items would hardly change that: too many people are further ahead."
    items = fmt.plural(found.items_needed, "item")
    return f"{said} From about {items} on it would, if it stays as near to people as it is."


def _beats(found: AltTest) -> list[str]:
    rate = found.winning_rate
    if rate.value is None:
        return [figure_cell(rate), fmt.DASH]
    mark = "✓" if found.passes else "✕"
    return [f"{mark} {round(rate.value * rate.n)} of {rate.n}", fmt.score(found.advantage.value)]


def _picture(chosen: RatedSelection, one: str, found: AltTest, epsilon: float) -> None:
    dots = [
        draw.Dot(words_of(person), row.gap.value, row.gap.low, row.gap.high, -epsilon, row.n)
        for person, row in zip(chosen.sheet.people, found.annotators, strict=True)
    ]
    axis = "Judge ahead, share of items"
    st.plotly_chart(
        draw.forest(dots, axis, "What it must be above", whole=False),
        key=state.key(keys.AGREEMENT_CHART, "stand-in", one, epsilon, *chosen.pair),
        config={"displayModeBar": False},
        alt=f"How far {visible(words_of(one))} is ahead of each person, with its interval; a "
        "diamond at what it must be above. The table below has how many it beats.",
    )
