"""Turns: which items are available to a reviewer; claim, keep and return them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from core import clock
from core.domain.review import Part, Seat
from core.domain.review_records import ItemLease, ItemTurn, QueueFilter, QueueRow, TurnStatus
from core.errors import Conflict, InputError
from core.services.access.allowing import allowed
from core.services.review.adjudication import Act
from core.services.review.reviewers import now_seated, require_lead
from core.store.store import Store

_NO_FILTER = QueueFilter()
#: The number of items to try before the queue is read again.
_AT_ONCE = 10


@dataclass(frozen=True)
class Ticket:
    """The right to decide an item until another person takes the item.

    ``versions`` are those of the item's cells when last read, so that later decisions are not
    overwritten. ``number`` is the item's position in the run, from 1.
    """

    queue_id: int
    item_id: str
    number: int
    seat: Seat
    part: Part
    versions: Mapping[str, int]
    until: float


@dataclass(frozen=True)
class QueueStanding:
    """A queue as one person sees it: items by status, and active leases.

    ``why`` explains in sentences why no item is available; otherwise it is empty.
    """

    counts: Mapping[TurnStatus, int]
    held: tuple[ItemLease, ...]
    why: str

    @property
    def available(self) -> int:
        """Return how many items this person could take now."""
        return self.counts.get("available", 0)


def queue_for_person(
    store: Store, seat: Seat, queue_id: int, where: QueueFilter = _NO_FILTER
) -> QueueStanding:
    """Return a queue as a person sees it. Claims use the same query, so both always agree."""
    queue_id, at = store.queues.get(queue_id).id, clock.seconds_now()
    counts = store.turns.counts(queue_id, now_seated(store, seat), at=at, where=where)
    leases = open_leases(store, queue_id)
    reason = "" if counts.get("available") else _why_empty(counts, leases, seat)
    return QueueStanding(counts, leases, reason)


def next_items(
    store: Store, seat: Seat, queue_id: int, where: QueueFilter = _NO_FILTER, *, limit: int
) -> list[ItemTurn]:
    """Return the first ``limit`` items that this person could take now, in the queue's order."""
    queue = store.queues.get(queue_id)
    return store.turns.next_items(
        *(queue_id, now_seated(store, seat), queue.order),
        at=clock.seconds_now(),
        where=where,
        limit=limit,
    )


def open_leases(store: Store, queue_id: int) -> tuple[ItemLease, ...]:
    """Return a queue's active leases: who has which item open, and until when."""
    return tuple(store.turns.leases_in_force(queue_id, at=clock.seconds_now()))


@allowed("review")
def claim_next(
    store: Store, seat: Seat, queue_id: int, where: QueueFilter = _NO_FILTER
) -> Ticket | None:
    """Take the first item available to this person; ``None`` if there is none:
    ``queue_for_person`` says why.

    Raises:
        Conflict: the queue is archived.
    """
    queue, seat = _open_queue(store, queue_id), now_seated(store, seat)
    while True:
        # The search runs without the write lock, since a long queue takes time. Its results are
        # checked again under the lock, in case another person was faster.
        turns = next_items(store, seat, queue_id, where, limit=_AT_ONCE)
        if not turns:
            return None
        with store.write():
            at = clock.seconds_now()
            for turn in turns:
                (row,) = store.turns.items_with_status(
                    queue_id, seat, queue.order, at=at, where=where, items=[turn.item_id]
                )
                if row.status == "available":
                    return _take_item(store, queue, seat, row, at)


@allowed("review")
def claim(
    store: Store, seat: Seat, queue_id: int, item_id: str, *, take_over: bool = False
) -> Ticket:
    """Take this item. ``take_over``: take it also from the person's other window or, as a lead,
    from others.

    Raises: Conflict: it is not available; the message says who has it until when, and what it waits
    for. NotFound: it is not in the queue.
    """
    with store.write():
        queue, at = _open_queue(store, queue_id), clock.seconds_now()
        seat = now_seated(store, seat)
        store.queues.item(queue_id, item_id)
        (turn,) = store.turns.items_with_status(queue_id, seat, queue.order, at=at, items=[item_id])
        if turn.status != "available":
            is_holder = turn.holder == seat.name
            may = turn.status in ("locked", "assigned") and (is_holder or seat.role == "lead")
            if not (take_over and may):
                raise Conflict(_why_not_available(turn, seat))
            _log_take_over(store, queue, seat, turn)
            store.turns.evict(queue_id, item_id, turn.part, seat.name, at=None)
        return _take_item(store, queue, seat, turn, at)


@allowed("review")
def claim_mine(store: Store, seat: Seat, queue_id: int) -> Ticket | None:
    """Take again the item that this window had open before a reload; ``None`` if it had none.

    Leases of items that are no longer available are ended: these items were finished when the
    server died.
    """
    for lease in open_leases(store, queue_id):
        if (lease.reviewer, lease.session) == (seat.name, seat.session):
            try:
                return claim(store, seat, queue_id, lease.item_id)
            except Conflict:
                store.turns.leave(queue_id, lease.item_id, seat)
    return None


@allowed("review")
def heartbeat(store: Store, ticket: Ticket) -> bool:
    """Extend the lease on the item; return ``False`` if another person has taken it."""
    lease = store.queues.get(ticket.queue_id).settings.lease_seconds
    return store.turns.extend_lease(
        ticket.queue_id, ticket.item_id, ticket.seat, clock.seconds_now() + lease
    )


@allowed("review")
def release(store: Store, ticket: Ticket) -> None:
    """Return the item to the queue. Committed verdicts and drafts stay."""
    store.turns.leave(ticket.queue_id, ticket.item_id, ticket.seat)


def renewed_ticket(store: Store, ticket: Ticket) -> Ticket:
    """Return the ticket with the current versions of the cells."""
    return replace(ticket, versions=_cell_versions(store, ticket.queue_id, ticket.item_id))


def open_items(store: Store, queue_id: int) -> dict[str, tuple[str, ...]]:
    """Return the items with open cells, in the run's order, each with its assigned reviewers."""
    unsettled = {c.item_id for c in store.queues.cells(queue_id) if c.state != "resolved"}
    return {i.item_id: i.assigned for i in store.queues.items(queue_id) if i.item_id in unsettled}


@allowed("organise")
def assign(
    store: Store, seat: Seat, queue_id: int, item_ids: Sequence[str], names: Sequence[str]
) -> None:
    """Assign these items to reviewers; without names, anyone may review them.

    Raises:
        Conflict: this person is not a lead.
        InputError: fewer people than an item needs.
        NotFound: unknown reviewer or item.
    """
    with store.write():
        require_lead(store, seat, "assign items")
        queue = store.queues.get(queue_id)
        people = tuple(dict.fromkeys(store.reviewers.get(name).name for name in names))
        run, now, step = store.runs.get(queue.run_id), clock.now(), 0
        for item_id in item_ids:
            item = store.queues.item(queue_id, item_id)
            if people and len(people) < item.required:
                raise InputError(
                    f"Item {item.position + 1} needs {item.required} reviewers; name as many."
                )
            act = Act(store, now_seated(store, seat), run, item_id, queue, now, step)
            act.record("assign", before=list(item.assigned), after=list(people))
            store.queues.set_item(queue_id, replace(item, assigned=people))
            step = act.step


def _open_queue(store: Store, queue_id: int) -> QueueRow:
    queue = store.queues.get(queue_id)
    if queue.archived is not None:
        raise Conflict("This queue is archived. A lead can restore it.")
    return queue


def _take_item(store: Store, queue: QueueRow, seat: Seat, turn: ItemTurn, at: float) -> Ticket:
    until = at + queue.settings.lease_seconds
    store.turns.evict(queue.id, turn.item_id, turn.part, seat.name, at=at)
    store.turns.hold(queue.id, turn.item_id, seat, turn.part, until)
    versions = _cell_versions(store, queue.id, turn.item_id)
    return Ticket(queue.id, turn.item_id, turn.position + 1, seat, turn.part, versions, until)


def _cell_versions(store: Store, queue_id: int, item_id: str) -> dict[str, int]:
    return {cell.criterion: cell.version for cell in store.queues.cells(queue_id, item_id)}


def _log_take_over(store: Store, queue: QueueRow, seat: Seat, turn: ItemTurn) -> None:
    act = Act(store, seat, store.runs.get(queue.run_id), turn.item_id, queue, clock.now())
    act.record("take_over", before={"holder": turn.holder, "until": turn.until}, part=turn.part)


def _why_not_available(turn: ItemTurn, seat: Seat) -> str:
    item = f"Item {turn.position + 1}"
    if turn.status == "locked" and turn.holder == seat.name:
        return f"You have {item.lower()} open in another window until {time_words(turn.until)}."
    return {
        "locked": f"{turn.holder} has {item.lower()} open until {time_words(turn.until)}.",
        "assigned": f"{item} is for others: assigned to them, or written by you.",
        "mine_done": f"{item} waits for other reviewers; you have given your verdicts.",
        "waiting": f"{item} waits for an adjudicator, or for the role it was flagged for.",
        "done": f"{item} is done: every cell is resolved.",
    }.get(turn.status, f"{item} is not available.")


def time_words(until: float | None) -> str:
    """Return a time of day, in UTC.

    >>> time_words(36_000.0)
    '10:00 UTC'
    """
    return "later" if until is None else f"{datetime.fromtimestamp(until, UTC):%H:%M} UTC"


def _why_empty(counts: Mapping[TurnStatus, int], leases: Iterable[ItemLease], seat: Seat) -> str:
    if not any(count for status, count in counts.items() if status != "done"):
        return "Everything in this queue is done."
    other_leases = [h for h in leases if (h.reviewer, h.session) != (seat.name, seat.session)]
    names = sorted({h.reviewer for h in other_leases})
    holders = ", ".join("you, in another window" if name == seat.name else name for name in names)
    until = time_words(min((h.until for h in other_leases), default=None))
    phrases: list[tuple[TurnStatus, str]] = [
        ("locked", f"open elsewhere ({holders}; the first until {until})"),
        ("filtered", "left out by your filter"),
        ("assigned", "assigned to others, or written by you"),
        ("mine_done", "waiting for other reviewers (you have given your verdicts)"),
        ("waiting", "waiting for an adjudicator, or for the role they were flagged for"),
        ("done", "done"),
    ]
    parts = [f"{counts[status]} {phrase}" for status, phrase in phrases if counts.get(status)]
    return f"No item is available to you now: {'; '.join(parts)}."
