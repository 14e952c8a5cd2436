"""One dataset: its items, its labels, and what it says for all of them."""

from __future__ import annotations

import streamlit as st

from core.domain.library import DatasetVersion
from core.errors import NotFound
from core.services import datasets
from core.services import numbers as fmt
from pages.author._datasets import items, labels, parting
from pages.author._datasets.columns import IMPORT_INTO
from pages.author._datasets.items import DATASET_ACT, DATASET_PAGE, DATASET_VERSION, DATASET_VIEW
from pages.author._datasets.listing import labelled_tag, open_dataset
from pages.ui import routes, state
from pages.ui.item_view import headed
from pages.ui.resources import store
from pages.ui.text import esc
from pages.ui.widgets import empty_state, page_header, row, show_flash, tag

VIEWS = {"items": "Items", "labels": "Labels", "split": "Split", "about": "About"}


def show() -> None:
    """The screen of the dataset in the address."""
    routes.back(routes.DATASETS, "All datasets")
    versions = _versions()
    if not versions:
        page_header("Datasets")
        empty_state("No such dataset", "The address names a dataset that does not exist.")
        return
    version = _chosen(versions)
    page_header(version.name, own_words=False)
    show_flash()
    _facts(version, versions)
    view = st.segmented_control(
        "Show",
        list(VIEWS),
        format_func=VIEWS.__getitem__,
        default="items",
        required=True,
        key=DATASET_VIEW,
        bind="query-params",
        label_visibility="collapsed",
    )
    if view == "labels":
        labels.show(version)
    elif view == "split":
        parting.show(version, newest=version.id == versions[0].id)
    elif view == "about":
        _about(version, versions)
    else:
        items.show(version)


def _versions() -> list[DatasetVersion]:
    dataset_id = state.address_id(state.DATASET)
    try:
        return [] if dataset_id is None else datasets.history(store(), dataset_id)
    except NotFound:
        return []


def _chosen(versions: list[DatasetVersion]) -> DatasetVersion:
    number = state.address_id(DATASET_VERSION)
    return next((v for v in versions if v.number == number), versions[0])


def _facts(version: DatasetVersion, versions: list[DatasetVersion]) -> None:
    newest = version.number == versions[0].number
    which = f"version {version.number}" + ("" if newest else f" of {versions[0].number}")
    origin = f" from {version.source}" if version.source else ""
    row(
        [
            tag(fmt.plural(version.items, "item")),
            labelled_tag(version.labelled, version.items),
            tag(which, "neutral" if newest else "warn"),
            f'<span class="rs-quiet">imported{esc(origin)} {fmt.ago(version.created)}</span>',
        ]
    )


def _about(version: DatasetVersion, versions: list[DatasetVersion]) -> None:
    head = version.head
    for words, text in (
        ("Description", head.description),
        ("Prompt of every item without its own", head.prompt),
        ("Reference of every item without its own", head.reference),
    ):
        if text:
            headed(words, text)
    if head.rubric is not None:
        st.html('<div class="rs-section">The rubric it came with</div>')
        lines = "".join(
            f"<li><b>{esc(c.name)}</b> {esc(c.requirement)}</li>" for c in head.rubric.criteria
        )
        st.html(f'<ul class="rs-list">{lines}</ul>')
    with st.container(horizontal=True):
        st.download_button(
            "Export JSONL",
            data=lambda: datasets.exported(store(), version.id),
            file_name=datasets.file_name(version.name),
            mime="application/x-ndjson",
            icon=":material/download:",
            on_click="ignore",
            key=state.key(DATASET_ACT, "export", version.id),
        )
        st.button(
            "Import a new version",
            icon=":material/upload_file:",
            key=state.key(DATASET_ACT, "renew", version.id),
            on_click=_on_renew,
            args=(version.dataset_id,),
        )
    st.html('<div class="rs-section">Versions</div>')
    st.caption("A version never changes. Runs keep the one they were planned with.")
    for one in versions:
        _version_card(one, chosen=one.id == version.id)


def _version_card(one: DatasetVersion, *, chosen: bool) -> None:
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        words = f"{fmt.plural(one.items, 'item')} · {fmt.count(one.labelled)} labelled"
        quiet = f"{words} · {one.source} · {fmt.ago(one.created)} · {fmt.short_hash(one.hash)}"
        st.html(f'<b>Version {one.number}</b> <span class="rs-quiet">{esc(quiet)}</span>')
        st.space("stretch")
        st.button(
            "Shown" if chosen else "Show",
            key=state.key(DATASET_ACT, "version", one.id),
            type="tertiary",
            disabled=chosen,
            on_click=_on_version,
            args=(one.number,),
        )


def _on_renew(dataset_id: int) -> None:
    open_dataset(state.NEW)
    state.put(IMPORT_INTO, dataset_id)


def _on_version(number: int) -> None:
    state.set_address(**{DATASET_VERSION: number, state.ITEM: None})
    state.put(DATASET_PAGE, 1)
