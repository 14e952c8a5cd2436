"""Ways in: a file, pasted text, or a sample."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import streamlit as st

from core.domain.rubric import Rubric
from core.errors import InputError, Problem
from core.files.parsed import Parsed
from core.files.points import Scaling
from core.services import authoring, sharing
from core.services import numbers as fmt
from core.services.drafts import draft_from
from pages.author._rubric.going import open_rubric, start
from pages.author._rubric.work import (
    RUBRIC_NOTICES,
    RUBRICS_ACT,
    RUBRICS_FILE,
    RUBRICS_POINTS,
    RUBRICS_REFUSED,
    RUBRICS_TEXT,
)
from pages.ui import state
from pages.ui.text import esc, label
from pages.ui.widgets import problem_list, row, shown_errors, tag


def import_panel() -> None:
    """A file or pasted text becomes a draft; what is wrong with it is shown with its lines."""
    with st.container(border=True):
        st.subheader("Import a rubric", anchor=False)
        st.caption(
            "YAML, JSON (also that of autorubric, unitxt and EvalAssist), a rubric of Canvas, or a "
            "table with one level a row. Nothing is saved before you have looked it over."
        )
        left, right = st.columns(2)
        left.file_uploader("File", type=["yaml", "yml", "json", "csv", "tsv"], key=RUBRICS_FILE)
        with right, st.container(key="rs_source"):
            st.text_area("Or paste it here", key=RUBRICS_TEXT, height=160)
        _points()
        st.button(
            "Read it",
            key=state.key(RUBRICS_ACT, "read"),
            type="primary",
            on_click=_on_read,
        )
        refused = state.get(RUBRICS_REFUSED)
        if refused:
            st.error(label(refused["message"]), icon=":material/error:")
            problem_list(_problems(refused["problems"]))


POINTS: dict[Scaling, str] = {"ratio": "Of the most", "range": "Above the least, as in Moodle"}


def _points() -> None:
    """How points become values; asked only of a table, which alone has points."""
    if not sharing.is_table(*_given()):
        return
    state.seed(RUBRICS_POINTS, "ratio")
    st.segmented_control(
        "Points count",
        list(POINTS),
        format_func=POINTS.__getitem__,
        key=RUBRICS_POINTS,
        required=True,
        help="They differ where the lowest level of a criterion earns points, too: 2 of 2, 4 and 8 "
        "is 25 % of the most, or 0 % of what is above the least.",
    )


def _given() -> tuple[bytes | str, str]:
    upload: Any = state.get(RUBRICS_FILE)
    if upload:
        return upload.getvalue(), str(upload.name)
    return str(state.get(RUBRICS_TEXT) or ""), "pasted text"


def _on_read() -> None:
    state.drop(RUBRICS_REFUSED)
    data, file = _given()
    try:
        *others, found = sharing.read(data, file, state.get(RUBRICS_POINTS) or "ratio")
    except InputError as error:
        message = f"{error.where}: {error.message}" if error.where else error.message
        state.put(RUBRICS_REFUSED, {"message": message, "problems": _plain(error.problems)})
        return
    with shown_errors():
        for other in others:
            _keep(other)
        name = _keep(Parsed(found.value, (*found.notices, *_of_comments())))
        open_rubric(name)
        more = f" {len(others)} more are in the list of rubrics." if others else ""
        state.flash(f"Read. Look it over, then save.{more}")


def _keep(read: Parsed[Rubric]) -> str:
    """A draft of a rubric that was read, with what was noticed."""
    name = start(draft_from(read.value))
    state.put(state.key(RUBRIC_NOTICES, name), _plain(read.notices))
    return name


def _of_comments() -> list[Problem]:
    """That comments of the given text are not kept, where it has any."""
    data, file = _given()
    if sharing.is_table(data, file):
        return []
    text = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
    lost = authoring.lost_comments(text)
    return [Problem(lost)] if lost else []


def show_notices(name: str) -> None:
    """What was noticed while the file of this draft was read."""
    notices = state.get(state.key(RUBRIC_NOTICES, name))
    if notices:
        st.info("Noticed while reading the file:", icon=":material/info:")
        problem_list(_problems(notices))


def _plain(problems: Sequence[Problem]) -> list[dict[str, Any]]:
    # The session holds plain data only.
    return [{**dataclasses.asdict(p), "path": list(p.path)} for p in problems]


def _problems(plain: list[dict[str, Any]]) -> list[Problem]:
    return [Problem(**{**p, "path": tuple(p["path"])}) for p in plain]


def samples_panel() -> None:
    """The rubrics that come with the program."""
    with st.container(border=True):
        st.subheader("Start from a sample", anchor=False)
        st.caption("Each opens as an unsaved rubric of your own.")
        with st.grid(3, min_column_width=240):
            for sample in authoring.samples():
                with st.container(border=True, height="stretch"):
                    st.html(f"<b>{esc(sample.rubric.name)}</b>")
                    st.html(f'<span class="rs-quiet">{esc(sample.rubric.description)}</span>')
                    st.space("stretch")
                    with st.container(horizontal=True, vertical_alignment="center"):
                        st.button(
                            "Use this",
                            key=state.key(RUBRICS_ACT, "sample", sample.file),
                            on_click=_on_sample,
                            args=(sample.file,),
                        )
                        row([tag(fmt.plural(len(sample.rubric.criteria), "criterion", "criteria"))])


def _on_sample(file: str) -> None:
    with shown_errors():
        start(draft_from(next(s.rubric for s in authoring.samples() if s.file == file)))
