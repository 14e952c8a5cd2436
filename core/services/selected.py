"""Labels that come from review: they were not drawn at random, and what follows from that.

A review queue picks the doubtful cells. What is right among labelled cells is then not what is
right among all; only the chance that each cell had of being picked leads from one to the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from core.domain.review_records import QueueRow
from core.services.audit_frame import narrowed
from core.services.numbers import count, percent
from core.services.preparing import resolved_items
from core.services.review_estimates import Rightness, rightness
from core.store.store import Store

if TYPE_CHECKING:
    from core.metrics.selection import Mean


class AuditedQueue(NamedTuple):
    """A queue that holds a random audit, and how often its decisions confirm the verdicts."""

    queue: QueueRow
    found: Rightness


@dataclass(frozen=True)
class Selected:
    """Of a run's ``labels``, people ``settled`` so many in review; ``queues`` hold an audit."""

    labels: int
    settled: int
    queues: tuple[AuditedQueue, ...]


def audited_queues(store: Store, run_id: int) -> tuple[AuditedQueue, ...]:
    """The run's queues that have a random audit, the oldest first; put away ones as well."""
    queues = store.queues.list(run_id) + store.queues.list(run_id, archived=True)
    return tuple(
        AuditedQueue(queue, rightness(store, queue.id))
        for queue in sorted(queues, key=lambda q: q.id)
        if store.queues.has_audit(queue.id)
    )


def selected(store: Store, run_id: int) -> Selected | None:
    """How far a run's labels come from review; ``None`` where none does. Raises ``NotFound``."""
    run = store.runs.row(run_id)
    ids = store.runs.item_ids(run_id)
    truth = store.settled.truth(run.dataset_version_id, item_ids=ids)
    settled = sum(label is not None for given in truth.values() for label in given.values())
    if not settled:
        return None
    items = resolved_items(store, run.dataset_version_id, ids)
    return Selected(sum(len(i.labels) for i in items), settled, audited_queues(store, run_id))


def in_words(found: Selected) -> str:
    """What a person must know before reading a figure against the labels."""
    words = (
        f"{count(found.settled)} of the {count(found.labels)} labels were settled in review, where "
        "doubtful cells are picked: figures against labels speak of labelled cells, not of all."
    )
    known = [one for one in found.queues if one.found.weighted.figure.value is not None]
    if not known:
        return f"{words} A queue with a random audit, reviewed to its end, can speak of all."
    # The newest queue that looked at everything, or else the newest.
    queue, right = max(known, key=lambda one: (not narrowed(one.queue.rule), one.queue.id))
    only = narrowed(queue.rule)
    words += (
        f" Of all cells{f' ({only})' if only else ''} people confirm an estimated "
        f"{_share(right.weighted)}, weighted by each cell's chance of being reviewed (queue "
        f"“{queue.name}”)"
    )
    if right.hard.figure.value is not None:
        words += f"; of the doubtful ones {_share(right.hard)}"
    return f"{words}."


def as_data(found: Selected) -> dict[str, Any]:
    """The same for ``metrics --json``."""
    return {
        "labels": found.labels,
        "settled_in_review": found.settled,
        "queues": [
            {
                "queue": queue.id,
                "name": queue.name,
                "narrowed_to": narrowed(queue.rule) or None,
                "audited": right.audited,
                "queued": right.queued,
                "open": right.missing,
                "right_weighted": _estimate(right.weighted),
                "right_on_hard": _estimate(right.hard),
            }
            for queue, right in found.queues
        ],
    }


def _share(mean: Mean) -> str:
    return f"{percent(mean.figure.value)} [{percent(mean.low)}, {percent(mean.high)}]"


def _estimate(mean: Mean) -> dict[str, Any]:
    value, n, reason = mean.figure
    if value is None:
        return {"n": n, "value": None, "undefined": {"value": reason}}
    return {"n": n, "value": value, "ci": [mean.low, mean.high]}
