"""How far a rater can be relied on: is it right as often as it is confident, and can it replace a
person?
"""

from __future__ import annotations

import streamlit as st

from core import figures as draw
from core.errors import InputError
from core.metrics.agreement.alt_test import EPSILON, FEWEST_ANNOTATORS, FEWEST_ITEMS, AltTest, Kind
from core.metrics.calibration import Calibration
from core.metrics.cascade import CascadePoint
from core.services.agreement import calibration
from core.services.agreement.ratings import PANEL
from core.services.comparison import cascade_sweep
from core.services.comparison.cascade_sweep import SweptCascade
from core.text import numbers as fmt
from core.text.names import visible
from pages.agreement import selection as keys
from pages.agreement.selection import RatedSelection, name_in_sentence, rater_caption
from pages.agreement.words import few_items_warning, show_section
from pages.ui import routes, state
from pages.ui.resources import remembered, store
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import choose_one, draw_table, empty_state, figure_cell, level_words

ECE_SAYS = (
    "ECE, the expected calibration error (Guo et al. 2017): how far the share of right answers "
    "is from the rater's confidence, on average over ten bins. 0 is perfect; chance alone makes it "
    "larger, most of all with few answers. Brier score (1950): the mean squared "
    "distance of the chances from the truth, over all options; 0 is best, 2 worst."
)


def show(chosen: RatedSelection) -> None:
    """Draw every rater with a stated confidence in a table, and one of them in detail."""
    show_section(f"Confidence and accuracy: {chosen.criterion}")
    calibrations = remembered(
        "agreement calibration",
        (*chosen.about, chosen.criterion, chosen.reference),
        lambda: calibration.calibrations_of_run(
            store(),
            chosen.run_id,
            chosen.sheet,
            chosen.criterion,
            chosen.reference,
            confidence=chosen.confidence,
        ),
    )
    if not calibrations:
        empty_state(
            "No rater gives a confidence",
            "Offline judges do, and so does a model whose judge asks how likely each option was "
            "(a switch of the judge). Imported votes bring it as columns p_<label>.",
            lambda: routes.draw_link(routes.JUDGES, "Judges", icon="gavel"),
        )
        return
    _calibration_rows(calibrations)
    rater = chosen.rater if chosen.rater in calibrations else next(iter(calibrations))
    _rater_in_detail(chosen, rater, calibrations[rater])
    _draw_cascade(chosen)


def _calibration_rows(calibrations: dict[str, Calibration]) -> None:
    draw_table(
        ("Rater", "Answers", "Without", "Sure", "Right", "ECE", "ECE by chance", "Brier score"),
        (
            [
                esc(rater_caption(rater)),
                fmt.count(calibrated.n),
                fmt.count(calibrated.without),
                fmt.score(calibrated.sure),
                figure_cell(calibrated.right),
                figure_cell(calibrated.ece),
                _chance_words(calibrated),
                figure_cell(calibrated.brier),
            ]
            for rater, calibrated in calibrations.items()
        ),
        name="Calibration of every rater",
        numbers=range(1, 8),
    )
    st.caption(
        "Answers with a reference are counted, with and without a confidence. By "
        "chance: the value that a perfectly calibrated rater stays below in 19 of 20 "
        "samples.",
        help=ECE_SAYS,
    )


def _chance_words(figures: Calibration) -> str:
    return f"up to {fmt.score(figures.by_chance)}" if figures.by_chance is not None else fmt.DASH


def _rater_in_detail(chosen: RatedSelection, rater: str, calibrated: Calibration) -> None:
    show_section(f"{rater_caption(rater)} against {name_in_sentence(chosen.reference)}")
    if not calibrated.n:
        empty_state("Nothing to count", calibrated.ece.reason)
        return
    st.plotly_chart(
        draw.reliability_diagram(
            [(b.sure or 0.0, b.right) for b in calibrated.bins if b.right.n],
        ),
        key=state.key(keys.AGREEMENT_CHART, "sure", rater, chosen.criterion, *chosen.pair),
        config={"displayModeBar": False},
        alt=f"Reliability diagram of {visible(rater_caption(rater))}: the share of right "
        "answers against the rater's confidence, in ten bins. The table below has its "
        "figures.",
    )
    st.caption(
        label(
            "On the line, a rater is right as often as it is sure; below the line, the rater is "
            f"overconfident. Bars are {level_words()} Wilson intervals. "
            f"{few_items_warning(calibrated.n)}"
        )
    )
    with st.expander("As a table", icon=":material/table_rows:"):
        draw_table(
            ("How sure", "Answers", "Mean", "Right"),
            (
                [
                    f"{fmt.score(b.low)} to {fmt.score(b.high)}",
                    fmt.count(b.right.n),
                    fmt.score(b.sure),
                    figure_cell(b.right) if b.right.n else fmt.DASH,
                ]
                for b in calibrated.bins
            ),
            name="Reliability diagram",
            numbers=(1, 2, 3),
        )


# Which confidence threshold lets a judge decide alone?

#: Every fifth threshold is drawn and listed: 0, 0.1 ... 1.
_SHOWN = 5


def _draw_cascade(chosen: RatedSelection) -> None:
    """Replay a cascade: this judge decides first, and the others where it is not sure enough."""
    about = chosen.run_about
    names = remembered(
        "cascade first", about, lambda: cascade_sweep.possible_first_judges(store(), chosen.run_id)
    )
    if not names:
        return
    show_section("Which confidence threshold lets a judge decide alone?")
    first = st.selectbox(
        "Who answers first",
        names,
        key=state.key(keys.AGREEMENT_FIELD, "first"),
        format_func=lambda judge: one_line(judge, 60),
    )
    try:
        sweep = remembered(
            "cascade sweep",
            (*about, first),
            lambda: cascade_sweep.sweep_cascade(store(), chosen.run_id, [first]),
        )
    except InputError as error:
        st.caption(label(str(error)))
        return
    st.html(f'<div class="rs-prose">{esc(cascade_sweep.sweep_words(sweep))}</div>')
    shown = sweep.points[::_SHOWN]
    places = [fmt.score(point.threshold) for point in shown]
    right = "Right", [point.right.estimate for point in shown]
    goes = "Escalated", [point.goes_on for point in shown]
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
    with st.expander("As a table", icon=":material/table_rows:"):
        draw_table(
            (
                "Escalates below",
                "Escalated",
                "Right",
                "95% interval",
                "Decided",
                "Cost of 1,000 cells",
            ),
            (_threshold_row(sweep, point) for point in shown),
            name="A cascade at every tenth threshold",
            numbers=range(6),
        )
    st.caption(
        "Replayed on the labelled cells of the whole run; no calls are made. A cell escalates "
        "if the first judge abstains, splits or fails. Undecided cells count as wrong."
    )


def _threshold_row(sweep: SweptCascade, point: CascadePoint) -> list[str]:
    return [
        fmt.score(point.threshold),
        fmt.percent(point.goes_on),
        point.right.figure.words(fmt.percent).value,
        esc(point.right.figure.words(fmt.percent).below),
        fmt.percent(point.decided),
        fmt.cost(sweep.cost(point.goes_on)),
    ]


# May a judge stand in for a person?

PEOPLE_ARE: dict[Kind, str] = {
    "expert": "Experts",
    "skilled": "Trained people",
    "crowd": "Crowd workers",
}
#: With more people than this there are only figures, and no plot.
DRAWN = 30
STAND_IN_SAYS = (
    "The alternative annotator test (Calderon, Reichart and Dror, ACL 2025). Each person is set "
    "aside in turn; on every item it is asked who is nearer to the others, the judge or that "
    "person. A judge may be behind by a margin, because people cost more: 0.20 for experts, 0.15 "
    "for trained people, 0.10 for crowd workers. The judge beats a person if a t test rejects that "
    "the person is ahead by this margin (false discoveries held at 5% by Benjamini and Yekutieli)."
)


def show_judge_tests(chosen: RatedSelection) -> None:
    """Draw every judge's test in a table, and the chosen judge's in a sentence and a picture."""
    show_section("May a judge stand in for a person?")
    kind = choose_one(
        "These people are",
        PEOPLE_ARE,
        default="skilled",
        key=state.key(keys.AGREEMENT_FIELD, "people"),
    )
    epsilon, sheet = EPSILON[kind or "skilled"], chosen.sheet
    columns = (*((PANEL,) if len(sheet.judges) > 1 else ()), *sheet.judges)
    tests = remembered(
        "agreement stand-in",
        (*chosen.about, chosen.criterion, epsilon),
        lambda: {
            rater: [
                calibration.stand_in_test(sheet, rater, epsilon, criterion, chosen.confidence.level)
                for criterion in (chosen.criterion, None)
            ]
            for rater in columns
        },
    )
    rater = chosen.rater if chosen.rater in tests else columns[0]
    test = tests[rater][0]
    st.html(
        f'<div class="rs-prose">{esc(_stand_in_words(rater_caption(rater), test, epsilon))}</div>'
    )
    if test.passes is not None and len(test.annotators) <= DRAWN:
        _test_picture(chosen, rater, test, epsilon)
    draw_table(
        ("Judge", "Beats here", "As good here", "Beats on all", "As good on all criteria"),
        (
            [esc(rater_caption(name)), *_test_row(a), *_test_row(b)]
            for name, (a, b) in tests.items()
        ),
        name="Which judge may stand in for a person",
        numbers=range(1, 5),
    )
    st.caption(
        "How many people the judge beats, and the share of items on which it agrees with "
        "the others at least as closely as a person does: on this criterion, and on all "
        f"together. The test needs {FEWEST_ANNOTATORS} people who rated the same "
        f"{FEWEST_ITEMS} items or more; 50 to 100 items are usually enough.",
        help=STAND_IN_SAYS,
    )


def _stand_in_words(name: str, test: AltTest, epsilon: float) -> str:
    rate, rho = test.winning_rate, test.advantage
    if rate.value is None or rho.value is None:
        return f"Whether {name} may stand in for one of these people is unknown: {rate.reason}"
    wins = f"{round(rate.value * rate.n)} of {rate.n}"
    sentence = (
        f"{name} {'may' if test.passes else 'may not'} stand in for one of these people on this "
        f"criterion: {calibration.keeping_up_words(wins, epsilon)}"
    )
    if test.passes:
        return sentence
    if test.items_needed is None:
        return f"{sentence} More items would hardly change that: the judge is too far behind."
    items = fmt.plural(test.items_needed, "item")
    return f"{sentence} With about {items} it would pass, if it stays as close to people as now."


def _test_row(test: AltTest) -> list[str]:
    rate = test.winning_rate
    if rate.value is None:
        return [figure_cell(rate), fmt.DASH]
    mark = "✓" if test.passes else "✕"
    return [f"{mark} {round(rate.value * rate.n)} of {rate.n}", fmt.score(test.advantage.value)]


def _test_picture(chosen: RatedSelection, rater: str, test: AltTest, epsilon: float) -> None:
    dots = [
        (rater_caption(person), row.gap._replace(n=row.n))
        for person, row in zip(chosen.sheet.people, test.annotators, strict=True)
    ]
    axis = "Judge's lead over the person, as a share of items"
    st.plotly_chart(
        draw.forest(dots, axis, "Threshold to exceed", [-epsilon] * len(dots), full_scale=False),
        key=state.key(keys.AGREEMENT_CHART, "stand-in", rater, epsilon, *chosen.pair),
        config={"displayModeBar": False},
        alt=f"How far {visible(rater_caption(rater))} is ahead of each person, with its "
        "interval; a diamond marks what it must exceed. The table below has how many it "
        "beats.",
    )
