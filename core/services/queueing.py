"""Queues: made from a rule, brought up to date, and how far they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from core.domain.review import CellState, Order, QueueRule, QueueSettings, Seat
from core.domain.review_records import NewEvent, QueuedItem, QueueRow
from core.domain.runs import Run
from core.errors import InputError
from core.identity import seeded
from core.services import clock
from core.services.queue_cells import Candidate, Cells, Chosen, Preview, choose
from core.services.queue_order import ORDERS, weigh, weigh_again
from core.services.reviewers import require_lead
from core.services.settling import bring_states_up_to_date
from core.store.content import dump
from core.store.store import Store

__all__ = [
    "ORDERS",
    "Preview",
    "Progress",
    "QueueRow",
    "archive",
    "change",
    "make_queue",
    "preview",
    "progress",
    "queue",
    "queues",
    "refresh",
]


@dataclass(frozen=True)
class Progress:
    """How far a queue is. ``flips`` and ``change`` are what its open cells were expected to bring:
    outcomes (or verdicts) that change, and the sum of absolute changes of scores.
    """

    cells: Mapping[CellState, int]
    flips: float
    change: float

    @property
    def total(self) -> int:
        """All cells."""
        return sum(self.cells.values())

    @property
    def resolved(self) -> int:
        """The cells that people are done with."""
        return self.cells.get("resolved", 0)


def preview(
    store: Store, run_id: int, rule: QueueRule, *, seed: int = 0, stale: Cells = ()
) -> Preview:
    """What the rule would queue now; writes nothing."""
    return choose(store, run_id, rule, seed=seed, stale=stale).preview


def make_queue(
    store: Store,
    seat: Seat,
    run_id: int,
    name: str,
    rule: QueueRule,
    settings: QueueSettings,
    *,
    order: Order = "impact",
    seed: int | None = None,
    stale: Cells = (),
) -> QueueRow:
    """A queue of the cells that the rule chooses.

    Raises:
        InputError: no name, no such order, or no cell to queue.
    """
    _check_name(name, order)
    seed = clock.draw_seed() if seed is None else seed
    run = store.runs.get(run_id)
    chosen = choose(store, run_id, rule, seed=seed, stale=stale)
    if not chosen.cells:
        raise InputError(_nothing(chosen))
    with store.write():
        made = store.queues.create(
            run_id,
            name.strip(),
            rule,
            settings,
            order=order,
            seed=seed,
            author=seat.name,
            now=clock.now(),
        )
        _fill(store, run, made, chosen.cells)
    return made


def refresh(store: Store, seat: Seat, queue_id: int, *, stale: Cells = ()) -> int:
    """Queue what the rule chooses by now; returns the cells added.

    For a run that goes on, and for one whose settled cells tell more about its judges: what is
    open is weighed anew. Nothing is ever taken out, and nobody's work changes.
    """
    row = store.queues.get(queue_id)
    run = store.runs.get(row.run_id)
    chosen = choose(store, row.run_id, row.rule, seed=row.seed, stale=stale)
    inside = {(cell.item_id, cell.criterion) for cell in store.queues.cells(queue_id)}
    fresh = [c for c in chosen.cells if (c.item_id, c.criterion.name) not in inside]
    weighed = weigh_again(store, run, queue_id)
    with store.write():
        store.queues.reweigh(queue_id, weighed)
        return _fill(store, run, row, fresh) if fresh else 0


def change(
    store: Store,
    seat: Seat,
    queue_id: int,
    *,
    name: str | None = None,
    order: Order | None = None,
    settings: QueueSettings | None = None,
) -> QueueRow:
    """Change how a queue is worked off; states follow, but what is resolved stays resolved.

    Raises:
        Conflict: ``seat`` is no lead.
    """
    with store.write():
        require_lead(store, seat, "change a queue")
        row = store.queues.get(queue_id)
        name, order = row.name if name is None else name, order or row.order
        _check_name(name, order)
        changed = store.queues.change(
            queue_id, name=name.strip(), order=order, settings=settings or row.settings
        )
        if settings is not None and settings != row.settings:
            _change_items(store, row, changed)
            _record_change(store, seat, row, changed)
            bring_states_up_to_date(store, seat, changed)
        return changed


def _change_items(store: Store, row: QueueRow, changed: QueueRow) -> None:
    dealt = row.settings.assignment != changed.settings.assignment or (
        row.settings.assignees != changed.settings.assignees
    )
    for turn, item in enumerate(store.queues.items(row.id)):
        fresh = _item(changed, item.item_id, item.position, turn)
        if item.assigned and not dealt:
            fresh = replace(fresh, assigned=item.assigned)
        store.queues.set_item(row.id, fresh)


def _record_change(store: Store, seat: Seat, row: QueueRow, changed: QueueRow) -> None:
    run = store.runs.row(row.run_id)
    store.events.add(
        NewEvent(
            ts=clock.now(),
            seat=seat,
            run_id=row.run_id,
            rubric_version_id=run.scored_version_id,
            action="change",
            queue_id=row.id,
            before=dump(row.settings),
            after=dump(changed.settings),
        )
    )


def archive(store: Store, seat: Seat, queue_id: int, *, restore: bool = False) -> None:
    """Put a queue away, or bring it back. What it settled stays."""
    with store.write():
        require_lead(store, seat, "put a queue away")
        store.queues.archive(queue_id, now=None if restore else clock.now())


def queues(store: Store, run_id: int | None = None, *, archived: bool = False) -> list[QueueRow]:
    """The queues of a run, or of all runs, newest first."""
    return store.queues.list(run_id, archived=archived)


def queue(store: Store, queue_id: int) -> QueueRow:
    """One queue; raises ``NotFound``."""
    return store.queues.get(queue_id)


def progress(store: Store, queue_id: int) -> Progress:
    """How many cells are in which state, and what the open ones may still bring."""
    states = store.queues.states(queue_id)
    still = [sums for state, sums in states.items() if state != "resolved"]
    return Progress(
        {state: count for state, (count, _, _) in states.items()},
        sum(flip for _, flip, _ in still),
        sum(change for _, _, change in still),
    )


def _fill(store: Store, run: Run, row: QueueRow, cells: Sequence[Candidate]) -> int:
    known = {item.item_id for item in store.queues.items(row.id)}
    places = dict.fromkeys((c.item_id, c.position) for c in cells if c.item_id not in known)
    items = [
        _item(row, item_id, position, len(known) + turn)
        for turn, (item_id, position) in enumerate(places)
    ]
    return store.queues.add(row.id, items, weigh(store, run, cells))


def _item(row: QueueRow, item_id: str, position: int, turn: int) -> QueuedItem:
    """An item with what the queue's seed draws for it; ``turn`` counts the items dealt before."""
    settings, dice = row.settings, seeded("queue", row.seed, item_id)
    draw, assisted, several = dice.random(), dice.random(), dice.random()
    required = settings.reviewers if several < settings.overlap_share else 1
    people = tuple(dict.fromkeys(settings.assignees))
    if settings.assignment == "round_robin":
        people = tuple(people[(turn + i) % len(people)] for i in range(required))
    return QueuedItem(
        item_id,
        position,
        draw,
        settings.mode == "assisted" and assisted < settings.assisted_share,
        required,
        people,
    )


def _check_name(name: str, order: str) -> None:
    if not name.strip():
        raise InputError("Give the queue a name.")
    if order not in ORDERS:
        raise InputError(f"{order!r} is no order. Use one of {', '.join(ORDERS)}.")


def _nothing(chosen: Chosen) -> str:
    if not chosen.of:
        return "There is nothing to queue: no cell of this run has a verdict yet."
    if chosen.settled == chosen.of:
        return "There is nothing to queue: people have settled every cell of this run."
    return f"None of {chosen.of} cells fits this rule. Add a reason, or raise the audit share."
