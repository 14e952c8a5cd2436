"""Who settled a verdict, and the way to its timeline."""

from __future__ import annotations

import streamlit as st

from core.services import numbers as fmt
from core.services.provenance import Decided
from pages.ui import routes, state
from pages.ui.text import esc
from pages.ui.widgets import row, tag


def show(run_id: int, item_id: str, criterion: str, found: Decided) -> None:
    """One line with the names, the day, how they came to it, and what the votes had given."""
    one = found.settled
    active = one.state == "active"
    words = ", ".join(one.people)
    mark = tag(f"settled by {words}", "info") if active else tag(f"{one.state}: {words}", "warn")
    said = "not assessable" if one.uncertain else one.label or ""
    gave = "the votes gave nothing" if found.voted is None else f"the votes gave {found.voted}"
    parts = [f"as {said}", fmt.day(found.when), found.how, gave]
    row([mark, f'<span class="rs-quiet">{esc(" · ".join(parts))}</span>'])
    if one.note:
        st.html(f'<div class="rs-quote">{esc(one.note)}</div>')
    routes.link(
        routes.RECORD,
        "Timeline",
        {state.RUN: run_id, state.ITEM: item_id, state.CRITERION: criterion},
        icon="history",
    )
