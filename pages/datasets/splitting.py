"""Splitting a dataset into train, calibration and test: previewed, then saved as a version."""

from __future__ import annotations

import streamlit as st

from core import clock
from core.domain.library import DatasetVersion
from core.errors import Conflict
from core.services.datasets import splits
from core.services.datasets.splits import PARTS, PartName, SplitItems
from core.text import numbers as fmt
from pages.datasets.items import DATASET_PARTS, DATASET_VERSION
from pages.ui import resources, state
from pages.ui.resources import remembered, store
from pages.ui.text import esc, one_line
from pages.ui.widgets import draw_table, empty_state, shown_errors

STARTS: dict[PartName, int] = {"train": 60, "calibration": 20, "test": 20}
ALL = ""
SAYS = (
    "Judges learn from train and calibration (few-shot examples, offline judges); neither is "
    "graded in a run. Every figure comes from test. The tags split:train, split:calibration and "
    "split:test mark the three parts."
)


def show(version: DatasetVersion, *, newest: bool) -> None:
    """Draw the form, a preview of its split, and the button that saves it."""
    if not version.labelled:
        empty_state(
            "No labels yet",
            "Each part gets a similar share of every label. Label some items first.",
        )
        return
    st.caption(SAYS)
    shares = _chosen_shares()
    seed, criterion = _choose_seed(version)
    if sum(shares.values()) != 100:
        st.info(f"The shares add up to {sum(shares.values())}%; they must add up to 100%.")
        return
    cache_key = (version.id, tuple(shares.values()), seed, criterion)
    with shown_errors():
        parts = remembered(
            "parts",
            cache_key,
            lambda: splits.split_of_version(store(), version.id, shares, seed, criterion or None),
        )
        _split_preview(parts)
        if newest:
            st.button(
                "Save as a new version",
                key=_form_key("save"),
                type="primary",
                icon=":material/call_split:",
                on_click=_on_save,
                args=(version.id, parts, seed),
            )
        else:
            st.caption("This is an older version; only the newest can be split.")


def _chosen_shares() -> dict[PartName, int]:
    shares: dict[PartName, int] = {}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for part in PARTS:
            state.seed(_form_key(part), STARTS[part])
            shares[part] = st.number_input(
                f"{part.capitalize()}, %",
                0,
                100,
                step=5,
                key=_form_key(part),
                width=150,
                persist_state="page",
            )
    return shares


def _choose_seed(version: DatasetVersion) -> tuple[int, str]:
    state.seed(_form_key("seed"), clock.draw_seed())
    names = list(resources.label_counts(version.id))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        criterion: str = st.selectbox(
            "Balance the labels of",
            [ALL, *names],
            key=_form_key("by"),
            format_func=lambda name: one_line(name, 60) if name else "all criteria together",
            width=320,
            persist_state="page",
            help="With many criteria, hardly any two items share all labels. Then choose the "
            "criterion that matters most.",
        )
        seed: int = st.number_input(
            "Seed",
            0,
            2**31 - 1,
            key=_form_key("seed"),
            width=180,
            help="The same seed gives the same split.",
            persist_state="page",
        )
    return seed, criterion if criterion in names else ALL


def _split_preview(parts: SplitItems) -> None:
    sizes = [fmt.count(len(parts.members[part])) for part in PARTS]
    rows = [["<b>All labelled items</b>", "", *sizes]]
    rows += [
        [esc(one_line(name, 60)), esc(one_line(label, 60)), *(fmt.count(of[p]) for p in PARTS)]
        for name, labels in parts.by_label.items()
        for label, of in labels.items()
    ]
    draw_table(
        ("Criterion", "Label", *(part.capitalize() for part in PARTS)),
        rows,
        name="Items in each part",
        numbers=(2, 3, 4),
    )
    if parts.twins:
        st.caption(
            f"{fmt.plural(parts.twins, 'labelled item')} repeat the text of another exactly or "
            "nearly; such items go into the same part."
        )
    if parts.unlabelled:
        st.caption(
            f"{fmt.plural(len(parts.unlabelled), 'item')} without labels go into no part: they "
            "are graded, but not used to train or to measure judges."
        )


def _on_save(version_id: int, parts: SplitItems, seed: int) -> None:
    with shown_errors():
        try:
            saved = splits.save_parts(store(), version_id, parts, seed)
        except Conflict:
            state.flash("A new version was saved meanwhile. Review that version, then split again.")
            return
        state.set_address(**{DATASET_VERSION: None, state.ITEM: None})
        state.flash(f"Saved as version {saved.number}. Runs keep their version.")


def _form_key(*ids: object) -> str:
    return state.key(DATASET_PARTS, *ids)
