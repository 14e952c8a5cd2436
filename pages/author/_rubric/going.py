"""From the list to a rubric and back."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core.services import authoring
from core.services.draft_types import Draft
from pages.ui import state
from pages.ui.resources import store
from pages.ui.state import SIDE
from pages.ui.widgets import shown_errors

RUBRIC_ACT = "rubric_act"
RUBRICS_PANEL = "rubrics_panel"


def open_rubric(name: str) -> None:
    """Go to the editor of a rubric or a draft."""
    state.set_address(**{state.RUBRIC: name, state.VERSION: None})


def start(fresh: Draft) -> str:
    """Keep a new draft and go to its editor; returns the draft's name."""
    name = authoring.new_name()
    authoring.keep(store(), name, fresh)
    state.drop(RUBRICS_PANEL)
    open_rubric(name)
    return name


def back_to_list(before: Callable[[], None] = lambda: None) -> None:
    """The way back; what is unsaved is kept. `before` is called on the way."""
    st.button(
        "All rubrics",
        key=state.key(RUBRIC_ACT, "list"),
        type="tertiary",
        icon=":material/arrow_back:",
        on_click=_on_list,
        args=(before,),
    )


def _on_list(before: Callable[[], None]) -> None:
    with shown_errors():
        before()
    state.set_address(**{state.RUBRIC: None, state.VERSION: None, SIDE: None})
