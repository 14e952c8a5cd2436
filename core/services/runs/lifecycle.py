"""Start, cancel, resume, retry and list runs, and report their progress."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple

from core import clock
from core.domain.library import LibraryCounts
from core.domain.runs import WAITING, LeasedWork, RunKind, RunRow
from core.domain.votes import BatchRow, FailureCount
from core.errors import Conflict
from core.services.access import spending
from core.services.access.allowing import allowed
from core.services.judges.readiness import (
    NO_FUNCTIONS,
    Functions,
    require_functions,
    require_ready,
)
from core.services.runs.cost_estimate import estimate_planned
from core.services.runs.planning import RunRequest, plan_run
from core.store.store import Store
from core.text.numbers import seconds

#: A rate is not measured between checks that are less than this many seconds apart.
_TOO_SOON = 0.2
#: Seconds in the queue after which the screen explains the wait.
_LONG_WAIT = 8.0


class RunLook(NamedTuple):
    """What one progress check keeps for the next, as plain data for a browser session.

    ``seen`` is on this process's monotonic clock; ``rate`` is in cells per second.
    """

    run_id: int
    settled: int
    seen: float
    rate: float | None = None


@dataclass(frozen=True)
class RunProgress:
    """A run's progress. ``rate`` is cells per second, smoothed over the last few checks.

    ``rate`` and ``seconds_left`` are ``None`` at the first check, or without progress. ``stalled``:
    the run's process ended and no other has taken over. ``batches`` are those that the provider
    received, including finished ones. ``waited`` is how long the oldest question has waited for an
    answer, in seconds, if that is long, and ``waits_for`` its judge.
    """

    row: RunRow
    failures: tuple[FailureCount, ...]
    seen: float
    rate: float | None = None
    seconds_left: float | None = None
    stalled: bool = False
    batches: tuple[BatchRow, ...] = ()
    waited: float | None = None
    waits_for: str = ""

    @property
    def settled(self) -> int:
        """Return the number of cells with a vote or an open failure."""
        return self.row.votes + self.row.failures_open

    @property
    def cells_not_needed(self) -> int:
        """Return the number of planned cells that a finished run did not need."""
        return cells_not_needed(self.row)

    @property
    def share(self) -> float:
        """Return settled cells over planned ones, in [0, 1]."""
        return self.settled / self.row.planned if self.row.planned else 1.0

    @property
    def look(self) -> RunLook:
        """Return what the next ``run_progress`` compares with."""
        return RunLook(self.row.id, self.settled, self.seen, self.rate)


@allowed("write")
def start(store: Store, request: RunRequest, functions: Functions = NO_FUNCTIONS) -> int:
    """Create and queue a run; return its id. A Runner processes it, or ``work_here`` does.

    A run with ``functions`` among its judges waits for ``work_here``.

    Raises:
        InputError: the request is invalid, or a judge is not ready (``readiness``).
    """
    planned = plan_run(store, request)
    require_functions(request.panel.judges, functions)
    require_ready(request.panel.judges)
    judges, budget = request.panel.judges, planned.plan.budget
    limited = budget is None and spending.is_limited(judges)
    expected = estimate_planned(store, planned).cost if limited else None
    with store.write():
        plan = replace(planned.plan, budget=spending.within_limits(store, judges, budget, expected))
        return store.runs.create(plan, planned.cells, now=clock.now()).id


def newest_runs(
    store: Store, kind: RunKind = "run", limit: int = 50, offset: int = 0, without: str = ""
) -> list[RunRow]:
    """Return runs, newest first, without those whose plan has the detail ``without``."""
    return store.runs.list(kind=kind, limit=limit, offset=offset, without=without)


def runs_page(
    store: Store, *, search: str = "", limit: int = 20, offset: int = 0
) -> tuple[list[RunRow], int]:
    """Return a page of runs, newest first, and the number of all matches.

    ``search`` matches the names of the run, its rubric and its dataset.
    """
    rows = store.runs.list(kind="run", search=search, limit=limit, offset=offset)
    return rows, store.runs.count("run", search=search)


def newest_over(store: Store, dataset_version: int, detail: str) -> RunRow | None:
    """Return the newest run over that dataset version whose plan has this detail, or ``None``."""
    rows = store.runs.list(detail=detail, limit=200)
    return next((row for row in rows if row.dataset_version_id == dataset_version), None)


def newest_with_votes(store: Store, limit: int) -> list[RunRow]:
    """Return the newest runs with votes, to choose from, without their means."""
    return [row for row in store.runs.list(kind="run", limit=limit) if row.votes]


def run_means(store: Store, run_id: int) -> tuple[float | None, float | None, int]:
    """Return the means of score and agreement over a run's items."""
    return store.results.means(run_id)


@allowed("write")
def cancel(store: Store, run_id: int) -> str:
    """Ask the run to stop and return its status. Finished votes stay.

    If its owner was a process of this machine that ended, the run stops at once.
    """
    release_if_gone(store, run_id)
    return store.runs.request_cancel(run_id, now=clock.now())


@allowed("write")
def resume(store: Store, run_id: int, functions: Functions = NO_FUNCTIONS) -> str:
    """Queue the unfinished part of a run, even if its process on this machine ended.

    A finished run has no such part; ``retry`` repeats its failures. Raises ``Conflict`` for
    imported votes.
    """
    _refuse_unaskable(store, run_id, functions)
    release_if_gone(store, run_id)
    if store.runs.row(run_id).status == "done":
        return "done"
    return store.runs.request_queue(run_id)


@allowed("write")
def retry(store: Store, run_id: int, functions: Functions = NO_FUNCTIONS) -> int:
    """Queue the open failures of a run again; return how many.

    Raises ``Conflict`` while the run is processed, and for imported votes.
    """
    _refuse_unaskable(store, run_id, functions)
    release_if_gone(store, run_id)
    row = store.runs.row(run_id)
    if status_of(row) == "interrupted":
        raise Conflict(
            f"Run {run_id} was interrupted: who worked on it is gone. Resume it; then retry what "
            "failed."
        )
    if row.status == "running":
        raise Conflict(f"Run {run_id} is in progress. Cancel it or wait, then retry.")
    if any(batch.at_provider for batch in store.batches.of_run(run_id)):
        # A retry would change requests that are in flight.
        raise Conflict(
            f"Run {run_id} has batches at the provider. Resume it, and retry what failed when they "
            "are back."
        )
    return store.runs.reopen_failures(run_id)


def _refuse_unaskable(store: Store, run_id: int, functions: Functions) -> None:
    panel = store.runs.row(run_id).panel
    require_functions(panel.judges, functions)
    spending.within_limits(store, panel.judges, None)
    if not panel.askable:
        raise Conflict(
            f"Run {run_id} holds imported votes: its raters answered elsewhere and cannot be asked "
            "here. Start a run with judges of your own on the same rubric and dataset."
        )


@allowed("read")
def release_if_gone(store: Store, run_id: int) -> None:
    """Free a run whose owner was a process of this machine that ended."""
    row = store.runs.row(run_id)
    if row.status == "running" and row.lease_owner and clock.is_gone(row.lease_owner):
        store.leases.expire(row.lease)


def run_progress(
    store: Store, run_id: int, before: RunProgress | RunLook | None = None
) -> RunProgress:
    """Return a run's progress. Its rate and time left need the progress or look ``before``."""
    row = store.runs.row(run_id)
    failures = tuple(store.votes.failure_kinds(run_id)) if row.failures_open else ()
    stalled = is_stalled(row)
    current = RunLook(row.id, row.votes + row.failures_open, time.monotonic())
    last = before.look if isinstance(before, RunProgress) else before
    rate = _progress_rate(current, last) if row.active and not stalled else None
    seconds_left = (row.planned - current.settled) / rate if rate else None
    # While no new vote arrives, keep the last vote as the start from which the next rate is
    # measured.
    still = last is not None and last[:2] == current[:2] and row.active
    since = last.seen if last is not None and still else current.seen
    waits = (store.runs.note(run_id, WAITING) if row.status == "running" else None) or {}
    waited = clock.seconds_now() - waits["since"] if waits else None
    batches = tuple(batch for batch in store.batches.of_run(run_id) if batch.batch)
    return RunProgress(
        *(row, failures, since, rate, seconds_left, stalled, batches),
        *(waited, waits.get("judge", "")),
    )


def is_stalled(row: LeasedWork) -> bool:
    """Return whether a running run's owner is gone, or stopped renewing its lease."""
    return row.status == "running" and (
        (row.lease_until or 0) < clock.seconds_now() or clock.is_gone(row.lease_owner or "")
    )


def phase_words(row: RunRow) -> str:
    """Return what an active run is doing, in a few words."""
    if is_stalled(row):
        return "the process that asked is gone; another takes over in some seconds"
    if row.status == "queued":
        waited = clock.seconds_now() - datetime.fromisoformat(row.created).timestamp()
        if waited > _LONG_WAIT:
            return "not taken up yet: other runs come first, or RUBRIC_STUDIO_RUNNER is none"
        return "waiting to start"
    if not row.votes and any(judge.learns for judge in row.panel.judges):
        return "the offline judges are learning; this takes some seconds"
    return "asking the judges"


def waiting_words(look: RunProgress) -> str:
    """Return how many calls have waited long, and for which judge, or an empty string."""
    if look.waited is None:
        return ""
    in_flight, since = max(1, look.row.out), seconds(look.waited)
    if in_flight == 1:
        return f"1 call has been out for {since} ({look.waits_for})"
    return f"{in_flight:,} calls are out, the oldest for {since} ({look.waits_for})"


def status_of(row: RunRow) -> str:
    """Return the run's status: ``interrupted`` if its worker is lost, ``failed`` if it ended
    without any answer.
    """
    if is_stalled(row):
        return "interrupted"
    all_failed = row.status == "done" and row.failures_open and not row.votes
    return "failed" if all_failed else row.status


def shown_status(row: RunRow) -> str:
    """Return the displayed status: ``incomplete`` if some questions have no answer."""
    status = status_of(row)
    return "incomplete" if status == "done" and row.failures_open else status


def _progress_rate(current: RunLook, before: RunLook | None) -> float | None:
    if before is None or before.run_id != current.run_id or current.settled < before.settled:
        return None
    elapsed = current.seen - before.seen
    if elapsed < _TOO_SOON:
        return before.rate
    if current.settled == before.settled:
        # The next vote arrives now at the earliest, which gives an upper limit of the rate.
        return before.rate and min(before.rate, 1 / elapsed)
    change = (current.settled - before.settled) / elapsed
    # Smooth the rate, so that the estimated remaining time does not jump.
    return change if before.rate is None else 0.7 * before.rate + 0.3 * change


def run_summary(store: Store, run_id: int) -> dict[str, Any]:
    """Return what the command line prints about a run (``grade --json`` of the contract).

    ``votes`` includes abstentions. ``cost_usd`` is ``None`` if a call's price is unknown.
    ``lost_calls`` went out and were never recorded; ``calls`` and ``cost_usd`` exclude them.
    ``spared`` counts the planned votes that a cascade or an early stop saved. ``reasons`` has the
    newest message of each kind of failure, in the provider's words if available. ``batches_out``
    counts the batches that a provider still processes.
    """
    row = store.runs.row(run_id)
    kinds = store.votes.failure_kinds(run_id)
    return {
        "run": row.id,
        "status": status_of(row),
        "planned": row.planned,
        "votes": row.votes,
        "abstentions": row.abstentions,
        "failures": {kind.kind: kind.times for kind in kinds},
        "complete": row.status == "done" and not row.failures_open,
        "reasons": {kind.kind: kind.message for kind in kinds},
        "calls": row.calls,
        "lost_calls": unrecorded_calls(row),
        "cached": row.cached,
        "saved_usd": row.saved,
        "cost_usd": None if row.cost_unknown else row.cost,
        "seconds": round(row.seconds, 3),
        "spared": cells_not_needed(row),
        "batches_out": sum(batch.is_pending for batch in store.batches.of_run(run_id)),
        "db": str(store.path),
    }


def unrecorded_calls(row: RunRow) -> int:
    """Return the number of calls that went out before a stop or a kill without being recorded."""
    live = row.status == "running" and not is_stalled(row)
    return row.lost + (0 if live else row.out)


def lost_calls_words(count: int) -> str:
    """Return a sentence on unrecorded calls after a stop or a kill, or an empty string.

    >>> lost_calls_words(1)
    '1 more call was out when the run was stopped: it is not counted and may have been paid.'
    """
    if not count:
        return ""
    calls, they = ("call was", "it is") if count == 1 else ("calls were", "they are")
    return (
        f"{count:,} more {calls} out when the run was stopped: {they} not counted and may have "
        "been paid."
    )


def cells_not_needed(row: RunRow) -> int:
    """Return how many planned votes a finished run did not need: settled earlier, or stopped
    early.
    """
    return row.planned - row.votes - row.failures_open if row.status == "done" else 0


def library_counts(store: Store) -> LibraryCounts:
    """Return the numbers of rubrics, datasets, runs and votes, without archived ones."""
    return store.counts()
