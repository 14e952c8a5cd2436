"""People at browsers of their own, reviewing by keyboard."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from core.services.review import queues
from core.store.store import Store
from tests.browser.driving import settle, visit, watch

STAGE = re.compile("Give your verdict|Here is what")


@contextmanager
def seats(browser: Any, app_url: str) -> Iterator[Callable[[str], Any]]:
    """Sit people down, each at a browser of their own; their pages close at the end."""
    contexts = []

    def sit(name: str) -> Any:
        context = browser.new_context(viewport={"width": 1360, "height": 900})
        context.set_default_timeout(45_000)
        contexts.append(context)
        page = context.new_page()
        watch(page)
        enter(page, f"{app_url}/queues", name)
        return page

    try:
        yield sit
    finally:
        for context in contexts:
            context.close()


def enter(page: Any, url: str, name: str) -> None:
    """Open a page of the review section and say who one is, by keyboard."""
    visit(page, url)
    field = page.get_by_role("textbox", name="Your name")
    field.fill(name)
    field.press("Enter")
    page.get_by_text(f"You are {name}").wait_for()
    settle(page)


def review(page: Any, url: str, queue_id: int) -> None:
    """Open the reviewing screen of a queue and wait for what stands there."""
    page.goto(f"{url}/item?queue={queue_id}")
    page.get_by_text(STAGE).wait_for()
    settle(page)


def key(page: Any, *names: str) -> None:
    """Press keys one after the other, and wait for what each does."""
    for name in names:
        page.keyboard.press(name)
        settle(page)


def states(store: Store, queue_id: int) -> dict[str, int]:
    """How many cells of a queue are in which state."""
    return {str(s): n for s, n in queues.progress(store, queue_id).cells.items()}
