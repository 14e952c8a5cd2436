"""Agreement: how far a run's verdicts can be trusted (`?run=ID&criterion=NAME`)."""

from __future__ import annotations

import streamlit as st

from core.services.agreement import load_ratings, rating_sheet, ratings
from core.services.results import browsing
from core.services.review import corrected_estimates
from core.text import numbers as fmt
from pages.agreement import (
    calibration,
    confusion,
    criteria,
    findings,
    raters,
    selection,
)
from pages.agreement.asked_again import over_time, probing
from pages.agreement.rating_models import severity, variance
from pages.agreement.selection import RatedSelection
from pages.ui import routes, state
from pages.ui.grades import trust_statement
from pages.ui.resources import remembered, require_seen, shared, store
from pages.ui.run_status import choose_run
from pages.ui.text import label
from pages.ui.widgets import empty_state, page_header, worked_out

VIEWS = (
    ("criteria", "All criteria"),
    ("one", "One criterion"),
    ("raters", "Raters"),
    ("scores", "Scores"),
    ("sure", "How sure"),
    ("variance", "What differs"),
    ("severity", "Severity"),
    ("findings", "What to look at"),
    ("probes", "Probes"),
    ("over_time", "Over time"),
)
#: Views that compare two raters, or need more than one.
OF_PAIRS = ("criteria", "one", "raters", "scores")
SHOWN = {
    "criteria": criteria.show,
    "one": confusion.one_criterion,
    "raters": raters.show,
    "scores": criteria.whole_items,
    "sure": calibration.show,
    "variance": variance.show,
    "severity": severity.show,
    "findings": findings.show,
    "probes": probing.show,
    "over_time": over_time.show,
}


def show() -> None:
    """The page."""
    page_header(
        "Agreement",
        "How far a run's verdicts agree with people, and its raters with each other.",
    )
    run = choose_run(state.key(selection.AGREEMENT_FIELD, state.RUN), selection.OF_A_RUN)
    if run is None:
        _no_runs()
        return
    require_seen(run.id)
    if not run.votes:
        empty_state("No votes yet", "Figures appear here as soon as judges have answered.")
        return
    routes.other_views(run, routes.AGREEMENT)
    about = browsing.stands_on(store(), run)
    if not worked_out("agreement", run.votes, about):
        return
    whole = shared("agreement sheet", about, lambda: load_ratings.sheet_of(store(), run.id))
    # What to conclude stands above what it is chosen by.
    top = st.container()
    chosen = selection.sides(run.id, about, whole)
    with top:
        trust_statement(run.id, run.votes)
        if chosen.sheet.items:
            criteria.conclude(chosen)
    _views(chosen)


def _views(chosen: RatedSelection) -> None:
    _said(chosen)
    # A link to a cell of the matrix is a link to where the matrix is.
    default = "one" if state.address(selection.CELL) else VIEWS[0][0]
    view = selection.switch("View", state.VIEW, VIEWS, default)
    if not chosen.sheet.items:
        empty_state("No item fits", "No item has all that was chosen. Choose less.")
        return
    if not chosen.rater and view in OF_PAIRS:
        empty_state(
            "Nothing to compare with",
            "This run has one rater and its items have no labels. Agreement needs labels by "
            "people, or a second rater.",
        )
        return
    SHOWN[view](chosen)


def _said(chosen: RatedSelection) -> None:
    """How many items are looked at, of how many, and what reviewers are here."""
    if chosen.whole.reviewers:
        _reviewers(chosen)
    if ratings.LABELS in (chosen.reference, chosen.rater):
        _selection(chosen)
    if not chosen.part:
        return
    n = len(chosen.sheet.items)
    parts = [*chosen.part.systems, *chosen.part.tags]
    split = selection.SPLITS.get(chosen.part.split, "")
    words = ", ".join([*parts, *([split] if split else [])])
    small = f" {rating_sheet.FEW} or more say more." if n < rating_sheet.FEW else ""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            f"{fmt.count(n)} of {fmt.plural(chosen.whole.whole, 'item')}: "
            f"{label(words, 120)}.{small}",
            width="content",
        )
        routes.offer_work(chosen.run_id, chosen.sheet.items, words)


def _selection(chosen: RatedSelection) -> None:
    """That labels come from a queue of doubtful cells, and what is right of all cells."""
    review = remembered(
        "labels from review",
        chosen.run_about,
        lambda: corrected_estimates.selected(store(), chosen.run_id),
    )
    if review is not None:
        st.caption(label(corrected_estimates.in_words(review)))


def _reviewers(chosen: RatedSelection) -> None:
    """What reviewers are compared by; and where a comparison turns round on itself."""
    words = (
        "Whoever reviewed this run is a rater by what they said first, before they saw the votes."
    )
    pair = {chosen.reference, chosen.rater}
    if ratings.LABELS in pair and pair & {ratings.PEOPLE, *chosen.whole.reviewers}:
        words += (
            " Labels hold what they settled in the end, so that this pair partly compares people "
            "with themselves."
        )
    st.caption(words)


def _no_runs() -> None:
    empty_state(
        "No run has votes yet",
        "This page compares votes with labels and with each other. Grade something first, or "
        "bring in votes from elsewhere.",
        _ways,
    )


def _ways() -> None:
    """Grading, or votes that are there already."""
    for page, words, icon in (
        (routes.RUNS, "Runs", "play_circle"),
        (routes.IMPORT_VOTES, "Import votes", "upload_file"),
    ):
        routes.link(page, words, icon=icon)


show()
