"""Grade ten more texts of a run with few labels: the button, and what judges learn from them."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.services.guided import learning, ten_more
from core.services.guided.learning import LearntSoFar
from core.text import numbers as fmt
from pages.ui import routes, state
from pages.ui.places import work
from pages.ui.resources import remembered, store
from pages.ui.text import esc, label
from pages.ui.widgets import tag


def show(
    run_id: int, cache_key: tuple[object, ...], labels: Sequence[int], *, decided: bool
) -> None:
    """Draw the button, unless there are no labels or many, or all is decided and no judge learns.

    Args:
        run_id: the run.
        cache_key: changes whenever the ratings of the run do.
        labels: how many each criterion has.
        decided: whether the figures of every criterion are conclusive.
    """
    if not any(labels) or min(labels) >= learning.MANY:
        return
    run = store().runs.get(run_id)
    with st.spinner("Learning from the labels"):
        learned: LearntSoFar | None = remembered(
            "learned on a run", cache_key, lambda: ten_more.current_learning(store(), run)
        )
    if learned is None and decided:
        return
    graded, left, _ = work.cached_progress(run_id)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if left and not (learned is not None and learned.enough):
            work.grade_ten(run_id, has_more=True)
        drawn = f"{fmt.plural(graded, 'text')} drawn at random graded."
        if words := learned.words if learned is not None else drawn if graded else "":
            st.caption(label(words), width="content")
        if learned is not None:
            _show_learnt(learned, {state.DATASET: run.dataset_id, state.RUBRIC: run.rubric_id})


def _show_learnt(learned: LearntSoFar, address: dict[str, object]) -> None:
    """Draw each criterion's kappa with its interval, and a link to a run that learns."""
    with st.popover("What judges learn", icon=":material/school:", type="tertiary"):
        st.html(learnt_html(learned))
        st.caption("Offline judges of a new run learn from all labels, including these.")
        routes.draw_link(routes.RUNS, "Plan that run", {state.PLAN: state.NEW, **address})


def learnt_html(learned: LearntSoFar) -> str:
    """Return HTML of what judges learned for each criterion, or why they did not."""
    lines = "".join(
        f"<li><b>{esc(criterion.criterion)}</b>: {tag('not yet', 'warn') if criterion.off else ''} "
        f"{esc(criterion.off or criterion.words)}</li>"
        for criterion in learned.criteria
    )
    return f'<ul class="rs-list">{lines}</ul>'
