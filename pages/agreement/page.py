"""Agreement: how far a run's verdicts can be trusted (`?run=ID&criterion=NAME`)."""

from __future__ import annotations

import streamlit as st

from core.services.agreement import load_ratings, rating_sheet
from core.services.results import browsing
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
from pages.agreement.words import show_remarks
from pages.ui import routes, state
from pages.ui.places import run_head, work
from pages.ui.resources import shared_value, store
from pages.ui.text import label
from pages.ui.widgets import compute_now, empty_state, page_header

#: The title of each view, and the titles of its sections by their value in the URL.
VIEWS = {
    "criteria": ("Criteria", {"criteria": "", "one": "Confusion", "sure": "How sure"}),
    "figures": ("Every figure", {"figures": ""}),
    "raters": (
        "Raters",
        {"raters": "Agreement", "variance": "What differs", "severity": "Severity"},
    ),
    "scores": ("Scores", {"scores": ""}),
    "findings": (
        "Findings",
        {"findings": "Findings", "probes": "Probes", "over_time": "Over time"},
    ),
}
#: The choices shown next to each section, which are those that it uses.
CHOICES = {
    "criteria": (*selection.PAIR, *selection.ITEMS),
    "figures": (*selection.PAIR, *selection.ITEMS),
    "one": (*selection.PAIR, *selection.ITEMS),
    "sure": (selection.REFERENCE, *selection.ITEMS),
    "raters": selection.ITEMS,
    "variance": selection.ITEMS,
    "severity": selection.ITEMS,
    "scores": (*selection.PAIR, *selection.ITEMS),
    "findings": (),
    "probes": (),
    "over_time": (),
}
#: Views of one criterion.
OF_ONE = ("one", "sure", "raters", "severity")
#: Views that compare two raters, or need more than one.
OF_PAIRS = ("one", "raters", "scores")
SHOWN = {
    "criteria": criteria.show,
    "figures": criteria.show_all_figures,
    "one": confusion.show_criterion,
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
    """Draw the page."""
    run = run_head.run_of_page()
    if run is None:
        page_header("Agreement", "How far a run's verdicts agree with people and with each other.")
        _show_no_runs()
        return
    tabs = run_head.show_head(run, routes.AGREEMENT)
    if not run.votes:
        empty_state("No votes yet", "Figures appear here as soon as judges have answered.")
        return
    cache_key = browsing.results_state(store(), run)
    if not compute_now("agreement", run.votes, cache_key):
        return
    full_sheet = shared_value(
        "agreement sheet", cache_key, lambda: load_ratings.sheet_of_run(store(), run.id)
    )
    with tabs:
        view = _chosen_view()
    with st.container(gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            above = st.container(width="stretch", gap="xsmall", key="rs_said")
            chosen = selection.chosen_ratings(run.id, cache_key, full_sheet, CHOICES[view])
        with above:
            if view in ("criteria", "figures"):
                criteria.show_answer(chosen)
            else:
                _section_switch(view, chosen)
        _draw_view(view, chosen)


def _chosen_view() -> str:
    """Draw the list of views at the end of the tabs; return the view or section in the address."""
    # A link to a cell of the confusion matrix opens the section with that matrix.
    default = "one" if state.address(selection.CELL) else "criteria"
    names = [name for _, held in VIEWS.values() for name in held]
    now = state.address_in(state.VIEW, names) or default
    group = next(name for name, (_, held) in VIEWS.items() if now in held)
    words = {name: words for name, (words, _) in VIEWS.items()}
    selection.draw_select("Show", state.VIEW, list(words), group, words.__getitem__)
    return now


def _section_switch(view: str, chosen: RatedSelection) -> None:
    """Draw the switch between a view's sections, and for one criterion the way back to all."""
    group, held = next((name, held) for name, (_, held) in VIEWS.items() if view in held)
    if view == group and not held[view]:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if not held[group]:
            st.button(
                "All criteria",
                icon=":material/arrow_back:",
                type="tertiary",
                on_click=state.set_address,
                kwargs={state.VIEW: None},
            )
        if view in OF_ONE:
            selection.choose_criterion(chosen)
        words = {name: words for name, words in held.items() if words}
        selection.draw_switch(f"{VIEWS[group][0]}: part", state.VIEW, words, view)


def _draw_view(view: str, chosen: RatedSelection) -> None:
    if not chosen.sheet.items:
        empty_state("No item fits", "No item matches all of your choices. Remove some.")
        return
    if not chosen.rater and view in OF_PAIRS:
        criteria.show_ways_to_get_labels(chosen)
        return
    SHOWN[view](chosen)
    show_remarks(chosen)
    _part_of_items(chosen)


def _part_of_items(chosen: RatedSelection) -> None:
    """Show which of the items are compared, if not all."""
    if not chosen.part:
        return
    n = len(chosen.sheet.items)
    parts = [*chosen.part.systems, *chosen.part.tags]
    split = selection.SPLITS.get(chosen.part.split, "")
    text = ", ".join([*parts, *([split] if split else [])])
    small = f" {rating_sheet.FEW} or more are more reliable." if n < rating_sheet.FEW else ""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            f"{fmt.count(n)} of {fmt.plural(chosen.whole.whole, 'item')}: "
            f"{label(text, 120)}.{small}",
            width="content",
        )
        work.offer_work(chosen.run_id, chosen.sheet.items, text)


def _show_no_runs() -> None:
    empty_state(
        "No run has votes yet",
        "This page compares votes with labels and with each other. Grade something first, or "
        "import votes.",
        _draw_links,
    )


def _draw_links() -> None:
    """Draw the links to grading and to importing votes."""
    for page, title, icon in (
        (routes.RUNS, "Runs", "play_circle"),
        (routes.IMPORT_VOTES, "Import votes", "upload_file"),
    ):
        routes.draw_link(page, title, icon=icon)


show()
