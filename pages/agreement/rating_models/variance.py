"""The sources of differences between ratings, and the gain from another judge or item."""

from __future__ import annotations

import streamlit as st

from core import figures as draw
from core.metrics.estimate import Estimate
from core.metrics.variance_components import CRITERION, ITEM, JUDGE, REST
from core.services.agreement.rating_sheet import rater_table
from core.services.rating_models import variance
from core.services.rating_models.variance import WORDS, Study, WayToAsk
from core.text import numbers as fmt
from pages.agreement import selection as keys
from pages.agreement.selection import RatedSelection
from pages.ui import state
from pages.ui.resources import remembered, store
from pages.ui.text import esc, one_line
from pages.ui.widgets import draw_table, figure_cell, level_words

SAYS = (
    "Variance components (generalizability theory; Cronbach and others 1972, Brennan "
    "2001) by MINQUE with zero prior weights (Rao 1970), which is unbiased whatever "
    "ratings are missing. Intervals come from leaving out groups of items in turn: "
    "they cover other items, but only these judges."
)
STUDY_SAYS = (
    "A decision study: scores as means over criteria, judges and repeated answers. Would "
    "repeat: the share of the differences between items that other judges of this kind would "
    "repeat (generalizability, E rho squared). Strictness counted: the same share if strictness "
    "counts as error, too (phi). Standard error: its standard error over other items and judges."
)
ALL = "All criteria"


def show(chosen: RatedSelection) -> None:
    """Draw the sentence, the picture, the decision study, and every criterion."""
    sheet = chosen.sheet
    judges = sheet.judges if len(sheet.judges) > 1 else sheet.people
    rated = rater_table(sheet, judges)
    run_id = chosen.run_id
    price = variance.answer_price(store(), run_id) if judges == sheet.judges else None
    studies = remembered(
        "variance",
        (*chosen.about, price),
        lambda: {
            name: variance.variance_study(
                rated,
                name,
                price=price,
                reversed_=variance.reversed_answers(store(), run_id),
                level=chosen.confidence.level,
            )
            for name in ("", *(q.name for q in rated.questions if len(rated.questions) > 1))
        },
    )
    overall = studies[""]
    st.html(f'<div class="rs-prose">{esc(variance.variance_summary(overall))}</div>')
    if overall.found.reason:
        return
    _variance_picture(chosen, overall)
    _choice_table(overall)
    if len(studies) > 1:
        _criterion_table(studies)


def _variance_picture(chosen: RatedSelection, overall: Study) -> None:
    shares = overall.shares()
    dots = [(WORDS[term], share) for term, share in shares.items()]
    st.plotly_chart(
        draw.forest(dots, "Share of all variance"),
        key=state.key(keys.AGREEMENT_CHART, "variance", *chosen.pair),
        config={"displayModeBar": False},
        alt="Share of the variance of ratings due to each source, with intervals: "
        + ", ".join(f"{WORDS[term]} {fmt.percent(share.value)}" for term, share in shares.items())
        + ".",
    )
    n = fmt.count(overall.found.n)
    st.caption(
        f"{n} ratings of {fmt.plural(overall.items, 'item')}, {level_words()} intervals. "
        "Items by criterion: an item is strong on one criterion, weak on another. "
        "Judges by item: judges read the same item differently. Unexplained: what would "
        "change if the same question were asked again, and all effects that these votes "
        "cannot separate.",
        help=SAYS,
    )


def _choice_table(overall: Study) -> None:
    st.html('<div class="rs-section">What more judges or answers gain</div>')
    priced = overall.choices[0].cost is not None
    headings = [
        "Asked",
        "Would repeat",
        "Strictness counted",
        "Margin of a score",
        "Error of the mean",
    ]
    draw_table(
        [*headings, *(["Per 1,000 items"] if priced else [])],
        (_choice_row(choice, priced=priced) for choice in overall.choices),
        name="What more judges, answers or items would gain",
        numbers=range(1, len(headings) + priced),
    )
    st.caption("Computed as if the mean of all answers were the score.", help=STUDY_SAYS)


def _choice_row(setting: WayToAsk, *, priced: bool) -> list[str]:
    reliability = setting.worth
    return [
        esc(setting.name),
        fmt.percent(reliability.relative),
        fmt.percent(reliability.absolute),
        f"±{fmt.score(1.96 * reliability.item_error)}",
        fmt.score(reliability.mean_error, 3),
        *([fmt.cost(setting.cost)] if priced else []),
    ]


def _criterion_table(studies: dict[str, Study]) -> None:
    st.html('<div class="rs-section">Criterion by criterion</div>')
    draw_table(
        (
            "Criterion",
            "Between items",
            "Strictness",
            "Judges on an item",
            "The rest",
            "Would repeat",
        ),
        (_criterion_row(name or ALL, study) for name, study in studies.items()),
        name="Sources of variance, by criterion",
        numbers=range(1, 6),
    )


def _criterion_row(name: str, study: Study) -> list[str]:
    if study.found.reason:
        reason = figure_cell(Estimate.undefined(study.found.reason))
        return [esc(one_line(name, 60)), reason, *[fmt.DASH] * 4]
    strict = study.share(JUDGE) + study.share(CRITERION, JUDGE)
    reading_share = study.share(ITEM, JUDGE) + study.share(ITEM, CRITERION, JUDGE)
    separable = {(ITEM, JUDGE), (ITEM, CRITERION, JUDGE)} & study.found.raw.keys()
    return [
        esc(one_line(name, 60)),
        fmt.percent(study.item_variance_share),
        fmt.percent(strict),
        fmt.percent(reading_share) if separable else fmt.DASH,
        fmt.percent(study.share(REST)),
        fmt.percent(study.choices[0].worth.relative),
    ]
