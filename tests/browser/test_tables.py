"""Any table of a page can be taken home as it is shown: copied, or as a CSV file."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from core.store.store import Store
from tests.browser.driving import visit, watch
from tests.pages.graded import graded


def test_a_table_is_downloaded_and_copied_as_it_is_shown(
    page: Any, app_db: Path, app_url: str, tmp_path: Path
) -> None:
    store = Store(app_db)
    run = graded(store)
    store.close()
    watch(page)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visit(page, f"{app_url}/report?run={run}")
    page.wait_for_selector(".rs-tabled table")
    first = page.locator(".rs-tabled").first
    name = first.locator("table").get_attribute("aria-label")
    # A name that a spreadsheet would work out.
    first.locator("tbody td").first.evaluate("cell => { cell.textContent = '=1+1' }")
    shown = [
        [" ".join(cell.split()) for cell in row.locator("th, td").all_inner_texts()]
        for row in first.locator("tr").all()
    ]
    shown[1][0] = "'=1+1"

    first.hover()
    with page.expect_download() as waiting:
        first.get_by_role("button", name=f"Download the table {name} as CSV").click()
    waiting.value.save_as(tmp_path / "table.csv")
    with (tmp_path / "table.csv").open(encoding="utf-8-sig", newline="") as file:
        assert list(csv.reader(file)) == shown

    first.get_by_role("button", name=f"Copy the table {name}").click()
    first.get_by_text("Copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert [row.split("\t") for row in copied.replace("\r", "").split("\n")] == shown
