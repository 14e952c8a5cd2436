"""The texts to try: typed into fields, or an item of a dataset."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import streamlit as st

from core.services.rubrics import prompt_preview
from core.text import numbers as fmt
from core.text.names import visible
from pages.ui import state
from pages.ui.items import context_words
from pages.ui.resources import store
from pages.ui.text import label, one_line
from pages.ui.widgets import shown_errors


class Fields(NamedTuple):
    """A form's fields: the key of each, its value, and what follows a change.

    `changed` is called with the field's name and its new value. If several texts share a name, the
    key also contains the text's own name.
    """

    of: Callable[..., str]
    value: Callable[[str], Any]
    changed: Callable[[str, Any], None]


_NOTHING = object()


def take_value(fields: Fields, *ids: str) -> None:
    """Callback: store the new value of a field's widget."""
    with shown_errors():
        value = state.get(fields.of(*ids), _NOTHING)
        if value is not _NOTHING:
            name, *ids_of_field = ids
            fields.changed(
                name,
                named_contexts(fields) | {ids_of_field[0]: value or ""} if ids_of_field else value,
            )


def text_field(
    fields: Fields, name: str, words: str, placeholder: str = "", *, tall: bool = False
) -> None:
    """Draw the field of one text; long ones scroll within it."""
    _text_area(fields, (name,), words, placeholder, fields.value(name), tall=tall)


def draw_texts_around(fields: Fields) -> None:
    """Draw what is sent with a text: its prompt, its contexts, its reference."""
    text_field(fields, "prompt", "Prompt", "The task or question that the submission answers")
    for name, text in named_contexts(fields).items():
        caption = "Material that judges see with the task, such as passages or a policy"
        _text_area(fields, ("context", name), context_words(name), caption, text)
    text_field(fields, "reference", "Reference", "A model answer or source to judge against")


def named_contexts(fields: Fields) -> dict[str, str]:
    """Return the named texts; one empty, unnamed text if there are none."""
    return fields.value("context") or {"context": ""}


def _text_area(
    fields: Fields,
    ids: tuple[str, ...],
    caption: str,
    placeholder: str,
    text: str,
    *,
    tall: bool = False,
) -> None:
    key = fields.of(*ids)
    state.seed(key, text)
    st.text_area(
        label(caption),
        key=key,
        height=180 if tall else 90,
        placeholder=placeholder,
        on_change=take_value,
        args=(fields, *ids),
    )


#: The most items listed; a search finds the others.
FOUND = 60


def choose_dataset(key: str, chosen: int | None = None) -> int | None:
    """Draw the choice of a dataset; return its version's id, or `None` after showing why.

    `chosen` is preselected, and may be an earlier version.
    """
    rows = prompt_preview.preview_datasets(store())
    if not rows:
        st.info("There is no dataset yet. Import a dataset on the Datasets page.")
        return None
    names = {r.version_id: f"{one_line(r.name, 60)} · {fmt.plural(r.items, 'item')}" for r in rows}
    if chosen is not None:
        names.setdefault(chosen, "An earlier version of a dataset")
    state.seed(key, rows[0].version_id if chosen is None else chosen)
    if state.get(key) not in names:
        state.put(key, rows[0].version_id)
    version: int = st.selectbox(
        "Dataset", list(names), format_func=names.__getitem__, key=key, persist_state="page"
    )
    return version


def find_items(key: str, version: int) -> tuple[str, list[str], str]:
    """Draw a search field; return the search text, the first matching ids, and a text with their
    number.
    """
    search = st.text_input(
        "Search",
        key=key,
        type="search",
        live="300ms",
        placeholder="Search id, submission, prompt, reference",
    )
    ids = prompt_preview.first_items(store(), version, search=search, limit=FOUND)
    return search, ids, f" (the first {FOUND})" if len(ids) >= FOUND else ""


def choose_item(
    caption_of: Callable[[str], str], dataset: int | None = None, item: str | None = None
) -> tuple[int, str] | None:
    """Draw the choice of a dataset and an item; return both, or `None` if there is none.

    `dataset` and `item` are the former choice.
    """
    version = choose_dataset(caption_of("dataset"), dataset)
    if version is None:
        return None
    search, ids, found_words = find_items(caption_of("search"), version)
    former = item if version == dataset else None
    if former is not None and former not in ids and not search:
        ids = [former, *ids]
    if not ids:
        st.caption("No item contains these words.")
        return None
    key = caption_of("item")
    if state.get(key) not in ids:
        state.put(key, former if former in ids else ids[0])
    chosen = st.selectbox(
        label(f"Item{found_words}"), ids, format_func=visible, key=key, persist_state="page"
    )
    return version, chosen
