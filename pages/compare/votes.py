"""One cell of two runs: what was judged, and the votes of each run."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.domain.runs import Run
from core.services.results import item_view
from core.services.results.item_view import CriterionView, ItemView
from core.text.names import fold
from pages.compare import selection as keys
from pages.ui import routes, state
from pages.ui.items import answer_label, standing_tags, verdict_chips, vote_card
from pages.ui.places import settling
from pages.ui.resources import store
from pages.ui.text import draw_prose, esc, label, one_line
from pages.ui.widgets import draw_row, tag


def show(runs: Sequence[Run], items: Sequence[str], criterion: str) -> None:
    """Draw the texts, once if both are equal, then each run's verdict and votes."""
    views = [
        item_view.item_view(store(), run.id, item_id)
        for run, item_id in zip(runs, items, strict=True)
    ]
    title = f"{one_line(criterion, 80)}: {one_line(items[0], 60)}"
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.html(f"<b>{esc(title)}</b>", width="stretch")
        with st.container(key="rs_steps", width="content"):
            st.button(
                "Close",
                key=state.key(keys.COMPARE_ACT, "close"),
                icon=":material/close:",
                type="tertiary",
                shortcut="Escape",
                on_click=keys.close_cell,
            )
    texts = dict.fromkeys(view.item.text for view in views)
    headings = ("What was judged",) if len(texts) == 1 else ("What A judged", "What B judged")
    for head, text in zip(headings, texts, strict=True):
        with st.expander(label(head), icon=":material/description:"):
            draw_prose(text, height=360)
    for side, run, view in zip("AB", runs, views, strict=True):
        shown = next((c for c in view.criteria if fold(c.criterion.name) == fold(criterion)), None)
        routes.draw_link(
            routes.RUN,
            label(f"{side}: run {run.id}, {run.name}", 70),
            {
                state.RUN: run.id,
                state.ITEM: view.item.id,
                state.AT: criterion if shown is None else shown.criterion.name,
            },
        )
        if shown is None:
            st.caption("This run does not grade this item on this criterion.")
        else:
            _show_votes(run, view, shown, side)


def _show_votes(run: Run, of: ItemView, view: CriterionView, side: str) -> None:
    chosen = None if view.verdict is None else view.verdict.option
    head = "<b>Verdict</b>" if view.verdict is not None else tag("No verdict", "warn")
    draw_row([head, *verdict_chips(view.criterion, view.verdict)])
    if view.truth_label is not None:
        right = chosen is not None and chosen == view.truth
        words = f"the label is {view.truth_label}"
        draw_row([tag(f"✓ {words}", "good") if right else tag(f"✕ {words}", "bad")])
    if settling.may_settle():
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.html('<span class="rs-quiet">Settle as</span>', width="content")
            settling.settle_form(run.id, [(of.item.id, view.criterion.name)], view.criterion, side)
    for vote in view.votes:
        if vote.result is not None:
            which, marks = answer_label(vote), standing_tags(vote)
            card = vote_card(
                view.criterion, vote.result, which=which, text=of.item.text, marks=marks
            )
            st.html(card)
