"""Rubrics: the list, or one in the editor (`?rubric=ID`, read-only with `&version=ID`)."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.domain.library import RubricRow
from core.services.assist import help_tasks, rubric_draft
from core.services.assist.rubric_draft import DraftRequest
from core.services.datasets import catalog
from core.services.rubrics import library
from core.services.rubrics.draft_shapes import CriterionDraft, RubricDraft, started_draft
from core.services.rubrics.drafts import problems_of
from core.text import numbers as fmt
from pages.rubric import editor, files
from pages.rubric.files import export_dialog
from pages.rubric.form import keyboard
from pages.rubric.versions import graded_runs, history, unsaved
from pages.ui import drafts, model_help, state
from pages.ui.browser.browser_id import keep_browser_id
from pages.ui.drafts import (
    RUBRICS_ACT,
    RUBRICS_PANEL,
    RUBRICS_REFUSED,
    open_rubric,
    start_draft,
)
from pages.ui.identity import login_configured
from pages.ui.resources import actor, store
from pages.ui.text import esc, label, one_line
from pages.ui.trial.kept_drafts import writer
from pages.ui.widgets import (
    draw_row,
    empty_state,
    page_header,
    quiet_html,
    search_box,
    show_flash,
    shown_errors,
    tag,
)

NONE = 0


def draft_panel() -> None:
    """Draw the form, the current task, and its result."""
    with st.container(border=True):
        st.subheader("Draft with a model", anchor=False)
        st.caption("Nothing is saved before you have reviewed the draft.")
        if model_help.model_ready():
            with shown_errors():
                _new_form()


def _new_form() -> None:
    left, right = st.columns(2, gap="medium")
    with left:
        task = st.text_area(
            "The task",
            key=_form_key("task"),
            height=150,
            persist_state="session",
            placeholder="The task that the submissions answer, word for word if possible.",
        )
        wishes = st.text_area(
            "Aspects for the rubric to cover (optional)",
            key=_form_key("wishes"),
            height=70,
            persist_state="session",
        )
    with right:
        version = _example_dataset()
        judge = model_help.chosen_writer("draft")
        request = DraftRequest(
            judge, task or "", wishes or "", version, budget=model_help.chosen_budget("draft")
        )
        model_help.cost_line(rubric_draft.estimate(store(), request))
    latest = help_tasks.latest(store(), rubric_draft.KIND, rubric_draft.NEW)
    if st.button(
        "Draft it",
        key=state.key(model_help.HELP_ACT, "draft"),
        type="primary",
        icon=":material/auto_awesome:",
        disabled=latest is not None and latest.active,
    ):
        rubric_draft.begin(store(), request)
        st.rerun()
    if latest is not None:
        model_help.show_progress(latest)
        draft = rubric_draft.drafted_rubric(store(), latest)
        if draft is not None:
            _show_drafted(draft, latest.id)


def _example_dataset() -> int | None:
    labelled = [row for row in catalog.list_datasets(store()) if row.labelled]
    titles = {NONE: "No examples"}
    titles |= {row.version_id: f"{row.name} ({row.labelled} labelled)" for row in labelled}
    chosen: int = st.selectbox(
        "Labelled items to learn from (optional)",
        list(titles),
        key=_form_key("dataset"),
        format_func=lambda choice: one_line(titles[choice], 70),
        persist_state="session",
        help=f"Up to {rubric_draft.EXAMPLES} are shown to the model, evenly over their labels.",
    )
    return chosen or None


def _show_drafted(draft: RubricDraft, task_id: int) -> None:
    lines = "".join(
        f"<li><b>{esc(one_line(c['name'] or 'without a name', 80))}</b> <span class='rs-quiet'>"
        f"{_criterion_facts(c)}</span><br>{esc(one_line(c['requirement'], 200))}</li>"
        for c in draft["criteria"]
    )
    st.html(
        f'<div class="rs-card"><b>{esc(one_line(draft["name"], 90))}</b>'
        f'<ul class="rs-list">{lines}</ul></div>'
    )
    st.button(
        "Open the draft in the editor",
        key=state.key(model_help.HELP_ACT, "open", task_id),
        icon=":material/edit_note:",
        on_click=_on_open,
        args=(draft,),
    )


def _criterion_facts(criterion: CriterionDraft) -> str:
    weight = criterion["weight"]
    return f"{'no weight' if weight is None else fmt.weight(weight)}, {esc(criterion['scale'])}"


def _on_open(draft: RubricDraft) -> None:
    with shown_errors():
        start_draft(draft)
        wrong = len(problems_of(draft))
        advice = f" {fmt.plural(wrong, 'thing')} must be fixed first." if wrong else ""
        state.flash(f"Drafted by a model. Review it, then save.{advice}")


def _form_key(name: str) -> str:
    return state.key(model_help.HELP_FIELD, "draft", name)


PAGE = 25
RUBRICS_SEARCH = "rubrics_search"
RUBRICS_ARCHIVED = "rubrics_archived"
RUBRICS_PAGE = "rubrics_page"


def rubric_list() -> None:
    """Draw the whole list screen."""
    page_header("Rubrics", "A rubric is a list of questions that judges and people answer.")
    show_flash()
    _draw_toolbar()
    panel = state.get(RUBRICS_PANEL)
    if panel == "import":
        files.import_panel()
    elif panel == "samples":
        files.samples_panel()
    elif panel == "draft":
        draft_panel()
    archived = bool(state.get(RUBRICS_ARCHIVED))
    search = str(state.get(RUBRICS_SEARCH) or "")
    rows = library.rubric_rows(store(), search=search, archived=archived)
    unsaved.show_discarded()
    kept = library.all_kept_drafts(store())
    new_drafts = [draft for draft in kept if draft.draft["rubric_id"] is None]
    if not archived and not search:
        for draft in new_drafts:
            _fresh_row(draft)
    if not rows:
        _show_nothing(bool(search), archived, bool(new_drafts))
        return
    for rubric in _rows_of_page(rows):
        changes = [draft for draft in kept if draft.draft["rubric_id"] == rubric.id]
        _rubric_row(rubric, changes, archived)


def _draw_toolbar() -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        search_box(RUBRICS_SEARCH, "Search by name")
        st.button(
            "New rubric",
            key=state.key(RUBRICS_ACT, "new"),
            type="primary",
            icon=":material/add:",
            on_click=_on_new,
        )
        for panel, caption, icon in (
            ("import", "Import", "upload_file"),
            ("samples", "Samples", "auto_stories"),
            ("draft", "Draft with a model", "auto_awesome"),
        ):
            st.button(
                caption,
                key=state.key(RUBRICS_ACT, panel),
                icon=f":material/{icon}:",
                on_click=_on_panel,
                args=(panel,),
            )
        st.toggle("Archived", key=RUBRICS_ARCHIVED)


def _on_new() -> None:
    with shown_errors():
        new_draft = started_draft()
        name, uid = start_draft(new_draft), new_draft["criteria"][0]["uid"]
        drafts.set_open_card(name, uid)
        keyboard.focus_requirement(name, uid)


def _on_panel(panel: str) -> None:
    closed = state.get(RUBRICS_PANEL) == panel
    state.put(RUBRICS_PANEL, None if closed else panel)
    state.drop(RUBRICS_REFUSED)


def _show_nothing(searched: bool, archived: bool, drafts: bool) -> None:
    if searched:
        empty_state("Nothing found", "No rubric's name contains these words.")
    elif archived:
        empty_state("Nothing archived", "Rubrics that you archive are listed here.")
    elif not drafts:
        empty_state(
            "No rubrics yet",
            "Write a rubric, import one, or start from a sample with the buttons above.",
            lambda: st.button("New rubric", type="primary", on_click=_on_new, key="rubrics_first"),
        )


def _rows_of_page(rows: list[RubricRow]) -> list[RubricRow]:
    if len(rows) <= PAGE:
        return rows
    page = st.pagination(-(-len(rows) // PAGE), key=RUBRICS_PAGE)
    return rows[(page - 1) * PAGE : page * PAGE]


def _fresh_row(draft: library.KeptDraft) -> None:
    with _card_container():
        st.button(
            label(draft.draft["name"] or "Untitled rubric", 80),
            key=state.key(RUBRICS_ACT, "open", draft.name),
            type="tertiary",
            icon=":material/edit_note:",
            on_click=open_rubric,
            args=(draft.name,),
        )
        draw_row(
            [
                tag(_unsaved_words(draft), "warn"),
                tag(_criteria_words(len(draft.draft["criteria"]))),
                quiet_html(f"changed {_changed_since(draft)}"),
            ]
        )
        st.space("stretch")
        st.button(
            "Discard",
            key=state.key(RUBRICS_ACT, "discard", draft.name),
            on_click=unsaved.discard_work,
            args=(draft,),
        )


def _changed_since(draft: library.KeptDraft) -> str:
    """Return when the draft was changed last, and by whom if not in this browser."""
    return f"{fmt.time_ago(draft.updated)}{writer(draft)}"


def _rubric_row(rubric: RubricRow, changes: list[library.KeptDraft], archived: bool) -> None:
    with _card_container():
        st.button(
            label(rubric.name, 80),
            key=state.key(RUBRICS_ACT, "open", rubric.id),
            type="tertiary",
            icon=":material/checklist:",
            on_click=open_rubric,
            args=(str(rubric.id),),
        )
        used = f"used in {fmt.plural(rubric.runs, 'run')}" if rubric.runs else "not used yet"
        parts = [
            tag(_criteria_words(rubric.criteria)),
            tag(f"version {rubric.number}"),
            quiet_html(f"{used} · updated {fmt.time_ago(rubric.updated)}"),
        ]
        draw_row(
            [
                *(tag(f"Unsaved changes, {_changed_since(draft)}", "warn") for draft in changes),
                *parts,
            ]
        )
        st.space("stretch")
        key = state.key(RUBRICS_ACT, "menu", rubric.id)
        acts = ["Restore"] if archived else ["Duplicate", "Export", "Archive"]
        choice = st.menu_button(
            "Actions",
            acts if actor().may("write") else ["Export"],
            key=key,
            type="tertiary",
            icon=":material/more_horiz:",
            on_click=_on_menu,
            args=(rubric.id, key),
        )
        if choice == "Export":
            export_dialog(library.latest_version(store(), rubric.id).rubric)


def _on_menu(rubric_id: int, key: str) -> None:
    with shown_errors():
        match state.get(key):
            case "Duplicate":
                library.duplicate(store(), rubric_id)
                state.flash("Duplicated.")
            case "Archive":
                library.archive(store(), rubric_id)
                state.flash("Archived. Runs and versions are kept.")
            case "Restore":
                library.restore(store(), rubric_id)
                state.flash("Restored.")
            case _:
                pass


def _card_container() -> Any:
    return st.container(border=True, horizontal=True, vertical_alignment="center")


def _unsaved_words(stored: library.KeptDraft) -> str:
    parent = stored.draft["parent"]
    return "Never saved" if parent is None else f"Unsaved changes to version {parent}"


def _criteria_words(number: int) -> str:
    return fmt.plural(number, "criterion", "criteria")


if not login_configured():
    keep_browser_id()
_rubric = state.address(state.RUBRIC)
_version = state.address_id(state.VERSION)
_against = state.address_id(state.AGAINST)
_run = state.address_id(state.RUN)
if _rubric is None:
    rubric_list()
elif _run is not None:
    graded_runs.show(_rubric, _run)
elif _version is not None and _against is not None:
    history.show_difference(_version, _against)
elif _version is not None:
    history.show_saved_version(_version)
else:
    editor.show(_rubric)
