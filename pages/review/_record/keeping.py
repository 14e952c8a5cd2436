"""Findings of large queues take a second each: they are worked out once per state of the queue."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from core.domain.review_records import QueueRow
from core.services import browsing, queueing, viewing
from pages.ui.resources import remembered, store

FoundT = TypeVar("FoundT")


def kept(what: str, queue: QueueRow, make: Callable[[], FoundT], *more: object) -> FoundT:
    """`make()`, or what it gave for the same verdicts, decisions and cells of the queue.

    `more` is what else it depends on.
    """
    run = viewing.require_run(store(), queue.run_id)
    cells = queueing.progress(store(), queue.id).total
    about = (queue.id, *browsing.stands_on(store(), run), cells, *more)
    return remembered(f"review: {what}", about, make)
