"""Review: the queues, one queue (`?queue=ID`), a new queue, issues or regrade requests.

`?show=issues` lists reviewers' issues with criteria, `?show=regrades` the regrade requests.
"""

from __future__ import annotations

from itertools import groupby

import streamlit as st

from core.domain.review import WHYS, Seat
from core.domain.review_records import QueueRow
from core.services.results import item_view
from core.services.review import claims, queues
from core.services.rubrics import issues
from core.services.rubrics.issues import CriterionIssue
from core.services.runs import lifecycle
from core.text import numbers as fmt
from pages.queues import labels, making, people, queue, regrades
from pages.queues.outlook import QUEUES_ACT
from pages.ui import identity, routes, state
from pages.ui.identity import Header
from pages.ui.resources import store
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import draw_row, draw_table, empty_state, page_header, show_flash, tag

HEADER = Header(
    "Review",
    (
        "People settle cells that judges left in doubt. These decisions become the verdicts and "
        "count as truth."
    ),
)


def queue_list(seat: Seat) -> None:
    """Draw the list of queues."""
    page_header(HEADER.title, HEADER.tells)
    show_flash()
    identity.show_seat(seat)
    run = state.address_id(state.RUN)
    archived = bool(state.get(state.key(QUEUES_ACT, "archived")))
    rows = queues.queues_of_run(store(), run, archived=archived)
    if not rows and not archived:
        _show_nothing()
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        _new_queue()
        st.button(
            "How many labels?",
            key=state.key(QUEUES_ACT, "labels"),
            icon=":material/straighten:",
            on_click=state.set_address,
            kwargs={state.NEW: labels.LABELS},
        )
        st.button(
            "What reviewers say about rubrics",
            key=state.key(QUEUES_ACT, "issues"),
            icon=":material/feedback:",
            on_click=state.set_address,
            kwargs={state.SHOW: "issues"},
        )
        st.button(
            "Regrade requests",
            key=state.key(QUEUES_ACT, "regrades"),
            icon=":material/replay:",
            on_click=state.set_address,
            kwargs={state.SHOW: regrades.REGRADES},
        )
        st.toggle("Archived", key=state.key(QUEUES_ACT, "archived"))
        if run is not None:
            st.caption(f"Only queues of run {run}.")
            st.button(
                "All runs",
                key=state.key(QUEUES_ACT, "all"),
                on_click=state.set_address,
                kwargs={state.RUN: None},
            )
    if not rows:
        empty_state("Nothing here", "No queue is archived.")
    for queue_row in rows:
        _queue_card(seat, queue_row)


def _new_queue() -> None:
    st.button(
        "New queue",
        key=state.key(QUEUES_ACT, "new"),
        type="primary",
        icon=":material/add:",
        on_click=_make_queue,
    )


def _make_queue() -> None:
    state.set_address(**{state.NEW: "queue"})


def _show_nothing() -> None:
    if not lifecycle.newest_runs(store(), limit=1):
        empty_state(
            "Nothing to review yet",
            "A queue holds the doubtful cells of a run. Grade something first.",
            lambda: routes.draw_link(routes.RUNS, "Runs", icon=""),
        )
        return
    empty_state(
        "No queue yet",
        "A queue holds the cells of a run that people should look at: split votes, abstentions, "
        "failures, and a random share of the rest.",
        _new_queue,
    )


def _queue_card(seat: Seat, queue: QueueRow) -> None:
    progress = queues.queue_progress(store(), queue.id)
    queue_state = claims.queue_for_person(store(), seat, queue.id)
    run = item_view.require_run(store(), queue.run_id)
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            routes.draw_link(
                routes.QUEUES, label(queue.name, 80), {state.QUEUE: queue.id}, icon="inbox"
            )
            st.space("stretch")
            if queue_state.available and queue.archived is None:
                routes.draw_link(
                    routes.REVIEW_ITEM,
                    f"Review {fmt.plural(queue_state.available, 'item')}",
                    {state.QUEUE: queue.id},
                    icon="play_arrow",
                )
        resolved = f"{fmt.count(progress.resolved)} of {fmt.count(progress.total)} cells resolved"
        waiting = progress.cells.get("disagreement", 0)
        tags = [tag(f"{fmt.count(waiting)} disagreements", "warn")] if waiting else []
        tags += [tag("archived")] if queue.archived else []
        draw_row(
            [
                f'<span class="rs-num">{resolved}</span>',
                f'<span class="rs-quiet">{esc(one_line(run.name, 60))} · run {run.id}</span>',
                *tags,
            ]
        )
        st.progress(progress.resolved / progress.total if progress.total else 0.0)
        if progress_words := people.progress_line(seat, queue):
            st.caption(label(progress_words, 300))


def criterion_issues() -> None:
    """Draw the screen `?show=issues`; `?rubric=ID` narrows it to one rubric."""
    page_header(
        "Criteria that reviewers reported",
        "Reviewers called these criteria wrong, ambiguous, or two questions in one.",
    )
    st.button("All queues", icon=":material/arrow_back:", type="tertiary", on_click=_leave_screen)
    found_issues = issues.criterion_issues(store(), state.address_id(state.RUBRIC))
    if not found_issues:
        empty_state(
            "No reviewer has reported a criterion",
            (
                "Reviewers report a criterion with key 0 and a reason. The report appears here "
                "once the cell is resolved."
            ),
        )
    by_rubric = sorted(found_issues, key=lambda issue: (issue.rubric, issue.rubric_id))
    for _, group in groupby(by_rubric, key=lambda issue: issue.rubric_id):
        _rubric_issues(list(group))


def _rubric_issues(found_issues: list[CriterionIssue]) -> None:
    first = found_issues[0]
    issues = sum(not issue.changed for issue in found_issues)
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.html(
                f'<div class="rs-row"><h2 class="rs-cell">{esc(first.rubric)}</h2>'
                f"{tag(fmt.plural(issues, 'open issue'), 'warn' if issues else 'neutral')}"
                "</div>",
                width="content",
            )
            st.space("stretch")
            routes.draw_link(
                routes.RUBRICS,
                f"Edit {label(first.rubric, 40)}",
                {state.RUBRIC: first.rubric_id},
                icon="edit",
            )
        draw_table(
            ["Criterion", "What is said", "By"], map(_issue_row, found_issues), name="Issues"
        )


def _issue_row(issue: CriterionIssue) -> tuple[str, str, str]:
    changed = tag("changed since", "good") if issue.changed else ""
    note = f'<div class="rs-prose">{esc(issue.note)}</div>' if issue.note else ""
    reporter = f'{esc(issue.reviewer)}<br><span class="rs-quiet">run {issue.run_id}</span>'
    return (
        f'{esc(issue.criterion)} <span class="rs-quiet">version {issue.number}</span> {changed}',
        f"<b>{esc(WHYS[issue.why])}</b>{note}",
        reporter,
    )


def _leave_screen() -> None:
    state.set_address(**{state.SHOW: None, state.RUBRIC: None})


_queue = state.address_id(state.QUEUE)
_who = identity.current_seat(HEADER)
if _who is not None:
    if _queue is not None:
        queue.show(_who, _queue)
    elif state.address(state.NEW) == labels.LABELS:
        labels.show(_who)
    elif state.address(state.NEW) is not None:
        making.show(_who)
    elif state.address(state.SHOW) == regrades.REGRADES:
        regrades.show(_who)
    elif state.address(state.SHOW) == "issues":
        criterion_issues()
    else:
        queue_list(_who)
