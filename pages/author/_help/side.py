"""Help from a model beside the form: proposals, a check by judges, a loop on held-out items."""

from __future__ import annotations

import streamlit as st

from core.domain.rubric import Rubric
from core.errors import InputError
from core.services import improving
from pages.author._help import check, common, improve, loop
from pages.author._rubric import work
from pages.ui import help_keys as keys
from pages.ui import routes, state
from pages.ui.text import label
from pages.ui.widgets import shown_errors

IMPROVE, CHECK, LOOP = "Improve", "Check", "Loop"


def show(name: str) -> None:
    """The whole panel; says what is missing where nothing can be asked."""
    st.html('<div class="rs-section">Help from a model</div>')
    if not common.ready():
        return
    rubric = _rubric(name)
    if rubric is None:
        return
    key = state.key(keys.HELP_VIEW, name)
    state.seed(key, IMPROVE)
    view = st.segmented_control(
        "Kind of help",
        [IMPROVE, CHECK, LOOP],
        key=key,
        required=True,
        label_visibility="collapsed",
    )
    with shown_errors():
        if view == IMPROVE:
            improve.show(name, rubric)
        elif view == CHECK:
            check.show(name, rubric)
        else:
            loop.show(name, rubric)
    routes.link(routes.TEST_DATA, "Write test data for a criterion", {state.RUBRIC: name})


def _rubric(name: str) -> Rubric | None:
    try:
        return improving.rubric_of(work.draft(name))
    except InputError as error:
        first = f"{error.problems[0]}" if error.problems else error.message
        st.caption(label(f"First mend what keeps this from being a rubric: {first}"))
        return None


def subject(name: str) -> str:
    """Under which name help about this rubric is kept."""
    return f"rubric/{name}"
