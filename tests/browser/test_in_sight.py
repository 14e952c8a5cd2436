"""Where the first row of data begins at 1440 x 900: the worked example and a second run of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bench.in_sight import SEEN, two_runs
from core.store.store import Store
from tests.browser.driving import turn

#: No test needs a page of its own.
ONE_PAGE = True
#: A third of the screen's height.
LOWEST = 300


@pytest.fixture(scope="module", autouse=True)
def _runs(app_db: Path) -> None:
    store = Store(app_db)
    two_runs(store)
    store.close()


@pytest.mark.parametrize(
    "address", ["run?run=1", "agreement?run=1", "compare?runs=1,2", "compare?runs=1,2&view=beside"]
)
def test_the_first_row_of_data_begins_in_the_first_third(
    page: Any, app_url: str, address: str
) -> None:
    before = page.viewport_size
    page.set_viewport_size({"width": 1440, "height": 900})
    turn(page, f"{app_url}/{address}")

    *_, row = page.evaluate(SEEN)

    assert 0 < row < LOWEST
    page.set_viewport_size(before)


def test_on_a_telephone_the_first_row_of_a_grid_begins_in_the_upper_half(
    page: Any, app_url: str
) -> None:
    before = page.viewport_size
    page.set_viewport_size({"width": 390, "height": 844})
    turn(page, f"{app_url}/run?run=1")

    *_, row = page.evaluate(SEEN)
    bar = page.get_by_test_id("stHeader").bounding_box()
    title = page.get_by_role("heading", level=1).bounding_box()

    assert 0 < row <= 844 / 2
    assert title["y"] >= bar["y"] + bar["height"]
    page.set_viewport_size(before)
