"""Notes that a reviewer keeps to use again."""

from __future__ import annotations

from core.domain.review import Seat
from core.errors import InputError
from core.store.store import Store

#: More than these would not be read before one is chosen.
MOST = 20


def snippets(store: Store, seat: Seat) -> tuple[str, ...]:
    """The notes that this person keeps, the newest first."""
    return tuple(store.settings.get(_key(seat), []))


def keep(store: Store, seat: Seat, text: str) -> None:
    """Keep a note; one that is there already comes first, and the oldest of too many goes.

    Raises:
        InputError: there is no text.
    """
    text = text.strip()
    if not text:
        raise InputError("Write the note first; then it can be kept.")
    with store.write():
        others = [one for one in snippets(store, seat) if one != text]
        store.settings.put(_key(seat), [text, *others][:MOST])


def forget(store: Store, seat: Seat, text: str) -> None:
    """Keep a note no longer."""
    with store.write():
        store.settings.put(_key(seat), [one for one in snippets(store, seat) if one != text])


def _key(seat: Seat) -> str:
    return f"review snippets/{seat.name}"
