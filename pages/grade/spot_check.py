"""Spot check: one submission, some judges, now. `?run=ID` reopens a check."""

from __future__ import annotations

import streamlit as st

from pages.grade._spot import form, recent, result, work
from pages.ui import state
from pages.ui.widgets import page_header, show_flash, shown_errors

page_header("Spot check", "One submission, some judges, every vote. Nothing typed here is lost.")
show_flash()
work.load()
_run = state.address_id(state.RUN)
_left, _right = st.columns([5, 6], gap="large")
if state.arriving():
    state.drop(state.SPOT_FIELD)
with _left, shown_errors():
    form.show()
state.arrived()
with _right, shown_errors():
    if _run is not None:
        result.show(_run)
    recent.show(_run)
