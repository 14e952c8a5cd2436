"""What reviewing says of all verdicts of a run, not only of the hard ones that were reviewed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.services.reporting_values import Estimate, ReviewLine
from core.services.review_estimates import rightness
from core.store.store import Store

if TYPE_CHECKING:
    from core.metrics.selection import Mean


def review_lines(store: Store, run_id: int) -> tuple[ReviewLine, ...]:
    """A line per queue that has a random audit, the oldest first; put away ones as well.

    Raises ``NotFound``.
    """
    queues = store.queues.list(run_id) + store.queues.list(run_id, archived=True)
    return tuple(
        _line(store, queue.id, queue.name)
        for queue in sorted(queues, key=lambda q: q.id)
        if any(cell.audit for cell in store.queues.cells(queue.id))
    )


def _line(store: Store, queue_id: int, name: str) -> ReviewLine:
    found = rightness(store, queue_id)
    return ReviewLine(
        queue=queue_id,
        name=name,
        audited=found.audited,
        queued=found.queued,
        missing=found.missing,
        weighted=_estimate(found.weighted),
        hard=_estimate(found.hard),
    )


def _estimate(mean: Mean) -> Estimate:
    figure = mean.figure
    return Estimate(figure.value, mean.low, mean.high, figure.reason, figure.n)
