"""Test data written by a model: submissions, or edits of items (`?rubric=NAME`, `&view=edits`)."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.domain.rubric import Rubric
from core.domain.runs import HelpTask
from core.errors import InputError, NotFound
from core.services.assist import counterfactuals, help_tasks, proposals
from core.services.assist.counterfactuals import EditPair, EditRequest
from core.services.datasets import catalog
from core.services.rubrics import library, prompt_preview
from core.services.runs import lifecycle
from core.text import numbers as fmt
from pages.test_data import submissions
from pages.test_data.submissions import DATA_ACT, DATA_FIELD, share_words
from pages.ui import model_help, routes, state
from pages.ui.items import side_by_side
from pages.ui.resources import store
from pages.ui.text import distinct_names, esc, label, one_line
from pages.ui.trial.kept_drafts import listed_drafts, writer
from pages.ui.widgets import (
    choose_one,
    draw_table,
    empty_state,
    page_header,
    show_flash,
    shown_errors,
    tag,
)

MOST_LISTED = 200


def changed_items(name: str, rubric: Rubric) -> None:
    """Draw the form, the changes, and the table of what judges noticed."""
    datasets = catalog.list_datasets(store())
    if not datasets:
        st.info("This needs a dataset with items to change.", icon=":material/dataset:")
        routes.draw_link(routes.DATASETS, "Datasets")
        return
    left, right = st.columns(2, gap="medium")
    with left:
        criterion, aimed = _aim_fields(name, rubric)
        judge = model_help.chosen_writer("edits")
    with right:
        titles = {dataset.version_id: dataset.name for dataset in datasets}
        version: int = st.selectbox(
            "Items of",
            list(titles),
            key=_field_key(name, "dataset"),
            format_func=lambda choice: one_line(titles[choice], 70),
        )
        items = _chosen_items(name, version)
        budget = model_help.chosen_budget("edits")
    subject = f"rubric/{name}/edits"
    request = EditRequest(
        judge, rubric, criterion, aimed, version, items, subject=subject, budget=budget
    )
    task = help_tasks.latest(store(), counterfactuals.KIND, subject)
    if items:
        model_help.cost_line(counterfactuals.estimate(store(), request))
    if st.button(
        "Change them",
        key=state.key(DATA_ACT, name, "change"),
        type="primary",
        icon=":material/auto_awesome:",
        disabled=not items or (task is not None and task.active),
    ):
        counterfactuals.begin(store(), request)
        st.rerun()
    if task is not None:
        model_help.show_progress(task)
        _show_changed(task)


def _aim_fields(name: str, rubric: Rubric) -> tuple[str, int]:
    criteria = {c.name: c for c in rubric.criteria}
    chosen = st.selectbox(
        "Criterion whose answer should change",
        list(criteria),
        key=_field_key(name, "target"),
        format_func=lambda criterion: one_line(criterion, 80),
    )
    criterion = criteria[chosen]
    worst = criterion.worst_of(criterion.scored)
    aimed: int = st.selectbox(
        "With the option",
        list(criterion.scored),
        index=criterion.scored.index(worst),
        key=_field_key(name, "aimed", chosen),
        format_func=lambda at: one_line(criterion.choices[at].label, 80),
    )
    return chosen, aimed


def _chosen_items(name: str, version: int) -> tuple[str, ...]:
    ids = prompt_preview.first_items(store(), version, limit=MOST_LISTED)
    chosen: list[str] = st.multiselect(
        "Items",
        ids,
        default=ids[:5],
        key=_field_key(name, "items", str(version)),
        format_func=lambda value: one_line(value, 60),
        max_selections=counterfactuals.MOST,
        help=f"The first {MOST_LISTED} of the dataset are listed.",
    )
    return tuple(chosen)


def _show_changed(task: HelpTask) -> None:
    edits = counterfactuals.edited_items(store(), task)
    if not edits:
        return
    st.subheader("What was changed", anchor=False)
    with st.expander(fmt.plural(len(edits), "changed item"), expanded=len(edits) <= 2):
        at = st.selectbox(
            "Item",
            range(len(edits)),
            key=state.key(DATA_FIELD, "changed", task.id),
            format_func=lambda index: one_line(edits[index][0].id, 80),
            label_visibility="collapsed",
        )
        item, submission, what = edits[at]
        if what:
            st.caption(label(what, 300))
        headings = ("<b>As it was</b>", "<b>Changed</b>")
        side_by_side(headings, (item.output, submission), mark=True)
    version = help_tasks.kept_dataset(store(), task)
    if not task.active:
        submissions.draw_keep_button(task, counterfactuals.as_dataset, version)
    if version is None:
        return
    with st.container(border=True):
        st.subheader("Do judges notice the change, and do other criteria move?", anchor=False)
        run = lifecycle.newest_over(store(), version, counterfactuals.DETAIL)
        submissions.draw_ask_form(
            f"edits/{task.id}",
            lambda panel: counterfactuals.run_request(store(), task, version, panel),
            run,
        )
        if run is not None and run.votes:
            _show_measured(counterfactuals.edit_pairs(store(), run.id))


def _show_measured(pairs: Sequence[EditPair]) -> None:
    noticed, still = counterfactuals.noticed_share(pairs), counterfactuals.still_share(pairs)
    st.html(
        f"<div><b>Noticed: {esc(share_words(noticed))}</b></div>"
        f"<div><b>Nothing else moved: {esc(share_words(still))}</b></div>"
    )
    headings = ("Item", pairs[0].criterion, "Other criteria that moved", "What was changed")
    lines = []
    for pair in pairs:
        notice_tag = tag("✓ noticed", "good") if pair.noticed else tag("not noticed", "bad")
        if not pair.counts:
            notice_tag = tag("cannot tell", "neutral")
        arrow = f"{esc(pair.before or fmt.DASH)} → {esc(pair.after or fmt.DASH)}"
        moved_words = "; ".join(
            f"{esc(one_line(name, 40))}: {esc(a)} → {esc(b)}" for name, (a, b) in pair.moved.items()
        )
        lines.append(
            (
                esc(one_line(pair.item, 60)),
                f"{notice_tag} {arrow}",
                moved_words or fmt.DASH,
                esc(pair.what),
            )
        )
    draw_table(headings, lines, name="Every change, with the judges' verdicts")
    st.caption(
        "“Cannot tell”: the item already had that option, or has no verdict. Judges also "
        "vary without a change: compare with how often their answers to an unchanged text "
        "differ."
    )


def _field_key(name: str, *ids: str) -> str:
    return state.key(DATA_FIELD, name, "edits", *ids)


SUBMISSIONS, EDITS = "submissions", "edits"
VIEWS = {SUBMISSIONS: "Write submissions", EDITS: "Change items"}


def show() -> None:
    """Draw the whole page."""
    page_header(
        "Test data",
        "A model writes submissions for each option of a criterion, or changes real items so that "
        "one criterion alone should fail. Then judges show whether they notice.",
    )
    show_flash()
    place = st.container()
    titles = _draft_titles()
    if not titles:
        empty_state(
            "No rubrics yet",
            "Test data is written for a criterion of a rubric.",
            lambda: routes.draw_link(routes.RUBRICS, "Rubrics"),
        )
        return
    with place:
        name = _chosen_rubric(titles)
    rubric = _rubric_choice(name)
    if rubric is None or not model_help.model_ready():
        return
    key = state.key(DATA_FIELD, "view")
    state.seed(key, state.address_in(state.VIEW, VIEWS) or SUBMISSIONS)
    view = choose_one("Kind", VIEWS, key=key)
    state.set_address(**{state.RUBRIC: name, state.VIEW: view})
    with shown_errors():
        if view == EDITS:
            changed_items(name, rubric)
        else:
            submissions.show(name, rubric)


def _draft_titles() -> dict[str, str]:
    """Return rubrics and unsaved drafts by name, with their titles."""
    titles = {str(rubric_row.id): rubric_row.name for rubric_row in library.rubric_rows(store())}
    chosen = state.get(state.key(DATA_FIELD, "rubric")) or state.address(state.RUBRIC) or ""
    for draft_row in listed_drafts(chosen):
        title = draft_row.draft["name"] or "Untitled rubric"
        titles[draft_row.name] = f"{title} (unsaved changes{writer(draft_row)})"
    return titles


def _chosen_rubric(titles: dict[str, str]) -> str:
    key = state.key(DATA_FIELD, "rubric")
    name = state.address_in(state.RUBRIC, titles)
    if state.get(key) not in titles:
        state.put(key, name or next(iter(titles)))
    chosen: str = st.selectbox(
        "Rubric", list(titles), key=key, format_func=distinct_names(titles, 80).__getitem__
    )
    return chosen


def _rubric_choice(name: str) -> Rubric | None:
    try:
        saved = library.unsaved_work(store(), name)
        draft = saved.draft if saved is not None else library.draft_of(store(), int(name))
        return proposals.rubric_of(draft)
    except InputError as error:
        first = str(error.problems[0]) if error.problems else error.message
        st.warning(label(f"This is not a valid rubric yet: {first}"), icon=":material/edit_off:")
    except NotFound as error:
        st.warning(label(str(error)), icon=":material/search_off:")
    return None


show()
