"""What reviewing says of all verdicts of a run, not only of the hard ones that were reviewed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.metrics.estimate import Estimate
from core.services.audit_frame import narrowed
from core.services.reporting_values import ReviewLine
from core.services.selected import audited_queues
from core.store.store import Store

if TYPE_CHECKING:
    from core.metrics.selection import Mean


def review_lines(store: Store, run_id: int) -> tuple[ReviewLine, ...]:
    """A line per queue that has a random audit, the oldest first; put away ones as well.

    Raises ``NotFound``.
    """
    return tuple(
        ReviewLine(
            queue=queue.id,
            name=queue.name,
            audited=found.audited,
            queued=found.queued,
            missing=found.missing,
            weighted=_estimate(found.weighted),
            hard=_estimate(found.hard),
            only=narrowed(queue.rule),
        )
        for queue, found in audited_queues(store, run_id)
    )


def _estimate(mean: Mean) -> Estimate:
    figure = mean.figure
    return Estimate(figure.value, mean.low, mean.high, figure.reason, figure.n)
