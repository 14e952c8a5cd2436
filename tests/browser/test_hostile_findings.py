"""Hostile text on the findings of review, and where a run tells who settled what."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from core.domain.review import QueueRule, QueueSettings, ReviewerAnswer
from core.services.review import claims, commit_reveal, queues
from core.store.store import Store
from tests.browser import hostile as seeded
from tests.browser import reviewers as world
from tests.browser.driving import settle, turn
from tests.browser.hostile import Places, hostile
from tests.browser.looking import seen

#: No test needs a page of its own.
ONE_PAGE = True
LEAD = hostile("reviewer", 90)
RULE = QueueRule(everything=True, audit_share=0.0)
SETTINGS = QueueSettings(mode="blind")


@pytest.fixture(scope="module")
def store(app_db: Path) -> Iterator[Store]:
    opened = Store(app_db)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def places(store: Store) -> Places:
    return seeded.seed(store)


@pytest.fixture(scope="module")
def queue(store: Store, places: Places) -> int:
    """A queue with a hostile name, worked off by somebody with one, each verdict with a note."""
    lead = world.sit(store, LEAD)
    name = hostile("queue", 180)
    made = queues.make_queue(store, lead, places.run, name, RULE, SETTINGS, seed=1)
    while ticket := claims.claim_next(store, lead, made.id):
        given = ReviewerAnswer(None, "criterion_wrong", note=hostile("note"))
        cells = commit_reveal.blind_item(store, ticket).cells
        done = commit_reveal.commit(
            store, ticket, {c.criterion.name: given for c in cells if c.mine}
        )
        claims.release(store, done.ticket)
    return made.id


def come(page: Any, url: str) -> None:
    """Be the hostile reviewer, unless this browser knows already who one is."""
    turn(page, url)
    if page.get_by_role("textbox", name="Your name").count():
        page.get_by_role("textbox", name="Your name").fill(LEAD)
        page.keyboard.press("Enter")
        page.get_by_text("You are").wait_for()
    settle(page)


def test_on_every_view_of_the_findings(queue: int, page: Any, app_url: str) -> None:
    come(page, f"{app_url}/queues")
    for view, words, names in (
        ("all", "Verdicts to accept without review", ("queue",)),
        ("session", "Criteria that people found at fault", ("criterion-1",)),
        ("calibrated", "Weight judges", ("criterion-1",)),
        ("people", "How you review", ("reviewer",)),
        ("record", "Everything that happened", ("reviewer", "criterion-1", "note")),
    ):
        turn(page, f"{app_url}/record?queue={queue}&view={view}")
        page.get_by_text(words).first.wait_for()
        seen(page, "run", *names)


def test_where_a_run_tells_who_settled_it(
    queue: int, places: Places, store: Store, page: Any, app_url: str
) -> None:
    (settled, *_) = store.settled.of_run(places.run)
    item = quote(settled.item_id)
    come(page, f"{app_url}/queues")
    turn(page, f"{app_url}/run?run={places.run}&item={item}")
    page.get_by_text("Timeline").first.wait_for()
    seen(page, "reviewer", "note")
    turn(
        page, f"{app_url}/record?run={places.run}&item={item}&criterion={quote(settled.criterion)}"
    )
    page.get_by_role("link", name="Open the item with its votes").wait_for()
    seen(page, "reviewer", "note")
