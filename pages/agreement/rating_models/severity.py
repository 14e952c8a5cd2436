"""Which raters are severe or unexpected, and the score that an average rater would give each
item.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core import figures as draw
from core.metrics.facets import RaterSeverity
from core.services.agreement.rating_sheet import rater_table
from core.services.exports import run_export
from core.services.rating_models import severity
from core.services.rating_models.severity import FairScore, SeverityStudy
from core.text import numbers as fmt
from pages.agreement import selection as keys
from pages.agreement.selection import RatedSelection
from pages.ui import state
from pages.ui.places import work
from pages.ui.resources import shared_value
from pages.ui.text import esc, one_line
from pages.ui.widgets import choose_one, draw_table, figure_cell, level_words

SAYS = (
    "The many-facet Rasch model (Linacre 1989): the log odds of a level against the "
    "one below are an item's quality less a rater's severity less the level's step; "
    "qualities are integrated out, severities have a wide prior. Misfit (infit): "
    "squared surprises as a multiple of what chance would have; 1 is usual, "
    "significantly above 1 and at least 1.2 is called odd."
)
HERE, ALL = "here", "all"
OF = {HERE: "This criterion", ALL: "All criteria"}
#: The number of raters drawn in the picture, and of items listed.
DRAWN, ITEMS = 30, 10


def show(chosen: RatedSelection) -> None:
    """Draw the sentence, the picture, every rater, and the items that severity changes most."""
    kind = choose_one("Of", OF, default=HERE, key=state.key(keys.AGREEMENT_FIELD, "severity"))
    criterion = chosen.criterion if kind != ALL else ""
    sheet = chosen.sheet
    study = shared_value(
        "severity",
        (*chosen.about, criterion),
        lambda: severity.severity_study(
            rater_table(sheet, sheet.everybody),
            criterion,
            chosen.confidence.level,
        ),
    )
    st.html(f'<div class="rs-prose">{esc(severity.severity_summary(study))}</div>')
    if study.reason:
        return
    if len(study.raters) <= DRAWN:
        _severity_picture(chosen, study)
    draw_table(
        ("Rater", "Against average", "Severity", "Misfit", "Ratings"),
        (_rater_row(name, rater) for name, rater in study.raters),
        name="How severe each rater is",
        numbers=range(1, 5),
    )
    st.caption(
        "Significantly strict raters come first, significantly mild ones last. The first figure is "
        "how much higher (+) or lower (−) each scores the same work than an average rater, as a "
        "share of the scale. Severity is in logits. "
        f"The {level_words()} intervals are below the figures.",
        help=SAYS,
    )
    _most_changed_items(chosen, study)


def _severity_picture(chosen: RatedSelection, study: SeverityStudy) -> None:
    dots = [(name, rater.shift._replace(n=rater.ratings)) for name, rater in study.raters]
    st.plotly_chart(
        draw.forest(
            dots, "Score above an average rater's, as a share of the scale", full_scale=False
        ),
        key=state.key(keys.AGREEMENT_CHART, "severity", len(study.raters), *chosen.pair),
        config={"displayModeBar": False},
        alt="How much higher or lower every rater scores than an average one, as a share of the "
        "scale, with intervals. The table below has its numbers.",
    )


def _rater_row(name: str, severity: RaterSeverity) -> list[str]:
    misfit = figure_cell(severity.misfit)
    return [
        esc(one_line(name, 60)),
        figure_cell(severity.shift, fmt.points),
        figure_cell(severity.logits),
        misfit.replace("<br>", " odd<br>") if severity.odd else misfit,
        fmt.count(severity.ratings),
    ]


def _most_changed_items(chosen: RatedSelection, study: SeverityStudy) -> None:
    st.html('<div class="rs-section">What an average rater would give</div>')
    rated_items = [item for item in study.items if item.fair.value is not None]
    changed = study.surely_changed[:ITEMS]
    _changed_items(changed, len(rated_items))
    rated = rater_table(chosen.sheet, chosen.sheet.everybody)
    with st.container(horizontal=True):
        st.download_button(
            "Fair scores (CSV)",
            data=lambda: run_export.csv_file(severity.fair_rows(rated, chosen.confidence.level)),
            file_name=f"fair-scores-run-{chosen.run_id}.csv",
            mime="text/csv",
            icon=":material/download:",
            key=state.key(keys.AGREEMENT_FIELD, "fair"),
            help="For every item, the score that an average rater would give, on all criteria "
            "together and on each, with its interval.",
            on_click="ignore",
        )
        work.offer_work(chosen.run_id, [item.item for item in changed], "Touched by severity")


def _changed_items(changed: Sequence[FairScore], rated: int) -> None:
    """Draw the items whose score surely changes, or a sentence if none does."""
    if not changed:
        st.html(
            '<div class="rs-prose">Severity significantly changes the score of none of '
            f"{fmt.plural(rated, 'item')}.</div>"
        )
        return
    draw_table(
        ("Item", "Its raters gave", "An average rater", "Raters"),
        (_item_row(item) for item in changed),
        name="Items most affected by severity",
        numbers=(1, 2, 3),
    )
    st.caption(
        f"The {fmt.plural(len(changed), 'item')} of {fmt.count(rated)} that severity changes "
        "most, as shares of the scale. The score that raters gave lies outside the "
        f"{level_words()} interval.",
        help="Estimates from few ratings are shrunk towards the average item.",
    )


def _item_row(score: FairScore) -> list[str]:
    fair = score.fair
    return [
        esc(one_line(score.item, 60)),
        fmt.score(score.mean),
        figure_cell(fair),
        fmt.count(score.raters),
    ]
