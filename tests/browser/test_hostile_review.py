"""Hostile text on the review pages: shown as it is, never obeyed (see `test_hostile`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.domain.review import QueueRule, QueueSettings
from core.services.review import queues
from core.store.store import Store
from tests.browser import hostile as seeded
from tests.browser import reviewers as world
from tests.browser.driving import press, settle, turn
from tests.browser.hostile import Places, hostile
from tests.browser.looking import seen

#: No test needs a page of its own.
ONE_PAGE = True
LEAD = hostile("reviewer", 90)
RULE = QueueRule(everything=True, audit_share=0.0)


@pytest.fixture(scope="module")
def store(app_db: Path) -> Iterator[Store]:
    opened = Store(app_db)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def places(store: Store) -> Places:
    """Where the attacks are; seeded before the server starts."""
    return seeded.seed(store)


@pytest.fixture(scope="module")
def queue(store: Store, places: Places) -> int:
    """A queue with a hostile name, by somebody with one, over all cells of the hostile run."""
    lead = world.sit(store, LEAD)
    name, settings = hostile("queue", 180), QueueSettings()
    made = queues.make_queue(store, lead, places.run, name, RULE, settings, order="dataset", seed=1)
    return made.id


def come(page: Any, url: str) -> None:
    """Be the hostile reviewer, unless this browser knows already who one is."""
    turn(page, url)
    if page.get_by_role("textbox", name="Your name").count():
        page.get_by_role("textbox", name="Your name").fill(LEAD)
        page.keyboard.press("Enter")
        page.get_by_text("You are").wait_for()
    settle(page)


def test_on_queues(queue: int, page: Any, app_url: str) -> None:
    come(page, f"{app_url}/queues")
    seen(page, "queue", "run", "reviewer")
    turn(page, f"{app_url}/queues?queue={queue}")
    page.get_by_role("button", name=re.compile("(Start|Go on) reviewing")).wait_for()
    page.get_by_text("Lead: people").click()
    page.get_by_text("How this queue works").click()
    seen(page, "queue", "run", "reviewer")
    turn(page, f"{app_url}/queues?new=queue")
    page.get_by_text("What it would queue").wait_for()
    seen(page, "run")


def test_while_reviewing(queue: int, page: Any, app_url: str) -> None:
    come(page, f"{app_url}/queues")
    turn(page, f"{app_url}/item?queue={queue}")
    page.get_by_text("Give your verdict").wait_for()
    settle(page)
    seen(page, "criterion-1", "criterion-2", whole=("submission", "requirement-1", "prompt"))
    for look in ("Formatted", "Code", "Plain"):
        press(page, look, role="radio")
        seen(page, "submission")
    for name in ("e", "e", "1"):
        page.keyboard.press(name)
        settle(page)
    seen(page, "high", "low", whole=("anchor-high", "anchor-low"))
    for name in ("1", "1", "Enter"):
        page.keyboard.press(name)
        settle(page)
    page.get_by_text("Here is what the judges said").wait_for()
    seen(page, "judge", whole=("reason", "evidence", "requirement-1"))
