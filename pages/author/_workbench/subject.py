"""Which criterion is worked on, and its requirement, to be reworded right here."""

from __future__ import annotations

import streamlit as st

from core.services.draft_types import CriterionDraft
from core.services.workbench_standing import Standing
from pages.author._rubric import work
from pages.author._rubric.work import RUBRIC_VIEW
from pages.ui import state
from pages.ui import workbench_keys as keys
from pages.ui.text import esc, one_line
from pages.ui.widgets import problem_list, row, tag

ALL = ""
#: So many criteria are listed with what they ask; more are folded up.
FEW = 8


def show(name: str, now: Standing) -> str | None:
    """The choice and the criterion; returns the chosen criterion's name, `None` for all."""
    found = {c["uid"]: c for c in work.draft(name)["criteria"]}
    key = state.key(keys.WORKBENCH_CRITERION, name)
    opened = work.open_card(name)
    state.seed(key, opened if opened in found else next(iter(found)))
    if state.get(key) not in (ALL, *found):
        state.put(key, next(iter(found)))
    with st.container(border=True):
        uid = st.selectbox(
            "Criterion",
            [ALL, *found],
            key=key,
            format_func=lambda one: (
                one_line(found[one]["name"], 80) or "Unnamed" if one else "All criteria"
            ),
            persist_state="page",
        )
        if not uid:
            _all(now)
            return None
        _one(name, found[uid])
    criterion = found[uid]["name"]
    if criterion in now.subject.criteria:
        return criterion
    st.warning("This criterion cannot be asked yet.", icon=":material/build:")
    problem_list(now.subject.broken.get(criterion) or now.subject.broken.get("Unnamed", ()))
    return criterion


def _all(now: Standing) -> None:
    lines = "".join(
        f"<li><b>{esc(c.name)}</b> {esc(one_line(c.requirement, 140))}</li>"
        for c in now.subject.criteria.values()
    )
    broken = "".join(
        f"<li><b>{esc(one_line(n, 60))}</b> {tag('cannot be asked yet', 'warn')}</li>"
        for n in now.subject.broken
    )
    written = f'<ul class="rs-list">{lines}{broken}</ul>'
    total = len(now.subject.criteria) + len(now.subject.broken)
    if total <= FEW:
        st.html(written)
        return
    with st.expander(f"What the {total} criteria ask"):
        st.html(written)


def _one(name: str, criterion: CriterionDraft) -> None:
    uid = criterion["uid"]
    key = work.field(name, uid, "requirement")
    state.seed(key, criterion["requirement"])
    st.text_area(
        "Requirement: what the judge must decide",
        key=key,
        height="content",
        max_chars=20_000,
        on_change=work.on_field,
        args=(name, "criterion", (uid,), "requirement"),
    )
    row([_option(o["label"], o["description"], na=o["na"]) for o in criterion["options"]])
    st.button(
        "Edit options and all else in the form",
        key=state.key(keys.WORKBENCH_ACT, name, "form"),
        type="tertiary",
        icon=":material/edit:",
        on_click=_on_form,
        args=(name, uid),
    )


def _option(label: str, description: str, *, na: bool) -> str:
    anchor = f"<small>{esc(one_line(description, 90))}</small>" if description else ""
    classes = "rs-chip rs-na" if na else "rs-chip"
    return f'<span class="{classes}"><span>{esc(one_line(label, 60))}</span>{anchor}</span>'


def _on_form(name: str, uid: str) -> None:
    work.keep_open(name, uid)
    state.put(state.key(RUBRIC_VIEW, name), "Form")
    state.set_address(**{state.SIDE: None})
