"""Compare systems: the list of contests, one contest run, its views and its files.

`?run=ID` shows a contest run, or any other run's figures on systems; `?plan=new` plans a contest;
without either, the list.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from core.domain.runs import Run, RunRow
from core.services.exports import contest_export
from core.services.pairwise import contests
from core.services.results import item_view
from core.text import numbers as fmt
from pages.pairwise import comparisons, leaderboard, matrix, other_runs, planning, selection
from pages.ui import routes, run_status, state
from pages.ui.resources import disabled_without, make_later, store
from pages.ui.run_status import cost_words, raters_line, status_tag, votes_words
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import (
    choose_one,
    draw_row,
    empty_state,
    page_header,
    show_flash,
    shown_errors,
)

POLL_SECONDS = 2.0
SHOWN = 30


def contest_list() -> None:
    """Draw the list screen."""
    page_header(
        "Compare systems",
        "Find the best of several systems: judges compare two answers at a time, in both "
        "orders, without names.",
    )
    show_flash()
    rows = contests.contest_runs(store(), limit=contests.LOOKED_AT)
    scored, imported = contests.other_comparable_runs(store())
    if not (rows or scored or imported):
        empty_state(
            "Nothing to compare yet",
            "A contest shows judges two systems' answers to one task and asks which is better. It "
            "needs a dataset whose items name their system, or a dataset for each system.",
            lambda: _plan_button("first"),
        )
        return
    _plan_button("plan")
    active = any(contest.active for contest in rows)
    if rows:
        st.fragment(_contest_cards, run_every=POLL_SECONDS if active else None)(active)
    _draw_other_runs(
        "Systems ranked from scores",
        "These runs graded answers of several systems one by one; their scores rank the systems "
        "without further calls.",
        scored,
    )
    _draw_other_runs(
        "Runs with both orders",
        "Imported runs whose raters judged each pair in both orders.",
        imported,
    )


def _plan_button(name: str) -> None:
    st.button(
        "Plan a contest",
        key=state.key(selection.CONTEST_ACT, name),
        type="primary",
        icon=":material/add:",
        on_click=state.set_address,
        kwargs={state.PLAN: "new"},
        **disabled_without("write"),
    )


def _contest_cards(was_active: bool) -> None:
    with shown_errors():
        rows = contests.contest_runs(store(), limit=contests.LOOKED_AT)
        if was_active and not any(contest.active for contest in rows):
            st.rerun()
        for contest in rows[:SHOWN]:
            _contest_card(contest, contests.first_round(store(), contest.id))


def _contest_card(run: RunRow, begins: int | None) -> None:
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center"):
            draw_link(run, "swords")
            draw_row([status_tag(run)])
        if run.active:
            answered = run.votes + run.failures_open
            st.progress(min(1.0, answered / run.planned) if run.planned else 1.0)
        facts = [f"run {run.id}", votes_words(run)]
        if begins is not None:
            facts.insert(1, f"continues run {begins}")
        if run.failures_open:
            facts.append(fmt.plural(run.failures_open, "failure"))
        if run.calls:
            facts.append(cost_words(run))
        facts.append(fmt.time_ago(run.created))
        for line in (raters_line(run), " · ".join(facts)):
            st.html(f'<div class="rs-quiet rs-num">{esc(line)}</div>')


def draw_link(run: RunRow, icon: str) -> None:
    """Draw a link to this page's view of a run."""
    routes.draw_link(routes.CONTESTS, label(run.name, 100), {state.RUN: run.id}, icon=icon)


def _draw_other_runs(title: str, description: str, rows: Sequence[RunRow]) -> None:
    if not rows:
        return
    st.html(
        f'<div class="rs-section">{esc(title)}</div><div class="rs-quiet">{esc(description)}</div>'
    )
    for run in rows[:SHOWN]:
        with st.container(horizontal=True, vertical_alignment="center"):
            draw_link(run, "leaderboard")
            st.html(
                f'<span class="rs-quiet rs-num">run {run.id} · {esc(votes_words(run))}</span>',
                width="content",
            )


def download_buttons(run_id: int) -> None:
    """Draw three downloads behind one button; each file is made on request."""
    with st.popover("Export", icon=":material/download:"):
        for caption, ending, mime, make, description in (
            (
                "JSON",
                "json",
                "application/json",
                contest_export.as_json,
                "Leaderboards, and every contest with the field names of unitxt.",
            ),
            (
                "CSV",
                "csv",
                "text/csv",
                contest_export.as_csv,
                "A row for every vote of judges and of people, with its reason.",
            ),
            (
                "Markdown",
                "md",
                "text/markdown",
                contest_export.as_markdown,
                "The leaderboard and its caveats, for a wiki or a pull request.",
            ),
        ):
            st.download_button(
                caption,
                data=make_later(partial(make, run_id=run_id)),
                file_name=f"contest-{run_id}.{ending}",
                mime=mime,
                key=state.key(selection.CONTEST_ACT, "export", ending),
                help=description,
                on_click="ignore",
                width="stretch",
            )


VIEWS = {
    "board": "Leaderboard",
    "matrix": "Who beats whom",
    "position": "Position and length",
    "scores": "Beside scores",
    "people": "People",
}


def show_contest_run(run_id: int) -> None:
    """Draw the whole page of a run."""
    routes.draw_back_link(routes.CONTESTS, "All contests")
    run = item_view.require_run(store(), run_id)
    details = f"Run {run.id} · judged by {raters_line(run)}"
    page_header(one_line(run.name, 100), details, own_words=False)
    show_flash()
    if not contests.is_contest(store(), run_id):
        other_runs.show(run)
        return
    run_status.show_status(run_id)
    selected = selection.read_contests(run_id)
    _draw_links(run)
    if not run.votes:
        empty_state("No vote yet", "The leaderboard appears here after the first votes.")
        return
    planning.show_next_round(run, selected)
    _show_view(selected)


def _draw_links(run: Run) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        routes.draw_link(routes.RUN, "Votes and failures", {state.RUN: run.id})
        if run.panel.askable:
            routes.draw_link(routes.ARENA, "Vote on these contests yourself", {state.RUN: run.id})
        st.space("stretch")
        if run.votes:
            download_buttons(run.id)


def _show_view(selected: selection.ContestSelection) -> None:
    key = state.key(selection.CONTEST_FIELD, state.VIEW)
    state.put(key, state.address_in(state.VIEW, VIEWS) or "board")
    view = choose_one("View", VIEWS, key=key, on_change=_on_view, args=(key,))
    with shown_errors():
        if view != "people":
            selection.draw_pickers(selected, only_question=view == "scores")
        match view:
            case "matrix":
                matrix.show(selected)
            case "position":
                leaderboard.position_and_length(selected)
            case "scores":
                comparisons.show_pointwise_comparison(selected)
            case "people":
                comparisons.people_beside_judges(selected)
            case _:
                leaderboard.leaderboard_view(selected)


def _on_view(key: str) -> None:
    view = state.get(key)
    state.set_address(**{state.VIEW: None if view == "board" else view, selection.BOUT: None})


_run = state.address_id(state.RUN)
if state.address(state.PLAN) is not None:
    planning.show()
elif _run is None:
    contest_list()
else:
    show_contest_run(_run)
