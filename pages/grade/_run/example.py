"""Turns a labelled item into an example for the judges of later runs, and back."""

from __future__ import annotations

import streamlit as st

from core.services import numbers as fmt
from core.services import splits
from core.services.viewing import ItemView
from pages.grade._run.filters import ITEM_ACT
from pages.ui import state
from pages.ui.resources import store
from pages.ui.widgets import row, shown_errors, tag


def show(view: ItemView) -> None:
    """The button, for an item that is labelled and still in its dataset."""
    if not view.item.labels:
        return
    now = splits.part_of(store(), view.run.dataset_version_id, view.item.id)
    if now is None:
        return
    example = now.split == "calibration"
    with st.container(horizontal=True, vertical_alignment="center"):
        if example:
            row([tag("example for later runs", "info")], width="content")
        st.button(
            "Use for evaluation" if example else "Use as example",
            key=state.key(ITEM_ACT, "split"),
            type="tertiary",
            icon=":material/undo:" if example else ":material/school:",
            on_click=_on_split,
            args=(view.run.dataset_version_id, view.item.id, example),
            help="Judges of later runs do not see it any more, and it is graded and counted again."
            if example
            else "Puts this item and its labels into the dataset's calibration part: judges of "
            "later runs learn from it, and it leaves their figures of evaluation. It can be "
            "undone. Runs that are there keep theirs.",
        )


def _on_split(version: int, item_id: str, example: bool) -> None:
    with shown_errors():
        made = splits.set_split(
            store(), version, item_id, "evaluation" if example else "calibration"
        )
        part = splits.part_of(store(), made.id, item_id)
        count = fmt.plural(part.marked if part else 0, "example")
        head = f"Dataset version {made.number}, with {count}."
        if example:
            state.flash(f"{head} Later runs grade and count this item again.")
        else:
            state.flash(f"{head} Later runs leave this item out of their evaluation figures.")
