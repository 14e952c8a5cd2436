"""A workbook of several sheets with hostile texts: one is chosen, and nothing is obeyed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from tests.browser.driving import choose, press, settle, turn
from tests.browser.hostile import hostile
from tests.browser.looking import seen
from tests.formats.office.workbooks import xlsx

#: No test needs a page of its own.
ONE_PAGE = True
ESSAYS = [["Student ID", "Essay"], ["7", hostile("essay")], ["8", "Two."]]
MARKS = [["item", "ann", "bob"], ["e7", "yes", "yes"], ["e8", "yes", "no"]]


def upload(page: Any, sheets: dict[str, list[list[str]]]) -> None:
    file = {"name": "class.xlsx", "mimeType": "application/zip", "buffer": xlsx(sheets)}
    page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files([file])
    settle(page)


def kept(page: Any, name: str) -> None:
    """A picture to look at, where somebody says where."""
    if folder := os.environ.get("RUBRIC_STUDIO_PICTURES"):
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


def test_a_class_is_imported_from_the_sheet_that_is_chosen(app_url: str, page: Any) -> None:
    turn(page, f"{app_url}/datasets?dataset=new")
    upload(page, {"Essays <b>1 &": ESSAYS, "Old": ESSAYS[:2]})
    kept(page, "sheet-choice")
    choose(page, "This workbook has rows on 2 sheets", "Essays")
    kept(page, "sheet-chosen")
    seen(page, "essay")
    press(page, "Import")
    seen(page)
    assert page.get_by_text("Imported.").is_visible()


def test_votes_are_imported_from_the_sheet_that_is_chosen(app_url: str, page: Any) -> None:
    turn(page, f"{app_url}/import_votes")
    upload(page, {"Marks": MARKS, "Old": MARKS})
    choose(page, "This workbook has rows on 2 sheets", "Marks")
    kept(page, "votes-sheet")
    seen(page)
    press(page, "Import")
    assert page.get_by_text("Imported as run").is_visible()
