"""Tasks of writing models: the request, every step and the result.

A process leases a task as it does a run. Finished steps stay, so continuing a task never pays for
them again.
"""

from __future__ import annotations

import builtins
import json
import sqlite3
from collections.abc import Mapping
from typing import Any

from core.domain.panel import Judge
from core.domain.runs import HelpStep, HelpTask, Lease, RunStatus
from core.errors import NotFound
from core.store.database.connection import Connections
from core.store.database.content import clean, to_json
from core.store.runs.leases import end_lease, require_lease

_LAST = "(SELECT max(id) FROM help_step l WHERE l.task_id = s.task_id AND l.name = s.name)"
_TASK = f"""
    SELECT t.*,
        (SELECT count(*) FROM help_step s WHERE s.task_id = t.id AND value IS NOT NULL) AS done,
        (SELECT count(*) FROM help_step s WHERE s.task_id = t.id AND failure IS NOT NULL
            AND s.id = {_LAST}) AS failed,
        (SELECT count(*) FROM help_step s WHERE s.task_id = t.id AND asked) AS calls,
        (SELECT coalesce(sum(cost), 0) FROM help_step s WHERE s.task_id = t.id) AS cost,
        (SELECT count(*) FROM help_step s WHERE s.task_id = t.id AND asked AND cost IS NULL)
            AS cost_unknown
    FROM help_task t
"""


class Helps:
    """Available as ``store.helps``."""

    def __init__(self, files: Connections) -> None:
        self._files = files

    def create(
        self,
        kind: str,
        subject: str,
        request: Mapping[str, Any],
        *,
        planned: int,
        budget: float | None,
        now: str,
    ) -> int:
        """Add a waiting task and return its id."""
        with self._files.write() as db:
            ((task_id,),) = db.execute(
                "INSERT INTO help_task (kind, subject, request, status, planned, budget, created, "
                "updated, made_by) VALUES (?, ?, ?, 'queued', ?, ?, ?, ?, ?) RETURNING id",
                (
                    *(
                        kind,
                        clean(subject),
                        to_json(dict(request)),
                        planned,
                        budget,
                        now,
                        now,
                    ),
                    self._files.actor.name,
                ),
            ).fetchall()
            return int(task_id)

    def get(self, task_id: int) -> HelpTask:
        """Return a task. Raises ``NotFound``."""
        rows = self._files.rows(f"{_TASK} WHERE t.id = ?", (task_id,))
        if not rows:
            raise NotFound(f"There is no task {task_id}.")
        return _task_from(rows[0])

    def list(
        self, *, subject: str | None = None, kind: str | None = None, limit: int = 20
    ) -> builtins.list[HelpTask]:
        """Return the latest tasks, newest first, optionally of one subject or kind."""
        rows = self._files.rows(
            f"{_TASK} WHERE t.subject = coalesce(?, t.subject) AND t.kind = coalesce(?, t.kind) "
            "ORDER BY t.id DESC LIMIT ?",
            (subject, kind, limit),
        )
        return [_task_from(row) for row in rows]

    def costs(self, month: str) -> builtins.list[tuple[str, Judge, float]]:
        """Return the user, the model and the cost of each task in a month (``2026-11``)."""
        rows = self._files.tuples(
            "SELECT t.made_by, json_extract(t.request, '$.judge'), sum(s.cost) FROM help_task t "
            "JOIN help_step s ON s.task_id = t.id WHERE s.cost > 0 "
            "AND substr(s.created, 1, 7) = ? GROUP BY t.id",
            (month,),
        )
        return [(user, Judge.model_validate_json(judge), float(cost)) for user, judge, cost in rows]

    def active_budgets(self) -> builtins.list[tuple[str, tuple[Judge, ...], float]]:
        """Return the user, the model and the remaining budget of each active task.

        A task that works through runs reserves nothing itself, since its runs do.
        """
        rows = self._files.tuples(
            f"SELECT made_by, json_extract(request, '$.judge'), budget - cost FROM ({_TASK}) "
            "WHERE status IN ('queued', 'running') AND kind <> 'loop' AND budget > cost"
        )
        return [
            (user, (Judge.model_validate_json(judge),), float(budget))
            for user, judge, budget in rows
        ]

    def claim(self, task_id: int, owner: str, *, at: float, seconds: float, now: str) -> bool:
        """Lease a waiting task, or one with an expired lease; return whether it succeeded."""
        with self._files.write() as db:
            cursor = db.execute(
                "UPDATE help_task SET status = 'running', lease_owner = ?, lease_until = ?, "
                "fence = fence + 1, message = '', updated = ? WHERE id = ? "
                "AND (status = 'queued' OR (status = 'running' AND lease_until < ?))",
                (owner, at + seconds, now, task_id, at),
            )
            return cursor.rowcount == 1

    def requeue(self, task_id: int, *, now: str) -> None:
        """Queue a stopped task again; an active task stays as it is."""
        with self._files.write() as db:
            db.execute(
                "UPDATE help_task SET status = 'queued', cancel = 0, updated = ? "
                "WHERE id = ? AND status NOT IN ('queued', 'running', 'done')",
                (now, task_id),
            )

    def keep(self, lease: Lease, step: HelpStep, *, now: str) -> None:
        """Add a step. Raises ``LeaseLost`` if the lease was lost."""
        with self._files.write() as db:
            require_lease(db, lease)
            value = None if step.value is None else to_json(step.value)
            call = None if step.call is None else to_json(step.call)
            db.execute(
                "INSERT INTO help_step (task_id, name, value, failure, message, call, asked, cost, "
                "created) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(
                        lease.run_id,
                        clean(step.name),
                        value,
                        step.failure,
                        clean(step.message),
                    ),
                    *(call, step.asked, step.cost, now),
                ),
            )

    def end(
        self, lease: Lease, status: RunStatus, *, now: str, message: str = "", result: Any = None
    ) -> None:
        """Release a task; does nothing if the lease was lost."""
        facts = {} if result is None else {"result": to_json(result)}
        with self._files.write() as db:
            end_lease(db, lease, status, message, updated=now, **facts)

    def request_cancel(self, task_id: int, *, now: str) -> None:
        """Ask the owner of a task to stop; a waiting task is cancelled at once."""
        with self._files.write() as db:
            db.execute(
                "UPDATE help_task SET cancel = 1, updated = ?, "
                "status = CASE status WHEN 'queued' THEN 'cancelled' ELSE status END WHERE id = ?",
                (now, task_id),
            )

    def steps(self, task_id: int) -> builtins.list[HelpStep]:
        """Return every step of a task, in order."""
        rows = self._files.rows(
            "SELECT id, name, value, failure, message, call, asked, cost, created "
            "FROM help_step WHERE task_id = ? ORDER BY id",
            (task_id,),
        )
        return [_step_from(row) for row in rows]


def _task_from(row: sqlite3.Row) -> HelpTask:
    fields = dict(row)
    fields["request"] = json.loads(fields["request"])
    fields["result"] = None if fields["result"] is None else json.loads(fields["result"])
    return HelpTask(**{**fields, "cancel": bool(fields["cancel"])})


def _step_from(row: sqlite3.Row) -> HelpStep:
    fields = dict(row)
    for name in ("value", "call"):
        fields[name] = None if fields[name] is None else json.loads(fields[name])
    return HelpStep(**{**fields, "asked": bool(fields["asked"])})
