"""Bringing a dataset in: choose, map, look, and only then save."""

from __future__ import annotations

import streamlit as st

from core.errors import InputError
from core.files.tables import Table
from core.files.visible import visible
from core.services import authoring, datasets
from core.services import numbers as fmt
from core.services.datasets import Checked
from pages.author._datasets import columns, saving
from pages.author._datasets.columns import IMPORT_FILE, IMPORT_RUBRIC, IMPORT_TEXT, IMPORT_WAY
from pages.ui import dataset_cache, routes
from pages.ui.dataset_cache import Source
from pages.ui.item_view import show_item
from pages.ui.resources import store
from pages.ui.text import label
from pages.ui.widgets import page_header, problem_list, show_flash

ENDINGS = ["csv", "tsv", "json", "jsonl", "ndjson", "yaml", "yml"]
WAYS = {"file": "Upload a file", "text": "Paste text"}
#: How much of a long list of notices is open at first, and how many rows are shown raw.
FEW, FIRST_ROWS, FIRST_ITEMS = 6, 5, 3
CELL = 200


def show() -> None:
    """The whole import, top to bottom; nothing is saved before the last button."""
    routes.back(routes.DATASETS, "All datasets")
    page_header(
        "Import a dataset", "Nothing is saved until you have seen how it looks and press Import."
    )
    show_flash()
    source = _source()
    if source is None:
        _help()
        return
    table = dataset_cache.table(source)
    if isinstance(table, InputError):
        st.error(label(str(table.message)), icon=":material/error:")
        problem_list(table.problems)
        return
    _first_rows(table)
    rubric_id = _rubric_choice(table)
    mapping, wrong = columns.show(source, table, rubric_id)
    if wrong:
        st.error("The columns do not fit together.", icon=":material/error:")
        problem_list(wrong)
        return
    found = dataset_cache.checked(source, table, mapping, rubric_id)
    if _looks(found, table) and found.dataset is not None:
        saving.show(source, found.dataset)


def _source() -> Source | None:
    way = st.segmented_control(
        "From",
        list(WAYS),
        format_func=WAYS.__getitem__,
        default="file",
        required=True,
        key=IMPORT_WAY,
        label_visibility="collapsed",
    )
    if way == "text":
        text = st.text_area(
            "Paste CSV, TSV, JSON or JSONL",
            key=IMPORT_TEXT,
            persist_state="page",
            height=180,
            placeholder="id,prompt,submission,reference\n1,...",
        )
        return Source(text, "pasted text") if text and text.strip() else None
    upload = st.file_uploader("File", type=ENDINGS, key=IMPORT_FILE)
    return Source(upload, upload.name) if upload is not None else None


def _help() -> None:
    st.caption(
        "One row or object per item. Only a submission is needed; id, prompt, reference, system, "
        "split, tags and labels are found by their usual names, and you can say otherwise. A "
        "column such as label:clarity holds a person's label for the criterion clarity, "
        "reason:clarity why."
    )
    st.code(
        "id,prompt,submission,reference,label:correct,reason:correct\n"
        'q1,"Capital of France?",Paris.,Paris,MET,names it',
        language=None,
    )


def _first_rows(table: Table) -> None:
    rows = fmt.plural(len(table.rows), "row")
    kind = table.kind.upper()
    what = f"{kind} with {rows} and {fmt.plural(len(table.columns), 'column')}"
    with st.expander(f"The file as it stands: {what}"):
        st.dataframe(
            [
                {visible(c)[:80]: visible(str(line.get(c, "")))[:CELL] for c in table.columns}
                for line in table.rows[:FIRST_ROWS]
            ],
            hide_index=True,
            alt="The first rows of the file, unchanged.",
        )


def _rubric_choice(table: Table) -> int | None:
    """The rubric version that labels are checked against, where the file brings no rubric."""
    if datasets.own_rubric(table) is not None:
        st.caption("The file brings a rubric along; its labels are checked against that.")
        return None
    rubrics = {found.version_id: found.name for found in authoring.listing(store())}
    if not rubrics:
        return None
    chosen: int | None = st.selectbox(
        "Check labels against a rubric",
        list(rubrics),
        index=None,
        format_func=lambda version: visible(rubrics.get(version, ""))[:100],
        key=IMPORT_RUBRIC,
        placeholder="Optional: finds misspelt labels and columns named after criteria",
    )
    return chosen


def _looks(found: Checked, table: Table) -> bool:
    st.subheader("Check", anchor=False)
    if found.problems:
        count = fmt.plural(len(found.problems), "problem")
        st.error(f"{count} to mend before this can be imported.", icon=":material/error:")
        problem_list(found.problems)
        return False
    if found.dataset is None:
        return False
    items = found.dataset.items
    labelled = sum(1 for item in items if item.labels)
    st.success(
        f"All {fmt.plural(len(items), 'item')} can be read, {fmt.count(labelled)} with labels.",
        icon=":material/check:",
    )
    if found.notices:
        few = len(found.notices) <= FEW
        with st.expander(fmt.plural(len(found.notices), "notice"), expanded=few):
            problem_list(found.notices)
    shown = items[:FIRST_ITEMS]
    st.html('<div class="rs-section">How the first items will look</div>')
    tabs = st.tabs([label(item.id, 40) for item in shown])
    for tab, item in zip(tabs, shown, strict=True):
        with tab:
            show_item(found.dataset.resolved(item))
    return True
