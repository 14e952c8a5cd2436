"""What an address names and is not there is said, and never replaced without a word."""

from __future__ import annotations

import html

import pytest

from core.store.store import Store
from pages.ui import routes
from pages.ui.routes import Screen
from tests.pages import reviewing as at
from tests.pages.conftest import open_page, shown
from tests.services import reviewed

UNKNOWN = [
    (routes.RUN, {"run": "1", "view": "zz"}, "view=zz"),
    (routes.AGREEMENT, {"run": "abc"}, "run=abc"),
    (routes.AGREEMENT, {"run": "1", "criterion": "zz"}, "criterion=zz"),
    (routes.AGREEMENT, {"run": "1", "view": "zz"}, "view=zz"),
    (routes.REPORT, {"run": "abc"}, "run=abc"),
    (routes.COMPARE, {"runs": "1,999"}, "runs=999"),
    (routes.COMPARE, {"runs": "1,2,abc"}, "runs=abc"),
    (routes.COMPARE, {"a": "1", "b": "77"}, "b=77"),
    (routes.QUEUES, {"queue": "abc"}, "queue=abc"),
    (routes.QUEUES, {"new": "queue", "run": "999"}, "run=999"),
    (routes.RECORD, {"queue": "abc"}, "queue=abc"),
    (routes.RECORD, {"queue": "1", "view": "zz"}, "view=zz"),
    (routes.DATASETS, {"dataset": "1", "dataset_version": "99"}, "dataset_version=99"),
    (routes.ARENA, {"run": "abc"}, "run=abc"),
    (routes.CONTESTS, {"run": "abc"}, "run=abc"),
    (routes.SPOT_CHECK, {"run": "abc"}, "run=abc"),
    (routes.RUNS, {"plan": "zz"}, "plan=zz"),
    (routes.RUNS, {"plan": "new", "dataset": "999"}, "dataset=999"),
    (routes.GRADE, {"dataset": "999"}, "dataset=999"),
    (routes.GRADE, {"run": "999"}, "run=999"),
]


@pytest.mark.parametrize(("screen", "address", "said"), UNKNOWN)
def test_an_unknown_part_of_an_address_is_said(
    store: Store, screen: Screen, address: dict[str, str], said: str
) -> None:
    run = reviewed.graded(store, 4)
    reviewed.graded(store, 4)
    reviewed.make_queue(store, run)
    app = at.at(store, "Lea", screen, **address)
    assert f"Ignored, because unknown, in the page address: {said}." in html.unescape(shown(app))


def test_an_address_that_is_known_says_nothing(store: Store) -> None:
    reviewed.graded(store, 4)
    reviewed.graded(store, 4)
    for screen, address in (
        (routes.RUN, {"run": "1", "view": "scores"}),
        (routes.AGREEMENT, {"run": "1", "criterion": "Right", "view": "one"}),
        (routes.COMPARE, {"runs": "1,2", "a": "2", "b": "1"}),
        (routes.RUNS, {"plan": "new"}),
        (routes.JUDGES, {"panel": "new"}),
    ):
        assert "in the page address" not in shown(open_page(screen, **address))


def test_two_runs_named_by_their_sides_alone_are_those_compared(store: Store) -> None:
    for _ in range(4):
        reviewed.graded(store, 4)
    app = open_page(routes.COMPARE, a="2", b="1")
    # Without the address the newest two would be compared.
    sides = {box.label: box.value for box in app.selectbox}
    assert (sides["A"], sides["B"]) == (2, 1)
    app = open_page(routes.COMPARE, runs="3,4", a="1")
    sides = {box.label: box.value for box in app.selectbox}
    assert (sides["A"], sides["B"]) == (1, 3)
