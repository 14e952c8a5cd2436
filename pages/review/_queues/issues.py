"""What reviewers found wrong with criteria, by rubric, with the way to the editor."""

from __future__ import annotations

from itertools import groupby

import streamlit as st

from core.domain.review import WHYS
from core.services import numbers as fmt
from core.services import rubric_issues
from core.services.rubric_issues import Issue
from pages.ui import routes, state
from pages.ui.resources import store
from pages.ui.text import esc, label
from pages.ui.widgets import empty_state, page_header, table, tag


def show() -> None:
    """The screen `?show=issues`; `?rubric=ID` narrows it to one rubric."""
    page_header(
        "What reviewers say of rubrics",
        "Criteria that somebody called wrong, ambiguous, or two questions in one.",
    )
    st.button("All queues", icon=":material/arrow_back:", type="tertiary", on_click=_leave)
    found = rubric_issues.issues(store(), state.address_id(state.RUBRIC))
    if not found:
        empty_state(
            "Nobody has found fault with a criterion",
            "Reviewers say so with 0 and a reason. It appears here once the cell is resolved.",
        )
    by_rubric = sorted(found, key=lambda issue: (issue.rubric, issue.rubric_id))
    for _, group in groupby(by_rubric, key=lambda issue: issue.rubric_id):
        _rubric(list(group))


def _rubric(found: list[Issue]) -> None:
    first = found[0]
    standing = sum(not issue.changed for issue in found)
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.html(
                f'<div class="rs-row"><h2 class="rs-cell">{esc(first.rubric)}</h2>'
                f"{tag(fmt.plural(standing, 'open issue'), 'warn' if standing else 'neutral')}"
                "</div>",
                width="content",
            )
            st.space("stretch")
            routes.link(
                routes.RUBRICS,
                f"Edit {label(first.rubric, 40)}",
                {state.RUBRIC: first.rubric_id},
                icon="edit",
            )
        table(["Criterion", "What is said", "By"], map(_row, found), name="Issues")


def _row(issue: Issue) -> tuple[str, str, str]:
    changed = tag("changed since", "good") if issue.changed else ""
    note = f'<div class="rs-prose">{esc(issue.note)}</div>' if issue.note else ""
    by = f'{esc(issue.reviewer)}<br><span class="rs-quiet">run {issue.run_id}</span>'
    return (
        f'{esc(issue.criterion)} <span class="rs-quiet">version {issue.number}</span> {changed}',
        f"<b>{esc(WHYS[issue.why])}</b>{note}",
        by,
    )


def _leave() -> None:
    state.set_address(**{state.SHOW: None, state.RUBRIC: None})
