"""What reaches a reviewer's browser before a verdict: nothing that others said or made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from core.store.store import Store
from tests.browser import reviewers as world
from tests.browser.driving import settle, turn, watch
from tests.browser.seats import key, review, states


@pytest.fixture(scope="module")
def store(app_db: Path) -> Iterator[Store]:
    """The app's data file."""
    opened = Store(app_db)
    yield opened
    opened.close()


class Wire:
    """Every byte that reaches a page: websocket frames and the bodies of answers."""

    def __init__(self) -> None:
        self.frames: list[bytes] = []
        self._answers: list[Any] = []

    def listen(self, page: Any) -> None:
        """Take down what reaches this page from now on."""
        watch(page)
        page.on("websocket", lambda socket: socket.on("framereceived", self._keep))
        page.on("response", lambda answer: self._answers.append(answer))
        # What the browser kept from another page would not come over the wire.
        self._cacheless = page.context.new_cdp_session(page)
        self._cacheless.send("Network.enable")
        self._cacheless.send("Network.setCacheDisabled", {"cacheDisabled": True})

    def _keep(self, frame: str | bytes) -> None:
        self.frames.append(frame.encode() if isinstance(frame, str) else frame)

    def found(self, words: tuple[str, ...], *, frames: bool = False) -> set[str]:
        """Which of the words came over the wire, in any letter case.

        `frames`: only what the app itself sent; scripts and style sheets hold many a number.
        """
        bodies: list[bytes] = [] if frames else self._bodies()
        everything = b"\n".join([*self.frames, *bodies]).lower()
        assert b"submission 1" in everything, "the page's own text came over this wire"
        return {word for word in words if word.lower().encode() in everything}

    def _bodies(self) -> list[bytes]:
        return [a.body() for a in self._answers if a.ok and a.request.method == "GET"]


def test_nothing_that_others_said_reaches_the_browser_before_a_verdict(
    store: Store, someone: Callable[..., Any], app_url: str
) -> None:
    queue_id = world.queue(store, world.graded(store, 1), reviewers=2)
    colleague = world.sit(store, world.OTHER)
    world.decide(store, colleague, queue_id, world.UNMET, world.OTHER_NOTE)
    wire = Wire()
    page = someone("Blanche", wire.listen)
    review(page, app_url, queue_id)
    page.get_by_text("Submission 1. It goes on.").wait_for()
    # Everything one can do before the verdict: drafts, why not, a note, evidence, other looks.
    key(page, "1", "0", "0", "n")
    page.keyboard.type("1 2 0 s u f")
    key(page, "Escape", "e", "e", "h", "h", "ArrowUp", "1", "2")
    page.get_by_text("Give your verdict").wait_for()
    assert wire.found(world.PLANTED) == set()
    assert wire.found(world.SCORES, frames=True) == set()
    assert page.locator("mark.rs-quoted").count() == 0
    key(page, "Enter")
    page.get_by_text("These are the judges' votes").wait_for()
    # What both judges quoted is underlined where it stands in the submission, by whom is said.
    assert page.locator("mark.rs-quoted").all_inner_texts() == [world.QUOTE]
    assert (
        page.get_by_text("Underlined: quoted by")
        .inner_text()
        .endswith(f"a {world.JUDGES[0]}, b {world.JUDGES[1]}")
    )
    seen = wire.found(world.PLANTED)
    # The judges' names and reasons come now; who and what was judged, and the colleague, never do.
    assert {*world.JUDGES, world.REASON} <= seen
    hidden = {world.SYSTEM, world.ITEM, world.TAG, world.META, world.LABEL_REASON}
    assert not seen & {*hidden, world.OTHER, world.OTHER_NOTE}


def test_who_ends_a_disagreement_gets_nothing_of_it_before_a_verdict_of_their_own(
    store: Store, someone: Callable[..., Any], app_url: str
) -> None:
    # Assisted, but on no item: what is not drawn is as blind as any other.
    queue_id = world.queue(
        store, world.graded(store, 1), mode="assisted", assisted_share=0.0, reviewers=2
    )
    colleagues = (world.OTHER, "Qzsecond")
    for name, option in zip(colleagues, (world.MET, world.UNMET), strict=True):
        # Against judges who all agree a note is due: theirs is the planted one.
        world.decide(store, world.sit(store, name), queue_id, option, world.OTHER_NOTE)
    assert states(store, queue_id) == {"disagreement": 2}
    wire = Wire()
    page = someone("Lea", wire.listen)  # the lead, who made the queue
    wire.frames.clear()  # the list of queues tells a lead who reviews
    turn(page, f"{app_url}/item?queue={queue_id}")
    page.get_by_text("Reviewers disagree here. Give your own verdict first.").wait_for()
    settle(page)
    key(page, "1", "2", "ArrowUp")
    # The address and the title of the window are part of what is sent.
    told = page.evaluate("() => document.title + location.href + JSON.stringify(localStorage)")
    secret = (*world.PLANTED, "Qzsecond")
    assert wire.found(secret) == set()
    assert not [word for word in secret if word in told]
    assert wire.found(world.SCORES, frames=True) == set()
    key(page, "Enter")
    page.get_by_text("These are the verdicts of reviewers and judges").wait_for()
    # Now what was said, by letters: who said it stays hidden.
    assert {world.OTHER_NOTE, *world.JUDGES} <= wire.found(secret)
    assert not {"Qzsecond", world.SYSTEM, world.ITEM} & wire.found(secret)
