"""The form that plans a run, with what it will take beside it."""

from __future__ import annotations

import streamlit as st

from core.domain.panel import Panel
from core.services import choosing, clock, estimating
from core.services.choosing import Choices
from core.services.planning import LABEL_SHARE, RunRequest
from pages.grade._runs import judging, outlook
from pages.ui import format as fmt
from pages.ui import routes, state
from pages.ui import run_keys as keys
from pages.ui.resources import store
from pages.ui.text import one_line
from pages.ui.widgets import empty_state, page_header, shown_errors

ALL, FIRST, DRAWN = "All", "The first", "Drawn by the seed"


def show() -> None:
    """The whole form."""
    back_button()
    page_header("Plan a run", "Nothing is asked and nothing is paid before you press Start.")
    found = choosing.choices(store())
    if not found.rubrics or not found.datasets:
        missing(found)
        return
    form, beside = st.columns([3, 2], gap="large")
    request: RunRequest | None = None
    with form, shown_errors():
        request = _form(found)
    with beside, st.container(key="rs_beside"), shown_errors():
        outlook.show(request)


def back_button() -> None:
    """Back to the list."""
    st.button(
        "All runs",
        key=state.key(keys.RUNS_ACT, "back"),
        type="tertiary",
        icon=":material/arrow_back:",
        on_click=_on_back,
    )


def _on_back() -> None:
    state.drop(keys.SWEPT)
    state.set_address(**{keys.PLAN: None, state.RUBRIC: None, state.DATASET: None})


def missing(found: Choices) -> None:
    """What to do where there is no rubric or no dataset."""
    what, page = ("dataset", routes.DATASETS) if found.rubrics else ("rubric", routes.RUBRICS)
    empty_state(
        f"There is no {what} yet",
        "A run asks judges the questions of a rubric about the items of a dataset.",
        lambda: routes.link(page, f"Open {what}s"),
    )


def _form(found: Choices) -> RunRequest | None:
    st.html('<div class="rs-section">What is judged</div>')
    rubric = choose_rubric(found)
    dataset, items = choose_dataset(found)
    limit, drawn = choose_items(items)
    st.html('<div class="rs-section">Who judges</div>')
    panel = judging.panel(found, choosing.rubric_at(store(), rubric))
    st.html('<div class="rs-section">How</div>')
    share = _label_share(dataset, panel)
    replicates = _replicates()
    seed, budget = seed_and_budget()
    name: str = st.text_input(
        "Name (optional)",
        key=_key("name"),
        max_chars=200,
        placeholder="The rubric's and the dataset's names",
        persist_state="session",
    )
    if panel is None:
        return None
    return RunRequest(
        rubric_version=rubric,
        dataset_version=dataset,
        panel=panel,
        name=" ".join(name.split()),
        seed=seed,
        replicates=replicates,
        budget=budget,
        label_share=share,
        limit=limit,
        drawn=drawn,
    )


def choose_rubric(found: Choices) -> int:
    """The rubric version to ask."""
    names = {one.id: one.name for one in found.rubrics}
    chosen = _chosen("rubric", names, state.RUBRIC)
    versions = {one.id: one for one in choosing.rubric_versions(store(), chosen)}
    return _version("rubric", chosen, {n: v.number for n, v in versions.items()})


def choose_dataset(found: Choices) -> tuple[int, int]:
    """The dataset version, and how many items it has."""
    names = {one.id: f"{one.name} ({fmt.plural(one.items, 'item')})" for one in found.datasets}
    chosen = _chosen("dataset", names, state.DATASET)
    versions = {one.id: one for one in choosing.dataset_versions(store(), chosen)}
    version = _version("dataset", chosen, {n: v.number for n, v in versions.items()})
    return version, versions[version].items


def _chosen(what: str, names: dict[int, str], parameter: str) -> int:
    key = _key(what)
    asked = state.address_id(parameter)
    if state.get(key) not in names:
        state.put(key, asked if asked in names else next(iter(names)))
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
    key = _key(what, of, "version")
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
        state.seed(_key("which"), ALL)
        which = st.segmented_control(
            "Items", [ALL, FIRST, DRAWN], key=_key("which"), required=True, persist_state="session"
        )
        if which == ALL:
            return None, False
        state.seed(_key("limit"), min(20, count))
        limit: int = st.number_input(
            "How many", 1, max(1, count), key=_key("limit"), width=140, persist_state="session"
        )
    return limit, which == DRAWN


def _label_share(dataset: int, panel: Panel | None) -> float:
    who = _learners(panel)
    if not who:
        return LABEL_SHARE
    learning = estimating.learning(store(), dataset)
    if learning.marked:
        st.caption(
            f"The dataset marks {fmt.plural(learning.marked, 'labelled item')} as its calibration "
            f"part. {who} those, and they are not graded."
        )
        return LABEL_SHARE
    if not learning.labelled:
        return LABEL_SHARE
    state.seed(_key("share"), round(100 * LABEL_SHARE))
    share: int = st.slider(
        "Labelled items to learn from",
        5,
        95,
        step=5,
        format="%d%%",
        key=_key("share"),
        persist_state="session",
        help=f"{who} this share of the {learning.labelled} labelled items. "
        "Those are not graded; the others show how right the judges are.",
    )
    return share / 100


def _learners(panel: Panel | None) -> str:
    """Who needs labelled items, with its verb; empty where nobody does."""
    if panel is None:
        return ""
    offline = [judge.offline for judge in panel.judges]
    examples = bool(panel.asking.few_shot) and not all(offline)
    if any(offline):
        shown = ", and examples for models are drawn from" if examples else ""
        return f"Offline judges learn from{shown}"
    return "Examples are drawn from" if examples else ""


def _replicates() -> int:
    state.seed(_key("replicates"), 1)
    count: int = st.number_input(
        "Times every judge is asked", 1, 20, key=_key("replicates"), persist_state="session"
    )
    st.caption(
        "Once is the usual. Asking several times shows whether a judge agrees with itself, and "
        f"steadies the verdict; {'it multiplies' if count == 1 else 'here it multiplies'} calls "
        f"and cost by {'as much' if count == 1 else count}."
    )
    return count


def seed_and_budget() -> tuple[int, float | None]:
    """The seed, and the budget of one run in US dollars (`None`: no limit)."""
    state.seed(_key("seed"), clock.draw_seed())
    with st.container(horizontal=True, vertical_alignment="bottom"):
        seed: int = st.number_input(
            "Seed",
            0,
            2**31 - 1,
            key=_key("seed"),
            width=180,
            persist_state="session",
            help="Decides the order in which options are shown, and which items are drawn. The "
            "same seed gives the same run.",
        )
        st.button("Draw another", key=state.key(keys.RUNS_ACT, "seed"), on_click=_on_seed)
        budget: float | None = st.number_input(
            "Budget in US dollars",
            min_value=0.01,
            value=None,
            key=_key("budget"),
            width=200,
            placeholder="No limit",
            persist_state="session",
            help="The run stops when this is spent; what was finished is kept.",
        )
    return seed, budget


def _on_seed() -> None:
    state.put(_key("seed"), clock.draw_seed())


def _key(*ids: object) -> str:
    return state.key(keys.PLAN_FIELD, *ids)
