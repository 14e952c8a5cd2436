"""Driving a page: acts, and waiting until the app has answered them.

`watch(page)` reads what goes over the page's websocket, so that `settle(page)` waits for the rerun
that an act asked for instead of some time: right after an act the page still looks settled.
"""

from __future__ import annotations

import time
import weakref
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

#: Seconds that a rerun may take on a busy machine.
PATIENCE = 45.0
#: Milliseconds between two looks at a page that is being waited for.
PAUSE = 20
#: The browser has painted, and has sent all that the last act gave it to send.
PAINTED = "() => new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)))"
#: What a step in the browser's history is to the app.
STEP = "url => { history.pushState(null, '', url); dispatchEvent(new PopStateEvent('popstate')); }"
#: Nothing moves: an expander that still opens moves what lies below it away under the mouse.
STILL = """() => !document.getAnimations().some(
  a => a.playState === 'running' && a.effect.getComputedTiming().endTime !== Infinity)"""
#: Then: whether nothing moves there any more, and what the page says went wrong.
QUIET = f"""() => new Promise(done => requestAnimationFrame(() => setTimeout(() => done([
  !!document.querySelector('[data-testid=stApp][data-test-script-state=notRunning]')
  && !document.querySelector('[data-testid=stSkeleton]')
  && !document.querySelector('[data-stale=true]')
  // A shortcut of the editor presses its button as soon as the page is free.
  && !(document.rubricStudioEditor?.pending?.length)
  && ({STILL})(),
  [...document.querySelectorAll('[data-testid=stException]')].map(said => said.innerText),
]), 0)))"""


class Reruns:
    """Whether every rerun that the browser asked for has begun and ended."""

    def __init__(self, page: Any) -> None:
        self._asked = self._began = self._ended = True
        self._socket: Any = None
        page.on("websocket", self._listen)

    @property
    def over(self) -> bool:
        """Whether nothing is asked for or running."""
        return self._asked and self._began and self._ended

    def wait(self, page: Any) -> None:
        """Until they are over; not long, as another connection may take this one's place."""
        from playwright.sync_api import Error

        try:
            self._socket.wait_for_event("framereceived", lambda _: self.over, timeout=20 * PAUSE)
        except Error:
            page.wait_for_timeout(PAUSE)

    def _listen(self, socket: Any) -> None:
        self._socket = socket
        # A new connection asks for the first run.
        self._asked = self._began = self._ended = False
        socket.on("framesent", self._sent)
        socket.on("framereceived", self._received)

    def _sent(self, frame: str | bytes) -> None:
        if not isinstance(frame, str) and BackMsg.FromString(frame).HasField("rerun_script"):
            self._asked, self._began, self._ended = True, False, False

    def _received(self, frame: str | bytes) -> None:
        if isinstance(frame, str):
            return
        said = ForwardMsg.FromString(frame)
        kind = said.WhichOneof("type")
        if kind == "new_session":
            self._began, self._ended = True, False
        elif kind == "script_finished":
            self._ended = said.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN


_watched: weakref.WeakKeyDictionary[Any, Reruns] = weakref.WeakKeyDictionary()


def watch(page: Any) -> None:
    """Follow the reruns of a page that has not been opened yet."""
    _watched[page] = Reruns(page)


def settle(page: Any) -> None:
    """Wait until what was asked is answered and drawn; an exception on the page fails the test."""
    end = time.monotonic() + PATIENCE
    reruns = _watched[page]
    page.evaluate(PAINTED)
    while True:
        if reruns.over:
            quiet, failed = page.evaluate(QUIET)
            if reruns.over and quiet:
                break
        if time.monotonic() > end:
            raise TimeoutError(f"The page did not settle: {page.url}")
        # Asking without a pause would take the machine from the server that is waited for.
        if reruns.over:
            page.wait_for_timeout(PAUSE)
        else:
            reruns.wait(page)
    assert failed == []


def visit(page: Any, url: str) -> None:
    """Open an address and wait until the page is there."""
    page.goto(url)
    page.wait_for_selector("h1")
    settle(page)


def turn(page: Any, url: str) -> None:
    """Go on to another address as Back and Forward do: the app stays, and draws what is there.

    The scripts of the app need not start again, as they do with `visit`. A page on which
    nothing was opened yet is opened there.
    """
    if page.url == "about:blank":
        visit(page, url)
        return
    page.evaluate(STEP, url)
    settle(page)
    if page.locator("h1").count() == 0:
        page.wait_for_selector("h1")
        settle(page)


def press(page: Any, words: str, *, role: str = "button") -> None:
    """Click what has exactly these words once nothing moves, and wait for what it does."""
    page.wait_for_function(STILL)
    page.get_by_role(role, name=words, exact=True).click()
    settle(page)


def write(page: Any, name: str, words: str) -> None:
    """Put words into the field of that name, leave it, and wait for what follows."""
    field = page.get_by_role("textbox", name=name, exact=True)
    field.fill(words)
    field.blur()
    settle(page)


def choose(page: Any, name: str, *options: str) -> None:
    """Choose options of a select box, or several of a multiselect."""
    box = page.get_by_role("combobox", name=name, exact=True)
    for words in options:
        page.wait_for_function(STILL)
        box.click()
        page.get_by_role("option", name=words).first.click()
        settle(page)
    # A multiselect stays open; Escape would take away what was chosen.
    if page.get_by_role("listbox").count():
        page.keyboard.press("Tab")
        settle(page)


def follow(page: Any, words: str) -> None:
    """Click a link inside the page and wait for the page behind it."""
    page.wait_for_function(STILL)
    page.get_by_test_id("stMain").get_by_role("link", name=words).click()
    settle(page)


def go(page: Any, place: str, heading: str = "") -> None:
    """Go to a place of the navigation; its first screen may be headed otherwise."""
    page.get_by_test_id("stSidebarNav").get_by_role("link", name=place, exact=True).click()
    page.get_by_role("heading", name=heading or place, exact=True, level=1).wait_for()
    settle(page)


def main_text(page: Any) -> str:
    """Every text that stands on the page, beside the navigation."""
    return str(page.get_by_test_id("stMain").inner_text())
