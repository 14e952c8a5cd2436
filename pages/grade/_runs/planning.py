"""The form that plans a run, with what it will take beside it."""

from __future__ import annotations

import streamlit as st

from core.domain.panel import Panel
from core.services import choosing, estimating
from core.services import numbers as fmt
from core.services.choosing import Choices
from core.services.planning import LABEL_SHARE, RunRequest
from pages.grade._runs import judging, outlook
from pages.grade._runs.judging import plan_key
from pages.ui import state
from pages.ui.resources import store
from pages.ui.widgets import page_header, shown_errors


def show() -> None:
    """The whole form."""
    judging.back_button()
    page_header("Plan a run", "Nothing is asked and nothing is paid before you press Start.")
    found = choosing.choices(store())
    if not found.rubrics or not found.datasets:
        judging.missing(found)
        return
    form, beside = st.columns([3, 2], gap="large")
    request: RunRequest | None = None
    with form, shown_errors():
        request = _form(found)
    with beside, st.container(key="rs_beside"), shown_errors():
        outlook.show(request)


def _form(found: Choices) -> RunRequest | None:
    st.html('<div class="rs-section">What is judged</div>')
    rubric = judging.choose_rubric(found)
    dataset, items = judging.choose_dataset(found)
    limit, drawn = judging.choose_items(items)
    st.html('<div class="rs-section">Who judges</div>')
    panel = judging.panel(found, choosing.rubric_at(store(), rubric))
    st.html('<div class="rs-section">How</div>')
    share = _label_share(dataset, panel)
    replicates = _replicates()
    seed, budget = judging.seed_and_budget()
    name: str = st.text_input(
        "Name (optional)",
        key=plan_key("name"),
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
    state.seed(plan_key("share"), round(100 * LABEL_SHARE))
    share: int = st.slider(
        "Labelled items to learn from",
        5,
        95,
        step=5,
        format="%d%%",
        key=plan_key("share"),
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
    state.seed(plan_key("replicates"), 1)
    count: int = st.number_input(
        "Times every judge is asked", 1, 20, key=plan_key("replicates"), persist_state="session"
    )
    st.caption(
        "Once is the usual. Asking several times shows whether a judge agrees with itself, and "
        f"steadies the verdict; {'it multiplies' if count == 1 else 'here it multiplies'} calls "
        f"and cost by {'as much' if count == 1 else count}."
    )
    return count
