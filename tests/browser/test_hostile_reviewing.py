"""Hostile text where people review: in queues, before a verdict, after it, and in a dispute."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.store.store import Store
from tests.browser import hostile as seeded
from tests.browser import hostile_more
from tests.browser.driving import press, settle, turn, write
from tests.browser.hostile_more import LEAD, Queues
from tests.browser.looking import seen, unfold


@pytest.fixture(scope="module")
def queues(app_db: Path) -> Iterator[Queues]:
    """The queues; seeded before the server starts."""
    store = Store(app_db)
    places = seeded.seed(store)
    flipped = hostile_more.compared(store, places).flipped
    yield hostile_more.reviews(store, places.run, flipped)
    store.close()


@pytest.fixture(scope="module")
def reviewer(queues: Queues, one_page: Any, app_url: str) -> Any:
    """The page of the lead, who has given the name."""
    page = one_page
    turn(page, f"{app_url}/queues")
    write(page, "Your name", LEAD)
    press(page, "Start")
    page.get_by_text("Archived", exact=True).wait_for()
    return page


def test_in_the_list_of_queues(queues: Queues, reviewer: Any, app_url: str) -> None:
    turn(reviewer, f"{app_url}/queues")
    seen(reviewer, "queue", "disputed", "run", "flipped", "lead")
    press(reviewer, "New queue")
    reviewer.get_by_text("What it would queue").wait_for()
    seen(reviewer, "sick")


def test_in_a_queue(queues: Queues, reviewer: Any, app_url: str) -> None:
    turn(reviewer, f"{app_url}/queues?queue={queues.disputed}")
    reviewer.get_by_text("The state of the items for you").wait_for()
    unfold(reviewer, "How this queue works")
    unfold(reviewer, "Lead: people")
    seen(reviewer, "disputed", "flipped", "lead", "person", "colleague")


def test_on_the_reviewing_screen(queues: Queues, reviewer: Any, app_url: str) -> None:
    page = reviewer
    turn(page, f"{app_url}/item?queue={queues.fresh}")
    page.get_by_text("Give your verdict.").wait_for()
    seen(page, "queue", "criterion-1", "criterion-2", "criterion-3")
    seen(page, whole=("requirement-1", "submission", "prompt", "reference"))
    for look in ("Formatted", "Code", "Plain"):
        press(page, look, role="radio")
        seen(page, "submission", whole=("submission",) if look != "Formatted" else ())
    page.keyboard.press("e")
    page.get_by_text("Evidence for").wait_for()
    seen(page, "criterion-1")
    page.keyboard.press("e")
    settle(page)
    page.keyboard.press("1")
    settle(page)
    seen(page, "high", "low", whole=("anchor-high", "anchor-low"))
    for _ in range(2):
        page.keyboard.press("2")
        settle(page)
    page.get_by_role("button", name="Commit Shortcut").click()
    page.get_by_text("These are the judges' votes.").wait_for()
    seen(page, "judge", "criterion-1", "high", whole=("reason", "evidence", "requirement-1"))
    page.get_by_role("button", name="bookmark").click()
    settle(page)
    seen(page, "snippet")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Confirm").click()
    settle(page)
    seen(page)


def test_where_reviewers_disagree(queues: Queues, reviewer: Any, app_url: str) -> None:
    page = reviewer
    turn(page, f"{app_url}/item?queue={queues.disputed}")
    page.get_by_text("Reviewers disagree here").wait_for()
    for _ in range(3):
        page.keyboard.press("1")
        settle(page)
    page.keyboard.press("Enter")
    page.get_by_text("These are the verdicts of reviewers and judges").wait_for()
    seen(page, "submission", whole=("note-0", "note-1", "reason"))
