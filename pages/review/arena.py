"""The arena: a person says which of two answers is better, blind (`?run=ID`: a contest run)."""

from __future__ import annotations

from pages.review._arena import screen
from pages.ui import state

screen.show(state.address_id(state.RUN))
