"""Every format that people bring, by its page: the same counts as by the command line."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from core.store.store import Store
from pages.datasets.importing import IMPORT_FILE
from pages.imports import reading
from pages.ui import routes, state
from pages.ui.drafts import RUBRICS_ACT, RUBRICS_FILE
from tests.formats.brought import BAD, BAD_ITEMS, BROUGHT, Brought
from tests.pages.conftest import open_page, shown
from tests.pages.rubric.rubric_page import draft_of, press

WORDS = {"failures": "Empty answers"}


def given(app: AppTest, key: str, file: str, data: bytes) -> AppTest:
    """The page after somebody chose a file, which its field must let through."""
    field = app.file_uploader(key=key)
    assert f".{file.rpartition('.')[2]}" in field.proto.type
    field.set_value((file, data, "application/octet-stream")).run()
    assert not app.exception
    return app


def of_door(door: str) -> list[Brought]:
    return [one for one in BROUGHT if one.door == door]


@pytest.mark.parametrize("brought", of_door("votes"), ids=lambda one: one.format)
def test_votes_are_counted_on_the_page_before_they_are_kept(store: Store, brought: Brought) -> None:
    app = given(open_page(routes.IMPORT_VOTES), reading.FILE, brought.file, brought.data)
    found = {metric.label: metric.value for metric in app.metric}
    expected = {WORDS.get(what, what.capitalize()): str(n) for what, n in brought.counts.items()}
    assert found == expected
    assert store.counts().runs == 0


@pytest.mark.parametrize("brought", of_door("items"), ids=lambda one: one.format)
def test_items_are_counted_on_the_page_before_they_are_kept(store: Store, brought: Brought) -> None:
    app = given(
        open_page(routes.DATASETS, dataset=state.NEW), IMPORT_FILE, brought.file, brought.data
    )
    count = brought.counts["items"]
    assert f"All {count} item{'s' if count > 1 else ''} can be read" in shown(app)
    assert store.counts().datasets == 0


@pytest.mark.parametrize("brought", of_door("rubric"), ids=lambda one: one.format)
def test_a_rubric_opens_in_the_editor_with_its_criteria(store: Store, brought: Brought) -> None:
    app = press(open_page(routes.RUBRICS), "import", family=RUBRICS_ACT)
    given(app, RUBRICS_FILE, brought.file, brought.data)
    press(app, "read", family=RUBRICS_ACT)
    assert len(draft_of(app)["criteria"]) == brought.counts["criteria"]
    assert store.counts().rubrics == 0


@pytest.mark.parametrize("bad", BAD)
def test_a_bad_file_of_votes_is_refused_with_one_sentence(store: Store, bad: str) -> None:
    file, data, says = BAD[bad]
    app = given(open_page(routes.IMPORT_VOTES), reading.FILE, file, data)
    (error,) = app.error
    assert says in error.value + shown(app)
    assert not app.metric
    assert not [b for b in app.button if b.label == "Import"]


@pytest.mark.parametrize("bad", BAD | BAD_ITEMS)
def test_a_bad_file_of_items_is_refused_with_one_sentence(store: Store, bad: str) -> None:
    file, data, says = (BAD | BAD_ITEMS)[bad]
    app = given(open_page(routes.DATASETS, dataset=state.NEW), IMPORT_FILE, file, data)
    (error,) = app.error
    assert says in error.value + shown(app)
    assert not [b for b in app.button if b.label == "Import"]
    assert store.counts().datasets == 0
