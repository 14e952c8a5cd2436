"""Start: what this is, a graded example with its figures, where to go, and what one has."""

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
    (
        "Grade everything",
        "See calls and cost first; stop, resume and retry at will.",
        "grade/runs.py",
        "Runs",
    ),
    (
        "Bring in votes",
        "What people or models said elsewhere, to measure and review it here.",
        "grade/import_votes.py",
        "Import votes",
    ),
    (
        "Settle what is in doubt",
        "People review what judges left open, alone or several at once.",
        "review/queues.py",
        "Review",
    ),
    (
        "Find the better system",
        "Two answers at a time, in both orders; a leaderboard with intervals.",
        "grade/contests.py",
        "Compare systems",
    ),
)


def _steps() -> None:
    with st.grid(4, min_column_width=210):
        for title, words, page, link in STEPS:
            with st.container(border=True, height="stretch"):
                st.html(f'<b>{esc(title)}</b><br><span class="rs-quiet">{esc(words)}</span>')
                st.space("stretch")
                st.page_link(PAGES / page, label=link, icon=":material/arrow_forward:")


page_header(
    "Rubric Studio",
    "Write rubrics, have submissions graded by models or by judges that learn from your labels, "
    "see every vote, and learn how far the grades can be trusted.",
)
own.show()
example.show()
_steps()
