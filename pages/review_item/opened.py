"""A reviewer's open item: its cells and drafted verdicts, claiming and releasing it.

It is this tab's unsaved work. Every key stores a draft (`acts`), so that closing the tab loses
nothing.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from core.domain.review import Given, Seat
from core.domain.review_records import ItemLease, QueueFilter
from core.services.review import claims, commit_reveal, queues, reviewer_quality
from core.services.review.audit_trail import DecisionEffect
from core.services.review.claims import Ticket
from core.services.review.commit_reveal import BlindCell, BlindItem, RevealedCell
from core.services.review.other_acts import Stands
from core.services.review.queues import QueueProgress
from core.services.review.reviewer_quality import Pace
from pages.ui import state
from pages.ui.resources import store

REVIEW = "review"
REVIEW_ACT = "review_act"
REVIEW_FIND = "review_find"
REVIEW_NOTE = "review_note"
REVIEW_REFUSED = "review_refused"
REVIEW_SPANS = "review_spans"


@dataclass
class OpenItem:
    """The open item. ``said``: drafted verdicts by criterion; ``mode``: what keys mean now.

    ``votes`` are the revealed votes by criterion: none before a verdict is committed.
    """

    queue_id: int
    seat: Seat
    progress: QueueProgress
    pace: Pace
    ticket: Ticket | None = None
    item: BlindItem | None = None
    said: dict[str, Given] = field(default_factory=dict)
    votes: dict[str, RevealedCell] = field(default_factory=dict)
    active: str = ""
    mode: str = "options"  # or "why", "flag"
    evidence: bool = False
    spent: dict[str, float] = field(default_factory=dict)
    touched: float = 0.0
    effect: DecisionEffect | None = None
    undone: tuple[str, ...] = ()
    same: tuple[str, ...] = ()  # confirmed automatically with the last commit
    stands: Stands | None = None  # what the last undo could not take back
    told: str = ""  # what the last act did, if it decided nothing
    number: int = 0
    unexplained: tuple[str, ...] = ()  # the cells that were refused for want of a note
    note: int = 0  # rises when the cursor should go to the note
    where: QueueFilter = field(default_factory=QueueFilter)  # the items I chose to see

    @property
    def cells(self) -> tuple[BlindCell, ...]:
        """Return the cells of the item that I chose to see."""
        return () if self.item is None else tuple(c for c in self.item.cells if self._wants(c))

    def _wants(self, cell: BlindCell) -> bool:
        of_it = self.where.criterion in (None, cell.criterion.name)
        return of_it and (cell.flagged is not None or not self.where.flagged)

    @property
    def mine(self) -> tuple[BlindCell, ...]:
        """Return the cells to decide now."""
        return tuple(c for c in self.cells if c.mine)

    @property
    def confirming(self) -> bool:
        """Return whether all my cells are committed and wait for confirmation."""
        return bool(self.mine) and all(cell.first is not None for cell in self.mine)

    @property
    def missing(self) -> tuple[str, ...]:
        """Return the cells without a verdict."""
        return tuple(c.criterion.name for c in self.mine if not decided(self.said.get(name(c))))


def name(cell: BlindCell) -> str:
    """Return the criterion's name."""
    return cell.criterion.name


def decided(given: Given | None) -> bool:
    """Return whether this is a verdict: an option, or why the cell cannot be assessed."""
    return given is not None and (given.option is not None or given.why is not None)


def item_of(queue_id: int, seat: Seat) -> OpenItem:
    """Return this tab's open item for a queue."""
    place = state.key(REVIEW, queue_id)
    opened_item = state.get(place)
    if not isinstance(opened_item, OpenItem) or opened_item.seat.name != seat.name:
        far = queues.progress(store(), queue_id)
        opened_item = OpenItem(queue_id, seat, far, reviewer_quality.pace(store(), seat, queue_id))
        state.put(place, opened_item)
    opened_item.seat = seat
    return opened_item


def my_leases(at: OpenItem) -> list[ItemLease]:
    """Return the items of this queue that I have open anywhere."""
    held = claims.open_leases(store(), at.queue_id)
    return [lease for lease in held if lease.reviewer == at.seat.name]


def open_mine(at: OpenItem) -> bool:
    """Reopen the item that this tab had open before a reload; `False` if there was none."""
    ticket = claims.claim_mine(store(), at.seat, at.queue_id)
    if ticket is not None:
        lay(at, ticket)
    return ticket is not None


def open_next(at: OpenItem) -> bool:
    """Take the next item; `False` if none is available."""
    ticket = claims.claim_next(store(), at.seat, at.queue_id, at.where)
    lay(at, ticket)
    return ticket is not None


def open_item(at: OpenItem, item_id: str, *, take_over: bool = False) -> None:
    """Take this item; raise `Conflict` if it is not available."""
    ticket = claims.claim(store(), at.seat, at.queue_id, item_id, take_over=take_over)
    if at.ticket is not None and at.ticket.item_id != item_id:
        leave(at)
    lay(at, ticket)


def leave(at: OpenItem) -> None:
    """Release the open item; its drafts stay."""
    give_back(at)
    lay(at, None)


def give_back(at: OpenItem) -> None:
    """Release the open item; the caller opens another in its place at once."""
    if at.ticket is not None:
        claims.release(store(), at.ticket)
    at.ticket = at.item = None


def look_again(at: OpenItem) -> None:
    """Reload the open item, for example after another person changed it."""
    if at.ticket is not None:
        at.ticket = claims.renewed(store(), at.ticket)
        at.item = commit_reveal.blind_item(store(), at.ticket)
        _count(at)
        show_votes(at)
        choose_active(at)


def lay(at: OpenItem, ticket: Ticket | None) -> None:
    """Open an item, or nothing."""
    at.ticket, at.item, at.said, at.spent, at.votes = ticket, None, {}, {}, {}
    at.mode, at.evidence, at.active, at.note = "options", False, "", 0
    at.unexplained = ()
    at.touched = time.monotonic()
    _count(at)
    state.drop(REVIEW_NOTE)
    state.drop(REVIEW_FIND)
    state.drop(REVIEW_SPANS)
    if ticket is None:
        return
    at.item = commit_reveal.blind_item(store(), ticket)
    at.number = at.item.number
    for cell in at.item.cells:
        begun = cell.draft or cell.first
        if begun is not None:
            at.said[name(cell)] = begun
    show_votes(at)
    choose_active(at)


def _count(at: OpenItem) -> None:
    """Update the queue's progress and mine."""
    at.progress = queues.progress(store(), at.queue_id)
    at.pace = reviewer_quality.pace(store(), at.seat, at.queue_id)


def show_votes(at: OpenItem) -> None:
    """Reveal the votes where allowed: after a commit, or on an assisted item."""
    at.votes = {}
    if at.ticket is not None and at.item is not None and (at.confirming or at.item.assisted):
        shown = commit_reveal.reveal(store(), at.ticket)
        at.votes = {cell.view.criterion.name: cell for cell in shown.cells}


def choose_active(at: OpenItem) -> None:
    """Keep the active cell, or activate the first one that needs something."""
    open_cells = [name(c) for c in at.mine]
    if at.active not in open_cells:
        at.active = next(iter(at.missing), open_cells[0] if open_cells else "")
