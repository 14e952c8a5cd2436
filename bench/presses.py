"""How long a press takes: `python bench/presses.py [--items 14500] [--rounds 5]`.

Without `--items` the data file holds the worked example, its judges' grades and labels; with it,
that many made-up items, ten votes each. A browser walks the same presses round after round in one
session. The seconds of a press run from the click or key, when the page gets it, until the server
has answered and nothing on the page is stale or moves. A load is an address opened anew in a
browser that has been there.
Goals: 95 of 100 presses within .3 s on the example and .5 s on 145,000 votes; a load within 1.5 s.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.filled import fill
from core.services.reports import worked_example
from tests.browser.conftest import ARGS, CHROMIUM
from tests.browser.driving import settle, turn, visit, watch
from tests.browser.serving import APP, serving
from tests.new_store import new_store

LOADS = ("", "runs", "run?run=1", "agreement?run=1", "report?run=1", "queues", "rubrics?rubric=1")
TABS = ("Agreement", "Review", "Report", "Compare", "Grid")


#: When the page got the last click or key: before that, the driver looks for what it presses.
PRESSED = """for (const kind of ['click', 'keydown'])
  addEventListener(kind, () => { window.benchPressed = performance.now(); }, true);"""
SINCE = "(performance.now() - window.benchPressed) / 1000"


class Clock:
    """Seconds of each kind of press on one page."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.first: dict[str, list[float]] = defaultdict(list)

    def press(
        self, name: str, act: Callable[[], object], *, seen: Callable[[], object] | None = None
    ) -> None:
        """Do it, wait for the answer, and note how long both took; also until it is first seen."""
        settle(self.page)
        act()
        if seen is not None:
            seen()
            self.first[name].append(self.page.evaluate(SINCE))
        settle(self.page)
        self.seconds[name].append(self.page.evaluate(SINCE))

    def load(self, name: str, url: str) -> None:
        """Open an address anew, and note how long it took."""
        began = time.perf_counter()
        visit(self.page, url)
        self.seconds[name].append(time.perf_counter() - began)

    def settle_cell(self) -> None:
        """Press the key of the first option on the cell under the cursor."""
        grid = "document.querySelector('.rs-grid').innerText"
        before, seen = self.page.evaluate(grid), f"before => {grid} !== before"
        self.press(
            "settle by a digit",
            lambda: self.page.keyboard.press("1"),
            seen=lambda: self.page.wait_for_function(seen, arg=before),
        )


def walk(timed: Clock, url: str, cells_to_settle: int) -> None:
    """Press what stands on the tabs of the first run, once each."""
    page = timed.page
    turn(page, f"{url}/run?run=1")
    tabs = page.get_by_test_id("stMain")
    for tab in TABS:
        link = tabs.get_by_role("link", name=tab, exact=True)
        timed.press(f"tab {tab}", link.first.click)
    cells = page.get_by_role("gridcell")
    timed.press("open a cell", cells.nth(3).click)
    timed.press("open another cell", cells.nth(4).click)
    timed.press("next cell by key", lambda: page.keyboard.press("ArrowRight"))
    timed.press("close the cell", lambda: page.keyboard.press("Escape"))
    timed.press("sort by score", page.get_by_role("button", name="Score").first.click)
    doubts = page.get_by_role("button", name="≠ Judges disagree")
    timed.press("filter", doubts.click)
    for _ in range(cells_to_settle):
        timed.settle_cell()
    timed.press("filter off", doubts.click)
    turn(page, f"{url}/rubrics?rubric=1")
    weight = page.get_by_role("spinbutton").first
    weight.fill(str(len(timed.seconds["change a weight"]) + 2))
    timed.press("change a weight", lambda: page.keyboard.press("Tab"))


def main() -> None:
    """Print the median and the longest of each press, and the 95th percentile of all."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "studio.db"
        store = new_store(path)
        if asked.items is None:
            worked_example.grade_example(store)
            worked_example.ensure_example(store)
        else:
            fill(path, items=asked.items)
        store.close()
        with serving(APP, path, "process", Path(folder)) as server, sync_playwright() as p:
            chromium = p.chromium.launch(executable_path=CHROMIUM, args=ARGS)
            page = chromium.new_context(viewport={"width": 1440, "height": 900}).new_page()
            page.add_init_script(PRESSED)
            watch(page)
            visit(page, f"{server.url}/queues")
            name = page.get_by_role("textbox", name="Your name")
            if name.count():
                name.fill("Kay")
                page.keyboard.press("Enter")
                settle(page)
            presses, loads = Clock(page), Clock(page)
            for _ in range(asked.rounds):
                # Of made-up items one cell a round: on some a digit alone changes nothing.
                walk(presses, server.url, 1 if asked.items else 5)
            for address in LOADS * asked.rounds:
                loads.load(address or "start", f"{server.url}/{address}")
            chromium.close()
    for what, timed in (("press", presses), ("load", loads)):
        for name, seconds in timed.seconds.items():
            print(f"{name:<22}{statistics.median(seconds):>7.2f} s {max(seconds):>7.2f} s at most")
        for name, seconds in timed.first.items():
            print(
                f"{name}, seen after {statistics.median(seconds):.2f} s, {max(seconds):.2f} at most"
            )
        every = sorted(second for seconds in timed.seconds.values() for second in seconds)
        print(f"{what}: {len(every)}, p95 {statistics.quantiles(every, n=20)[-1]:.2f} s")


if __name__ == "__main__":
    main()
