"""Where the first row of data begins at 1440 x 900: the worked example and a second run of it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from bench.in_sight import SEEN, two_runs
from core.store.store import Store
from tests.browser.driving import PATIENCE, settle, turn, visit

#: No test needs a page of its own.
ONE_PAGE = True
#: A third of the screen's height.
LOWEST = 300


@pytest.fixture(scope="module", autouse=True)
def _runs(app_db: Path) -> None:
    store = Store(app_db)
    two_runs(store)
    store.close()


def _first_row(page: Any) -> float:
    """Return where the first row of data begins: a grid draws its rows after the page is there."""
    end = time.monotonic() + PATIENCE
    while (row := page.evaluate(SEEN)[-1]) is None and time.monotonic() < end:
        page.wait_for_timeout(100)
    return float(row or 0)


@pytest.mark.parametrize(
    "address",
    [
        *("run?run=1", "agreement?run=1", "report?run=1"),
        *("compare?runs=1,2", "compare?runs=1,2&view=beside"),
    ],
)
def test_the_first_row_of_data_begins_in_the_first_third(
    page: Any, app_url: str, address: str
) -> None:
    before = page.viewport_size
    page.set_viewport_size({"width": 1440, "height": 900})
    turn(page, f"{app_url}/{address}")

    assert 0 < _first_row(page) < LOWEST
    page.set_viewport_size(before)


def test_on_a_telephone_the_first_row_of_a_grid_begins_in_the_upper_half(
    page: Any, app_url: str
) -> None:
    before = page.viewport_size
    page.set_viewport_size({"width": 390, "height": 844})
    # Opened anew: another test may have scrolled this address, which a step leaves as it is.
    visit(page, f"{app_url}/run?run=1")

    row = _first_row(page)
    bar = page.get_by_test_id("stHeader").bounding_box()
    title = page.get_by_role("heading", level=1).bounding_box()

    assert 0 < row <= 844 / 2
    assert title["y"] >= bar["y"] + bar["height"]
    page.set_viewport_size(before)


def test_on_a_telephone_a_tapped_cell_opens_in_sight_and_stays_in_sight(
    page: Any, app_url: str
) -> None:
    before = page.viewport_size
    page.set_viewport_size({"width": 390, "height": 844})
    turn(page, f"{app_url}/run?run=1")

    # A cell of the tenth row; the first two columns are the item and its score.
    page.get_by_role("grid").locator("tbody tr").nth(9).locator("td").nth(1).click()
    settle(page)
    page.locator("td.opened").wait_for()
    sheet = page.get_by_role("button", name="Close").bounding_box()
    cell = page.locator("td.opened").bounding_box()

    assert cell["y"] + cell["height"] <= sheet["y"] < 844
    page.set_viewport_size(before)


def test_on_a_telephone_the_difference_of_two_runs_is_not_cut(page: Any, app_url: str) -> None:
    before = page.viewport_size
    page.set_viewport_size({"width": 390, "height": 844})
    turn(page, f"{app_url}/compare?runs=1,2")

    difference = page.get_by_role("columnheader", name="Difference").bounding_box()

    assert difference["x"] + difference["width"] <= 390
    page.set_viewport_size(before)


@pytest.mark.parametrize("width", [1440, 390])
def test_the_buttons_of_a_table_lie_over_no_words(page: Any, app_url: str, width: int) -> None:
    before = page.viewport_size
    page.set_viewport_size({"width": width, "height": 844})
    turn(page, f"{app_url}/compare?runs=1,2")

    taken = page.locator(".rs-tabled").filter(has_text="Difference")
    ends = taken.locator("table").bounding_box()
    buttons = taken.locator(".rs-take").bounding_box()
    whole = taken.bounding_box()

    assert ends["y"] + ends["height"] <= buttons["y"] + 1
    assert buttons["y"] + buttons["height"] <= whole["y"] + whole["height"] + 1
    page.set_viewport_size(before)
