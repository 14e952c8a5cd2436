"""Datasets: the list, the import (`?dataset=new`), or one dataset (`?dataset=ID&item=ITEM`)."""

from __future__ import annotations

import streamlit as st

from core.domain.library import DatasetRow, DatasetVersion
from core.errors import NotFound
from core.services.access import blindness
from core.services.datasets import catalog
from core.text import numbers as fmt
from pages.datasets import importing, items, labels, splitting
from pages.datasets.importing import ENDINGS, IMPORT_INTO
from pages.datasets.items import (
    DATASET_ACT,
    DATASET_PAGE,
    DATASET_VERSION,
    DATASET_VIEW,
    DATASETS_ACT,
    DATASETS_ARCHIVED,
    DATASETS_PAGE,
    DATASETS_SEARCH,
)
from pages.ui import resources, routes, state
from pages.ui.items import show_headed
from pages.ui.resources import disabled_without, make_later, store
from pages.ui.text import esc, label
from pages.ui.widgets import (
    choose_one,
    draw_row,
    empty_state,
    page_header,
    search_box,
    show_flash,
    shown_errors,
    tag,
)

PAGE = 25
DATASETS_DROP = "datasets_drop"


def dataset_list() -> None:
    """Draw the whole list screen."""
    page_header("Datasets", "The texts to judge, with their tasks and people's labels.")
    show_flash()
    _draw_toolbar()
    archived = bool(state.get(DATASETS_ARCHIVED))
    search = str(state.get(DATASETS_SEARCH) or "")
    rows = catalog.list_datasets(store(), search=search, archived=archived)
    if not rows:
        _show_nothing(bool(search), archived)
    for dataset in _rows_of_page(rows):
        _dataset_card(dataset, archived)


def _draw_toolbar() -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        search_box(DATASETS_SEARCH, "Search by name")
        _import_button("import")
        _drop_area()
        st.toggle("Archived", key=DATASETS_ARCHIVED)


def _import_button(place: str) -> None:
    st.button(
        "Import",
        key=state.key(DATASETS_ACT, place),
        type="primary",
        icon=":material/upload_file:",
        on_click=open_dataset,
        args=(state.NEW,),
        **disabled_without("write"),
    )


def _drop_area() -> None:
    """Draw a small area for a file, which opens the import with it."""
    with st.container(key="rs_drop_small", width=250):
        st.file_uploader(
            "or drop a file here",
            type=ENDINGS,
            key=DATASETS_DROP,
            on_change=_on_drop,
            **disabled_without("write"),
        )


def _on_drop() -> None:
    if (upload := state.get(DATASETS_DROP)) is not None:
        open_dataset(state.NEW)
        resources.hold_files("dataset", resources.dropped_files([upload]))


def open_dataset(reference: object) -> None:
    """Open that dataset, or a fresh import."""
    state.drop(IMPORT_INTO)
    if resources.held_files("dataset"):
        resources.hold_files("dataset", ())
    state.set_address(**{state.DATASET: reference, state.ITEM: None, DATASET_VERSION: None})


def _show_nothing(searched: bool, archived: bool) -> None:
    if searched:
        empty_state("Nothing found", "No dataset's name contains these words.")
    elif archived:
        empty_state("Nothing archived", "Datasets that you archive are listed here.")
    else:
        empty_state(
            "No datasets yet",
            "Import answers to judge: a CSV, TSV, JSON or JSONL file, or pasted text. You see a "
            "preview before anything is saved.",
            lambda: _import_button("first"),
        )


def _rows_of_page(rows: list[DatasetRow]) -> list[DatasetRow]:
    if len(rows) <= PAGE:
        return rows
    page = st.pagination(-(-len(rows) // PAGE), key=DATASETS_PAGE)
    return rows[(page - 1) * PAGE : page * PAGE]


def _dataset_card(dataset: DatasetRow, archived: bool) -> None:
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        st.button(
            label(dataset.name, 80),
            key=state.key(DATASETS_ACT, "open", dataset.id),
            type="tertiary",
            icon=":material/dataset:",
            on_click=open_dataset,
            args=(dataset.id,),
        )
        used = f"used in {fmt.plural(dataset.runs, 'run')}" if dataset.runs else "not used yet"
        draw_row(
            [
                tag(fmt.plural(dataset.items, "item")),
                labelled_tag(dataset.labelled, dataset.items),
                tag(f"version {dataset.number}"),
                f'<span class="rs-quiet">{esc(used)} · '
                f"updated {fmt.time_ago(dataset.updated)}</span>",
            ]
        )
        st.space("stretch")
        key = state.key(DATASETS_ACT, "menu", dataset.id)
        st.menu_button(
            "Actions",
            ["Restore"] if archived else ["Archive"],
            key=key,
            type="tertiary",
            icon=":material/more_horiz:",
            on_click=_on_menu,
            args=(dataset.id, archived),
            **disabled_without("write"),
        )


def labelled_tag(labelled: int, items: int) -> str:
    """Return the HTML of a small tag: the number of labelled items."""
    if not labelled:
        return tag("no labels")
    return tag("all labelled" if labelled == items else f"{fmt.count(labelled)} labelled", "good")


def _on_menu(dataset_id: int, archived: bool) -> None:
    with shown_errors():
        if archived:
            catalog.restore(store(), dataset_id)
            state.flash("Restored.")
        else:
            catalog.archive(store(), dataset_id)
            state.flash("Archived. Runs and versions are kept.")


VIEWS = {"items": "Items", "labels": "Labels", "split": "Split", "about": "About"}


def show_dataset() -> None:
    """Draw the screen of the dataset in the address."""
    routes.draw_back_link(routes.DATASETS, "All datasets")
    versions = _dataset_versions()
    if not versions:
        page_header("Datasets")
        empty_state("No such dataset", "The address names a dataset that does not exist.")
        return
    version = _chosen_version(versions)
    page_header(version.name, own_words=False)
    show_flash()
    with st.container(horizontal=True, vertical_alignment="center"):
        _show_facts(version, versions)
        address = routes.grade_address(dataset=version.dataset_id)
        routes.draw_link(routes.GRADE, "Grade these texts", address)
    view = choose_one("Show", VIEWS, default="items", key=DATASET_VIEW, bind="query-params")
    if view == "labels":
        labels.show(version)
    elif view == "split":
        splitting.show(version, newest=version.id == versions[0].id)
    elif view == "about":
        _show_about(version, versions)
    else:
        items.show(version)


def _dataset_versions() -> list[DatasetVersion]:
    dataset_id = state.address_id(state.DATASET)
    try:
        if dataset_id is None:
            return []
        blindness.require_labels_open(store(), dataset_id)
        return catalog.versions_of(store(), dataset_id)
    except NotFound:
        return []


def _chosen_version(versions: list[DatasetVersion]) -> DatasetVersion:
    number = state.address_id(DATASET_VERSION)
    chosen = next((v for v in versions if v.number == number), None)
    if chosen is None and number is not None:
        state.report_unknown(DATASET_VERSION, number)
    return chosen or versions[0]


def _show_facts(version: DatasetVersion, versions: list[DatasetVersion]) -> None:
    newest = version.number == versions[0].number
    which = f"version {version.number}" + ("" if newest else f" of {versions[0].number}")
    origin = f" from {version.source}" if version.source else ""
    draw_row(
        [
            tag(fmt.plural(version.items, "item")),
            labelled_tag(version.labelled, version.items),
            tag(which, "neutral" if newest else "warn"),
            f'<span class="rs-quiet">imported{esc(origin)} {fmt.time_ago(version.created)}</span>',
        ],
        width="content",
    )


def _show_about(version: DatasetVersion, versions: list[DatasetVersion]) -> None:
    head = version.head
    for caption, text in (
        ("Description", head.description),
        ("Prompt of every item without its own", head.prompt),
        ("Reference of every item without its own", head.reference),
    ):
        if text:
            show_headed(caption, text)
    if head.rubric is not None:
        st.html('<div class="rs-section">The rubric it came with</div>')
        lines = "".join(
            f"<li><b>{esc(c.name)}</b> {esc(c.requirement)}</li>" for c in head.rubric.criteria
        )
        st.html(f'<ul class="rs-list">{lines}</ul>')
    with st.container(horizontal=True):
        st.download_button(
            "Export JSONL",
            data=make_later(lambda held: catalog.items_as_jsonl(held, version.id)),
            file_name=catalog.file_name(version.name),
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
            **disabled_without("write"),
        )
    st.html('<div class="rs-section">Versions</div>')
    st.caption("A version never changes. Runs keep the version they were planned with.")
    for listed in versions:
        _version_card(listed, chosen=listed.id == version.id)


def _version_card(shown: DatasetVersion, *, chosen: bool) -> None:
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        caption = f"{fmt.plural(shown.items, 'item')} · {fmt.count(shown.labelled)} labelled"
        version_line = f"{fmt.time_ago(shown.created)} · {fmt.short_hash(shown.hash)}"
        caption_line = f"{caption} · {shown.source} · {version_line}"
        st.html(f'<b>Version {shown.number}</b> <span class="rs-quiet">{esc(caption_line)}</span>')
        st.space("stretch")
        st.button(
            "Shown" if chosen else "Show",
            key=state.key(DATASET_ACT, "version", shown.id),
            type="tertiary",
            disabled=chosen,
            on_click=_on_version,
            args=(shown.number,),
        )


def _on_renew(dataset_id: int) -> None:
    open_dataset(state.NEW)
    state.put(IMPORT_INTO, dataset_id)


def _on_version(number: int) -> None:
    state.set_address(**{DATASET_VERSION: number, state.ITEM: None})
    state.put(DATASET_PAGE, 1)


_dataset = state.address(state.DATASET)
if _dataset is None:
    dataset_list()
elif _dataset == state.NEW:
    importing.show()
else:
    show_dataset()
