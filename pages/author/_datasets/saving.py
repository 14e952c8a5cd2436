"""The last step of an import: under which name, as what, and go."""

from __future__ import annotations

import streamlit as st

from core.domain.dataset import Dataset
from core.files.visible import visible
from core.services import datasets
from core.services import numbers as fmt
from pages.author._datasets.columns import IMPORT_ACT, IMPORT_INTO, IMPORT_KEEP_RUBRIC, IMPORT_NAME
from pages.ui import dataset_cache, state
from pages.ui.dataset_cache import Source
from pages.ui.resources import store
from pages.ui.widgets import shown_errors

AS_NEW = 0


def show(source: Source, dataset: Dataset) -> None:
    """Name, new dataset or new version, the rubric that came along, and the button."""
    st.subheader("Save", anchor=False)
    known = {row.id: row.name for row in datasets.listing(store())}
    if state.get(IMPORT_INTO) not in (None, AS_NEW, *known):
        state.drop(IMPORT_INTO)
    left, right = st.columns(2)
    with left:
        into = st.selectbox(
            "Save as",
            [AS_NEW, *known],
            format_func=lambda one: "A new dataset" if one == AS_NEW else _version_of(known, one),
            key=IMPORT_INTO,
            help="A new version replaces the dataset in new runs; earlier runs keep theirs.",
        )
    with right:
        name = state.key(IMPORT_NAME, source.key, into)
        state.seed(name, dataset.name if into == AS_NEW else known.get(into, ""))
        st.text_input("Name", key=name, max_chars=200, on_change="ignore", persist_state="page")
    if dataset.rubric is not None:
        criteria = fmt.plural(len(dataset.rubric.criteria), "criterion", "criteria")
        st.checkbox(
            f"Also save the rubric it brings ({criteria})",
            value=True,
            key=state.key(IMPORT_KEEP_RUBRIC, source.key),
        )
    if st.button(
        "Import",
        key=state.key(IMPORT_ACT, "import"),
        type="primary",
        icon=":material/upload_file:",
    ):
        _import(source, dataset, None if into == AS_NEW else into, name)


def _version_of(known: dict[int, str], dataset_id: int) -> str:
    return f"New version of {visible(known.get(dataset_id, ''))[:80]}"


def _import(source: Source, dataset: Dataset, into: int | None, name: str) -> None:
    with shown_errors():
        with st.spinner("Saving every item …"):
            done = datasets.import_dataset(
                store(), dataset, name=str(state.get(name) or ""), into=into, source=source.name
            )
        words = "This content is there already; nothing was added." if done.existed else "Imported."
        if dataset.rubric is not None and state.get(state.key(IMPORT_KEEP_RUBRIC, source.key)):
            datasets.keep_rubric(store(), dataset.rubric, source.name)
            words += " Its rubric is among your rubrics."
        dataset_cache.forget()
        state.flash(words)
        state.set_address(**{state.DATASET: done.version.dataset_id})
        st.rerun()
