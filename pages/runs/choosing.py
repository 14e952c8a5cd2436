"""What a run or a sweep judges: versions of a rubric and of a dataset, and how many items."""

from __future__ import annotations

import streamlit as st

from core.services.runs import planning
from core.services.runs.planning import RunChoices
from core.text import numbers as fmt
from pages.ui import routes, state
from pages.ui.resources import store
from pages.ui.run_form import plan_key
from pages.ui.text import one_line
from pages.ui.widgets import empty_state

ALL, FIRST, DRAWN = "All", "The first", "Drawn by the seed"


def missing(found: RunChoices) -> None:
    """What to do where there is no rubric or no dataset."""
    what, page = ("dataset", routes.DATASETS) if found.rubrics else ("rubric", routes.RUBRICS)
    empty_state(
        f"There is no {what} yet",
        "A run asks judges the questions of a rubric about the items of a dataset.",
        lambda: routes.link(page, f"Open {what}s"),
    )


def choose_rubric(found: RunChoices) -> int:
    """The rubric version to ask."""
    names = {one.id: one.name for one in found.rubrics}
    chosen = _chosen("rubric", names, state.RUBRIC)
    versions = {one.id: one for one in planning.rubric_versions(store(), chosen)}
    return _version("rubric", chosen, {n: v.number for n, v in versions.items()})


def choose_dataset(found: RunChoices) -> tuple[int, int]:
    """The dataset version, and how many items it has."""
    names = {one.id: f"{one.name} ({fmt.plural(one.items, 'item')})" for one in found.datasets}
    chosen = _chosen("dataset", names, state.DATASET)
    versions = {one.id: one for one in planning.dataset_versions(store(), chosen)}
    version = _version("dataset", chosen, {n: v.number for n, v in versions.items()})
    return version, versions[version].items


def _chosen(what: str, names: dict[int, str], parameter: str) -> int:
    key = plan_key(what)
    asked, followed = state.address_id(parameter), plan_key(what, "asked")
    if asked is not None and asked not in names:
        state.unknown(parameter, asked)
    if asked in names and asked != state.get(followed):
        # Whoever comes by a link means what it names, whatever was planned before.
        state.put(key, asked)
        state.put(followed, asked)
    if state.get(key) not in names:
        state.put(key, next(iter(names)))
    chosen: int = st.selectbox(
        what.capitalize(),
        list(names),
        key=key,
        format_func=lambda one: one_line(names[one], 90),
        persist_state="session",
    )
    return chosen


def _version(what: str, of: int, numbers: dict[int, int]) -> int:
    """The version to use: the newest, unless somebody picks an older one."""
    newest = next(iter(numbers))
    if len(numbers) == 1:
        return newest
    key = plan_key(what, of, "version")
    state.seed(key, newest)
    chosen: int = st.selectbox(
        f"Version of the {what}",
        list(numbers),
        key=key,
        format_func=lambda one: f"{numbers[one]}{' (newest)' if one == newest else ''}",
        persist_state="session",
    )
    return chosen


def choose_items(count: int) -> tuple[int | None, bool]:
    """How many items at most (`None`: all), and whether the seed draws them."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        state.seed(plan_key("which"), ALL)
        which = st.segmented_control(
            "Items",
            [ALL, FIRST, DRAWN],
            key=plan_key("which"),
            required=True,
            persist_state="session",
        )
        if which == ALL:
            return None, False
        state.seed(plan_key("limit"), min(20, count))
        limit: int = st.number_input(
            "How many", 1, max(1, count), key=plan_key("limit"), width=140, persist_state="session"
        )
    return limit, which == DRAWN
