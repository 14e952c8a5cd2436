"""Exactly what a judge will be sent for one criterion of one item."""

from __future__ import annotations

import json

import streamlit as st

from core.domain.dataset import Item
from core.errors import InputError
from core.files.visible import visible
from core.services import numbers as fmt
from core.services import rehearsing
from core.services.rehearsing import SAMPLE_ITEM, Preview
from pages.author._rubric import work
from pages.author._rubric.going import RUBRIC_ACT
from pages.ui import state
from pages.ui.resources import store
from pages.ui.text import esc, label, one_line, raw
from pages.ui.votes import option_chips
from pages.ui.widgets import empty_state, problem_list, row, shown_errors

RUBRIC_PREVIEW = "rubric_preview"
RUBRIC_SEED = "rubric_seed"

TYPED, CHOSEN = "Typed sample", "Item of a dataset"


@st.fragment
def show(name: str) -> None:
    """The preview with its choices; reruns alone."""
    with shown_errors():
        _show(name)


def _show(name: str) -> None:
    draft = work.draft(name)
    if not draft["criteria"]:
        empty_state("Nothing to send yet", "Add a criterion; its prompt appears here.")
        return
    uid = _criterion(name)
    try:
        criterion = rehearsing.criterion_from(draft, uid)
    except InputError as error:
        st.warning("This criterion has problems; mend them to see its prompt.")
        problem_list(error.problems)
        return
    item = _item()
    if item is None:
        return
    shuffle, seed = _order()
    _sent(
        rehearsing.preview_prompt(criterion, draft["guidelines"], item, seed=seed, shuffle=shuffle)
    )


def _criterion(name: str) -> str:
    names = {c["uid"]: c["name"] for c in work.draft(name)["criteria"]}
    opened = work.open_card(name)
    # The card that is open comes first; the key holds it, so that opening another one follows.
    first = opened if opened in names else next(iter(names))
    uids = list(names)
    chosen: str = st.selectbox(
        "Criterion",
        uids,
        index=uids.index(first),
        key=state.key(RUBRIC_PREVIEW, "criterion", name, first),
        format_func=lambda uid: one_line(names[uid], 80) or "Unnamed",
        persist_state="page",
    )
    return chosen


def _item() -> Item | None:
    key = state.key(RUBRIC_PREVIEW, "source")
    state.seed(key, TYPED)
    source = st.segmented_control(
        "Judged text", [TYPED, CHOSEN], key=key, required=True, label_visibility="collapsed"
    )
    return _typed() if source == TYPED else _chosen()


def _typed() -> Item:
    values = dict[str, str]()
    for what, words, first in (
        ("prompt", "Task (optional)", SAMPLE_ITEM.prompt),
        ("submission", "Submission", SAMPLE_ITEM.output),
        ("context", "Context (optional)", ""),
        ("reference", "Reference (optional)", ""),
    ):
        key = state.key(RUBRIC_PREVIEW, what)
        state.seed(key, first)
        values[what] = st.text_area(words, key=key, height="content", persist_state="session")
    context = {"context": values.pop("context")}
    return Item(id=SAMPLE_ITEM.id, context=context, **values)


def _chosen() -> Item | None:
    found = {row.version_id: row for row in rehearsing.datasets(store())}
    if not found:
        empty_state("No datasets yet", "Bring one in on the Datasets page.")
        return None
    version: int = st.selectbox(
        "Dataset",
        list(found),
        key=state.key(RUBRIC_PREVIEW, "dataset"),
        format_func=lambda one: one_line(found[one].name, 80),
        persist_state="page",
    )
    search = st.text_input(
        "Find an item", type="search", live="300ms", key=state.key(RUBRIC_PREVIEW, "find")
    )
    ids = rehearsing.first_items(store(), version, search=search)
    if not ids:
        st.caption("No item has these words.")
        return None
    item: str = st.selectbox(
        "Item",
        ids,
        key=state.key(RUBRIC_PREVIEW, "item", version),
        format_func=visible,
        persist_state="page",
    )
    return rehearsing.item_of(store(), version, item)


def _order() -> tuple[bool, int]:
    seed = int(state.get(RUBRIC_SEED, 0))
    key = state.key(RUBRIC_PREVIEW, "shuffle")
    state.seed(key, True)
    with st.container(horizontal=True, vertical_alignment="center"):
        shuffle = st.toggle("Shuffle options", key=key)
        st.button(
            "Shuffle again",
            key=state.key(RUBRIC_ACT, "shuffle"),
            icon=":material/shuffle:",
            disabled=not shuffle,
            on_click=state.put,
            args=(RUBRIC_SEED, seed + 1),
        )
    return shuffle, seed


def _sent(preview: Preview) -> None:
    st.html("<b>Shown in this order</b>")
    row([option_chips(preview.criterion, None, preview.order)])
    letters = sum(len(segment.text) for segment in preview.segments)
    st.html(
        f'<b>Sent to the judge</b> <span class="rs-quiet">{fmt.count(letters)} characters · '
        f"wording {esc(preview.version)} · the fences' code is drawn anew for every seed</span>"
    )
    for segment in preview.segments:
        if segment.role == "system":
            with st.expander("System text, the same for every question"):
                raw(segment.text, height=420)
        else:
            st.caption(label(segment.role))
            raw(segment.text)
    with st.expander("The reply it must give (JSON schema)"):
        raw(json.dumps(preview.schema, indent=2))
