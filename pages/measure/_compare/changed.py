"""What is not the same in the plans of two runs."""

from __future__ import annotations

import streamlit as st

from core.services.comparing import Comparison
from pages.ui.text import esc
from pages.ui.widgets import table

MOST = 12
_NOTHING = '<span class="rs-quiet">nothing</span>'


def show(found: Comparison) -> None:
    """A table, or that nothing changed."""
    rows = [
        (esc(c.area), esc(c.what), esc(c.before or "") or _NOTHING, esc(c.after or "") or _NOTHING)
        for c in found.changed
    ]
    if not rows:
        st.html(
            '<div class="rs-prose">Nothing: same rubric, dataset, panel and seed. What differs '
            "below is chance.</div>"
        )
    else:
        heads = ("Part", "What", "A", "B")
        table(heads, rows[:MOST], name="What changed")
        if len(rows) > MOST:
            with st.expander(f"{len(rows) - MOST} more"):
                table(heads, rows[MOST:], name="What else changed")
    for name, why in found.apart.items():
        st.html(f'<div class="rs-quiet"><b>{esc(name)}</b> cannot be compared. {esc(why)}</div>')
