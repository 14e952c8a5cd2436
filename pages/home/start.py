"""Start: what this is, a graded example with its figures, three steps, and what one has."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages.home._start import example, own
from pages.ui.text import esc
from pages.ui.widgets import page_header

PAGES = Path(__file__).parents[1]
STEPS = (
    (
        "Write a rubric",
        "Questions with options. Check it, see the exact prompt, try its scoring.",
        "author/rubrics.py",
        "Rubrics",
    ),
    (
        "Bring in what is judged",
        "A table of submissions; labels by people, where you have them.",
        "author/datasets.py",
        "Datasets",
    ),
    (
        "Connect a model",
        "Any provider, any name; keys stay in environment variables.",
        "grade/judges.py",
        "Judges",
    ),
    (
        "Check one submission",
        "Paste a text, ask some judges, read every vote, in seconds.",
        "grade/spot_check.py",
        "Spot check",
    ),
)


def _steps() -> None:
    with st.grid(len(STEPS), min_column_width=210):
        for title, words, page, link in STEPS:
            with st.container(border=True, height="stretch"):
                st.html(f'<b>{esc(title)}</b><br><span class="rs-quiet">{esc(words)}</span>')
                st.space("stretch")
                if (PAGES / page).exists():
                    st.page_link(PAGES / page, label=link, icon=":material/arrow_forward:")


page_header(
    "Rubric Studio",
    "Write rubrics, have submissions graded by models or by judges that learn from your labels, "
    "see every vote, and learn how far the grades can be trusted.",
)
own.show()
example.show()
_steps()
