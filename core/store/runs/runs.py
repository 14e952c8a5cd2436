"""Runs: their plans, progress and requests."""

from __future__ import annotations

import builtins
import json
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from core.domain.panel import Judge, Panel
from core.domain.runs import RESTING, Run, RunKind, RunPlan, RunRow, RunStatus
from core.errors import Conflict, NotFound
from core.identity import content_hash, text_hash
from core.store.database.connection import LARGEST, Connections, new_id
from core.store.database.content import (
    clean,
    dump,
    like_pattern,
    noun_hash,
    to_json,
)
from core.store.runs.logbook import unrecorded_calls

_ROW = """
    r.id, r.name, r.kind, r.rubric_version_id, rv.rubric_id, rv.name AS rubric_name,
    rv.number AS rubric_number, sv.id AS scored_version_id, sv.number AS scored_number,
    r.dataset_version_id, dv.dataset_id, dv.name AS dataset_name, dv.number AS dataset_number,
    r.panel, r.panel_hash, r.plan_hash, r.status, r.items, r.planned,
    r.votes, r.abstentions, r.failures_open, r.calls, r.tokens_in, r.tokens_cached, r.tokens_out,
    r.tokens_thinking, r.cost, r.cost_unknown, r.cached, r.saved, r.lost, r.out, r.seconds,
    r.created, r.started, r.finished, r.message, r.cancel, r.lease_owner, r.lease_until, r.fence
"""
_FROM = """
    run r JOIN rubric_version rv ON rv.id = r.rubric_version_id
    JOIN rubric_version sv ON sv.id = coalesce(r.scored_version_id, r.rubric_version_id)
    JOIN dataset_version dv ON dv.id = r.dataset_version_id
"""
#: Batches that a provider processes, or may process, without a request to stop.
_BATCHES_OUT = "SELECT 1 FROM batch WHERE run_id = ? AND status <> 'taken' AND NOT stopped"


class Runs:
    """Available as ``store.runs``. A run's plan never changes; its progress does."""

    def __init__(self, files: Connections) -> None:
        self._files = files

    def create(self, plan: RunPlan, items: Sequence[tuple[str, int]], *, now: str) -> Run:
        """Add a queued run over ``items``: (item id, planned votes), in display order.

        Raises:
            NotFound: a version, or an item of the dataset version, does not exist.
        """
        with self._files.write() as db:
            hashes = self._plan_hashes(plan, [item_id for item_id, _ in items])
            details = _plan_rest(plan)
            panel_hash = noun_hash(plan.panel)
            cursor = db.execute(
                "INSERT INTO run (name, kind, rubric_version_id, dataset_version_id, panel, "
                "panel_hash, plan, plan_hash, items, planned, created, made_by, status) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'queued')",
                (
                    clean(plan.name),
                    plan.kind,
                    plan.rubric_version_id,
                    plan.dataset_version_id,
                    to_json(dump(plan.panel)),
                    panel_hash,
                    to_json(details),
                    content_hash([*hashes, panel_hash, details, [list(item) for item in items]]),
                    len(items),
                    sum(planned for _, planned in items),
                    now,
                    clean(self._files.actor.name),
                ),
            )
            run_id = new_id(cursor)
            db.executemany(
                "INSERT INTO run_item (run_id, position, item_id, planned) VALUES (?, ?, ?, ?)",
                ((run_id, position, *item) for position, item in enumerate(items)),
            )
            return self.get(run_id)

    def costs_by_judge(self, month: str) -> builtins.list[tuple[str, Judge, float]]:
        """Return the user, a judge and its cost for each run and judge in a month.

        ``month`` is ``2026-11`` (UTC). Calls of unknown price are left out.
        """
        rows = self._files.tuples(
            "SELECT r.made_by, r.panel, c.judge, sum(c.cost) FROM run r JOIN call c "
            "ON c.run_id = r.id WHERE (r.finished IS NULL OR r.finished >= ?) AND c.cost > 0 "
            "AND substr(c.created, 1, 7) = ? GROUP BY r.id, c.judge",
            (month, month),
        )
        costs = []
        for made_by, panel, name, cost in rows:
            judges = {judge["name"]: judge for judge in json.loads(panel)["judges"]}
            if name in judges:
                costs.append((made_by, Judge.model_validate(judges[name]), float(cost)))
        return costs

    def statuses(self) -> dict[str, int]:
        """Return the number of runs by status."""
        return dict(self._files.tuples("SELECT status, count(*) FROM run GROUP BY status"))

    def last_call(self) -> str:
        """Return the time of the last recorded call, or ""."""
        rows = self._files.tuples("SELECT created FROM call ORDER BY id DESC LIMIT 1")
        return str(rows[0][0]) if rows else ""

    def calls_after(self, call_id: int) -> tuple[int, builtins.list[tuple[Judge, int]]]:
        """Return the newest call's id, and the number of calls per judge since ``call_id``."""
        ((newest,),) = self._files.tuples("SELECT coalesce(max(id), 0) FROM call")
        rows = self._files.tuples(
            "SELECT r.panel, c.judge, count(*) FROM call c JOIN run r ON r.id = c.run_id "
            "WHERE c.id > ? AND c.id <= ? GROUP BY r.id, c.judge",
            (call_id, newest),
        )
        counts = []
        for panel, name, count in rows:
            judges = {judge["name"]: judge for judge in json.loads(panel)["judges"]}
            if name in judges:
                counts.append((Judge.model_validate(judges[name]), int(count)))
        return int(newest), counts

    def active_budgets(
        self, apart_from: int | None = None
    ) -> builtins.list[tuple[str, tuple[Judge, ...], float]]:
        """Return the user, the judges and the remaining budget of each active run."""
        rows = self._files.tuples(
            "SELECT made_by, panel, json_extract(plan, '$.budget') - cost AS left FROM run "
            "WHERE status IN ('queued', 'running') AND left > 0 AND id IS NOT ?",
            (apart_from,),
        )
        return [
            (user, tuple(map(Judge.model_validate, json.loads(panel)["judges"])), float(budget))
            for user, panel, budget in rows
        ]

    def made_by(self, run_id: int) -> str:
        """Return the user who created a run; empty if unknown or without sign-in."""
        ((name,),) = self._files.tuples("SELECT made_by FROM run WHERE id = ?", (run_id,))
        return str(name)

    def get(self, run_id: int) -> Run:
        """Return a run with its whole plan and notes."""
        fields = self._run_fields(self._one_row(f"{_ROW}, r.plan, r.notes", run_id))
        details, notes = json.loads(fields.pop("plan")), json.loads(fields.pop("notes"))
        plan = RunPlan(
            name=fields["name"],
            rubric_version_id=fields["rubric_version_id"],
            dataset_version_id=fields["dataset_version_id"],
            panel=fields["panel"],
            kind=fields["kind"],
            **details,
        )
        return Run(plan=plan, notes=notes, **fields)

    def row(self, run_id: int) -> RunRow:
        """Return a run without plan and notes, cheap enough for polling."""
        return RunRow(**self._run_fields(self._one_row(_ROW, run_id)))

    def _one_row(self, columns: str, run_id: int) -> sqlite3.Row:
        # A number from a URL or a command may be too large for SQLite; no run has it.
        query = f"SELECT {columns} FROM {_FROM} WHERE r.id = ?"
        rows = self._files.rows(query, (run_id,)) if abs(run_id) <= LARGEST else []
        if not rows:
            raise NotFound(f"There is no run {run_id}.")
        return rows[0]

    def list(
        self,
        *,
        kind: RunKind = "run",
        search: str = "",
        limit: int = 50,
        offset: int = 0,
        detail: str = "",
        without: str = "",
    ) -> builtins.list[RunRow]:
        """Return a page of runs, newest first.

        ``search`` matches the names of run, rubric and dataset. ``detail`` keeps runs whose plan
        has a detail of that name; ``without`` keeps runs whose plan lacks it.
        """
        where, values = _search_clause(kind, search)
        if detail:
            where, values = f"{where} AND r.plan -> '$.details' -> ? IS NOT NULL", (*values, detail)
        if without:
            where, values = f"{where} AND r.plan -> '$.details' -> ? IS NULL", (*values, without)
        rows = self._files.rows(
            f"SELECT {_ROW} FROM {_FROM} WHERE {where} ORDER BY r.id DESC LIMIT ? OFFSET ?",
            (*values, limit, offset),
        )
        return [RunRow(**self._run_fields(row)) for row in rows]

    def newest_on(self, version_id: int) -> int | None:
        """Return the newest finished run on a dataset version, or ``None``."""
        rows = self._files.tuples(
            "SELECT max(id) FROM run WHERE dataset_version_id = ? AND status = 'done'",
            (version_id,),
        )
        newest: int | None = rows[0][0]
        return newest

    def calls_out(self) -> int:
        """Return the number of active runs' calls in flight."""
        rows = self._files.tuples(
            "SELECT coalesce(lease_owner, ''), id, fence, calls, out FROM run "
            "WHERE status = 'running'"
        )
        return sum(unrecorded_calls(self._files.path, *row) for row in rows)

    def count(self, kind: RunKind = "run", *, search: str = "") -> int:
        """Return the number of runs of this kind that match."""
        where, values = _search_clause(kind, search)
        ((count,),) = self._files.tuples(f"SELECT count(*) FROM {_FROM} WHERE {where}", values)
        return int(count)

    def all_ids(self) -> builtins.list[int]:
        """Return the ids of all runs, of every kind."""
        return [run_id for (run_id,) in self._files.tuples("SELECT id FROM run ORDER BY id")]

    def item_ids(self, run_id: int) -> builtins.list[str]:
        """Return the ids of the run's items, in its order."""
        rows = self._files.tuples(
            "SELECT item_id FROM run_item WHERE run_id = ? ORDER BY position", (run_id,)
        )
        return [item_id for (item_id,) in rows]

    def imported(self, digest: str) -> int | None:
        """Return the run of an import with this content hash, or ``None``."""
        rows = self._files.tuples(
            "SELECT id FROM run WHERE plan ->> '$.details.imported.hash' = ? ORDER BY id LIMIT 1",
            (digest,),
        )
        return int(rows[0][0]) if rows else None

    def set_notes(self, run_id: int, notes: Mapping[str, Any]) -> None:
        """Merge ``notes`` into the run's notes, key by key."""
        with self._files.write() as db:
            merged = {**self.get(run_id).notes, **notes}
            db.execute("UPDATE run SET notes = ? WHERE id = ?", (to_json(merged), run_id))

    def note(self, run_id: int, key: str) -> Any:
        """Return a note of the run without reading the plan, or ``None``."""
        rows = self._files.tuples(
            "SELECT json_extract(notes, '$.' || ?) FROM run WHERE id = ?", (key, run_id)
        )
        return json.loads(rows[0][0]) if rows and rows[0][0] else None

    def note_hash(self, run_id: int, key: str) -> str:
        """Return the hash of a note without reading the plan, or ""."""
        rows = self._files.tuples(
            "SELECT json_extract(notes, '$.' || ?) FROM run WHERE id = ?", (key, run_id)
        )
        return text_hash(str(rows[0][0])) if rows and rows[0][0] is not None else ""

    def request_cancel(self, run_id: int, *, now: str) -> RunStatus:
        """Request a stop; return the run's status after it.

        An unowned run (queued, or with an expired lease) is cancelled at once. Otherwise its owner
        learns of the request with the next heartbeat. A finished or stopped run stays as it is. A
        run with batches or files at a provider is queued instead, since its next owner must tell
        the provider.
        """
        with self._files.write() as db:
            row = self.row(run_id)
            at = datetime.fromisoformat(now).timestamp()
            if row.status == "running" and (row.lease_until or 0.0) > at:
                db.execute("UPDATE run SET cancel = 1 WHERE id = ?", (run_id,))
            elif (batches_out := db.execute(_BATCHES_OUT, (run_id,)).fetchone()) or row.active:
                # With no owner in the row, an owner that comes back late cannot record anything.
                db.execute(
                    "UPDATE run SET cancel = 1, status = ?, finished = ?, "
                    "lost = lost + ?, out = 0, lease_owner = NULL, lease_until = NULL "
                    "WHERE id = ?",
                    (*(("queued", None) if batches_out else ("cancelled", now)), row.out, run_id),
                )
            return self.row(run_id).status

    def request_queue(self, run_id: int) -> RunStatus:
        """Queue a finished or stopped run again; return the run's status after it."""
        with self._files.write() as db:
            row = self.row(run_id)
            if row.status in RESTING:
                db.execute(
                    "UPDATE run SET status = 'queued', cancel = 0, finished = NULL, message = '' "
                    "WHERE id = ?",
                    (run_id,),
                )
            return self.row(run_id).status

    def reopen_failures(self, run_id: int) -> int:
        """Reopen every open failure and queue the run; return the number of failures.

        Raises:
            Conflict: an owner is working on the run and would not notice.
        """
        with self._files.write() as db:
            if self.row(run_id).status == "running":
                raise Conflict("The run is still going; try the failures again when it is at rest.")
            count = db.execute(
                "UPDATE failure SET open = 0 WHERE run_id = ? AND open = 1", (run_id,)
            ).rowcount
            if count:
                db.execute("UPDATE run SET failures_open = 0 WHERE id = ?", (run_id,))
                for table in ("run_item", "cell"):
                    db.execute(
                        f"UPDATE {table} SET failures = 0 WHERE run_id = ? AND failures > 0",
                        (run_id,),
                    )
                self.request_queue(run_id)
            return count

    def _run_fields(self, row: sqlite3.Row) -> dict[str, Any]:
        fields = dict(row)
        fields["panel"] = Panel.model_validate_json(fields["panel"])
        fields["cancel"] = bool(fields["cancel"])
        if fields["status"] == "running":
            # The file is updated once per group of calls; the logbook has the exact number.
            fields["out"] = unrecorded_calls(
                *(self._files.path, fields["lease_owner"] or ""),
                *(fields[name] for name in ("id", "fence", "calls", "out")),
            )
        return fields

    def _plan_hashes(self, plan: RunPlan, item_ids: builtins.list[str]) -> tuple[str, str]:
        rubric = self._files.tuples(
            "SELECT hash FROM rubric_version WHERE id = ?", (plan.rubric_version_id,)
        )
        dataset = self._files.tuples(
            "SELECT hash FROM dataset_version WHERE id = ?", (plan.dataset_version_id,)
        )
        if not rubric:
            raise NotFound(f"There is no rubric version {plan.rubric_version_id}.")
        if not dataset:
            raise NotFound(f"There is no dataset version {plan.dataset_version_id}.")
        missing = self._files.tuples(
            "SELECT value FROM json_each(?) WHERE value NOT IN "
            "(SELECT item_id FROM item WHERE version_id = ?) LIMIT 1",
            (json.dumps(item_ids), plan.dataset_version_id),
        )
        if missing:
            raise NotFound(
                f"There is no item {missing[0][0]!r} in dataset version {plan.dataset_version_id}."
            )
        return rubric[0][0], dataset[0][0]


def _search_clause(kind: RunKind, search: str) -> tuple[str, tuple[str, ...]]:
    if not search:
        return "r.kind = ?", (kind,)
    names = " OR ".join(f"{name} LIKE ? ESCAPE '\\'" for name in ("r.name", "rv.name", "dv.name"))
    return f"r.kind = ? AND ({names})", (kind, *[like_pattern(search)] * 3)


def _plan_rest(plan: RunPlan) -> dict[str, Any]:
    """Return the parts of the plan that have no separate column."""
    return {
        "seed": plan.seed,
        "replicates": plan.replicates,
        "budget": plan.budget,
        "calibration": dict(plan.calibration),
        "versions": dict(plan.versions),
        "details": dict(plan.details),
    }
