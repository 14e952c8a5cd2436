"""The same draft as YAML, read again after every change."""

from __future__ import annotations

import streamlit as st

from core.errors import InputError
from core.services import authoring
from pages.author._rubric import work
from pages.author._rubric.going import RUBRIC_ACT
from pages.author._rubric.work import RUBRIC_YAML
from pages.ui import state
from pages.ui.text import esc, label
from pages.ui.widgets import problem_list, shown_errors

#: So many lines more than the text has are numbered and have room, for what is typed next.
SPARE = 12
#: The height of a line, as the style sheet has it, and the least height of the field, in pixels.
LINE, LEAST = 20.16, 620


def show(name: str) -> None:
    """The text with what is wrong in it, line by line."""
    typed = work.text(name)
    key = state.key(RUBRIC_YAML, name)
    state.seed(key, authoring.text_of(work.draft(name)) if typed is None else typed)
    refused = work.refused_text(name)
    if refused is not None:
        st.error(label(refused.message), icon=":material/error:")
        problem_list(refused.problems)
    elif typed is not None:
        _notices(typed)
    with st.container(key="rs_source"), st.container(key="rs_numbered"):
        _numbers(str(state.get(key) or ""), refused)
        st.text_area(
            "YAML",
            key=key,
            height=_height(str(state.get(key) or "")),
            label_visibility="collapsed",
            on_change=_on_text,
            args=(name,),
        )
    st.caption("Read again when you leave the field or press Ctrl+Enter; the form follows.")


def _height(text: str) -> int:
    """So high that the text does not scroll away from the numbers of its lines."""
    return max(LEAST, round((text.count("\n") + 1 + SPARE) * LINE))


def _numbers(text: str, refused: InputError | None) -> None:
    """The numbers of the lines beside the text; those with something to mend are marked."""
    problems = refused.problems if refused is not None else ()
    marked: dict[int, str] = {}
    for problem in problems:
        if problem.line is not None:
            marked.setdefault(problem.line, problem.message)
    last = max(text.count("\n") + 1 + SPARE, round(LEAST / LINE))
    lines = "".join(
        f'<b title="{esc(marked[n])}">{n} ▸</b>' if n in marked else f"<i>{n}</i>"
        for n in range(1, last + 1)
    )
    st.html(f'<div class="rs-numbers" aria-hidden="true">{lines}</div>')


def show_comments(name: str) -> None:
    """Before anything is saved, that comments in the typed YAML are not."""
    lost = authoring.lost_comments(work.text(name) or "")
    if lost:
        st.warning(label(lost, 500), icon=":material/comment:")


def show_waiting(name: str, view_key: str, yaml: str) -> None:
    """Instead of the form, while the typed YAML is not a rubric: nothing is dropped unasked."""
    refused = work.refused_text(name)
    st.warning(
        "The YAML view holds text that is not a valid rubric yet. Mend it there, or drop it and go "
        "on with the form as it was.",
        icon=":material/warning:",
    )
    if isinstance(refused, InputError):
        problem_list(refused.problems)
    with st.container(horizontal=True):
        st.button(
            "Back to the YAML",
            key=state.key(RUBRIC_ACT, name, "yaml_back"),
            type="primary",
            on_click=state.put,
            args=(view_key, yaml),
        )
        st.button(
            "Drop the typed YAML",
            key=state.key(RUBRIC_ACT, name, "yaml_drop"),
            on_click=_on_drop,
            args=(name,),
        )


def _notices(typed: str) -> None:
    notices = authoring.read(typed, "rubric.yaml").notices
    if notices:
        st.info("Read, and kept as additional data:", icon=":material/info:")
        problem_list(notices)


def _on_text(name: str) -> None:
    with shown_errors():
        work.change_text(name, str(state.get(state.key(RUBRIC_YAML, name)) or ""))


def _on_drop(name: str) -> None:
    with shown_errors():
        work.drop_text(name)
