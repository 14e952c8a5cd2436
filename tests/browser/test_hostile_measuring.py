"""Hostile text where runs are measured, compared and reported, and where votes come in."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from core.store.store import Store
from core.text.names import visible
from tests.browser import hostile as seeded
from tests.browser import hostile_more
from tests.browser.driving import choose, follow, press, settle, turn, visit, write
from tests.browser.hostile import Places, hostile
from tests.browser.hostile_more import Compared
from tests.browser.looking import START, seen, unfold


class Seeded(NamedTuple):
    """Where the attacks are."""

    places: Places
    runs: Compared


#: No test needs a page of its own.
ONE_PAGE = True


@pytest.fixture(scope="module")
def found(app_db: Path) -> Iterator[Seeded]:
    """Everything of the data file; seeded before the server starts."""
    store = Store(app_db)
    places = seeded.seed(store)
    hostile_more.checked(store)
    yield Seeded(places, hostile_more.compared(store, places))
    store.close()


def test_in_a_report(found: Seeded, page: Any, app_url: str) -> None:
    for run, name in ((found.places.run, "run"), (found.runs.ailing, "sick")):
        turn(page, f"{app_url}/report?run={run}")
        page.get_by_text("Made by").first.wait_for()
        seen(page, name, "criterion-1")
        # An annex is drawn once it is open; what it says must do no harm there.
        annexes = page.locator("[class*=st-key-report_field] summary p").all_inner_texts()
        assert "Raters" in annexes
        for annex in annexes:
            unfold(page, annex, exact=True)
        seen(page, "judge")


def test_in_a_comparison(found: Seeded, page: Any, app_url: str) -> None:
    turn(page, f"{app_url}/compare?runs={found.places.run},{found.runs.flipped}&flip=0")
    page.get_by_text("What was judged").wait_for()
    seen(page, "run", "flipped", "criterion-1", "item-plain", "judge", whole=("reason",))
    unfold(page, "What was judged")
    seen(page, "submission")
    press(page, "Differences", role="radio")
    for figure in ("Kappa", "Judges' agreement"):
        press(page, figure, role="radio")
        seen(page, "criterion-1")
    turn(page, f"{app_url}/compare?runs={found.runs.flipped},{found.runs.ailing}")
    seen(page, "flipped", "sick")


def test_in_a_sweep(found: Seeded, page: Any, app_url: str) -> None:
    turn(page, f"{app_url}/runs?plan=sweep")
    seen(page)
    press(page, "A saved panel", role="radio")
    choose(page, "Panel", "panel !")
    seen(page, "panel", "judge")
    press(page, "Each judge alone", role="radio")
    seen(page, "judge", "failing")


def test_in_every_view_of_agreement(found: Seeded, page: Any, app_url: str) -> None:
    base = f"{app_url}/agreement?run={found.runs.ailing}"
    turn(page, app_url)
    for view, names in (
        ("criteria", ("criterion-1",)),
        ("one", ("criterion-1",)),
        ("raters", ("judge", "failing")),
        ("scores", ()),
        ("findings", ("judge",)),
    ):
        turn(page, f"{base}&view={view}")
        seen(page, "sick", *names)
    turn(page, f"{base}&view=one&cell=UNMET~MET")
    seen(page, "criterion-1")
    page.get_by_role("button", name=" against ").first.click()
    settle(page)
    seen(page)
    turn(page, f"{app_url}/agreement?run={found.places.run}")
    seen(page, "run", "criterion-1", "criterion-2")


def test_in_the_library(found: Seeded, page: Any, app_url: str) -> None:
    turn(page, f"{app_url}/library?rubric={found.places.rubric}")
    seen(page, "rubric")
    page.get_by_role("combobox", name="Put them into").click()
    options = page.get_by_role("listbox")
    options.wait_for()
    assert visible(hostile("checked"))[:START] in visible(options.inner_text())
    page.keyboard.press("Escape")
    seen(page)


def test_in_the_rubric_check(found: Seeded, page: Any, app_url: str) -> None:
    turn(page, f"{app_url}/rubrics?rubric={hostile_more.CHECKED}")
    page.get_by_text("Rubric check").wait_for()
    seen(page, "twin-1", "twin-2", "vague")
    page.get_by_role("button", name="Dismiss").first.click()
    settle(page)
    unfold(page, "dismissed; kept with the rubric")
    seen(page, "twin-1")


def votes() -> bytes:
    """A table of votes with an attack in every cell."""
    told = io.StringIO()
    rows = csv.writer(told)
    rows.writerow(["item", "criterion", "rater", "label", "reason", "submission", hostile("head")])
    for item in ("first", "second"):
        for rater in ("rater-1", "rater-2"):
            names = (item, "asked", rater, f"given-{rater[-1]}")
            cells = [hostile(name, 90) for name in names]
            rows.writerow([*cells, hostile("why"), hostile(f"text-{item}"), "x"])
    return told.getvalue().encode()


def test_in_imported_votes_and_their_run(found: Seeded, page: Any, app_url: str) -> None:
    visit(page, f"{app_url}/import_votes")  # anew: a file stays on the page it was put on
    file = {"name": f"{hostile('file', 40)}.csv", "mimeType": "text/csv", "buffer": votes()}
    page.set_input_files("input[type=file]", files=[file])
    page.get_by_text("The first votes as they are read").wait_for()
    seen(page, "head", "first", "asked", "rater-1", "given-1", "why")
    write(page, "Name of the run", hostile("brought", 100))
    press(page, "Import")
    follow(page, "Open the run")
    page.get_by_text("✓ Imported").first.wait_for()
    page.get_by_role("gridcell").first.wait_for()
    page.locator("summary", has_text="verdicts").first.click()
    seen(page, "brought", "rater-1", "first")
    run = page.url.split("run=")[1].split("&")[0]
    item = page.url.split("?")[0] + f"?run={run}&view=plan"
    turn(page, item)
    seen(page, "brought", "rater-1")


def test_in_a_file_of_votes_that_cannot_be_read(found: Seeded, page: Any, app_url: str) -> None:
    visit(page, f"{app_url}/import_votes")  # anew: a file stays on the page it was put on
    file = {"name": "votes.csv", "mimeType": "text/csv", "buffer": votes()}
    page.set_input_files("input[type=file]", files=[file])
    settle(page)
    choose(page, "Rubric", "rubric !")
    page.get_by_text("to fix before this can be imported").wait_for()
    seen(page, "asked")
