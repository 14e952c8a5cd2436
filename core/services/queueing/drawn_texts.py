"""Whole items of a run that were drawn at random for people to label, ten at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from core.domain.review_records import QueueRow
from core.domain.runs import Run
from core.store.store import Store

if TYPE_CHECKING:
    from core.services.queueing.queue_table import CellTable, Flags


class DrawnTexts(NamedTuple):
    """Drawn items with all labels, and the newest of the finished queues that drew them.

    ``known`` items had all labels before the first draw, so they could not be drawn.
    """

    items: frozenset[str]
    known: frozenset[str]
    queue: QueueRow


def queues_of(store: Store, run_id: int) -> list[QueueRow]:
    """Return the queues of drawn items of a run, oldest first, including archived queues."""
    return [queue for queue in store.queues.all_of_run(run_id) if queue.rule.drawn is not None]


def has_unresolved(store: Store, queue: QueueRow) -> bool:
    """Return whether a queue has unresolved cells."""
    return any(state != "resolved" for state in store.queues.states(queue.id))


def finished_draw(store: Store, run_id: int) -> DrawnTexts | None:
    """Return the items whose queues are done, or ``None``: a half-done draw is not random."""
    finished_queues = [
        queue for queue in queues_of(store, run_id) if not has_unresolved(store, queue)
    ]
    if not finished_queues:
        return None
    items = frozenset(item for queue in finished_queues for item in queue.rule.items or ())
    return DrawnTexts(
        items,
        known_items(store, store.runs.get(run_id), finished_queues[0].rule.drawn),
        finished_queues[-1],
    )


def known_items(store: Store, run: Run, upto: int | None) -> frozenset[str]:
    """Return the items of a run that had a label on every criterion by the review event ``upto``.

    The labels are the dataset's, or settled in any run of it.
    """
    from core.services.queueing.queue_table import CellTable

    table = CellTable(store, run)
    truth = store.settled.truth(run.dataset_version_id, upto=upto)
    settled = [
        (item_id, name) for item_id, labels_of_item in truth.items() for name in labels_of_item
    ]
    return _fully_labelled(table, table.labelled() | table.among(settled))


def settled_items(store: Store, run: Run) -> frozenset[str]:
    """Return the items of a run with all cells settled in it; a new queue would have none."""
    from core.services.queueing.queue_table import CellTable

    table = CellTable(store, run)
    return _fully_labelled(table, table.statistics.active)


def _fully_labelled(table: CellTable, labelled: Flags) -> frozenset[str]:
    """Return the items whose cells are all labelled."""
    import numpy as np

    fully_labelled = np.bincount(table.item, ~labelled, minlength=len(table.ids)) == 0
    return frozenset(table.ids[index] for index in np.flatnonzero(fully_labelled).tolist())
