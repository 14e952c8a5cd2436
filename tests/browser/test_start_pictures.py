"""The three pictures on Start lead where the links below them lead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.browser.driving import settle, visit
from tests.new_store import graded_example


@pytest.fixture(scope="module", autouse=True)
def _example(app_db: Path) -> None:
    graded_example(app_db).close()


def test_a_press_on_a_picture_opens_its_screen(page: Any, app_url: str) -> None:
    visit(page, app_url)
    picture = page.get_by_test_id("stImage").nth(1).bounding_box()
    page.mouse.click(picture["x"] + 100, picture["y"] + 60)
    settle(page)
    assert page.url == f"{app_url}/agreement?run=1"
