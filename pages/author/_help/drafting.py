"""A rubric drafted by a model: from a task description, or from labelled items."""

from __future__ import annotations

import streamlit as st

from core.services import datasets, drafting, helping
from core.services import numbers as fmt
from core.services.draft_types import CriterionDraft, Draft
from core.services.drafting import DraftRequest
from core.services.drafts import problems_of
from pages.author._help import common
from pages.author._rubric.going import start
from pages.ui import help_keys as keys
from pages.ui import state
from pages.ui.resources import store
from pages.ui.text import esc, one_line
from pages.ui.widgets import shown_errors

NONE = 0


def panel() -> None:
    """The form, the task under way, and what came of it."""
    with st.container(border=True):
        st.subheader("Draft with a model", anchor=False)
        st.caption("Nothing is saved before you have looked it over.")
        if common.ready():
            with shown_errors():
                _form()


def _form() -> None:
    left, right = st.columns(2, gap="medium")
    with left:
        task = st.text_area(
            "The task",
            key=_key("task"),
            height=150,
            persist_state="session",
            placeholder="What the submissions had to answer, word for word if you can.",
        )
        wishes = st.text_area(
            "What the rubric should look at (optional)",
            key=_key("wishes"),
            height=70,
            persist_state="session",
        )
    with right:
        version = _examples()
        judge = common.writer("draft")
        request = DraftRequest(
            judge, task or "", wishes or "", version, budget=common.budget("draft")
        )
        common.outlook(drafting.estimate(store(), request))
    found = helping.latest(store(), drafting.KIND, drafting.NEW)
    if st.button(
        "Draft it",
        key=state.key(keys.HELP_ACT, "draft"),
        type="primary",
        icon=":material/auto_awesome:",
        disabled=found is not None and found.active,
    ):
        drafting.begin(store(), request)
        st.rerun()
    if found is not None:
        common.progress(found)
        draft = drafting.drafted(store(), found)
        if draft is not None:
            _drafted(draft, found.id)


def _examples() -> int | None:
    labelled = [row for row in datasets.listing(store()) if row.labelled]
    titles = {NONE: "No examples"}
    titles |= {row.version_id: f"{row.name} ({row.labelled} labelled)" for row in labelled}
    chosen: int = st.selectbox(
        "Labelled items to learn from (optional)",
        list(titles),
        key=_key("dataset"),
        format_func=lambda one: one_line(titles[one], 70),
        persist_state="session",
        help=f"Up to {drafting.EXAMPLES} are shown to the model, evenly over their labels.",
    )
    return chosen or None


def _drafted(draft: Draft, task_id: int) -> None:
    lines = "".join(
        f"<li><b>{esc(one_line(c['name'] or 'without a name', 80))}</b> <span class='rs-quiet'>"
        f"{_facts(c)}</span><br>{esc(one_line(c['requirement'], 200))}</li>"
        for c in draft["criteria"]
    )
    st.html(
        f'<div class="rs-card"><b>{esc(one_line(draft["name"], 90))}</b>'
        f'<ul class="rs-list">{lines}</ul></div>'
    )
    st.button(
        "Open it in the editor",
        key=state.key(keys.HELP_ACT, "open", task_id),
        icon=":material/edit_note:",
        on_click=_on_open,
        args=(draft,),
    )


def _facts(criterion: CriterionDraft) -> str:
    weight = criterion["weight"]
    return f"{'no weight' if weight is None else fmt.weight(weight)}, {esc(criterion['scale'])}"


def _on_open(draft: Draft) -> None:
    with shown_errors():
        start(draft)
        wrong = len(problems_of(draft))
        mend = f" {fmt.plural(wrong, 'thing')} must be mended first." if wrong else ""
        state.flash(f"Drafted by a model. Look it over, then save.{mend}")


def _key(name: str) -> str:
    return state.key(keys.HELP_FIELD, "draft", name)
