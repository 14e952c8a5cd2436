"""The inputs of a run or a sweep: versions of a rubric and a dataset, and how many items."""

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


def show_missing(choices: RunChoices) -> None:
    """Show what to do if there is no rubric or no dataset."""
    noun, page = ("dataset", routes.DATASETS) if choices.rubrics else ("rubric", routes.RUBRICS)
    empty_state(
        f"There is no {noun} yet",
        "A run asks judges the questions of a rubric about the items of a dataset.",
        lambda: routes.draw_link(page, f"Open {noun}s"),
    )


def choose_rubric(choices: RunChoices) -> int:
    """Return the chosen rubric version."""
    names = {rubric.id: rubric.name for rubric in choices.rubrics}
    rubric_id = _chosen_id("rubric", names, state.RUBRIC)
    versions = {version.id: version for version in planning.rubric_versions(store(), rubric_id)}
    return _version_choice("rubric", rubric_id, {n: v.number for n, v in versions.items()})


def choose_dataset(choices: RunChoices) -> tuple[int, int]:
    """Return the dataset version, and its number of items."""
    names = {
        dataset.id: f"{dataset.name} ({fmt.plural(dataset.items, 'item')})"
        for dataset in choices.datasets
    }
    dataset_id = _chosen_id("dataset", names, state.DATASET)
    versions = {version.id: version for version in planning.dataset_versions(store(), dataset_id)}
    version_id = _version_choice("dataset", dataset_id, {n: v.number for n, v in versions.items()})
    return version_id, versions[version_id].items


def _chosen_id(noun: str, names: dict[int, str], parameter: str) -> int:
    key = plan_key(noun)
    linked, followed_key = state.address_id(parameter), plan_key(noun, "asked")
    if linked is not None and linked not in names:
        state.report_unknown(parameter, linked)
    if linked in names and linked != state.get(followed_key):
        # A choice in the link replaces whatever was planned before.
        state.put(key, linked)
        state.put(followed_key, linked)
    if state.get(key) not in names:
        state.put(key, next(iter(names)))
    chosen: int = st.selectbox(
        noun.capitalize(),
        list(names),
        key=key,
        format_func=lambda choice: one_line(names[choice], 90),
        persist_state="session",
    )
    return chosen


def _version_choice(noun: str, record_id: int, numbers: dict[int, int]) -> int:
    """Return the chosen version: the newest, unless the person picks an older one."""
    newest = next(iter(numbers))
    if len(numbers) == 1:
        return newest
    key = plan_key(noun, record_id, "version")
    state.seed(key, newest)
    chosen: int = st.selectbox(
        f"Version of the {noun}",
        list(numbers),
        key=key,
        format_func=lambda choice: f"{numbers[choice]}{' (newest)' if choice == newest else ''}",
        persist_state="session",
    )
    return chosen


def choose_items(count: int) -> tuple[int | None, bool]:
    """Return the most items to judge (`None`: all), and whether the seed draws them."""
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
