"""What nobody reviewed: how often it is right, and how much of it may be accepted.

Both rest on a queue's random audit alone: it was drawn, each cell with the same chance, from the
cells that no rule queued, and those that are left are what is spoken of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from core.services.judged import judged_options
from core.services.settling import settled
from core.store.review_rows import QueueRow
from core.store.run_rows import CellRow
from core.store.store import Store

if TYPE_CHECKING:
    from core.metrics.acceptance import Acceptance
    from core.metrics.selection import Mean


@dataclass(frozen=True)
class Unseen:
    """``audited`` cells were drawn and decided, of ``rest`` nobody saw; ``missing`` drawn ones are
    still to be decided.

    ``accuracy``: the share of the rest whose verdict people would give as well, with its exact 95 %
    interval; undefined with fewer than ten audited cells, or while some are missing.
    ``acceptance`` is ``None`` then. Its confidence is the agreement of the votes.
    """

    audited: int
    right: int
    rest: int
    missing: int
    accuracy: Mean
    acceptance: Acceptance | None


def unseen(store: Store, queue_id: int, alpha: float = 0.1, *, delta: float = 0.05) -> Unseen:
    """What the audit of a queue says of the cells that nobody looked at.

    A cell that people could not assess counts against its verdict: nobody would have given it.
    ``alpha`` is the largest share of accepted verdicts that may disagree with people, ``delta`` the
    largest chance of breaking that promise, both in (0, 1).
    """
    from core.metrics.acceptance import acceptance
    from core.metrics.exact import share_of_rest

    found = _drawn(store, store.queues.get(queue_id))
    right = sum(found.right)
    accuracy = share_of_rest(right, len(found.right), len(found.rest), missing=found.missing)
    promise = None
    if accuracy.figure.value is not None:
        promise = acceptance(found.sure, found.right, alpha, unseen=found.rest, delta=delta)
    return Unseen(len(found.right), right, len(found.rest), found.missing, accuracy, promise)


class _Drawn(NamedTuple):
    """Agreement and rightness of the audited cells, and the agreement of the rest."""

    sure: list[float]
    right: list[bool]
    rest: list[float]
    missing: int


def _drawn(store: Store, queue: QueueRow) -> _Drawn:
    known, judged = settled(store, queue.run_id), judged_options(store, queue.run_id)
    queued = {(c.item_id, c.criterion): c for c in store.queues.cells(queue.id)}
    found = _Drawn([], [], [], 0)
    missing = 0
    for row in store.results.all_cells(queue.run_id):
        place = (row.item_id, row.criterion)
        cell, decided = queued.get(place), known.get(place)
        if place not in judged or not _looked_at(queue, row):
            continue
        if cell and not cell.audit and not cell.gold:
            continue
        done = decided is not None and decided.state == "active"
        if cell and cell.gold:
            # Drawn for its label, beside the audit, from the same cells: one of the rest.
            found.rest.append(row.agreement or 0.0)
        elif cell is None:
            if not done:
                found.rest.append(row.agreement or 0.0)
        elif decided is None or not done:
            missing += 1
        else:
            found.sure.append(row.agreement or 0.0)
            found.right.append(decided.option == row.judged)
    return found._replace(missing=missing)


def _looked_at(queue: QueueRow, row: CellRow) -> bool:
    rule = queue.rule
    return (rule.items is None or row.item_id in rule.items) and (
        rule.criteria is None or row.criterion in rule.criteria
    )
