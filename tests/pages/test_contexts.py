"""Contexts of an item, wherever its texts are shown or typed. In data they are hostile text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.domain.dataset import Dataset, Item
from core.domain.library import ItemFilter
from core.services.pairwise import blind_arena
from core.services.spot import spot_check
from core.services.spot.request import SpotRequest
from core.services.workbench import bench_rows
from core.services.workbench.bench_rows import item_from, row_of
from core.store.store import Store
from pages.spot.form_data import SPOT_ACT
from pages.ui import routes, state
from tests.pages.conftest import open_page, shown
from tests.pages.contested import held
from tests.pages.spot_checks import model, saved_rubric, worked_off
from tests.provider import Provider, ok
from tests.services.assist.made import text_of
from tests.services.pairwise.world import dataset as answers
from tests.services.workbench.made import NAME

GIVEN = {"context": "The Moon is near.", "a <b>law</b>": "Tides follow it."}
NOW = "2026-03-01T10:00:00.000Z"


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as running:
        yield running


def done(act: Any) -> AppTest:
    app: AppTest = act.run()
    assert not app.exception
    return app


def both_shown(words: str) -> bool:
    """Whether both contexts stand there, and the name of one is no markup."""
    texts = all(text in words for text in GIVEN.values())
    return texts and "<b>law" not in words and "Context: a" in words


def test_a_typed_context_is_sent_to_the_judge_and_shown_with_the_answer(
    store: Store, provider: Provider
) -> None:
    saved_rubric(store)
    model(store, provider.url)
    provider.rule = lambda body: ok(1)
    app = open_page(routes.SPOT_CHECK)
    done(app.text_area(key=state.key(state.SPOT_FIELD, "text")).set_value("The Moon pulls."))
    field = state.key(state.SPOT_FIELD, "context", "context")
    done(app.text_area(key=field).set_value("The Moon is near."))
    assert "context given" in app.expander[0].label
    done(app.button(key=state.key(SPOT_ACT, "grade")).click())
    found = app.query_params[state.RUN]
    worked_off(store, int(found[0] if isinstance(found, list) else found))
    assert all("<<<BEGIN CONTEXT (context) " in text_of(r.body) for r in provider.requests)
    assert "The Moon is near." in shown(done(app))


def test_a_check_asked_again_brings_its_contexts_back(store: Store) -> None:
    rubric = saved_rubric(store)
    model(store, "http://127.0.0.1:9")
    asked = SpotRequest(rubric=rubric, judges=("Ann",), text="The Moon.", context=GIVEN)
    form = spot_check.request_of(store, spot_check.check(store, asked), SpotRequest())
    assert form.context == GIVEN


def test_an_item_s_page_shows_them_and_a_search_finds_them(store: Store) -> None:
    item = Item(id="x", submission="The Moon.", context=GIVEN)
    other = Item(id="y", submission="Wind.")
    version = store.datasets.create(Dataset(items=(item, other)), now=NOW)
    assert store.datasets.count(version.id, ItemFilter(search="tides follow")) == 1
    assert both_shown(shown(open_page(routes.DATASETS, dataset="1", item="x")))
    assert [dict(task.context) for task in spot_check.distinct_tasks(store, version.id)] == [GIVEN]


def test_a_workbench_row_keeps_and_edits_them(store: Store) -> None:
    item = Item(id="x", submission="The Moon.", context=GIVEN)
    row = row_of(item)
    bench_rows.add_rows(store, NAME, [row])
    kept = bench_rows.saved_workbench(store, NAME)["rows"][0]
    assert item_from(kept).context == GIVEN


def test_contests_hand_them_to_both_judges_and_people(store: Store) -> None:
    data = answers(("weak", "best"), 1).model_copy(update={"context": GIVEN})
    run_id = held(store, systems=("weak", "best"), data=data)
    arena = blind_arena.start(store, run_id, "Zoe")
    blind = blind_arena.next_blind(store, arena)
    assert blind is not None
    assert blind.context == GIVEN
