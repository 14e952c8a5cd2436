"""Two runs side by side: what changed, which verdicts flipped, by whose votes, and at what cost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import pytest

from core.store.store import Store
from tests.browser.driving import follow, go, main_text, press, settle, turn, visit
from tests.browser.hostile import hostile
from tests.browser.looking import seen
from tests.services.comparison.test_run_comparison import LABELS, STRONG, WEAK
from tests.services.comparison.world import dataset, run_with

#: No test needs a page of its own.
ONE_PAGE = True
#: Of `clear`, the weak run is right on 4 of 8 items and the strong one on 7:
#: tests/comparing/test_comparing.py.
DIFFERENCE = "+37.5 points"
#: Items 3, 4 and 5 went from UNMET to MET, as their label is; 6 did too, against its label.
FLIPPED = ["i3", "i4", "i5", "i6"]


class Runs(NamedTuple):
    """A weak run and a strong one, ten times as dear, over the same items."""

    weak: int
    strong: int


@pytest.fixture(scope="module")
def runs(app_db: Path) -> Iterator[Runs]:
    """Both runs; names and texts are attacks."""
    store = Store(app_db)
    data = dataset(LABELS, texts=[hostile(f"text-{at}") for at in range(8)])
    weak = run_with(store, data, WEAK, name=hostile("weak", 90), cost=0.001)
    yield Runs(weak, run_with(store, data, STRONG, name=hostile("strong", 90), cost=0.01))
    store.close()


def test_from_a_run_to_the_votes_behind_a_verdict_that_flipped(
    runs: Runs, page: Any, app_url: str
) -> None:
    turn(page, f"{app_url}/run?run={runs.weak}")
    follow(page, "Compare")
    # One run alone: those over the same dataset are offered.
    page.get_by_text("One run alone").wait_for()
    page.get_by_role("button", name=f"{runs.strong}: strong").click()
    settle(page)

    assert DIFFERENCE in main_text(page)
    seen(page, "weak", "strong")
    page.get_by_role("button", name="clear: UNMET → MET").click()
    settle(page)
    names = page.get_by_role("grid").get_by_role("rowheader")
    assert [one.inner_text() for one in names.all()] == FLIPPED
    page.get_by_role("gridcell", name="A, i6, clear").click()
    settle(page)
    assert parse_qs(urlsplit(page.url).query)["cell"] == ["i6", "clear"]
    # Item 6 is labelled UNMET: right in the first run, wrong in the second.
    assert main_text(page).index("✓ the label is UNMET") < main_text(page).index("✕ the label is")
    press_what_was_judged(page)
    seen(page, "text-6")

    page.get_by_role("link", name=f"B: run {runs.strong}").click()
    page.wait_for_url(f"**/run?**run={runs.strong}**")
    settle(page)
    assert parse_qs(urlsplit(page.url).query)["item"] == ["i6"]
    seen(page, "text-6")


def press_what_was_judged(page: Any) -> None:
    """Unfold the text of the item."""
    page.get_by_test_id("stMain").get_by_text("What was judged").click()
    settle(page)


def test_what_accuracy_costs_is_drawn_and_listed(runs: Runs, page: Any, app_url: str) -> None:
    turn(page, f"{app_url}/compare?runs={runs.weak},{runs.strong}")

    page.get_by_test_id("stMain").get_by_text("Accuracy against cost", exact=True).click()
    settle(page)
    plot = page.get_by_role("figure", name="Accuracy against cost")
    plot.scroll_into_view_if_needed()
    plot.locator(".plot-container").wait_for()
    costs = page.get_by_role("table", name="Accuracy and cost of the runs")
    rows = [row.inner_text() for row in costs.get_by_role("row").all()[1:]]
    # Sixteen calls over eight items, at $0.001 and $0.01 each: $2 and $20 for a thousand items.
    assert ["$2.00" in row for row in rows] == [True, False]
    assert ["$20.00" in row for row in rows] == [False, True]
    # The cheap one and the better one: neither is beaten in both.
    assert all("efficient" in row for row in rows)


def test_the_page_opens_on_the_newest_two_and_turns_round(
    runs: Runs, page: Any, app_url: str
) -> None:
    visit(page, app_url)
    go(page, "Compare", "Compare runs")
    assert DIFFERENCE in main_text(page)
    press(page, "Swap")
    assert DIFFERENCE.replace("+", "−") in main_text(page)
    # The address holds the view.
    page.reload()
    settle(page)
    assert DIFFERENCE.replace("+", "−") in main_text(page)
