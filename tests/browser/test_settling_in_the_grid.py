"""Cells of the grid are settled by keyboard alone: selected with X, settled by a digit."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from core.services.review import adjudication
from core.store.store import Store
from tests.browser.driving import settle, visit, watch, write
from tests.services import reviewed
from tests.services.reviewed import MET, UNMET


def test_a_column_is_selected_settled_and_undone_by_keyboard(
    page: Any, app_db: Path, app_url: str
) -> None:
    store = Store(app_db)
    run = reviewed.graded(store)
    watch(page)
    visit(page, f"{app_url}/run?run={run.id}")
    cell = page.get_by_role("gridcell", name="i1, Right:", exact=False)
    cell.focus()
    page.keyboard.press("x")
    page.get_by_text("1 cell, Right").wait_for()
    page.get_by_role("gridcell", name="i1, Right:", exact=False).focus()
    page.keyboard.press("Shift+ArrowDown")
    page.get_by_text("2 cells, Right").wait_for()
    write(page, "Your name", "Ada")

    page.get_by_role("gridcell", name="i2, Right:", exact=False).focus()
    page.keyboard.press("1")
    page.get_by_text("2 cells settled: MET.").wait_for()
    assert {
        cell: one.option for cell, one in adjudication.settled_cells(store, run.id).items()
    } == {
        ("i1", "Right"): MET,
        ("i2", "Right"): MET,
    }

    # The grid below is still being drawn, and pushes the button away from a hasty press.
    settle(page)
    page.get_by_role("button", name="Undo").click()
    page.get_by_text("2 cells settled: MET.").wait_for(state="detached")
    settle(page)
    assert adjudication.settled_cells(store, run.id) == {}
    store.close()


def test_the_filter_of_disagreements_leads_to_the_first_and_digits_settle_from_there(
    page: Any, app_db: Path, app_url: str
) -> None:
    store = Store(app_db)
    run = reviewed.graded(store)
    watch(page)
    visit(page, f"{app_url}/run?run={run.id}")
    write(page, "Your name", "Ada")
    head = page.get_by_role("link", name=re.compile(r"Settle \d+ disagreements?"))
    before = int(re.findall(r"\d+", head.inner_text())[0])
    page.get_by_role("button", name="≠ Judges disagree").click()
    settle(page)
    cell = page.get_by_role("gridcell", name="i1, Right:", exact=False)
    assert cell.evaluate("cell => cell === document.activeElement")
    assert "judges disagree" in str(cell.get_attribute("aria-label"))  # what is read aloud
    assert cell.evaluate("cell => getComputedStyle(cell).outlineStyle") == "solid"
    page.keyboard.press("1")
    settle(page)
    page.keyboard.press("2")
    settle(page)
    page.get_by_role("button", name="Undo UNMET").wait_for()
    settled = {cell: one.option for cell, one in adjudication.settled_cells(store, run.id).items()}
    assert settled == {("i1", "Right"): MET, ("i1", "Short"): UNMET}
    left = before - len(settled)
    page.get_by_role("link", name=re.compile(rf"Settle {left} disagreements?")).wait_for()

    # The filter in an address opens nothing.
    visit(page, f"{app_url}/run?run={run.id}&only=doubt")
    assert page.get_by_role("grid").locator(".opened").count() == 0
    store.close()
