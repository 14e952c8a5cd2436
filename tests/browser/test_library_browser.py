"""From the library to a saved rubric in a real browser, and a finding mended on the way."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from core.services.rubrics import library
from core.store.store import Store
from tests.browser.driving import press, settle, visit, write

PICKED = (
    "Requests delivered",
    "Way of speaking",
    "Flatters the person",
    "Claims found in passages",
    "Question answered",
    "Says what is missing",
)


def test_six_mixed_criteria_come_from_the_library_and_are_saved(
    app_db: Path, page: Any, app_url: str
) -> None:
    visit(page, f"{app_url}/library")
    for name in PICKED:
        page.get_by_role("checkbox", name=f"Pick {name}", exact=True).check(force=True)
        settle(page)
    press(page, "Add 6 criteria")
    page.get_by_text("known to make judges disagree").wait_for()
    page.get_by_text("Nothing to fix before saving").wait_for()
    press(page, "Save")
    page.get_by_text("Version 1, saved").wait_for()
    store = Store(app_db)
    (row,) = library.listing(store, search="From the library")
    rubric = library.latest(store, row.id).rubric
    store.close()
    assert {c.name for c in rubric.criteria} == set(PICKED)
    assert {c.scale for c in rubric.criteria} == {"binary", "ordinal", "nominal"}
    assert min(c.weight for c in rubric.criteria) < 0


def test_a_finding_appears_when_the_field_is_left_and_goes_with_one_click(
    page: Any, app_url: str
) -> None:
    visit(page, f"{app_url}/rubrics")
    press(page, "New rubric")
    press(page, "Yes or no")
    write(page, "Requirement: what the judge must decide", "The answer is clear and concise.")
    beside = page.locator("[class*=st-key-rubric_card_]")
    beside.get_by_text("Two questions in one").wait_for()
    beside.get_by_role("button", name=re.compile("Split into two")).click()
    settle(page)
    assert page.get_by_text("Two questions in one").count() == 0
    assert page.get_by_text("The answer is concise.").count() >= 1
