"""Every screen by keyboard alone: Tab reaches all that can be pressed, is not caught, is seen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.driving import turn, visit
from tests.browser.test_headers import MORE, PAGES
from tests.new_store import graded_example
from tests.services.comparison.test_run_comparison import LABELS, STRONG, WEAK
from tests.services.comparison.world import dataset, run_with

#: So many presses go round the longest screen, the library, and back to its start.
MOST = 200
#: A new round, from the top.
BEGIN = """() => {
  for (const one of document.querySelectorAll("[data-reached]")) delete one.dataset.reached;
  document.activeElement?.blur();
}"""
#: Marks what has the focus, and says whether it had it before, and whether a ring is drawn.
FOCUSED = """() => {
  let at = document.activeElement;
  if (!at || at === document.body) return null;
  const again = at.dataset.reached === "1";
  at.dataset.reached = "1";
  let ring = !at.closest("[data-testid=stMain]") || at.dataset.testid === "stMain";
  for (let one = at, up = 0; one && up < 4; one = one.parentElement, up++) {
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(one);
    ring ||= (outlineStyle !== "none" && parseFloat(outlineWidth) > 0) || boxShadow !== "none";
  }
  const name = at.getAttribute("aria-label") || at.innerText || at.placeholder || at.tagName;
  return { again, ring, name: name.trim().slice(0, 60) };
}"""
#: What can be pressed and had no focus, nor any other part of its group (for the arrow keys).
MISSED = """() => {
  const groups = "[role=radiogroup], [role=grid], [role=tablist], [data-testid=stButtonGroup], "
    + "[data-testid=stSelectbox], [data-testid=stMultiSelect], [data-testid=stNumberInput], "
    + "[data-testid=stFileUploader], [data-testid=stDataFrame], [data-testid=stPagination]";
  const reached = (one) => one && (one.dataset.reached || one.querySelector("[data-reached]"));
  const shown = (one) => {
    const at = one.getBoundingClientRect();
    const drawn = one.checkVisibility({ opacityProperty: true, visibilityProperty: true });
    return drawn && at.width > 1 && at.height > 1 && !one.disabled;
  };
  const pressed = "a[href], button, input, textarea, summary, [role=radio], [role=grid]";
  return [...document.querySelector("[data-testid=stMain]").querySelectorAll(pressed)]
    .filter((one) => shown(one) && !reached(one) && !reached(one.closest(groups)))
    .map((one) => (one.getAttribute("aria-label") || one.innerText || one.tagName).trim());
}"""


@pytest.fixture(scope="module")
def runs(app_db: Path) -> Iterator[tuple[int, int]]:
    """The worked example, and two small runs over the same texts; ids of the last two."""
    store = graded_example(app_db)
    data = dataset(LABELS)
    yield run_with(store, data, WEAK), run_with(store, data, STRONG)
    store.close()


def test_tab_reaches_everything_on_every_screen_and_shows_where_it_is(
    runs: tuple[int, int], page: Any, app_url: str
) -> None:
    visit(page, app_url)
    unseen, missed, caught = {}, {}, {}
    for address in (*PAGES, *MORE):
        turn(page, f"{app_url}/{address.format(run=1, first=runs[0], second=runs[1])}")
        unseen[address], missed[address], caught[address] = by_tab(page)
    for found in (unseen, missed, caught):
        assert {address: names for address, names in found.items() if names} == {}


def by_tab(page: Any) -> tuple[list[str], list[str], list[Any]]:
    """What has no ring under the focus, what Tab does not reach, and where it is caught."""
    page.evaluate(BEGIN)
    bare, at, ended = list[str](), None, False
    for _ in range(MOST):
        page.keyboard.press("Tab")
        at = page.evaluate(FOCUSED)
        if at is None and not ended:
            ended = True  # A page may have put the cursor in its midst: on from the top.
            continue
        if at is None or at["again"]:
            return bare, page.evaluate(MISSED), []
        bare += [] if at["ring"] else [at["name"]]
    return bare, page.evaluate(MISSED), [at]
