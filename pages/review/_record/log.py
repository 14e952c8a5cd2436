"""The event log of a queue, the newest first."""

from __future__ import annotations

import streamlit as st

from core.domain.review import Seat
from core.domain.review_records import QueueRow
from core.services import review_story
from pages.review._record.lines import lines
from pages.review._record.words import RECORD_FIELD, said, section
from pages.ui import state
from pages.ui.resources import store

PAGE = 25


def show(who: Seat, queue: QueueRow) -> None:
    """A page of events."""
    section("Everything that happened in this queue")
    key = state.key(RECORD_FIELD, "log", queue.id)
    page = int(state.get(key) or 1)
    found = review_story.log(store(), who, queue.id, limit=PAGE, offset=PAGE * (page - 1))
    if not found.total:
        said("Nothing yet.")
        return
    lines(found.lines, name="Event log", places=True)
    if found.total > PAGE:
        st.pagination(-(-found.total // PAGE), key=key)
