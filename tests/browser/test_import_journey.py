"""Votes from elsewhere, from their file to the very items behind a count of their agreement."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from collections import defaultdict
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.browser.driving import choose, follow, press, settle, visit
from tests.places import SHARED

FOLDER = SHARED / "llm_rubric_real"
MODEL = "gpt-3.5-turbo-16k"
CRITERION = "overall_satisfaction"
LEVELS = ("1", "2", "3", "4")
#: The page shows so many items at a time.
PAGE = 10
#: Where a cell of the matrix is in the window: cells are bars of length 1, one row above another.
PLACE = """([row, column]) => {
  const plot = document.querySelector('[aria-label^="Confusion matrix"] .js-plotly-plot');
  const { xaxis, yaxis } = plot._fullLayout;
  const area = plot.querySelector('.nsewdrag').getBoundingClientRect();
  return [area.x + xaxis.c2p(column + 0.5), area.y + yaxis.c2p(row)];
}"""


def zipped() -> bytes:
    """The folder as an archive, as somebody would send it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("rubric.yaml", "items.jsonl", "votes.csv"):
            archive.write(FOLDER / name, f"{FOLDER.name}/{name}")
    return buffer.getvalue()


def expected() -> dict[tuple[str, str], set[str]]:
    """Items by (label, the model's answer), straight from the files."""
    with (FOLDER / "items.jsonl").open() as lines:
        labels = {item["id"]: item["labels"].get(CRITERION) for item in map(json.loads, lines)}
    found = defaultdict[tuple[str, str], set[str]](set)
    with (FOLDER / "votes.csv").open(newline="") as votes:
        for row in csv.DictReader(votes):
            if row["rater_id"] == MODEL and row["criterion"] == CRITERION:
                label = labels[row["item_id"]]
                true = label["label"] if isinstance(label, dict) else label
                found[str(true), row["label"]].add(row["item_id"])
    return found


@pytest.mark.skipif(not FOLDER.is_dir(), reason="llm_rubric_real is not in ../shared/data")
def test_imported_votes_lead_from_a_cell_of_their_agreement_to_its_items(
    page: Any, app_url: str
) -> None:
    visit(page, f"{app_url}/import_votes")
    file = {"name": "real.zip", "mimeType": "application/zip", "buffer": zipped()}
    page.set_input_files("input[type=file]", files=[file])
    page.get_by_text("The first votes as they are read").wait_for()
    settle(page)
    # 13 people and a model (shared/data/README.md), 223 items.
    page.get_by_text("14 raters", exact=True).wait_for()
    press(page, "Import")
    follow(page, "See how far raters agree")
    page.get_by_role("table", name="Agreement per criterion").wait_for()
    page.get_by_role("button", name=re.compile(" against ")).click()
    settle(page)
    choose(page, "Against", "Against: Labels (gold)")
    choose(page, "Rater", f"Rater: {MODEL}")
    page.keyboard.press("Escape")
    page.get_by_role("link", name=CRITERION, exact=True).first.click()
    page.get_by_text("All criteria", exact=True).wait_for()
    settle(page)

    cells = expected()
    cell = max(
        ((true, given) for true in LEVELS for given in LEVELS if len(cells[true, given]) <= PAGE),
        key=lambda one: len(cells[one]),
    )
    assert cells[cell]
    click(page, LEVELS.index(cell[0]), LEVELS.index(cell[1]))

    assert items_shown(page) == cells[cell]
    first = sorted(cells[cell])[0]
    follow(page, first)
    assert parse_qs(urlsplit(page.url).query)["item"] == [first]
    page.get_by_text(MODEL).first.wait_for()


def click(page: Any, row: int, column: int) -> None:
    """Click a cell of the confusion matrix."""
    matrix = page.get_by_role("figure", name="Confusion matrix")
    matrix.locator(".nsewdrag").wait_for(state="attached")
    matrix.scroll_into_view_if_needed()
    page.mouse.click(*page.evaluate(PLACE, [row, column]))
    page.wait_for_url("**cell=**")
    settle(page)


def items_shown(page: Any) -> set[str]:
    """The items that the list beside the matrix leads to."""
    links = page.get_by_test_id("stMain").locator("a[href*='item=']")
    addresses = [links.nth(at).get_attribute("href") for at in range(links.count())]
    return {parse_qs(urlsplit(address).query)["item"][0] for address in addresses}
