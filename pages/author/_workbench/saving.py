"""The rows as a dataset, and from there to a spot check."""

from __future__ import annotations

import streamlit as st

from core.services.workbench_rows import open_in_spot_check, save_dataset
from core.services.workbench_standing import Standing
from pages.author._rubric import work
from pages.ui import routes, state
from pages.ui import workbench_keys as keys
from pages.ui.resources import store
from pages.ui.text import label, one_line
from pages.ui.widgets import shown_errors


def show(name: str, now: Standing) -> None:
    """Save the rows; once saved, open one of them in Spot check."""
    if not now.hashes.tests and not now.hashes.examples:
        return
    with st.expander("Save the rows as a dataset", icon=":material/save:"):
        key = state.key(keys.WORKBENCH_FIELD, name, "dataset_name")
        state.seed(key, f"{one_line(work.draft(name)['name'], 150) or 'Rubric'}: test rows")
        st.text_input("Name", key=key, max_chars=200)
        st.caption("Tests go into its evaluation part, examples into its calibration part.")
        st.button(
            "Save as a dataset",
            key=state.key(keys.WORKBENCH_ACT, name, "save"),
            on_click=_on_save,
            args=(name,),
        )
        saved = state.get(state.key(keys.WORKBENCH_SAVED, name))
        if saved is not None and now.hashes.tests:
            _open(name, now, int(saved["version"]), str(saved["name"]))


def _on_save(name: str) -> None:
    with shown_errors():
        typed = str(state.get(state.key(keys.WORKBENCH_FIELD, name, "dataset_name")) or "")
        version = save_dataset(store(), name, typed)
        kept = {"version": version.id, "name": version.name}
        state.put(state.key(keys.WORKBENCH_SAVED, name), kept)
        state.flash(f"Saved as {version.name}.")


def _open(name: str, now: Standing, version: int, dataset: str) -> None:
    texts = {item.id: one_line(item.output, 70) for item in now.hashes.tests}
    st.caption(label(f"Saved as {dataset}."))
    chosen = st.selectbox(
        "Row",
        list(texts),
        key=state.key(keys.WORKBENCH_FIELD, name, "spot"),
        format_func=texts.__getitem__,
    )
    if st.button(
        "Open in Spot check",
        key=state.key(keys.WORKBENCH_ACT, name, "spot"),
        icon=":material/bolt:",
    ):
        open_in_spot_check(store(), name, chosen, version)
        for family in (state.SPOT_FORM, state.SPOT_FIELD):
            state.drop(family)
        routes.go(routes.SPOT_CHECK)
