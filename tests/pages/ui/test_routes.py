"""From every page about a run the others are one click away."""

from __future__ import annotations

from collections.abc import Sequence
from html import unescape
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.domain.access import LOCAL, Actor
from core.store.store import Store
from pages.compare import selection as keys
from pages.ui import resources, routes, state
from pages.ui.places import run_head
from pages.ui.places.navigation import entry_of
from pages.ui.routes import Screen
from tests.pages.compare.test_page import field
from tests.pages.conftest import open_page, shown, visit
from tests.pages.graded import graded, planned
from tests.services.comparison.test_run_comparison import LABELS, STRONG, WEAK
from tests.services.comparison.world import dataset, run_with

PAGES = (routes.RUN, routes.AGREEMENT, routes.RECORD, routes.REPORT)


def links(app: AppTest) -> dict[str, str]:
    """Where links of the page itself lead, by their words."""
    return _led(app.main.get("page_link"))


def _led(found: Sequence[Any]) -> dict[str, str]:
    return {one.proto.label: f"{one.proto.page}?{one.proto.query_string}" for one in found}


@pytest.mark.parametrize("here", PAGES)
def test_every_tab_of_a_run_has_one_head_that_leads_to_the_others(
    store: Store, here: Screen
) -> None:
    run = graded(store)
    app = open_page(here, run=str(run))
    found = links(app)
    assert unescape(app.title[0].value) == store.runs.get(run).name
    for screen, words in run_head.TABS:
        assert found[words] == f"{screen.url}?run={run}"
    assert found["Compare"] == f"compare?runs={run}"


def test_a_run_alone_in_compare_keeps_its_head(store: Store) -> None:
    run = graded(store)
    app = open_page(routes.COMPARE, runs=str(run))
    assert unescape(app.title[0].value) == store.runs.get(run).name
    assert links(app)["Report"] == f"report?run={run}"


def test_nothing_leads_on_from_a_run_without_votes(store: Store) -> None:
    run = planned(store)
    found = links(open_page(routes.RUN, run=str(run)))
    assert not found.keys() & {"Report", "Agreement", "Review", "Compare"}


def test_a_tab_without_a_run_shows_the_one_that_was_opened_last(store: Store) -> None:
    run, newer = graded(store), graded(store)
    app = open_page(routes.AGREEMENT, run=str(run))
    assert newer > run
    del app.query_params[state.RUN]
    visit(app, routes.REPORT)
    assert links(app)["Grid"] == f"run?run={run}"


def test_an_address_of_no_run_is_not_remembered(store: Store) -> None:
    run = graded(store)
    app = open_page(routes.RUNS)
    app.query_params[state.RUN] = "77"
    visit(app, routes.AGREEMENT)
    assert "There is no run 77" in shown(app).replace("&#46;", ".")
    del app.query_params[state.RUN]
    visit(app, routes.REPORT)
    assert links(app)["Grid"] == f"run?run={run}"


def _sidebar(who: Actor) -> list[str]:
    return [one.title for one in (*routes.PLACES, *routes.FOOT) if entry_of(one, who)]


def test_the_sidebar_has_seven_places_and_a_foot() -> None:
    places = ["Start", "Rubrics", "Data", "Grade", "Runs", "Review", "Compare"]
    assert _sidebar(LOCAL) == [*places, "Judges", "Documents"]


def test_a_place_opens_on_the_first_screen_that_is_of_use() -> None:
    # Who may only read plans nothing, imports nothing and reviews nothing.
    viewer = Actor("vera@example.org", "viewer")
    assert _sidebar(viewer) == [
        "Start",
        "Rubrics",
        "Data",
        "Runs",
        "Compare",
        "Judges",
        "Documents",
    ]


@pytest.mark.parametrize(
    ("screen", "address", "tabs"),
    [
        (routes.LIBRARY, {}, ["Rubrics", "Library"]),
        (routes.IMPORT_VOTES, {}, ["Datasets", "Import votes", "Test data"]),
        (routes.COMPARE, {}, ["Compare runs", "Compare systems"]),
        (routes.ARENA, {}, ["Review", "Arena"]),
        (routes.RUNS, {}, []),
    ],
)
def test_the_screens_of_a_place_are_tabs_beside_each_other(
    screen: Screen, address: dict[str, str], tabs: list[str]
) -> None:
    found = links(open_page(screen, **address))
    of_place = [one.title for place in routes.PLACES if screen in place.tabs for one in place.tabs]
    assert [words for words in found if words in of_place] == tabs


def test_runs_over_one_dataset_are_compared_first(store: Store) -> None:
    data = dataset(LABELS)
    first = run_with(store, data, WEAK, name="first")
    second = run_with(store, data, STRONG, name="second")
    graded(store)  # newer, over other items

    app = open_page(routes.COMPARE)

    assert app.multiselect(key=field(state.RUNS, first, second)).value == [first, second]


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
    assert "between A and B" in shown(app)


def test_who_is_here_is_not_asked_for_every_line_of_the_navigation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked, actor = list[int](), resources.actor
    monkeypatch.setattr(resources, "actor", lambda: asked.append(1) or actor())
    open_page(routes.DOCUMENTS)
    # By the frame, by the page and for its store.
    assert len(asked) <= 3
