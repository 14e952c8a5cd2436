"""Start: what is here, and the three steps from a rubric to a score one can defend."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from core.services.overview import counts
from pages.ui import format as fmt
from pages.ui.resources import store
from pages.ui.text import esc
from pages.ui.widgets import Figure, figures, page_header

PAGES = Path(__file__).parents[1]
STEPS = (
    (
        "1. Write a rubric",
        "Questions with options. Check it, see the exact prompt, try its scoring.",
        "author/rubrics.py",
        "Open rubrics",
    ),
    (
        "2. Bring in what is judged",
        "A table of submissions; labels by people, where you have them.",
        "author/datasets.py",
        "Open datasets",
    ),
    (
        "3. Grade, and look at every vote",
        "One judge or a panel; offline judges need no key.",
        "grade/runs.py",
        "Open runs",
    ),
)

page_header("Rubric Studio", "Write rubrics, grade with judges, see every vote, settle the rest.")
_have = counts(store())
figures(
    [
        Figure("Rubrics", fmt.count(_have.rubrics)),
        Figure("Datasets", fmt.count(_have.datasets)),
        Figure("Runs", fmt.count(_have.runs)),
        Figure("Votes", fmt.count(_have.votes)),
    ]
)
with st.grid(3, min_column_width=240):
    for title, words, page, link in STEPS:
        with st.container(border=True, height="stretch"):
            st.html(f'<b>{esc(title)}</b><br><span class="rs-quiet">{esc(words)}</span>')
            st.space("stretch")
            if (PAGES / page).exists():
                st.page_link(PAGES / page, label=link, icon=":material/arrow_forward:")
