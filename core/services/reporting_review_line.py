"""What a report holds of one review queue."""

from __future__ import annotations

from dataclasses import dataclass

from core.metrics.estimate import Estimate


@dataclass(frozen=True)
class ReviewLine:
    """A review queue with a random audit: how often people confirm the verdicts.

    ``weighted`` is of all cells, from the chances of being reviewed; ``hard`` of the ``queued``
    ones that a rule picked. ``audited`` were drawn at random; ``missing`` are still open. ``only``
    says what the queue is narrowed to, if it is: "all cells" are no others.
    """

    queue: int
    name: str
    audited: int
    queued: int
    missing: int
    weighted: Estimate
    hard: Estimate
    only: str = ""
