"""The Test data page: for which rubric, and which of the two kinds."""

from __future__ import annotations

import streamlit as st

from core.domain.rubric import Rubric
from core.errors import InputError, NotFound
from core.services import authoring, improving
from pages.author._help import common, edits, submissions
from pages.author._help.measuring import DATA_FIELD
from pages.ui import routes, state
from pages.ui.resources import store
from pages.ui.text import label, one_line
from pages.ui.widgets import empty_state, page_header, show_flash, shown_errors

SUBMISSIONS, EDITS = "submissions", "edits"
VIEWS = {SUBMISSIONS: "Write submissions", EDITS: "Change items"}


def show() -> None:
    """The whole page."""
    page_header(
        "Test data",
        "A model writes submissions for each option of a criterion, or changes real items so that "
        "one criterion alone should fail. Then judges show whether they notice.",
    )
    show_flash()
    titles = _titles()
    if not titles:
        empty_state(
            "No rubrics yet",
            "Test data is written for a criterion of a rubric.",
            lambda: routes.link(routes.RUBRICS, "Rubrics"),
        )
        return
    name = _chosen(titles)
    rubric = _rubric(name)
    if rubric is None or not common.ready():
        return
    key = state.key(DATA_FIELD, "view")
    asked = state.address(state.VIEW)
    state.seed(key, asked if asked in VIEWS else SUBMISSIONS)
    view = st.segmented_control(
        "Kind",
        list(VIEWS),
        key=key,
        format_func=VIEWS.__getitem__,
        required=True,
        label_visibility="collapsed",
    )
    state.set_address(**{state.RUBRIC: name, state.VIEW: view})
    with shown_errors():
        if view == EDITS:
            edits.show(name, rubric)
        else:
            submissions.show(name, rubric)


def _titles() -> dict[str, str]:
    """Unsaved drafts and rubrics by name, with what to call them."""
    titles = {str(found.id): found.name for found in authoring.listing(store())}
    for kept in authoring.all_kept(store()):
        title = kept.draft["name"] or "Untitled rubric"
        titles[kept.name] = f"{title} (unsaved changes)"
    return titles


def _chosen(titles: dict[str, str]) -> str:
    key = state.key(DATA_FIELD, "rubric")
    asked = state.address(state.RUBRIC)
    if state.get(key) not in titles:
        state.put(key, asked if asked in titles else next(iter(titles)))
    chosen: str = st.selectbox(
        "Rubric", list(titles), key=key, format_func=lambda one: one_line(titles[one], 80)
    )
    return chosen


def _rubric(name: str) -> Rubric | None:
    try:
        kept = authoring.kept(store(), name)
        draft = kept.draft if kept is not None else authoring.opened(store(), int(name))
        return improving.rubric_of(draft)
    except InputError as error:
        first = str(error.problems[0]) if error.problems else error.message
        st.warning(label(f"This is no rubric yet: {first}"), icon=":material/edit_off:")
    except NotFound as error:
        st.warning(label(str(error)), icon=":material/search_off:")
    return None
