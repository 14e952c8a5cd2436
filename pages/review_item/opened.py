"""A reviewer's open item: its cells and drafted verdicts, claiming and releasing it.

It is this tab's unsaved work. Every key stores a draft (`acts`), so that closing the tab loses
nothing.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from core.domain.review import ReviewerAnswer, Seat
from core.domain.review_records import ItemLease, QueueFilter
from core.services.review import claims, commit_reveal, queues, reviewer_quality
from core.services.review.audit_trail import DecisionEffect
from core.services.review.claims import Ticket
from core.services.review.commit_reveal import BlindCell, BlindItem, RevealedCell
from core.services.review.other_acts import ActStands
from core.services.review.queues import QueueProgress
from core.services.review.reviewer_quality import ReviewerPace
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
    pace: ReviewerPace
    ticket: Ticket | None = None
    item: BlindItem | None = None
    said: dict[str, ReviewerAnswer] = field(default_factory=dict)
    votes: dict[str, RevealedCell] = field(default_factory=dict)
    active: str = ""
    mode: str = "options"  # The other modes are "why" and "flag".
    evidence: bool = False
    spent: dict[str, float] = field(default_factory=dict)
    touched: float = 0.0
    effect: DecisionEffect | None = None
    undone: tuple[str, ...] = ()
    same: tuple[str, ...] = ()  # The cells that were confirmed automatically with the last commit.
    stands: ActStands | None = None  # What the last undo could not undo.
    told: str = ""  # The result of the last act, if it decided nothing.
    number: int = 0
    unexplained: tuple[str, ...] = ()  # The cells that were rejected because their note is missing.
    note: int = 0  # A counter that increases whenever the cursor should go to the note.
    where: QueueFilter = field(default_factory=QueueFilter)  # The items I chose to see.

    @property
    def cells(self) -> tuple[BlindCell, ...]:
        """Return the cells of the item that I chose to see."""
        return (
            () if self.item is None else tuple(c for c in self.item.cells if self._wants_verdict(c))
        )

    def _wants_verdict(self, cell: BlindCell) -> bool:
        of_it = self.where.criterion in (None, cell.criterion.name)
        return of_it and (cell.flagged is not None or not self.where.flagged)

    @property
    def cells_to_decide(self) -> tuple[BlindCell, ...]:
        """Return the cells to decide now."""
        return tuple(c for c in self.cells if c.mine)

    @property
    def confirming(self) -> bool:
        """Return whether all my cells are committed and wait for confirmation."""
        return bool(self.cells_to_decide) and all(
            cell.first is not None for cell in self.cells_to_decide
        )

    @property
    def missing(self) -> tuple[str, ...]:
        """Return the cells without a verdict."""
        return tuple(
            c.criterion.name
            for c in self.cells_to_decide
            if not is_decided(self.said.get(criterion_name(c)))
        )


def criterion_name(cell: BlindCell) -> str:
    """Return the criterion's name."""
    return cell.criterion.name


def is_decided(answer: ReviewerAnswer | None) -> bool:
    """Return whether this is a verdict: an option, or why the cell cannot be assessed."""
    return answer is not None and (answer.option is not None or answer.why is not None)


def open_item_of(queue_id: int, seat: Seat) -> OpenItem:
    """Return this tab's open item for a queue."""
    place = state.key(REVIEW, queue_id)
    opened_item = state.get(place)
    if not isinstance(opened_item, OpenItem) or opened_item.seat.name != seat.name:
        progress = queues.queue_progress(store(), queue_id)
        opened_item = OpenItem(
            queue_id, seat, progress, reviewer_quality.reviewer_pace(store(), seat, queue_id)
        )
        state.put(place, opened_item)
    opened_item.seat = seat
    return opened_item


def my_leases(review: OpenItem) -> list[ItemLease]:
    """Return the items of this queue that I have open anywhere."""
    held = claims.open_leases(store(), review.queue_id)
    return [lease for lease in held if lease.reviewer == review.seat.name]


def reopen_item(review: OpenItem) -> bool:
    """Reopen the item that this tab had open before a reload; `False` if there was none."""
    ticket = claims.claim_mine(store(), review.seat, review.queue_id)
    if ticket is not None:
        lay_item(review, ticket)
    return ticket is not None


def open_next(review: OpenItem) -> bool:
    """Take the next item; `False` if none is available."""
    ticket = claims.claim_next(store(), review.seat, review.queue_id, review.where)
    lay_item(review, ticket)
    return ticket is not None


def open_item(review: OpenItem, item_id: str, *, take_over: bool = False) -> None:
    """Take this item; raise `Conflict` if it is not available."""
    ticket = claims.claim(store(), review.seat, review.queue_id, item_id, take_over=take_over)
    if review.ticket is not None and review.ticket.item_id != item_id:
        leave_item(review)
    lay_item(review, ticket)


def leave_item(review: OpenItem) -> None:
    """Release the open item; its drafts stay."""
    release_item(review)
    lay_item(review, None)


def release_item(review: OpenItem) -> None:
    """Release the open item; the caller opens another at once."""
    if review.ticket is not None:
        claims.release(store(), review.ticket)
    review.ticket = review.item = None


def reload_item(review: OpenItem) -> None:
    """Reload the open item, for example after another person changed it."""
    if review.ticket is not None:
        review.ticket = claims.renewed_ticket(store(), review.ticket)
        review.item = commit_reveal.blind_item(store(), review.ticket)
        _update_counts(review)
        show_votes(review)
        choose_active(review)


def lay_item(review: OpenItem, ticket: Ticket | None) -> None:
    """Open an item, or close the open one if ``None``."""
    review.ticket, review.item, review.said, review.spent, review.votes = ticket, None, {}, {}, {}
    review.mode, review.evidence, review.active, review.note = "options", False, "", 0
    review.unexplained = ()
    review.touched = time.monotonic()
    _update_counts(review)
    state.drop(REVIEW_NOTE)
    state.drop(REVIEW_FIND)
    state.drop(REVIEW_SPANS)
    if ticket is None:
        return
    review.item = commit_reveal.blind_item(store(), ticket)
    review.number = review.item.number
    for cell in review.item.cells:
        begun = cell.draft or cell.first
        if begun is not None:
            review.said[criterion_name(cell)] = begun
    show_votes(review)
    choose_active(review)


def _update_counts(review: OpenItem) -> None:
    """Update the queue's progress and mine."""
    review.progress = queues.queue_progress(store(), review.queue_id)
    review.pace = reviewer_quality.reviewer_pace(store(), review.seat, review.queue_id)


def show_votes(review: OpenItem) -> None:
    """Reveal the votes where allowed: after a commit, or on an assisted item."""
    review.votes = {}
    if (
        review.ticket is not None
        and review.item is not None
        and (review.confirming or review.item.assisted)
    ):
        shown = commit_reveal.reveal(store(), review.ticket)
        review.votes = {cell.view.criterion.name: cell for cell in shown}


def choose_active(review: OpenItem) -> None:
    """Keep the active cell, or activate the first cell that needs something."""
    open_cells = [criterion_name(c) for c in review.cells_to_decide]
    if review.active not in open_cells:
        review.active = next(iter(review.missing), open_cells[0] if open_cells else "")
