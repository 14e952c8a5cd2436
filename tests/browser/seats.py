"""People at browsers of their own, reviewing by keyboard."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from core.services.review import queues
from core.store.store import Store
from tests.browser.driving import PATIENCE, settle, turn, visit, watch

STAGE = re.compile("Give your verdict|Here is what")


class Wardrobe:
    """Browsers of different people: each has loaded the app's scripts before, and keeps nothing.

    In a fresh one the first page costs more than twice as much.
    """

    def __init__(self, chromium: Any) -> None:
        self._chromium = chromium
        self._free = list[Any]()

    @contextmanager
    def lent(self, app_url: str) -> Iterator[Any]:
        """A browser, as a context, that nobody else uses; its pages close at the end."""
        context = self._free.pop() if self._free else self._another()
        home = context.pages[0]
        home.goto(f"{app_url}/_stcore/health")
        home.evaluate("localStorage.clear()")
        context.clear_cookies()
        try:
            yield context
        finally:
            for page in context.pages[1:]:
                page.close()
            self._free.append(context)

    def _another(self) -> Any:
        # What moves on its own is painted again and again.
        context = self._chromium.new_context(
            viewport={"width": 1360, "height": 900}, reduced_motion="reduce"
        )
        context.set_default_timeout(1000 * PATIENCE)
        context.new_page()  # stays, and with it the process that has compiled the scripts
        return context


@contextmanager
def seats(wardrobe: Wardrobe, app_url: str) -> Iterator[Callable[..., Any]]:
    """Sit people down, each at a browser of their own; their pages close at the end.

    `listen` is given a page before anything is opened there, and watches it.
    """
    with ExitStack() as lent:

        def sit(name: str, listen: Callable[[Any], None] = watch) -> Any:
            page = lent.enter_context(wardrobe.lent(app_url)).new_page()
            listen(page)
            enter(page, f"{app_url}/queues", name)
            return page

        yield sit


def enter(page: Any, url: str, name: str) -> None:
    """Open a page of the review section and say who one is, by keyboard."""
    visit(page, url)
    field = page.get_by_role("textbox", name="Your name")
    field.fill(name)
    field.press("Enter")
    page.get_by_text(f"You are {name}").wait_for()
    settle(page)


def review(page: Any, url: str, queue_id: int) -> None:
    """Go on to the reviewing screen of a queue, or load it anew; wait for what stands there."""
    address = f"{url}/item?queue={queue_id}"
    page.goto(address) if "/item?" in page.url else turn(page, address)
    page.get_by_text(STAGE).wait_for()
    settle(page)


def key(page: Any, *names: str) -> None:
    """Press keys one after the other, and wait for what each does."""
    for name in names:
        page.keyboard.press(name)
        settle(page)


def states(store: Store, queue_id: int) -> dict[str, int]:
    """How many cells of a queue are in which state."""
    return {str(s): n for s, n in queues.queue_progress(store, queue_id).cells.items()}
