"""Review: one item a screen, its doubtful cells, blind until a verdict (`?queue=ID`)."""

from __future__ import annotations

from pages.review._item import screen
from pages.ui import state

_queue = state.address_id(state.QUEUE)
if _queue is None:
    screen.none_chosen()
else:
    screen.show(_queue)
