"""What is typed is kept while it is typed: nobody has to leave the field first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from core.domain.rubric import Criterion, Rubric
from core.services.rubrics import library
from core.services.rubrics.drafts import draft_from
from core.store.store import Store
from tests.browser import reviewers as world
from tests.browser.driving import settle, visit
from tests.browser.seats import STAGE, key, review

#: Milliseconds that somebody looks at the screen after typing, and the pause within a sentence.
WHILE, PAUSE = 3000, 1500
FIELD = "Requirement: what the judge must decide"
FIRST, MORE = "It is wrong, because", " the year is missing"


@pytest.fixture(scope="module")
def store(app_db: Path) -> Iterator[Store]:
    opened = Store(app_db)
    yield opened
    opened.close()


def type_in_two_goes(page: Any, field: Any) -> None:
    """Type, pause, type on without clicking again: the cursor must have stayed."""
    field.focus()
    page.keyboard.type(FIRST, delay=20)
    page.wait_for_timeout(PAUSE)
    page.keyboard.type(MORE, delay=20)
    assert field.input_value() == FIRST + MORE
    page.wait_for_timeout(WHILE)
    assert field.evaluate("field => field === document.activeElement")


def test_a_note_that_was_not_finished_is_there_after_a_reload(
    store: Store, someone: Callable[[str], Any], app_url: str
) -> None:
    queue_id = world.queue(store, world.graded(store, 2))
    page = someone("Tina")
    review(page, app_url, queue_id)
    key(page, "n")
    note = page.get_by_role("textbox", name="Note on Right")
    type_in_two_goes(page, note)

    page.reload()
    page.get_by_text(STAGE).wait_for()
    settle(page)

    assert note.input_value() == FIRST + MORE


def test_a_requirement_that_was_not_finished_is_there_after_a_reload(
    store: Store, page: Any, app_url: str
) -> None:
    criteria = tuple(Criterion(name=n, requirement=f"Is it {n}?") for n in "AB")
    made = library.save(store, "x", draft_from(Rubric(name="Letters", criteria=criteria)))
    address = f"{app_url}/rubrics?rubric={made.rubric_id}"
    visit(page, address)
    page.get_by_role("button", name="A", exact=True).click()
    settle(page)
    field = page.get_by_role("textbox", name=FIELD, exact=True)
    field.fill("")
    type_in_two_goes(page, field)

    visit(page, address)
    page.get_by_role("button", name="A", exact=True).click()
    settle(page)

    assert field.input_value() == FIRST + MORE
