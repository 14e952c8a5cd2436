"""The list of runs: newest first, searched and paged, live while something is going on."""

from __future__ import annotations

import streamlit as st

from core.domain.runs import RunMeans, RunRow
from core.services import grading
from core.services import numbers as fmt
from pages.grade._run.words import (
    cost_words,
    raters_line,
    versions_line,
    votes_words,
)
from pages.grade._runs.judging import RUNS_ACT, SWEPT
from pages.ui import routes, state
from pages.ui.resources import store
from pages.ui.statuses import status_tag
from pages.ui.text import esc, label
from pages.ui.widgets import empty_state, page_header, row, show_flash, shown_errors

RUNS_FILTER = "runs_filter"

PAGE = 20
POLL_SECONDS = 1.5


def show() -> None:
    """The whole list screen."""
    page_header("Runs", "A run asks judges about every item and keeps every vote.")
    show_flash()
    search = _toolbar()
    offset = (_page() - 1) * PAGE
    found = grading.listing(store(), search=search, limit=PAGE, offset=offset)
    if not found.total:
        _nothing(search)
        return
    active = any(one.active for one in found.rows)
    st.fragment(_cards, run_every=POLL_SECONDS if active else None)(search, offset, active)
    _pages(found.total)


def _toolbar() -> str:
    search = state.address(state.FIND) or ""
    key = state.key(RUNS_FILTER, "find")
    state.put(key, search)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text_input(
            "Search",
            key=key,
            type="search",
            live="300ms",
            placeholder="Search by name, rubric, dataset",
            label_visibility="collapsed",
            width=280,
            on_change=_on_search,
            args=(key,),
        )
        st.button(
            "Plan a run",
            key=state.key(RUNS_ACT, "plan"),
            type="primary",
            icon=":material/add:",
            on_click=on_plan,
        )
        st.button(
            "Plan a sweep",
            key=state.key(RUNS_ACT, "sweep"),
            icon=":material/tune:",
            on_click=on_plan,
            args=(state.SWEEP,),
            help="Many runs in one step: examples, judges or ways of asking are varied.",
        )
        routes.link(
            routes.IMPORT_VOTES,
            "Import votes",
            icon="upload_file",
            help="What people or models answered elsewhere becomes a run.",
        )
    return search


def on_plan(what: str = "new") -> None:
    """Open the form that plans a run, or a sweep (a callback)."""
    state.drop(SWEPT)
    state.set_address(**{state.PLAN: what, state.FIND: None, state.PAGE: None})


def _on_search(key: str) -> None:
    state.set_address(**{state.FIND: state.get(key) or None, state.PAGE: None})


def _page() -> int:
    return max(1, state.address_id(state.PAGE) or 1)


def _pages(total: int) -> None:
    if total <= PAGE:
        return
    key = state.key(RUNS_FILTER, "page")
    count = -(-total // PAGE)
    state.put(key, min(_page(), count))
    st.pagination(count, key=key, on_change=_on_page, args=(key,))


def _on_page(key: str) -> None:
    state.set_address(**{state.PAGE: state.get(key)})


def _nothing(search: str) -> None:
    if search:
        empty_state("Nothing found", "No run has these words in its name, rubric or dataset.")
        return
    empty_state(
        "No runs yet",
        "Plan one: choose a rubric, a dataset and judges, see what it will cost, and start it.",
        lambda: st.button(
            "Plan a run",
            key=state.key(RUNS_ACT, "first"),
            icon=":material/add:",
            on_click=on_plan,
        ),
    )


def _cards(search: str, offset: int, was_active: bool) -> None:
    with shown_errors():
        found = grading.listing(store(), search=search, limit=PAGE, offset=offset)
        if was_active and not any(one.active for one in found.rows):
            st.rerun()
        for one in found.rows:
            _card(one, found.means[one.id])


def _card(one: RunRow, means: RunMeans) -> None:
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center"):
            routes.link(routes.RUN, label(one.name, 90), {state.RUN: one.id})
            row([status_tag(one)])
        if one.active:
            done = one.votes + one.failures_open
            st.progress(min(1.0, done / one.planned) if one.planned else 1.0)
        lines = (f"{versions_line(one)} · {raters_line(one)}", " · ".join(_facts(one, means)))
        st.html("".join(f'<div class="rs-quiet rs-num">{esc(line)}</div>' for line in lines))


def _facts(one: RunRow, means: RunMeans) -> list[str]:
    facts = [f"run {one.id}", f"{fmt.plural(one.items, 'item')}", votes_words(one)]
    if grading.spared(one):
        facts.append(f"{fmt.count(grading.spared(one))} not needed")
    if means.score is not None:
        facts.append(f"mean score {fmt.score(means.score)}")
    if means.agreement is not None and len(one.panel.judges) > 1:
        facts.append(f"agreement {fmt.score(means.agreement)}")
    if one.failures_open:
        facts.append(fmt.plural(one.failures_open, "failure"))
    if one.calls:
        facts.append(cost_words(one))
    return [*facts, fmt.ago(one.created)]
