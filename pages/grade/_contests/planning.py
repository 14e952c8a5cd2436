"""The form that plans a contest, with what it will take beside it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st

from core.services import choosing, contest_choices
from core.services import numbers as fmt
from core.services.choosing import Choices
from core.services.contest_questions import contest_rubric
from core.services.contest_rounds import with_first_round
from core.services.contests import ContestRequest
from pages.grade._contests import designing, outlook
from pages.grade._runs import judging
from pages.grade._runs.judging import PLAN_FIELD, seed_and_budget
from pages.ui import contest_keys as keys
from pages.ui import routes, state
from pages.ui.resources import remembered, store
from pages.ui.text import label, one_line
from pages.ui.widgets import empty_state, page_header, shown_errors

BY_PROMPT, BY_ID = "the same prompt", "the same id"


@dataclass(frozen=True)
class Data:
    """What is compared: dataset versions, the key to join by, the systems, the number of tasks."""

    versions: tuple[int, ...]
    join: str | None
    systems: tuple[str, ...]


def show() -> None:
    """The whole form."""
    st.button(
        "All contests",
        key=state.key(keys.CONTEST_ACT, "back"),
        type="tertiary",
        icon=":material/arrow_back:",
        on_click=state.set_address,
        kwargs={state.PLAN: None, state.DATASET: None},
    )
    page_header("Plan a contest", "Nothing is asked and nothing is paid before you press Start.")
    found = choosing.choices(store())
    if not found.datasets:
        empty_state(
            "There is no dataset yet",
            "A contest compares what several systems answered to the same tasks.",
            lambda: routes.link(routes.DATASETS, "Open datasets", icon=""),
        )
        return
    form, beside = st.columns([3, 2], gap="large")
    request: ContestRequest | None = None
    with form, shown_errors():
        request = _form(found)
    with beside, st.container(key="rs_beside"), shown_errors():
        outlook.show(request)


def _form(found: Choices) -> ContestRequest | None:
    st.html('<div class="rs-section">What is compared</div>')
    data = _data(found)
    if data is None:
        return None
    st.html('<div class="rs-section">What is asked</div>')
    asked = designing.questions(found)
    st.html('<div class="rs-section">Who meets whom</div>')
    design = designing.design(data.systems)
    if asked is None or design is None:
        return None
    st.html('<div class="rs-section">Who judges</div>')
    panel = judging.panel(_able(found), contest_rubric(asked.questions, design))
    seed, budget = seed_and_budget()
    state.seed(field("replicates"), 1)
    replicates: int = st.number_input(
        "Times every judge is asked",
        1,
        20,
        key=field("replicates"),
        width=200,
        persist_state="session",
    )
    name: str = st.text_input(
        "Name (optional)",
        key=field("name"),
        max_chars=200,
        placeholder="The systems and the dataset's name",
        persist_state="session",
    )
    if panel is None:
        return None
    request = ContestRequest(
        datasets=data.versions,
        panel=panel,
        systems=data.systems,
        questions=asked.questions,
        design=design,
        guidelines=asked.guidelines,
        join=data.join,
        name=" ".join(name.split()),
        seed=seed,
        replicates=replicates,
        budget=budget,
    )
    return with_first_round(request) if design.kind == "adaptive" else request


def _data(found: Choices) -> Data | None:
    names = {one.id: f"{one.name} ({fmt.plural(one.items, 'item')})" for one in found.datasets}
    key = field("datasets")
    asked = state.address_id(state.DATASET)
    first = [asked] if asked in names else []
    state.put(key, [one for one in state.get(key, first) if one in names])
    chosen: list[int] = st.multiselect(
        "Datasets",
        list(names),
        key=key,
        format_func=lambda one: one_line(names[one], 90),
        placeholder="One whose items name their system, or one for each system",
        persist_state="session",
    )
    if not chosen:
        st.info("Choose a dataset with answers of two systems or more.", icon=":material/dataset:")
        return None
    versions = tuple(choosing.dataset_versions(store(), one)[0].id for one in chosen)
    join = _join(versions)
    about = ("field", versions, join)
    there, tasks = remembered(
        "systems", about, lambda: contest_choices.field_of(store(), versions, join)
    )
    systems = _systems(there, versions, join)
    if len(systems) < 2:
        st.info("Choose two systems or more.", icon=":material/swords:")
        return None
    st.caption(f"{fmt.plural(tasks, 'task')} that two or more of them answered.")
    return Data(versions, join, systems)


def _join(versions: tuple[int, ...]) -> str | None:
    """What tells that items belong to one task; `None` is the usual."""
    usual = BY_ID if len(versions) > 1 else BY_PROMPT
    names = remembered("meta", versions, lambda: contest_choices.meta_names(store(), versions[0]))
    if not names:
        return None
    key = field("join", len(versions) > 1)
    if state.get(key) not in (usual, *names):
        state.put(key, usual)
    chosen: str = st.selectbox(
        "Answers belong to the same task if they have",
        [usual, *names],
        key=key,
        format_func=lambda one: one if one == usual else f"the same note {one_line(one, 60)}",
        persist_state="session",
    )
    return None if chosen == usual else chosen


def _systems(
    there: tuple[str, ...], versions: tuple[int, ...], join: str | None
) -> tuple[str, ...]:
    key = field("systems", *versions, join)
    state.seed(key, list(there))
    chosen: list[str] = st.multiselect(
        "Systems",
        list(there),
        key=key,
        format_func=lambda one: one_line(one, 60),
        placeholder="Choose two or more",
        persist_state="session",
    )
    return tuple(one for one in there if one in chosen)


def _able(found: Choices) -> Choices:
    """Only those who can compare two answers: models."""
    judges = tuple(one for one in found.judges if not one.judge.offline)
    panels = tuple(
        one for one in found.panels if not any(judge.offline for judge in one.panel.judges)
    )
    # The form that plans a run shares the field, and offers offline judges there.
    key, names = state.key(PLAN_FIELD, "judges"), {one.name for one in judges}
    if state.get(key):
        state.put(key, [name for name in state.get(key) if name in names])
    if not panels and not judges:
        st.caption(label("Offline judges cannot compare two answers; add a model."))
    return replace(found, judges=judges, panels=panels)


def field(*ids: object) -> str:
    """The key of a field of this form."""
    return state.key(keys.CONTEST_FORM, *ids)
