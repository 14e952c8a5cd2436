"""A queue over the run of `tests.services.reviewed`, and a reviewer at its screen.

AppTest has no browser, so what a browser would say (a name, a tab) is put into the session.
"""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from core.domain.review import QueueRule, QueueSettings
from core.store.store import Store
from pages.review_item.opened import REVIEW_ACT, REVIEW_NOTE
from pages.ui import routes, state
from pages.ui.identity import NAME, SESSION
from pages.ui.routes import Screen
from tests.pages.conftest import FRAME, visit
from tests.services import reviewed

#: The buttons of an item, by what they do.
COMMIT, SKIP, UNDO, FLAG, WHY = "commit", "skip", "undo", "flag", "why"


def queue(
    store: Store,
    count: int = 4,
    rule: QueueRule = reviewed.EVERYTHING,
    settings: QueueSettings | None = None,
) -> int:
    """A queue of all cells (two an item) of a run over so many items, in the dataset's order."""
    return reviewed.make_queue(store, reviewed.graded(store, count), rule, settings)


def sit_down(
    store: Store, queue_id: int, name: str, session: str = "tab", page: Screen = routes.REVIEW_ITEM
) -> AppTest:
    """The screen of a person in front of a queue; or another page about it."""
    return at(store, name, page, session, **{state.QUEUE: queue_id})


def at(store: Store, name: str, page: Screen, session: str = "tab", **address: object) -> AppTest:
    """A page with this address, and a reviewer before it."""
    reviewed.sit(store, name)
    app = AppTest.from_file(str(FRAME), default_timeout=30)
    app.session_state[NAME] = name
    app.session_state[SESSION] = session
    app.run()
    for part, value in address.items():
        app.query_params[part] = str(value)
    visit(app, page)
    assert not app.exception
    return app


def act(app: AppTest, *what: object) -> AppTest:
    """Press the button of an act of the item screen."""
    app.button(key=state.key(REVIEW_ACT, *what)).click().run()
    assert not app.exception
    return app


def choose(app: AppTest, item: int, criterion: str, option: object) -> AppTest:
    """Choose an option of a cell of item `item` (from 1), which must be active."""
    return act(app, "option", item, criterion, option)


def cannot(app: AppTest, item: int, criterion: str, why: str) -> AppTest:
    """Say that the active cell cannot be assessed."""
    act(app, WHY)
    return choose(app, item, criterion, f"why/{why}")


def write(app: AppTest, item: int, criterion: str, text: str) -> AppTest:
    """Write the note of the active cell."""
    key = state.key(REVIEW_NOTE, item, criterion)
    app.text_area(key=key).set_value(text).run()
    assert not app.exception
    return app


def commit(app: AppTest, item: int) -> AppTest:
    """Press Enter."""
    return act(app, COMMIT, item)


def has(app: AppTest, *what: object) -> bool:
    """Whether the item screen offers that act."""
    key = state.key(REVIEW_ACT, *what)
    return any(button.key == key for button in app.button)
