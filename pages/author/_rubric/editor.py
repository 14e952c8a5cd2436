"""One rubric in the editor: its header with saving, the form or the YAML, and the side panel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import streamlit as st

from core.errors import NotFound
from core.services.drafts import rubric_from
from pages.author._help import side as help_side
from pages.author._rubric import (
    checks,
    checks_after,
    form,
    hands,
    preview,
    runs_card,
    trying,
    versions,
    weights,
    work,
    yaml_view,
)
from pages.author._rubric.checking import show_problems
from pages.author._rubric.conflict import show_conflict, show_others
from pages.author._rubric.exporting import export_dialog
from pages.author._rubric.going import RUBRIC_ACT, back_to_list
from pages.author._rubric.importing import show_notices
from pages.author._rubric.work import RUBRIC_NOTE, RUBRIC_SIDE, RUBRIC_VIEW
from pages.author._workbench import screen as bench
from pages.ui import state
from pages.ui import workbench_keys as bench_keys
from pages.ui.text import label
from pages.ui.widgets import row, show_flash, shown_errors, tag

FORM, YAML = "Form", "YAML"
SIDES = ("Check", "Preview", "Scoring", "Versions", "Help")


def show(name: str) -> None:
    """The whole editor screen."""
    back_to_list(lambda: work.leave(name))
    try:
        work.load(name)
    except NotFound as error:
        st.warning(label(str(error)), icon=":material/search_off:")
        return
    show_flash()
    _header(name)
    show_notices(name)
    yaml_view.show_comments(name)
    show_conflict(name)
    show_others(name)
    view = _view(name)
    if view == bench_keys.BENCH_VIEW:
        bench.show(name)
    else:
        main, side = st.columns([3, 2], gap="medium")
        with main:
            _main(name, view)
        with side, st.container(key="rs_beside"):
            _side(name)
    hands.show(name, form=view == FORM)


def _header(name: str) -> None:
    draft = work.draft(name)
    st.title(label(draft["name"] or "Untitled rubric", 120), anchor=False)
    unsaved = work.is_unsaved(name)
    with st.container(horizontal=True, vertical_alignment="center", key="rs_bar"):
        row([_status(name, unsaved)])
        st.space("stretch")
        st.text_input(
            "What changed (optional)",
            key=state.key(RUBRIC_NOTE, name),
            placeholder="What changed (optional)",
            label_visibility="collapsed",
            max_chars=300,
            width=220,
        )
        _act(name, "Save", "save", work.save, kind="primary", tip="Ctrl+S")
        _act(name, "Undo", "undo", work.undo, disabled=not work.can_undo(name))
        _act(name, "Redo", "redo", work.redo, disabled=not work.can_redo(name))
        tip = "Go back to the last saved version."
        _act(name, "Discard", "", _on_discard, disabled=not unsaved, tip=tip)
        if st.button(
            "Export",
            key=state.key(RUBRIC_ACT, name, "export"),
            icon=":material/download:",
        ):
            with shown_errors():
                export_dialog(rubric_from(draft))


def _act(
    name: str,
    words: str,
    icon: str,
    act: Callable[[str], None],
    *,
    kind: Literal["primary", "secondary"] = "secondary",
    disabled: bool = False,
    tip: str | None = None,
) -> None:
    st.button(
        words,
        key=state.key(RUBRIC_ACT, name, words.lower()),
        type=kind,
        icon=f":material/{icon}:" if icon else None,
        disabled=disabled,
        on_click=act,
        args=(name,),
        help=tip,
    )


def _status(name: str, unsaved: bool) -> str:
    parent = work.draft(name)["parent"]
    if parent is None:
        return tag("Never saved: the draft is kept", "warn")
    if unsaved:
        return tag(f"Unsaved changes to version {parent}", "warn")
    return tag(f"Version {parent}, saved", "good")


def _on_discard(name: str) -> None:
    with shown_errors():
        work.drop_kept(name)
        work.forget(name)
        if not name.isdecimal():
            state.set_address(**{state.RUBRIC: None})
        state.flash("Discarded.")


def _view(name: str) -> str:
    key = state.key(RUBRIC_VIEW, name)
    at_bench = state.address(state.SIDE) == bench_keys.BENCH
    state.seed(key, bench_keys.BENCH_VIEW if at_bench else FORM)
    view = st.segmented_control(
        "View",
        [FORM, YAML, bench_keys.BENCH_VIEW],
        key=key,
        required=True,
        label_visibility="collapsed",
        on_change=_on_view,
        args=(key,),
    )
    return view or FORM


def _on_view(key: str) -> None:
    # So that a reload or a link comes back to the workbench.
    at_bench = state.get(key) == bench_keys.BENCH_VIEW
    state.set_address(**{state.SIDE: bench_keys.BENCH if at_bench else None})


def _main(name: str, view: str) -> None:
    key = state.key(RUBRIC_VIEW, name)
    if view == YAML:
        yaml_view.show(name)
    elif work.refused_text(name) is not None:
        yaml_view.show_waiting(name, key, YAML)
    else:
        form.show(name)


def _side(name: str) -> None:
    key = state.key(RUBRIC_SIDE, name)
    state.seed(key, SIDES[0])
    side = st.segmented_control(
        "Beside the form", SIDES, key=key, required=True, label_visibility="collapsed"
    )
    with shown_errors():
        if side == "Check":
            show_problems(name)
            checks.show_all(name)
            checks_after.show_all(name)
        elif side == "Preview":
            preview.show(name)
        elif side == "Scoring":
            weights.show(name)
            trying.show(name)
        elif side == "Help":
            help_side.show(name)
        else:
            runs_card.show(name)
            versions.show(name)
