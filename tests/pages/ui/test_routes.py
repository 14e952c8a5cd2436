"""From every page about a run the others are one click away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.store.store import Store
from pages.compare import selection as keys
from pages.ui import resources, routes, state
from pages.ui.routes import Screen
from tests.pages.compare.test_page import field
from tests.pages.conftest import open_page, shown, visit
from tests.pages.graded import graded, planned
from tests.services.comparison.test_run_comparison import LABELS, STRONG, WEAK
from tests.services.comparison.world import dataset, run_with

PAGES = (routes.RUN, routes.AGREEMENT, routes.REPORT)


def links(app: AppTest) -> dict[str, str]:
    """Where links of the page itself lead, by their words."""
    return _led(app.main.get("page_link"))


def _led(found: Sequence[Any]) -> dict[str, str]:
    return {one.proto.label: f"{one.proto.page}?{one.proto.query_string}" for one in found}


@pytest.mark.parametrize("here", PAGES)
def test_a_page_about_a_run_leads_to_the_others_about_it(store: Store, here: Screen) -> None:
    run = graded(store)
    found = links(open_page(here, run=str(run)))
    for screen, (words, _) in routes.OTHER_VIEWS.items():
        assert (words in found) == (screen != here)
    assert found["Compare"].endswith(f"runs={run}")
    assert "new=queue" in found["Review"]
    assert f"run={run}" in found["Review"]


def test_nothing_leads_on_from_a_run_without_votes(store: Store) -> None:
    run = planned(store)
    assert not links(open_page(routes.RUN, run=str(run))).keys() & {"Report", "Agreement"}


def test_the_run_opened_last_stays_at_hand_below_the_navigation(store: Store) -> None:
    run = graded(store)
    app = open_page(routes.AGREEMENT, run=str(run))
    del app.query_params[state.RUN]
    visit(app, routes.DATASETS)
    assert "In hand" in app.sidebar.caption[0].value
    found = _led(app.sidebar.get("page_link"))
    assert found == {
        "Items": f"run?run={run}",
        "Agreement": f"agreement?run={run}",
        "Report": f"report?run={run}",
    }


def test_a_run_without_votes_at_hand_leads_to_its_items_only(store: Store) -> None:
    app = open_page(routes.RUN, run=str(planned(store)))
    assert list(_led(app.sidebar.get("page_link"))) == ["Items"]


def test_an_address_of_no_run_puts_nothing_at_hand(store: Store) -> None:
    app = open_page(routes.RUNS)
    app.query_params[state.RUN] = "77"
    visit(app, routes.AGREEMENT)
    assert not app.sidebar.get("page_link")


def test_runs_over_one_dataset_are_compared_first(store: Store) -> None:
    data = dataset(LABELS)
    first = run_with(store, data, WEAK, name="first")
    second = run_with(store, data, STRONG, name="second")
    graded(store)  # newer, over other items

    app = open_page(routes.COMPARE)

    assert app.multiselect(key=field(state.RUNS)).value == [first, second]


def test_a_run_that_came_alone_is_offered_those_over_its_dataset(store: Store) -> None:
    data = dataset(LABELS)
    first = run_with(store, data, WEAK, name="first")
    second = run_with(store, data, STRONG, name="second")
    other = graded(store)
    app = open_page(routes.COMPARE, runs=str(second))

    keys_shown = {button.key for button in app.button}
    assert state.key(keys.COMPARE_ACT, "with", other) not in keys_shown
    app.button(key=state.key(keys.COMPARE_ACT, "with", first)).click().run()

    assert not app.exception
    assert app.query_params[state.RUNS] == f"{first},{second}"
    assert "What changed" in shown(app)


def test_who_is_here_is_not_asked_for_every_line_of_the_navigation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked, actor = list[int](), resources.actor
    monkeypatch.setattr(resources, "actor", lambda: asked.append(1) or actor())
    open_page(routes.DOCUMENTS)
    # By the frame, by the page and for its store.
    assert len(asked) <= 3
