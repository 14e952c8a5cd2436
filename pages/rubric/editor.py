"""One rubric in the editor: its header with saving, the form or the YAML, and the side panel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import streamlit as st

from core.errors import InputError, NotFound
from core.services.rubrics import library
from core.services.rubrics.drafts import rubric_from
from core.text import numbers as fmt
from pages.rubric import checks, preview, rescored, weights
from pages.rubric.checks import show_problems
from pages.rubric.files import export_dialog, show_notices
from pages.rubric.form import form, keyboard
from pages.rubric.help import panel as help_side
from pages.rubric.versions import graded_runs, history
from pages.rubric.versions.history import show_conflict
from pages.rubric.versions.unsaved import back_to_list, discard_work, show_other_editors
from pages.rubric.workbench import screen as bench
from pages.rubric.workbench import subject as bench_keys
from pages.rubric.workbench import under_card
from pages.ui import drafts, routes, state
from pages.ui.drafts import (
    RUBRIC_ACT,
    RUBRIC_NOTE,
    RUBRIC_SAVED,
    RUBRIC_SIDE,
    RUBRIC_VIEW,
    RUBRIC_YAML,
)
from pages.ui.resources import disabled_without, store
from pages.ui.text import esc, label
from pages.ui.widgets import (
    choose_one,
    draw_row,
    problem_list,
    show_flash,
    show_refusal,
    shown_errors,
    tag,
)

#: The number of numbered lines kept free below the text, for further typing.
SPARE = 12
#: The line height of the style sheet, and the field's least height, in pixels.
LINE, LEAST = 20.16, 620


def yaml_side(name: str) -> None:
    """Draw the YAML text with its problems, line by line."""
    typed = drafts.typed_text(name)
    key = state.key(RUBRIC_YAML, name)
    state.seed(key, library.draft_file_text(drafts.draft(name)) if typed is None else typed)
    refused = drafts.refused_text(name)
    if refused is not None:
        show_refusal(refused)
    elif typed is not None:
        _show_notices(typed)
    with st.container(key="rs_source"), st.container(key="rs_numbered"):
        _line_numbers(str(state.get(key) or ""), refused)
        st.text_area(
            "YAML",
            key=key,
            height=_text_height(str(state.get(key) or "")),
            label_visibility="collapsed",
            on_change=_on_text,
            args=(name,),
        )
    st.caption("Changes apply to the form when you leave the field or press Ctrl+Enter.")


def _text_height(text: str) -> int:
    """Return a height at which the text does not scroll away from its line numbers."""
    return max(LEAST, round((text.count("\n") + 1 + SPARE) * LINE))


def _line_numbers(text: str, refused: InputError | None) -> None:
    """Draw the line numbers next to the text; lines with problems are marked."""
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
    """Warn before the first save that comments in the typed YAML are lost."""
    comment_loss = library.lost_comments(drafts.typed_text(name) or "")
    if comment_loss:
        st.warning(label(comment_loss, 500), icon=":material/comment:")


def show_waiting(name: str, view_key: str, yaml: str) -> None:
    """Replace the form while the typed YAML is not a rubric, so that nothing is lost silently."""
    refused = drafts.refused_text(name)
    st.warning(
        "The YAML view holds text that is not a valid rubric yet. Fix the text there, or "
        "discard it and continue with the form.",
        icon=":material/warning:",
    )
    if isinstance(refused, InputError):
        problem_list(refused.problems)
    with st.container(horizontal=True):
        st.button(
            "Return to the YAML",
            key=state.key(RUBRIC_ACT, name, "yaml_back"),
            type="primary",
            on_click=state.put,
            args=(view_key, yaml),
        )
        st.button(
            "Discard the typed YAML",
            key=state.key(RUBRIC_ACT, name, "yaml_drop"),
            on_click=_on_drop,
            args=(name,),
        )


def _show_notices(typed: str) -> None:
    notices = library.read_rubric(typed, "rubric.yaml").notices
    if notices:
        st.info("Kept as additional data:", icon=":material/info:")
        problem_list(notices)


def _on_text(name: str) -> None:
    with shown_errors():
        drafts.change_text(name, str(state.get(state.key(RUBRIC_YAML, name)) or ""))


def _on_drop(name: str) -> None:
    with shown_errors():
        drafts.drop_text(name)


FORM, YAML = "Form", "YAML"
HELP = "Draft with a model"
SIDES = ("Check", "Preview", rescored.SCORING, "Versions", HELP)


def show(name: str) -> None:
    """Draw the whole editor screen."""
    with st.container(horizontal=True, vertical_alignment="center"):
        back_to_list(lambda: drafts.leave_work(name))
        st.space("stretch")
        if (rubric_id := state.as_id(name)) is not None:
            address = routes.grade_address(rubric=rubric_id)
            tip = "Compares the draft with the last saved version."
            routes.draw_link(routes.GRADE, "Grade with this rubric", address, help=tip)
    try:
        drafts.load_work(name)
    except NotFound as error:
        st.warning(label(str(error)), icon=":material/search_off:")
        return
    show_flash()
    _draw_header(name)
    show_notices(name)
    show_comments(name)
    show_conflict(name)
    _after_saving(name)
    view = _view_choice(name)
    if view == bench_keys.BENCH_VIEW:
        bench.show(name)
        show_other_editors(name)
    else:
        main, side = st.columns([5, 3], gap="medium")
        with main:
            _main_column(name, view)
        with side, st.container(key="rs_beside"):
            _side_column(name)
            # Drawn last, because it appears late and must not shift anything under the mouse.
            show_other_editors(name)
    keyboard.show(name, form=view == FORM)


def _draw_header(name: str) -> None:
    draft = drafts.draft(name)
    st.title(label(draft["name"] or "Untitled rubric", 120), anchor=False)
    unsaved = drafts.is_unsaved(name)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="rs_bar"):
        draw_row([_status_html(name, unsaved)])
        effect_words = rescored.short_effect(name) if unsaved else ""
        rescored.follow_effect(name, effect_words)
        if effect_words:
            st.button(
                effect_words,
                key=state.key(RUBRIC_ACT, name, "rescored"),
                type="tertiary",
                icon=":material/swap_vert:",
                help="In the newest run, by this rubric's scoring. Opens *Scoring*.",
                on_click=state.put,
                args=(state.key(RUBRIC_SIDE, name), rescored.SCORING),
            )
        st.space("stretch")
        st.text_input(
            "What changed (optional)",
            key=state.key(RUBRIC_NOTE, name),
            placeholder="What changed",
            label_visibility="collapsed",
            max_chars=300,
            width=150,
        )
        kind: Literal["primary", "secondary"] = "primary" if unsaved else "secondary"
        _act_button(name, "Save", "save", drafts.save_draft, kind=kind, tip="Ctrl+S")
        _act_button(name, "Undo", "undo", drafts.undo_change, disabled=not drafts.can_undo(name))
        _act_button(name, "Redo", "redo", drafts.redo_change, disabled=not drafts.can_redo(name))
        tip = "Returns to the last saved version."
        _act_button(name, "Discard", "", _on_discard, disabled=not unsaved, tip=tip)
        if st.button(
            "Export",
            key=state.key(RUBRIC_ACT, name, "export"),
            icon=":material/download:",
        ):
            with shown_errors():
                export_dialog(rubric_from(draft))


def _act_button(
    name: str,
    caption: str,
    icon: str,
    action: Callable[[str], None],
    *,
    kind: Literal["primary", "secondary"] = "secondary",
    disabled: bool = False,
    tip: str | None = None,
) -> None:
    barred = disabled_without("write") if action == drafts.save_draft else {}
    st.button(
        caption,
        key=state.key(RUBRIC_ACT, name, caption.lower()),
        type=kind,
        icon=f":material/{icon}:" if icon else None,
        on_click=action,
        args=(name,),
        **{"disabled": disabled, "help": tip, **barred},
    )


def _status_html(name: str, unsaved: bool) -> str:
    parent = drafts.draft(name)["parent"]
    if parent is None:
        return tag("Never saved: the draft is kept", "warn")
    if unsaved:
        return tag(f"Unsaved changes to version {parent}", "warn")
    return tag(f"Version {parent}, saved", "good")


def _on_discard(name: str) -> None:
    with shown_errors():
        if drafts.draft(name)["rubric_id"] is not None:
            drafts.revert_draft(name)
            state.flash("Discarded. Undo brings it back.")
            return
        if (stored := library.unsaved_work(store(), drafts.kept_as(name))) is not None:
            discard_work(stored)
        drafts.forget_draft(name)
        state.set_address(**{state.RUBRIC: None})


def _after_saving(name: str) -> None:
    """Offer the next steps after a save; the next change removes them."""
    # The container always exists, so that everything below it, and the cursor, stays in place.
    place = st.container()
    saved = state.get(state.key(RUBRIC_SAVED, name))
    if saved is None or drafts.is_unsaved(name):
        return
    with place, st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.html(f'<span class="rs-quiet">Version {saved} is saved. Next:</span>', width="content")
        st.button(
            f"Try on {fmt.count(under_card.FIVE)} items",
            key=state.key(RUBRIC_ACT, name, "five"),
            type="tertiary",
            icon=":material/science:",
            help="Copies answers from the most recent dataset into the workbench, to ask judges "
            "about them.",
            on_click=under_card.on_five_rows,
            args=(name,),
        )
        routes.draw_link(routes.RUNS, "Plan a run", {state.PLAN: state.NEW, state.RUBRIC: name})


def _view_choice(name: str) -> str:
    """Draw the choice of the form's view, next to Save; return the chosen view."""
    with st.container(horizontal=True, vertical_alignment="center", key="rs_sides"):
        view = _current_view(name)
        if view != bench_keys.BENCH_VIEW:
            st.space("stretch")
            key = state.key(RUBRIC_SIDE, name)
            state.seed(key, SIDES[0])
            choose_one("Next to the form", SIDES, key=key)
    return view


def _current_view(name: str) -> str:
    key = state.key(RUBRIC_VIEW, name)
    at_bench = state.address(state.SIDE) == bench_keys.BENCH
    state.seed(key, bench_keys.BENCH_VIEW if at_bench else FORM)
    view = choose_one(
        "View", [FORM, YAML, bench_keys.BENCH_VIEW], key=key, on_change=_on_view, args=(key,)
    )
    return view or FORM


def _on_view(key: str) -> None:
    # A reload or a link returns to the workbench.
    at_bench = state.get(key) == bench_keys.BENCH_VIEW
    state.set_address(**{state.SIDE: bench_keys.BENCH if at_bench else None})


def _main_column(name: str, view: str) -> None:
    key = state.key(RUBRIC_VIEW, name)
    if view == YAML:
        yaml_side(name)
    elif drafts.refused_text(name) is not None:
        show_waiting(name, key, YAML)
    else:
        form.show(name)


def _side_column(name: str) -> None:
    side = state.get(state.key(RUBRIC_SIDE, name))
    with shown_errors():
        if side == "Check":
            show_problems(name)
            checks.show_all_findings(name)
            checks.show_run_findings(name)
        elif side == "Preview":
            preview.show(name)
        elif side == rescored.SCORING:
            rescored.show(name)
            weights.show(name)
            preview.try_scoring(name)
        elif side == HELP:
            help_side.show(name)
        else:
            graded_runs.runs_card(name)
            history.version_list(name)
