"""Records given outcomes of a run as a runner does: under a lease, and with its results."""

from __future__ import annotations

from collections.abc import Sequence

from core.domain.dataset import Item
from core.domain.rubric import Rubric
from core.domain.runs import RunStatus
from core.domain.votes import AskedOutcome
from core.services.results.scored_items import derivation_for
from core.store.store import Store


def record(
    store: Store,
    run_id: int,
    rubric: Rubric,
    items: Sequence[Item],
    outcomes: Sequence[AskedOutcome],
    *,
    now: str,
    status: RunStatus = "done",
    at: float = 1e10,
) -> int:
    """The outcomes of a run that is there; returns its id.

    A run whose ``status`` is ``running`` is still held, by a process that is gone, since ``at``.
    """
    lease = store.leases.claim("gone:1:x", at=at, seconds=60, run_id=run_id)
    assert lease is not None
    derive = derivation_for(store.runs.get(run_id).plan, rubric, items)
    store.votes.record(
        run_id, outcomes, owner=lease.owner, fence=lease.fence, now=now, derive=derive
    )
    if status != "running":
        store.leases.release(lease, status, now=now)
    return run_id
