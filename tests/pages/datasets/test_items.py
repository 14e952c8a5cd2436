"""The Datasets page: an address opens items, filters and views; hostile text is shown as it is."""

from __future__ import annotations

import json

import pytest
from streamlit.testing.v1 import AppTest

from core.services.datasets import catalog
from core.store.store import Store
from pages.datasets.importing import IMPORT_FILE
from pages.datasets.items import (
    DATASET_ACT,
    DATASET_LABELLED,
    DATASET_PICK,
    DATASET_SEARCH,
    DATASET_SYSTEM,
    DATASET_VIEW,
)
from pages.ui import routes, state
from tests.pages.conftest import open_page, shown
from tests.pages.made import HOSTILE, kept

PAGE = routes.DATASETS


def uploaded(text: str, name: str) -> AppTest:
    app = open_page(PAGE, dataset=state.NEW)
    app.file_uploader(key=IMPORT_FILE).set_value((name, text.encode(), "text/csv")).run()
    return app


def test_an_item_is_opened_by_its_address(store: Store) -> None:
    version = kept(store)

    app = open_page(PAGE, dataset=str(version.dataset_id), item="b")

    assert "Go away." in shown(app)
    assert "Bad" in shown(app)


def test_walking_and_choosing_set_the_address(store: Store) -> None:
    version = kept(store)
    app = open_page(PAGE, dataset=str(version.dataset_id))

    app.button(key=state.key(DATASET_ACT, "Next")).click().run()
    assert app.query_params[state.ITEM] == "b"
    app.selectbox(key=state.key(DATASET_PICK, version.id)).set_value("c").run()
    assert app.query_params[state.ITEM] == "c"
    app.button(key=state.key(DATASET_ACT, "Next")).click().run()

    assert app.query_params[state.ITEM] == "c"
    assert "Hm." in shown(app)


def test_a_page_of_items_is_listed(store: Store) -> None:
    version = kept(store)
    app = open_page(PAGE, dataset=str(version.dataset_id))

    assert list(app.dataframe[0].value["Id"]) == ["a", "b", "c"]


def test_what_an_item_does_not_have_is_an_empty_cell(store: Store) -> None:
    version = kept(store, "id,submission,system\na,Hello.,\nb,Go.,m1\n", "systems.csv")
    app = open_page(PAGE, dataset=str(version.dataset_id))

    assert list(app.dataframe[0].value["System"]) == ["", "m1"]
    assert "Split" not in app.dataframe[0].value


def test_filters_narrow_the_list(store: Store) -> None:
    version = kept(store)
    app = open_page(PAGE, dataset=str(version.dataset_id))

    app.selectbox(key=DATASET_LABELLED).set_value("no").run()
    assert list(app.dataframe[0].value["Id"]) == ["c"]
    app.selectbox(key=DATASET_LABELLED).set_value("any")
    app.selectbox(key=DATASET_SYSTEM).set_value("=llama").run()
    assert list(app.dataframe[0].value["Id"]) == ["b", "c"]
    app.text_input(key=DATASET_SEARCH).set_value("away").run()
    assert list(app.dataframe[0].value["Id"]) == ["b"]
    app.text_input(key=DATASET_SEARCH).set_value("nowhere").run()
    assert "No item passes these filters." in shown(app)


def test_labels_are_counted_by_criterion(store: Store) -> None:
    version = kept(store)
    app = open_page(PAGE, dataset=str(version.dataset_id))
    app.session_state[DATASET_VIEW] = "labels"
    app.run()

    # One Good and one Bad among two labels.
    assert app.dataframe[0].value.to_dict("list") == {
        "Criterion": ["tone", "tone"],
        "Label": ["Bad", "Good"],
        "Items": [1, 1],
        "Share": [0.5, 0.5],
    }


def test_an_older_version_can_be_read(store: Store) -> None:
    version = kept(store)
    dataset = catalog.check(
        catalog.read_source("id,answer\nz,New.\n", "z.csv"),
        catalog.suggest_mapping(catalog.read_source("id,answer\nz,New.\n", "z.csv")),
    ).dataset
    assert dataset is not None
    catalog.import_dataset(store, dataset, dataset_id=version.dataset_id)

    app = open_page(PAGE, dataset=str(version.dataset_id), dataset_version="1")

    assert "version 1 of 2" in shown(app)
    assert "Hello." in shown(app)


def test_hostile_text_is_shown_as_it_is(store: Store) -> None:
    rows = [
        {
            "id": HOSTILE,
            "submission": HOSTILE,
            "prompt": HOSTILE,
            "system": HOSTILE,
            "tags": [HOSTILE],
            "labels": {HOSTILE: {"label": HOSTILE, "reason": HOSTILE}},
            "note": HOSTILE,
        }
    ]
    text = json.dumps({"name": HOSTILE, "items": rows})
    version = kept(store, text, "hostile.json")

    for app in (
        open_page(PAGE),
        open_page(PAGE, dataset=str(version.dataset_id)),
        uploaded(text, "hostile.json"),
    ):
        read_as_markdown = [b.label for b in app.button] + [t.value for t in app.title]
        read_as_markdown += [t.label for t in app.tabs] + [e.label for e in app.expander]
        assert "![x]" not in "".join(read_as_markdown)
        html = "".join(str(e.proto) for e in app.get("html"))
        assert "<script>" not in html
        assert "\u202e" not in html


@pytest.mark.parametrize(
    ("submission", "words"),
    [
        ([{"role": "user", "content": "Hi"}, {"role": "bot", "content": "Yo"}], "<b>bot</b>"),
        ({"thinking": "let me see", "output": "42"}, "42"),
        ("", "Empty answer"),
        (None, "The text is missing"),
    ],
)
def test_every_kind_of_submission_can_be_read(store: Store, submission: object, words: str) -> None:
    rows = [{"id": "a", "submission": submission}]
    version = kept(store, json.dumps(rows), "kinds.json")

    assert words in shown(open_page(PAGE, dataset=str(version.dataset_id)))


@pytest.mark.parametrize("address", [{"dataset": "99"}, {"dataset": "x"}])
def test_an_address_of_nothing_says_so(address: dict[str, str]) -> None:
    assert "No such dataset" in shown(open_page(PAGE, **address))


def test_an_item_that_is_not_there_is_said(store: Store) -> None:
    version = kept(store)

    app = open_page(PAGE, dataset=str(version.dataset_id), item="zzz")

    assert "No such item" in shown(app)
