"""What keeps the draft from being a rubric: where, what, and how to mend it."""

from __future__ import annotations

import streamlit as st

from core.errors import Problem
from core.services.drafts import locate, problems_of
from pages.author._rubric import work
from pages.author._rubric.going import RUBRIC_ACT
from pages.ui import state
from pages.ui.text import label
from pages.ui.widgets import problem_list

SHOWN = 12


def show_problems(name: str) -> None:
    """The problems of the draft (or of the typed YAML), each with a way to its card."""
    refused = work.refused_text(name)
    if refused is not None:
        st.error(label(f"The YAML is not applied yet. {refused.message}"))
        problem_list(refused.problems)
        return
    draft = work.draft(name)
    problems = problems_of(draft)
    if not problems:
        st.success("Nothing to mend before saving: it can be used.", icon=":material/check:")
        return
    count = f"{len(problems)} thing{'s' * (len(problems) > 1)} to mend before saving"
    st.warning(count, icon=":material/build:")
    for place, problem in enumerate(problems[:SHOWN]):
        _problem(name, place, problem)
    if len(problems) > SHOWN:
        st.caption(f"and {len(problems) - SHOWN} more")


def _problem(name: str, place: int, problem: Problem) -> None:
    uid, _ = locate(work.draft(name), problem.path)
    target = uid or _about_card(problem)
    with st.container(horizontal=True, vertical_alignment="center"):
        problem_list([_named(name, problem, uid)])
        if target is not None and target != work.open_card(name):
            st.button(
                "Open",
                key=state.key(RUBRIC_ACT, name, "problem", place),
                type="tertiary",
                icon=":material/arrow_forward:",
                on_click=work.keep_open,
                args=(name, target),
            )


def _about_card(problem: Problem) -> str | None:
    if problem.path[:1] == ("decision",):
        return work.DECISION
    if problem.path[:2] == ("scoring", "length_penalty"):
        return work.PENALTY
    heads = ("name", "description", "guidelines", "scoring")
    return work.ABOUT if problem.path and problem.path[0] in heads else None


def _named(name: str, problem: Problem, uid: str | None) -> Problem:
    """The problem with the criterion's name instead of its number, where it has one."""
    criterion = next((c for c in work.draft(name)["criteria"] if c["uid"] == uid), None)
    if criterion is None or not criterion["name"].strip():
        return problem
    return Problem(problem.message, problem.mend, (criterion["name"], *problem.path[2:]))
