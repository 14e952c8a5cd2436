"""The ways from one look at a run to the others."""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st

from core.services.grading import RunRow
from core.services.viewing import Run
from pages.ui import compare_keys, review_keys, state


class Way(NamedTuple):
    """A page about a run: its file, what the link is called, its icon, what it tells."""

    page: str
    words: str
    icon: str
    tells: str


RUN, AGREEMENT, REPORT, COMPARE, REVIEW = "run", "agreement", "report", "compare", "review"
WAYS = {
    RUN: Way("grade/run.py", "Items and votes", "monitoring", "Every item with its votes."),
    AGREEMENT: Way(
        "measure/agreement.py", "Agreement", "balance", "How far its verdicts can be trusted."
    ),
    REPORT: Way("measure/report.py", "Report", "summarize", "Everything said of it, to take away."),
    COMPARE: Way("measure/compare.py", "Compare", "compare_arrows", "This run beside another one."),
    REVIEW: Way(
        "review/queues.py", "Review", "rate_review", "Choose doubtful cells for people to settle."
    ),
}


def show(run: Run | RunRow, here: str) -> None:
    """A row of links to the other pages about this run; nothing before it has votes."""
    if not run.votes:
        return
    with st.container(horizontal=True, gap="small", key=state.key("ways", here)):
        for name, way in WAYS.items():
            if name != here:
                st.page_link(
                    way.page,
                    label=way.words,
                    icon=f":material/{way.icon}:",
                    help=way.tells,
                    width="content",
                    query_params=_address(name, run.id),
                )


def _address(name: str, run_id: int) -> dict[str, str]:
    if name == COMPARE:
        return {compare_keys.RUNS: str(run_id)}
    if name == REVIEW:
        return {review_keys.NEW: review_keys.QUEUE, state.RUN: str(run_id)}
    return {state.RUN: str(run_id)}
