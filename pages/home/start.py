"""Start: what this is, a graded example with its figures, where to go, and what one has."""

from __future__ import annotations

import streamlit as st

from pages.home._start import example, own
from pages.ui import routes
from pages.ui.text import esc
from pages.ui.widgets import page_header

STEPS = (
    (
        "Write a rubric",
        "Questions with options. Check it, see the exact prompt, try its scoring.",
        routes.RUBRICS,
    ),
    (
        "Bring in what is judged",
        "A table of submissions; labels by people, where you have them.",
        routes.DATASETS,
    ),
    (
        "Connect a model",
        "Any provider, any name; keys stay in environment variables.",
        routes.JUDGES,
    ),
    (
        "Check one submission",
        "Paste a text, ask some judges, read every vote, in seconds.",
        routes.SPOT_CHECK,
    ),
    (
        "Grade everything",
        "See calls and cost first; stop, resume and retry at will.",
        routes.RUNS,
    ),
    (
        "Bring in votes",
        "What people or models said elsewhere, to measure and review it here.",
        routes.IMPORT_VOTES,
    ),
    (
        "Settle what is in doubt",
        "People review what judges left open, alone or several at once.",
        routes.QUEUES,
    ),
    (
        "Find the better system",
        "Two answers at a time, in both orders; a leaderboard with intervals.",
        routes.CONTESTS,
    ),
)


def _steps() -> None:
    with st.grid(4, min_column_width=210):
        for title, words, page in STEPS:
            with st.container(border=True, height="stretch"):
                st.html(f'<b>{esc(title)}</b><br><span class="rs-quiet">{esc(words)}</span>')
                st.space("stretch")
                routes.link(page, page.title, icon="arrow_forward")


page_header(
    "Rubric Studio",
    "Write rubrics, have submissions graded by models or by judges that learn from your labels, "
    "see every vote, and learn how far the grades can be trusted.",
)
own.show()
example.show()
_steps()
