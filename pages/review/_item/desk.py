"""The desk of a reviewer: the item that is open, what was said of it so far, and every act on it.

It is this tab's unsaved work. What is said is drafted in the store with every key, so that a closed
tab loses nothing; every act is one verb of the services.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

from core.domain.review import Given, Role, Seat, Span, Why
from core.errors import Conflict
from core.services import claiming, review_acts, reviewing
from core.services.claiming import Ticket
from core.services.reviewing import BlindCell, BlindItem, Effect
from pages.ui import review_keys as keys
from pages.ui import state
from pages.ui.resources import store

#: A pause longer than this many seconds is not time spent on a cell.
IDLE = 60.0


@dataclass
class Desk:
    """What lies open. ``said``: verdicts begun, by criterion; ``mode``: what keys mean now."""

    queue_id: int
    seat: Seat
    ticket: Ticket | None = None
    item: BlindItem | None = None
    said: dict[str, Given] = field(default_factory=dict)
    active: str = ""
    mode: str = "options"  # or "why", "skip", "flag"
    evidence: bool = False
    spent: dict[str, float] = field(default_factory=dict)
    touched: float = 0.0
    effect: Effect | None = None
    number: int = 0
    note: int = 0  # rises when the note is to be typed in

    @property
    def mine(self) -> tuple[BlindCell, ...]:
        """The cells to be decided now."""
        return () if self.item is None else tuple(c for c in self.item.cells if c.mine)

    @property
    def confirming(self) -> bool:
        """Whether all that is mine was committed and waits to be confirmed."""
        return bool(self.mine) and all(cell.first is not None for cell in self.mine)

    @property
    def missing(self) -> tuple[str, ...]:
        """The cells that nothing was said of yet."""
        return tuple(c.criterion.name for c in self.mine if not decided(self.said.get(name(c))))


def name(cell: BlindCell) -> str:
    """The criterion's name."""
    return cell.criterion.name


def decided(given: Given | None) -> bool:
    """Whether that is a verdict: an option, or why there can be none."""
    return given is not None and (given.option is not None or given.why is not None)


def desk(queue_id: int, seat: Seat) -> Desk:
    """The desk of this tab for a queue."""
    place = state.key(keys.REVIEW, queue_id)
    found = state.get(place)
    if not isinstance(found, Desk) or found.seat.name != seat.name:
        found = Desk(queue_id, seat)
        state.put(place, found)
    found.seat = seat
    return found


def open_next(at: Desk) -> bool:
    """Take the next item there is; `False` where none is available."""
    ticket = claiming.claim_next(store(), at.seat, at.queue_id)
    _lay(at, ticket)
    return ticket is not None


def open_item(at: Desk, item_id: str, *, take_over: bool = False) -> None:
    """Take this very item; `Conflict` where it is not to be had."""
    ticket = claiming.claim(store(), at.seat, at.queue_id, item_id, take_over=take_over)
    leave(at)
    _lay(at, ticket)


def leave(at: Desk) -> None:
    """Give the open item back; what was drafted stays."""
    if at.ticket is not None:
        claiming.release(store(), at.ticket)
    _lay(at, None)


def look_again(at: Desk) -> None:
    """Read the open item anew, e.g. after somebody else changed it."""
    if at.ticket is not None:
        at.ticket = claiming.renewed(store(), at.ticket)
        at.item = reviewing.blind_item(store(), at.ticket)
        _choose_active(at)


def _lay(at: Desk, ticket: Ticket | None) -> None:
    at.ticket, at.item, at.said, at.spent = ticket, None, {}, {}
    at.mode, at.evidence, at.active = "options", False, ""
    at.touched = time.monotonic()
    state.drop(keys.REVIEW_NOTE)
    state.drop(keys.REVIEW_FIND)
    if ticket is None:
        return
    at.item = reviewing.blind_item(store(), ticket)
    at.number = at.item.number
    for cell in at.item.cells:
        begun = cell.draft or cell.first
        if begun is not None:
            at.said[name(cell)] = begun
    _choose_active(at)


def _choose_active(at: Desk) -> None:
    open_cells = [name(c) for c in at.mine]
    if at.active not in open_cells:
        at.active = next(iter(at.missing), open_cells[0] if open_cells else "")


def _clock(at: Desk) -> None:
    """Book the time since the last act on the cell that is active."""
    now = time.monotonic()
    at.spent[at.active] = at.spent.get(at.active, 0.0) + min(now - at.touched, IDLE)
    at.touched = now


def say(at: Desk, criterion: str, given: Given) -> None:
    """Draft a verdict on a cell."""
    _clock(at)
    at.said[criterion] = given
    at.mode = "options"
    assert at.ticket is not None, "only an open item is judged"
    reviewing.save_draft(store(), at.ticket, at.said)


def choose(at: Desk, criterion: str, option: int) -> None:
    """Draft an option, and go on to the next cell that nothing was said of."""
    before = at.said.get(criterion, Given(None))
    say(at, criterion, replace(before, option=option, why=None))
    if not at.confirming:
        _go_on(at, criterion)


def give_up(at: Desk, criterion: str, why: Why) -> None:
    """Draft that a cell cannot be assessed, and why."""
    before = at.said.get(criterion, Given(None))
    say(at, criterion, replace(before, option=None, why=why))
    if not at.confirming:
        _go_on(at, criterion)


def note(at: Desk, criterion: str, text: str) -> None:
    """Keep a note with the verdict that is drafted."""
    say(at, criterion, replace(at.said.get(criterion, Given(None)), note=text))


def rest_on(at: Desk, criterion: str, spans: tuple[Span, ...]) -> None:
    """Keep the passages that a verdict rests on."""
    say(at, criterion, replace(at.said.get(criterion, Given(None)), evidence=spans))


def _go_on(at: Desk, criterion: str) -> None:
    order = [name(c) for c in at.mine]
    place = order.index(criterion)
    later = [n for n in order[place + 1 :] + order[:place] if n in at.missing]
    if later:
        at.active = later[0]


def move(at: Desk, by: int) -> None:
    """Make the cell before or after the active one active."""
    _clock(at)
    order = [name(c) for c in at.mine]
    if at.active in order:
        at.active = order[(order.index(at.active) + by) % len(order)]
    at.mode = "options"


def commit(at: Desk) -> bool:
    """Commit or confirm what was said; `True` when the item is done and the next one is open."""
    assert at.ticket is not None, "only an open item is judged"
    _clock(at)
    given = {n: g for n, g in at.said.items() if n in {name(c) for c in at.mine}}
    if at.confirming:
        done = reviewing.finish(store(), at.ticket, given)
    else:
        spent = {n: round(1000 * at.spent.get(n, 0.0)) for n in given}
        done = reviewing.commit(store(), at.ticket, given, ms_active=spent)
    at.ticket, at.effect = done.ticket, done.effect or at.effect
    if not done.confirm:
        open_next_after(at)
        return True
    at.effect = None
    at.item = reviewing.blind_item(store(), at.ticket)
    at.active = name(at.mine[0]) if at.mine else ""
    return False


def open_next_after(at: Desk) -> None:
    """Put the open item away and take the next one."""
    effect = at.effect
    leave(at)
    open_next(at)
    at.effect = effect


def skip(at: Desk, reason: str) -> None:
    """Put the item at the end of my queue; it counts as nothing."""
    assert at.ticket is not None, "only an open item is skipped"
    review_acts.skip(store(), at.ticket, reason)
    at.effect = None
    _lay(at, None)
    open_next(at)


def flag(at: Desk, role: Role, reason: str) -> None:
    """Hand the active cell to another role; the rest of the item stays mine."""
    assert at.ticket is not None, "only an open item is flagged"
    review_acts.flag(store(), at.ticket, at.active, role, reason)
    at.mode = "options"
    look_again(at)
    if not at.mine:
        open_next_after(at)


def undo(at: Desk) -> bool:
    """Take my last act in this queue back and open its item; `False`: there is none."""
    undone = review_acts.undo_last(store(), at.seat, at.queue_id)
    if undone is None:
        return False
    open_item(at, undone.item_id)
    at.effect = undone.effects[-1] if undone.effects else None
    return True


def step(at: Desk, by: int) -> None:
    """Look at the next or the previous item that is there for me, without deciding this one."""
    ahead = claiming.standing(store(), at.seat, at.queue_id, ahead=500)
    ids = [turn.item_id for turn in ahead.next]
    here = at.ticket.item_id if at.ticket else ""
    if len(ids) < 2 or here not in ids:
        raise Conflict("There is no other item for you now.")
    open_item(at, ids[(ids.index(here) + by) % len(ids)])
