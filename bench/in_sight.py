"""How much stands on a screen: `python bench/in_sight.py [--width 390 --height 844] [ADDRESS ...]`.

The data file holds the worked example as run 1, and run 2 over the same texts by one of its two
judges. Of each address it prints the words of the page's main part (icons are none), the controls
in sight (links, buttons, fields and folds; a list is one, a grid is one, and what shows only under
the pointer is none), and how far down the first row of data begins, in pixels.
"""

from __future__ import annotations

import argparse
import io
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from pypdf import PdfReader

from core import clock
from core.services.reports import worked_example
from core.services.runs.runner import follow
from core.store.store import Store
from tests.browser.conftest import ARGS, CHROMIUM
from tests.browser.driving import visit, watch
from tests.browser.serving import APP, serving
from tests.new_store import new_store

ADDRESSES = (
    *("", "runs", "run?run=1", "agreement?run=1", "record?run=1", "report?run=1"),
    *("compare?runs=1,2", "compare?runs=1,2&view=beside", "queues", "rubrics?rubric=1"),
)
SEEN = """() => {
  const main = document.querySelector("[data-testid=stMain]");
  const shown = (one) => {
    const at = one.getBoundingClientRect();
    const drawn = one.checkVisibility({ opacityProperty: true, visibilityProperty: true });
    return drawn && at.width > 1 && at.height > 1;
  };
  const all = (what) => [...main.querySelectorAll(what)].filter(shown);
  const icons = all("[data-testid=stIconMaterial]").map((one) => one.innerText).join(" ");
  const count = (text) => text.split(/\\s+/).filter(Boolean).length;
  const lists = "[data-testid=stSelectbox], [data-testid=stMultiSelect]";
  const pressed = all("a, button, input, textarea, [role=radio], summary, [role=grid]");
  const controls = pressed.filter(
    (one) => !one.closest("[role=grid] *") && !(one.matches("button") && one.closest(lists)));
  const row = all("tbody tr")[0];
  return [count(main.innerText) - count(icons), controls.length,
    row ? Math.round(row.getBoundingClientRect().top) : null];
}"""


def main() -> None:
    """Prints a line per address."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("addresses", nargs="*", default=ADDRESSES)
    parser.add_argument("--width", type=int, default=1440)
    parser.add_argument("--height", type=int, default=900)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = new_store(Path(folder) / "studio.db")
        two_runs(store)
        with serving(APP, store.path, "none", Path(folder)) as server, sync_playwright() as play:
            chromium = play.chromium.launch(executable_path=CHROMIUM, args=ARGS)
            size = {"width": asked.width, "height": asked.height}
            page = chromium.new_page(viewport=size, locale="en-US")
            watch(page)
            print(f"{'address':<32}{'words':>8}{'controls':>10}{'first row':>11}")
            for address in asked.addresses:
                print(line(page, server.url, address), flush=True)
            visit(page, f"{server.url}/report?run=1")
            print(f"{'report, first printed page':<32}{printed(page):>8}")
            chromium.close()
        store.close()


def printed(page: Any) -> int:
    """The words of the page's first sheet of A4."""
    sheets = PdfReader(io.BytesIO(page.pdf(format="A4"))).pages
    return len(sheets[0].extract_text().split())


def line(page: Any, url: str, address: str) -> str:
    """One address, when its page has come to rest."""
    visit(page, f"{url}/{address}")
    words, controls, row = page.evaluate(SEEN)
    return f"{address or 'start':<32}{words:>8}{controls:>10}{row or '-':>11}"


def two_runs(store: Store) -> None:
    """The worked example, and its texts graded by the first of its judges alone."""
    worked_example.grade_example(store)
    run = store.runs.get(worked_example.ensure_example(store))
    panel = run.plan.panel
    plan = replace(
        run.plan,
        name="By one judge",
        panel=panel.model_copy(update={"name": "One judge", "judges": panel.judges[:1]}),
    )
    criteria = len(store.rubrics.version(run.rubric_version_id).rubric.criteria)
    items = [(item, criteria) for item in store.runs.item_ids(run.id)]
    follow(store, store.runs.create(plan, items, now=clock.now()).id, lambda _: None)


if __name__ == "__main__":
    main()
