"""Where the links of a page lead."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import parse_qs

from streamlit.testing.v1 import AppTest

from core.services.results import browsing
from core.store.store import Store
from pages.ui import state


class Work(NamedTuple):
    """A set of items that a page offers: to step through, or as a queue."""

    words: str
    items: tuple[str, ...]
    criterion: str | None


def offered(app: AppTest, store: Store) -> list[Work]:
    """The sets that the page's links lead to, but those of single items of a set."""
    found = []
    for link in app.get("page_link"):
        asked = {name: value[0] for name, value in parse_qs(link.proto.query_string).items()}
        if state.SET in asked and ("hese" in link.proto.label or "tep" in link.proto.label):
            items = browsing.items_of_set(store, int(asked[state.RUN]), asked[state.SET])
            criterion = asked.get(state.AT) or asked.get(state.CRITERION)
            found.append(Work(link.proto.label, items, criterion))
    return found
