"""What a form shows when it is first drawn is in force, however soon the next rerun comes."""

from __future__ import annotations

from typing import Any

from core.store.store import Store
from tests.browser import reviewers as world
from tests.browser.driving import settle, visit

#: What the browser shows in the first box and on the first slider.
SHOWN = """() => [
  document.querySelector('[role=combobox]').value,
  document.querySelector('[data-testid=stSlider] input').value,
]"""


def test_a_new_queue_shows_the_settings_in_force_after_signing_in_at_its_address(
    app_db: Any, page: Any, app_url: str
) -> None:
    store = Store(app_db)
    asked = world.graded(store, 2)
    world.graded(store, 3)  # the newest run, which the box offers first
    store.close()
    visit(page, f"{app_url}/queues?new=1&run={asked.id}")
    name = page.get_by_role("textbox", name="Your name")
    name.fill("Nora")
    # The browser then tells the server what it remembers, which is a second rerun at once.
    name.press("Enter")
    page.get_by_text("What it would queue").wait_for()
    settle(page)
    run, audit = page.evaluate(SHOWN)
    assert f"run {asked.id}" in run
    assert audit == "10"  # the audit that a queue starts with, in %
