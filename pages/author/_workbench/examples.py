"""The rows that models are shown as examples, and the way to let one teach in real runs, too."""

from __future__ import annotations

import streamlit as st

from core.services import datasets
from core.services import numbers as fmt
from core.services.workbench_rows import others_teach, teach_with
from core.services.workbench_standing import Standing
from core.services.workbench_types import BenchRow, item_from
from pages.author._workbench import acts
from pages.ui import state
from pages.ui import workbench_keys as keys
from pages.ui.resources import store
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import shown_errors, tag


def show(name: str, now: Standing) -> None:
    """The examples, each with its labels."""
    if not now.examples:
        return
    st.html(
        f'<div class="rs-section">Examples shown to models ({len(now.examples)})</div>'
        '<span class="rs-quiet">Each is sent with the criteria that it has an expected option '
        "for, and is no test any more.</span>"
    )
    for row in now.examples:
        with st.container(border=True, key=f"workbench_example_{row['uid']}"):
            left, right = st.columns([6, 5], vertical_alignment="center")
            with left:
                st.html(_words(row))
            with right, st.container(horizontal=True, vertical_alignment="center"):
                acts.back_to_tests(name, row["uid"])
                _teach(name, row)


def _words(row: BenchRow) -> str:
    labels = "".join(tag(f"{c}: {one_line(o, 40)}", "info") for c, o in row["expected"].items())
    text = esc(one_line(item_from(row).output, 200))
    return f'<div style="overflow-wrap:anywhere">{text}</div><div class="rs-row">{labels}</div>'


def _teach(name: str, row: BenchRow) -> None:
    with st.popover("Also in a dataset", icon=":material/dataset:", type="tertiary"):
        found = {one.id: one for one in datasets.listing(store())}
        if not found:
            st.caption("There is no dataset yet. Save these rows as one, below.")
            return
        key = state.key(keys.WORKBENCH_FIELD, name, row["uid"], "teach")
        chosen = st.selectbox(
            "Dataset",
            list(found),
            key=key,
            format_func=lambda one: one_line(found[one].name, 60),
        )
        labelled, marked = others_teach(store(), chosen)
        words = "It is added as a new version, in the calibration part: runs on it show it."
        if labelled and not marked:
            words += (
                f" None of its {fmt.plural(labelled, 'labelled item')} is marked yet; from then on "
                "only marked items teach."
            )
        st.caption(label(words, 400))
        st.button(
            "Add it",
            key=state.key(keys.WORKBENCH_ACT, name, "teach", row["uid"]),
            on_click=_on_teach,
            args=(name, row["uid"], chosen),
        )


def _on_teach(name: str, uid: str, dataset_id: int) -> None:
    with shown_errors():
        version = teach_with(store(), name, uid, dataset_id)
        state.flash(f"Added: version {version.number} of {version.name}.")
