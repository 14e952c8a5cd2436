"""Runs, in verbs: start, cancel, resume, retry, list, and how far one is."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from core.errors import Conflict
from core.services import clock
from core.services.planning import RunRequest, plan_run
from core.store.run_rows import RunKind, RunRow
from core.store.store import Store
from core.store.vote_rows import FailureCount


@dataclass(frozen=True)
class Progress:
    """How far a run is, now. ``rate`` is cells per second since the progress before.

    ``rate`` and ``seconds_left`` are ``None`` until two looks are taken, or when nothing moves.
    ``stalled`` says that the process that worked on the run is gone and nobody has taken it up.
    """

    row: RunRow
    failures: tuple[FailureCount, ...]
    seen: float
    rate: float | None = None
    seconds_left: float | None = None
    stalled: bool = False

    @property
    def settled(self) -> int:
        """Cells that ended as a vote or an open failure."""
        return self.row.votes + self.row.failures_open

    @property
    def share(self) -> float:
        """Settled cells over planned ones, in [0, 1]."""
        return self.settled / self.row.planned if self.row.planned else 1.0


def start(store: Store, request: RunRequest) -> int:
    """Makes a run and queues it; returns its id. A Runner takes it up, or ``work_here`` does."""
    planned = plan_run(store, request)
    return store.runs.create(planned.plan, planned.cells, now=clock.now()).id


def runs(store: Store, kind: RunKind = "run", limit: int = 50, offset: int = 0) -> list[RunRow]:
    """Runs, newest first."""
    return store.runs.list(kind=kind, limit=limit, offset=offset)


def cancel(store: Store, run_id: int) -> str:
    """Asks for the run to stop; finished votes stay. Returns the status it has now."""
    return store.runs.request_cancel(run_id, now=clock.now())


def resume(store: Store, run_id: int) -> str:
    """Queues what is left of a run. Takes it from a process of this machine that is gone."""
    release_if_gone(store, run_id)
    return store.runs.request_queue(run_id)


def retry(store: Store, run_id: int) -> int:
    """Queues the open failures of a run to be asked again; returns how many.

    Raises ``Conflict`` while the run is being worked off.
    """
    release_if_gone(store, run_id)
    if store.runs.row(run_id).status == "running":
        raise Conflict(f"Run {run_id} is being worked off. Cancel it or wait, then retry.")
    return store.runs.reopen_failures(run_id)


def release_if_gone(store: Store, run_id: int) -> None:
    """Frees a run whose owner was a process of this machine that no longer exists."""
    row = store.runs.row(run_id)
    if row.status == "running" and row.lease_owner and clock.is_gone(row.lease_owner):
        store.leases.expire(run_id, row.lease_owner, row.fence)


def progress(store: Store, run_id: int, before: Progress | None = None) -> Progress:
    """How far a run is; give the progress before to learn rate and time left."""
    row = store.runs.row(run_id)
    failures = tuple(store.votes.failure_kinds(run_id)) if row.failures_open else ()
    stalled = row.status == "running" and (row.lease_until or 0) < clock.at()
    seen = time.monotonic()
    look = Progress(row, failures, seen, stalled=stalled)
    if before is None or before.row.id != run_id or seen - before.seen < 0.05:
        return look
    moved = (look.settled - before.settled) / (seen - before.seen)
    # A little memory of the rate before, so that the time left does not jump about.
    rate = moved if before.rate is None else 0.7 * before.rate + 0.3 * moved
    left = (row.planned - look.settled) / rate if rate > 0 else None
    return Progress(row, failures, seen, rate if rate > 0 else None, left, stalled)


def summary(store: Store, run_id: int) -> dict[str, Any]:
    """What the command line says of a run (``grade --json`` of the contract).

    ``votes`` counts abstentions too; ``cost_usd`` is ``None`` when a call's price is unknown.
    """
    row = store.runs.row(run_id)
    kinds = store.votes.failure_kinds(run_id)
    return {
        "run": row.id,
        "status": row.status,
        "planned": row.planned,
        "votes": row.votes,
        "abstentions": row.abstentions,
        "failures": {kind.kind: kind.times for kind in kinds},
        "calls": row.calls,
        "cached": 0,
        "cost_usd": None if row.cost_unknown else row.cost,
        "seconds": round(row.seconds, 3),
        "db": str(store.path),
    }
