"""Create review queues, update them, and report their progress and results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from core import clock
from core.domain.review import CellState, Order, QueueRule, QueueSettings, Seat
from core.domain.review_records import EventRow, QueuedItem, QueueRow
from core.domain.runs import Run
from core.errors import InputError
from core.identity import seeded_random
from core.services.access.allowing import allowed
from core.services.queueing.queue_cap import (
    choose_more,
    choose_within,
    expected_minutes,
    preview_queue,
    queue_parts_text,
)
from core.services.queueing.queue_cells import (
    Cells,
    ChosenCells,
    QueueCandidate,
    QueuePreview,
    newest_queue_of_rule,
)
from core.services.queueing.queue_order import QUEUE_ORDERS, reweigh_queue, weigh_cells
from core.services.results.run_columns import cell_columns
from core.services.review.adjudication import bring_states_up_to_date
from core.services.review.reviewers import require_lead
from core.store.database.content import dump
from core.store.runs.kept import MANY
from core.store.store import Store

__all__ = [
    "QUEUE_ORDERS",
    "QueuePreview",
    "QueueProgress",
    "QueueRow",
    "archive",
    "cell_count",
    "change",
    "expected_minutes",
    "item_number",
    "make_queue",
    "preview_queue",
    "queue_by_id",
    "queue_parts_text",
    "queue_progress",
    "queues_of_run",
    "refresh",
    "require_criteria",
    "take_up",
]

#: The longest name of a queue in characters, equal to a rubric's.
MOST_NAME = 200


@dataclass(frozen=True)
class QueueProgress:
    """A queue's progress. ``flips`` and ``change`` are the expected effect of its open cells: the
    number of changed outcomes (or verdicts), and the sum of absolute score changes. ``random``
    counts the cells that only a draw queued.
    """

    cells: Mapping[CellState, int]
    flips: float
    change: float
    random: int

    @property
    def total(self) -> int:
        """Return the number of cells."""
        return sum(self.cells.values())

    @property
    def resolved(self) -> int:
        """Return the number of resolved cells."""
        return self.cells.get("resolved", 0)


#: The settings of a new queue: a blind verdict equal to the judges' needs no confirmation.
USUAL = QueueSettings(confirm_same=True)


@allowed("organise")
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
    """Create a queue of the cells that the rule selects.

    Raises:
        InputError: the name is missing, the order is unknown, or the rule selects no cells.
    """
    _check_name_and_order(name, order)
    seed = clock.draw_seed() if seed is None else seed
    run = store.runs.get(run_id)
    chosen = choose_within(store, run_id, rule, order=order, seed=seed, stale=stale)
    if not chosen.cells:
        raise InputError(_nothing_to_queue_message(chosen, rule))
    with store.write():
        row = store.queues.create(
            run_id,
            name.strip(),
            rule,
            settings,
            order=order,
            seed=seed,
            author=seat.name,
            now=clock.now(),
        )
        _fill_queue(store, run, row, chosen.cells)
    _keep_columns(store, run, row)
    return row


@allowed("review")
def take_up(store: Store, seat: Seat, run_id: int, name: str, rule: QueueRule) -> QueueRow:
    """Return the current queue of a run by this rule, created if needed.

    Raises:
        InputError: the name is missing, or the rule selects no cells.
        NotAllowed: there is no such queue, and this person may not create one.
    """
    queue = newest_queue_of_rule(store, run_id, rule)
    return queue or make_queue(store, seat, run_id, name, rule, USUAL)


@allowed("organise")
def refresh(store: Store, seat: Seat, queue_id: int) -> int:
    """Add the cells that the rule selects now; return how many.

    Call it when a run has new votes, or when settled cells have shown more about its judges: open
    cells then get a new place in the order. It never removes cells or changes anyone's work. The
    queue's cap counts all cells, including resolved ones.
    """
    row = store.queues.get(queue_id)
    run = store.runs.get(row.run_id)
    new_cells = choose_more(store, row)
    weighed = reweigh_queue(store, run, queue_id)
    with store.write():
        store.queues.reweigh(queue_id, weighed)
        added = _fill_queue(store, run, row, new_cells) if new_cells else 0
    _keep_columns(store, run, row)
    return added


def _keep_columns(store: Store, run: Run, row: QueueRow) -> None:
    """Prepare the columns of many cells before a page needs them."""
    if store.queues.size(row.id) >= MANY:
        # Columns need numpy, which is not worth loading for a small queue.
        from core.services.queueing.queue_table import CellTable
        from core.services.queueing.queued_columns import queued_columns

        queued_columns(store, row, CellTable(store, run))


@allowed("organise")
def change(
    store: Store,
    seat: Seat,
    queue_id: int,
    *,
    name: str | None = None,
    order: Order | None = None,
    settings: QueueSettings | None = None,
) -> QueueRow:
    """Change a queue's settings. Open cells follow the change, and resolved cells stay resolved.

    Raises:
        Conflict: ``seat`` is not a lead.
    """
    with store.write():
        require_lead(store, seat, "change a queue")
        row = store.queues.get(queue_id)
        name, order = row.name if name is None else name, order or row.order
        _check_name_and_order(name, order)
        changed = store.queues.change(
            queue_id, name=name.strip(), order=order, settings=settings or row.settings
        )
        if settings is not None and settings != row.settings:
            _change_items(store, row, changed)
            _record_change(store, seat, row, changed)
            bring_states_up_to_date(store, seat, changed)
        return changed


def _change_items(store: Store, row: QueueRow, changed: QueueRow) -> None:
    is_reassigned = row.settings.assignment != changed.settings.assignment or (
        row.settings.assignees != changed.settings.assignees
    )
    for turn, item in enumerate(store.queues.items(row.id)):
        new_item = _queued_item(changed, item.item_id, item.position, turn)
        if item.assigned and not is_reassigned:
            new_item = replace(new_item, assigned=item.assigned)
        store.queues.set_item(row.id, new_item)


def _record_change(store: Store, seat: Seat, row: QueueRow, changed: QueueRow) -> None:
    run = store.runs.row(row.run_id)
    store.events.add(
        EventRow(
            ts=clock.now(),
            actor=seat.name,
            role=seat.role,
            session=seat.session,
            run_id=row.run_id,
            rubric_version_id=run.scored_version_id,
            action="change",
            queue_id=row.id,
            before=dump(row.settings),
            after=dump(changed.settings),
        )
    )


@allowed("organise")
def archive(store: Store, seat: Seat, queue_id: int, *, restore: bool = False) -> None:
    """Archive or restore a queue. Its settled cells stay settled."""
    with store.write():
        require_lead(store, seat, "put a queue away")
        store.queues.archive(queue_id, now=None if restore else clock.now())


def queues_of_run(
    store: Store, run_id: int | None = None, *, archived: bool = False
) -> list[QueueRow]:
    """Return the queues of a run, or of all runs, newest first. Raises ``NotFound`` for an unknown
    run.
    """
    if run_id is not None:
        store.runs.row(run_id)
    return store.queues.list(run_id, archived=archived)


def require_criteria(store: Store, run_id: int, names: Iterable[str]) -> None:
    """Raise ``InputError`` for criteria without cells, which would select nothing."""
    criteria = [column.criterion for column in cell_columns(store, store.runs.get(run_id))]
    if unknown := [name for name in names if name not in criteria]:
        known_criteria = ", ".join(criteria) or "none with a verdict"
        raise InputError(f"Run {run_id} has no criterion {unknown[0]!r}. It has {known_criteria}.")


def queue_by_id(store: Store, queue_id: int) -> QueueRow:
    """Return one queue; raises ``NotFound``."""
    return store.queues.get(queue_id)


def cell_count(store: Store, queue_id: int) -> int:
    """Return how many cells a queue has."""
    return store.queues.size(queue_id)


def item_number(store: Store, queue_id: int, item_id: str) -> int:
    """Return the position of a queue's item in its run, from 1."""
    return store.queues.item(queue_id, item_id).position + 1


def queue_progress(store: Store, queue_id: int) -> QueueProgress:
    """Return the number of cells by state, and the expected effect of the open cells."""
    states = store.queues.states(queue_id)
    still = [sums for state, sums in states.items() if state != "resolved"]
    return QueueProgress(
        {state: count for state, (count, _, _) in states.items()},
        sum(flip for _, flip, _ in still),
        sum(change for _, _, change in still),
        store.queues.drawn(queue_id, "audit", "gold"),
    )


def _fill_queue(store: Store, run: Run, row: QueueRow, cells: Sequence[QueueCandidate]) -> int:
    queued = {item.item_id for item in store.queues.items(row.id)}
    places = dict.fromkeys((c.item_id, c.position) for c in cells if c.item_id not in queued)
    items = [
        _queued_item(row, item_id, position, len(queued) + turn)
        for turn, (item_id, position) in enumerate(places)
    ]
    return store.queues.add(row.id, items, weigh_cells(store, run, cells))


def _queued_item(row: QueueRow, item_id: str, position: int, turn: int) -> QueuedItem:
    """Return an item with its random draws by the queue's seed; ``turn`` counts earlier items."""
    settings, dice = row.settings, seeded_random("queue", row.seed, item_id)
    draw, assisted, reviewers_draw = dice.random(), dice.random(), dice.random()
    required = settings.reviewers if reviewers_draw < settings.overlap_share else 1
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


def _check_name_and_order(name: str, order: str) -> None:
    if not name.strip():
        raise InputError("Give the queue a name.")
    if len(name) > MOST_NAME:
        raise InputError(
            f"The queue's name has {len(name):,} characters; {MOST_NAME} are the limit."
        )
    if order not in QUEUE_ORDERS:
        raise InputError(f"{order!r} is not an order. Use one of {', '.join(QUEUE_ORDERS)}.")


def _nothing_to_queue_message(chosen: ChosenCells, rule: QueueRule) -> str:
    if not chosen.of and (rule.criteria is not None or rule.items is not None):
        return "There is nothing to queue: none of the cells that you name has a verdict yet."
    if not chosen.of:
        return "There is nothing to queue: no cell of this run has a verdict yet."
    if chosen.settled == chosen.of:
        return "There is nothing to queue: people have settled every cell of this run."
    return f"None of {chosen.of} cells fits this rule. Add a reason, or raise the audit share."
