"""The workbench, top to bottom; adding rows (written, pasted, drawn) and saving a dataset."""

from __future__ import annotations

import streamlit as st

from core.errors import InputError
from core.services.rubrics.drafts import rubric_from
from core.services.workbench import bench_rows
from core.services.workbench.bench_rows import Bench, BenchRow
from core.services.workbench.bench_state import WorkbenchState
from core.services.workbench.rows_in_out import (
    open_in_spot_check,
    rows_in_text,
    rows_of_items,
    save_dataset,
    worked_examples,
)
from core.text import numbers as fmt
from core.text.names import visible
from pages.rubric.workbench import asking, subject, table
from pages.ui import drafts, routes, state
from pages.ui.resources import store
from pages.ui.text import label, one_line
from pages.ui.trial.texts import choose_dataset, find_items
from pages.ui.widgets import empty_state, shown_errors


def adding_form(name: str, bench: WorkbenchState) -> None:
    """Draw the ways to add rows, side by side."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Write a row",
            key=state.key(subject.WORKBENCH_ACT, name, "write"),
            icon=":material/add:",
            on_click=_on_write,
            args=(name,),
        )
        with st.popover("Paste", icon=":material/content_paste:"):
            _paste_field(name)
        with st.popover("From a dataset", icon=":material/dataset:"):
            _dataset_field(name)
        worked = _worked_examples(name, bench.bench)
        if worked:
            st.button(
                f"Worked examples ({len(worked)})",
                key=state.key(subject.WORKBENCH_ACT, name, "worked"),
                icon=":material/local_library:",
                type="tertiary",
                on_click=_on_worked,
                args=(name,),
                help="Examples of library criteria, each with its expected option.",
            )


def _on_write(name: str) -> None:
    with shown_errors():
        uid = bench_rows.add_row(store(), name)
        state.put(state.key(subject.WORKBENCH_OPEN, name), uid)
        state.put(state.key(subject.WORKBENCH_FIND, name), "all")
        # The new row is the last one, so go to the last page.
        state.put(state.key(subject.WORKBENCH_PAGE, name), 10**6)


def _paste_field(name: str) -> None:
    key = state.key(subject.WORKBENCH_FIELD, name, "paste")
    st.text_area(
        "One submission per line, or a table",
        key=key,
        height=160,
        placeholder="submission,prompt,label:Accuracy\n...",
        help="A table has a header line (CSV, TSV, JSON or JSONL). Columns like label:NAME hold "
        "the expected options.",
    )
    st.button(
        "Add these rows",
        key=state.key(subject.WORKBENCH_ACT, name, "paste"),
        type="primary",
        on_click=_on_paste,
        args=(name,),
    )


def _on_paste(name: str) -> None:
    with shown_errors():
        key = state.key(subject.WORKBENCH_FIELD, name, "paste")
        try:
            rubric = rubric_from(drafts.draft(name))
        except InputError:
            # The rubric only helps to tell columns apart.
            rubric = None
        _added_words(
            bench_rows.add_rows(store(), name, rows_in_text(str(state.get(key) or ""), rubric))
        )
        state.put(key, "")


def _dataset_field(name: str) -> None:
    version = choose_dataset(state.key(subject.WORKBENCH_FIELD, name, "dataset"))
    if version is None:
        return
    _, ids, more = find_items(state.key(subject.WORKBENCH_FIELD, name, "search"), version)
    key = state.key(subject.WORKBENCH_FIELD, name, "items")
    chosen = [item_id for item_id in state.get(key, []) if item_id in ids]
    state.put(key, chosen)
    st.multiselect(
        label(f"Items{more}"),
        ids,
        key=key,
        format_func=visible,
        placeholder="Choose items",
    )
    st.button(
        "Add items with their labels",
        key=state.key(subject.WORKBENCH_ACT, name, "items"),
        type="primary",
        on_click=_on_items,
        args=(name, version),
    )


def _on_items(name: str, version: int) -> None:
    with shown_errors():
        key = state.key(subject.WORKBENCH_FIELD, name, "items")
        chosen = list(state.get(key) or [])
        if not chosen:
            raise InputError("No item is chosen.")
        _added_words(bench_rows.add_rows(store(), name, rows_of_items(store(), version, chosen)))
        state.put(key, [])


def _on_worked(name: str) -> None:
    with shown_errors():
        rows = _worked_examples(name, bench_rows.saved_workbench(store(), name))
        _added_words(bench_rows.add_rows(store(), name, rows))


def _worked_examples(name: str, bench: Bench) -> list[BenchRow]:
    """Return the worked examples that are not rows yet."""
    submissions = [row["submission"] for row in bench["rows"]]
    return [
        row for row in worked_examples(drafts.draft(name)) if row["submission"] not in submissions
    ]


def _added_words(count: int) -> None:
    state.flash(f"{fmt.plural(count, 'row')} added.")


def saving_form(name: str, bench: WorkbenchState) -> None:
    """Save the rows; then offer to open one in Spot check."""
    if not bench.hashes.tests and not bench.hashes.examples:
        return
    with st.expander("Save the rows as a dataset", icon=":material/save:"):
        key = state.key(subject.WORKBENCH_FIELD, name, "dataset_name")
        state.seed(key, f"{one_line(drafts.draft(name)['name'], 150) or 'Rubric'}: test rows")
        st.text_input("Name", key=key, max_chars=200)
        st.caption("Tests go into its evaluation part, examples into its calibration part.")
        st.button(
            "Save as a dataset",
            key=state.key(subject.WORKBENCH_ACT, name, "save"),
            on_click=_on_save,
            args=(name,),
        )
        saved = state.get(state.key(subject.WORKBENCH_SAVED, name))
        if saved is not None and bench.hashes.tests:
            _open_workbench(name, bench, int(saved["version"]), str(saved["name"]))


def _on_save(name: str) -> None:
    with shown_errors():
        typed = str(state.get(state.key(subject.WORKBENCH_FIELD, name, "dataset_name")) or "")
        version = save_dataset(store(), name, typed)
        saved = {"version": version.id, "name": version.name}
        state.put(state.key(subject.WORKBENCH_SAVED, name), saved)
        state.flash(f"Saved as {version.name}.")


def _open_workbench(name: str, bench: WorkbenchState, version: int, dataset: str) -> None:
    texts = {item.id: one_line(item.output, 70) for item in bench.hashes.tests}
    st.caption(label(f"Saved as {dataset}."))
    chosen = st.selectbox(
        "Row",
        list(texts),
        key=state.key(subject.WORKBENCH_FIELD, name, "spot"),
        format_func=texts.__getitem__,
    )
    if st.button(
        "Open in Spot check",
        key=state.key(subject.WORKBENCH_ACT, name, "spot"),
        icon=":material/bolt:",
    ):
        open_in_spot_check(store(), name, chosen, version)
        for family in (state.SPOT_FORM, state.SPOT_FIELD):
            state.drop(family)
        routes.go_to(routes.SPOT_CHECK)


LOOK_EVERY = 0.7


def show(name: str) -> None:
    """Draw the whole workbench of a rubric or a draft."""
    if state.is_arriving():
        state.drop(subject.WORKBENCH_FIELD)
    state.note_arrival()
    with shown_errors():
        if not drafts.draft(name)["criteria"]:
            empty_state(
                "No criteria yet", "Add a criterion in the form; its test rows then appear here."
            )
            return
        bench = subject.current_state(name)
        criterion = subject.show_subject(name, bench)
        asking.draw_judge_choice(name, bench)
        adding_form(name, bench)
        st.fragment(_live_rows, run_every=LOOK_EVERY if bench.active else None)(
            name, criterion, bench.active
        )


def _live_rows(name: str, criterion: str | None, polled: bool) -> None:
    """Draw what changes while judges are called, as a fragment that reruns alone."""
    with shown_errors():
        bench = subject.current_state(name)
        if bench.active != polled:
            # Rerun the whole page once, so that polling starts or stops.
            st.rerun()
        if not bench.bench["rows"]:
            empty_state(
                "No test rows yet",
                "Add a few texts and the right option for each, then see whether judges agree "
                "while you word the criterion.",
            )
            return
        subject.show_outcome(bench, criterion)
        asking.asking_bar(name, bench, criterion)
        table.show(name, bench, criterion)
        table.example_rows(name, bench)
        saving_form(name, bench)
