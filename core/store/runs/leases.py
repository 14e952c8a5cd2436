"""Leases: the process that may work on a run or help task, and until when; fences stop late owners.

Every claim raises the fence. An owner's writes carry its fence. So an owner that lost its lease and
comes back gets ``LeaseLost`` instead of writing twice.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from core.domain.runs import Lease, RunStatus
from core.errors import Conflict
from core.store.database.connection import Connections
from core.store.database.content import clean
from core.store.runs.logbook import delete_dead_logbooks, unrecorded_calls

#: Any runner may take such a run, since none of its judges is code of a particular program.
_ANYBODYS = """
    NOT EXISTS (
        SELECT 1 FROM json_each(run.panel, '$.judges')
        WHERE value ->> 'kind' IN ('function', 'command')
    )
"""
_FREE = f"""
    (status = 'queued' OR (status = 'running' AND (lease_until IS NULL OR lease_until <= ?)))
    AND iif(? IS NULL, {_ANYBODYS}, id = ?)
"""
_HELD = "id = ? AND lease_owner = ? AND fence = ? AND status = 'running'"


class LeaseLost(Conflict):
    """The lease on the run is lost: taken over, released or cancelled."""


def require_lease(db: sqlite3.Connection, lease: Lease) -> None:
    """Raise ``LeaseLost`` unless the lease's owner still holds the row under its fence.

    An expired lease still counts until another owner claims the row.
    """
    if not db.execute(f"SELECT 1 FROM {lease.table} WHERE {_HELD}", _lease_key(lease)).fetchone():
        message = f"{lease.owner} no longer works on {lease.table} {lease.run_id}"
        raise LeaseLost(f"{message}; nothing was written.")


def end_lease(
    db: sqlite3.Connection,
    lease: Lease,
    status: RunStatus,
    message: str,
    **facts: str | float | None,
) -> bool:
    """End a lease with a new status and further facts; return ``False`` if it was already lost."""
    named = "".join(f", {name} = ?" for name in facts)
    cursor = db.execute(
        f"UPDATE {lease.table} SET status = ?, message = ?, lease_owner = NULL, "
        f"lease_until = NULL{named} WHERE {_HELD}",
        (status, clean(message), *facts.values(), *_lease_key(lease)),
    )
    return cursor.rowcount == 1


class Leases:
    """Available as ``store.leases``. ``at`` is in Unix seconds; a lease lasts ``seconds``."""

    def __init__(self, files: Connections) -> None:
        self._files = files

    def claim(
        self, owner: str, *, at: float, seconds: float, run_id: int | None = None
    ) -> Lease | None:
        """Claim a queued run or one with an expired lease; ``None`` if there is none.

        Spot checks go first because a person waits for them, then the oldest run. ``run_id``
        restricts the claim to that run. A run whose judges are code of a program is claimed only by
        that program.
        """
        free = (at, run_id, run_id)
        # Checked without the write lock, because runners poll once a second, mostly without result.
        if not self._files.tuples(f"SELECT 1 FROM run WHERE {_FREE} LIMIT 1", free):
            return None
        with self._files.write() as db:
            row = db.execute(
                "SELECT coalesce(lease_owner, ''), id, fence, calls, out, cancel FROM run "
                f"WHERE {_FREE} ORDER BY kind = 'spot' DESC, id LIMIT 1",
                free,
            ).fetchone()
            if row is None:
                return None
            before, claimed, fence, *counts, cancel = row
            started = datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")
            db.execute(
                """
                UPDATE run SET status = 'running', lease_owner = ?, lease_until = ?,
                    lost = lost + ?, out = 0, fence = fence + 1, started = coalesce(started, ?)
                WHERE id = ?
                """,
                (
                    *(owner, at + seconds),
                    unrecorded_calls(self._files.path, before, claimed, fence, *counts),
                    *(started.replace("+00:00", "Z"), claimed),
                ),
            )
        return Lease(claimed, owner, fence + 1, at + seconds, bool(cancel))

    def heartbeat(self, lease: Lease, *, at: float, seconds: float) -> bool | None:
        """Extend the lease; return whether a stop was requested, or ``None`` if it was lost."""
        with self._files.write() as db:
            rows = db.execute(
                f"UPDATE {lease.table} SET lease_until = ? WHERE {_HELD} RETURNING cancel",
                (at + seconds, *_lease_key(lease)),
            ).fetchall()
        return bool(rows[0][0]) if rows else None

    def release(
        self,
        lease: Lease,
        status: RunStatus,
        *,
        now: str,
        message: str = "",
        seconds: float = 0.0,
        lost: int = 0,
    ) -> bool:
        """Release the run with its new status; return ``False`` if the lease was lost.

        ``seconds`` is the time since the claim. ``lost`` counts calls whose outcomes will never
        arrive. A run released as ``queued`` after a request to stop is cancelled.
        """
        with self._files.write() as db:
            row = db.execute(
                f"SELECT cancel, seconds, lost FROM run WHERE {_HELD}", _lease_key(lease)
            ).fetchone()
            if row is None:
                return False
            settled: RunStatus = "cancelled" if status == "queued" and row[0] else status
            return end_lease(
                *(db, lease, settled, message),
                finished=None if settled == "queued" else now,
                seconds=row[1] + seconds,
                lost=row[2] + lost,
                out=0,
            )

    def expire(self, lease: Lease) -> bool:
        """End the lease of a dead owner, so that the run can be claimed at once."""
        with self._files.write() as db:
            cursor = db.execute(f"UPDATE run SET lease_until = 0 WHERE {_HELD}", _lease_key(lease))
            return cursor.rowcount == 1

    def lease_expiries(self) -> list[float]:
        """Return the expiry time of each active run's lease; 0 for queued runs."""
        rows = self._files.tuples(
            "SELECT iif(status = 'running', coalesce(lease_until, 0), 0) FROM run "
            f"WHERE status IN ('queued', 'running') AND {_ANYBODYS}"
        )
        return [float(until) for (until,) in rows]

    def of_process(self, begins: str) -> list[Lease]:
        """Return the leases, also expired ones, of owners whose names start with ``begins``."""
        return self._leases_where("substr(lease_owner, 1, ?) = ?", (len(begins), begins))

    def sweep(self) -> None:
        """Delete logbooks of dead owners, unless they still count calls of a run."""
        owners = self._files.tuples("SELECT lease_owner FROM run WHERE lease_owner IS NOT NULL")
        delete_dead_logbooks(self._files.path, [owner for (owner,) in owners])

    def active(self, *, at: float) -> list[Lease]:
        """Return the leases in force at this time."""
        return self._leases_where("lease_until > ?", (at,))

    def _leases_where(self, condition: str, values: Sequence[Any]) -> list[Lease]:
        return [
            Lease(run_id, owner, fence, until, bool(cancel))
            for run_id, owner, fence, until, cancel in self._files.tuples(
                "SELECT id, lease_owner, fence, lease_until, cancel FROM run "
                f"WHERE status = 'running' AND {condition} ORDER BY id",
                values,
            )
        ]


def _lease_key(lease: Lease) -> tuple[Any, ...]:
    return lease.run_id, lease.owner, lease.fence
