"""Library: ready-made criteria and whole rubrics (`?rubric=NAME` says where they go)."""

from __future__ import annotations

import streamlit as st

from pages.author._library import criteria, wholes
from pages.ui import library_keys as keys
from pages.ui import state
from pages.ui.widgets import page_header, show_flash

CRITERIA, WHOLES = "Criteria", "Whole rubrics"

page_header("Library", "Criteria that are worded, weighted and anchored, to be put into a rubric.")
show_flash()
state.seed(keys.LIBRARY_VIEW, CRITERIA)
_view = st.segmented_control(
    "What to look at",
    [CRITERIA, WHOLES],
    key=keys.LIBRARY_VIEW,
    required=True,
    label_visibility="collapsed",
)
if _view == WHOLES:
    wholes.show()
else:
    criteria.show()
