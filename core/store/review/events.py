"""The review record: who did what, when and why. Entries are never changed or removed."""

from __future__ import annotations

import builtins
import json
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

from core.domain.review import Role
from core.domain.review_records import EventRow, ReviewerRow
from core.errors import NotFound
from core.store.database.connection import Connections
from core.store.database.content import clean, to_json

_COLUMNS = (
    "id, step, ts, actor, role, session, run_id, queue_id, item_id, criterion, "
    "rubric_version_id, action, part, before, after, reason, mode, ms_active, revealed_at, "
    "evidence, undo_of"
)
_WITHDRAWN = "run_id = ? AND action = 'withdraw'"
#: Acts of a reviewer; all other events result from these.
_ACTS = "('verdict', 'final', 'skip', 'flag', 'unflag', 'send_back')"


class Events:
    """Available as ``store.events``."""

    def __init__(self, files: Connections) -> None:
        self._files = files

    def add(self, event: EventRow) -> int:
        """Add an event; return its id, which is also the step if it begins one."""
        with self._files.write() as db:
            ((event_id,),) = db.execute("SELECT coalesce(max(id), 0) + 1 FROM review_event")
            db.execute(
                f"INSERT INTO review_event ({_COLUMNS}) VALUES ({', '.join('?' * 21)})",
                (
                    *(event_id, event.step or event_id, event.ts),
                    *(
                        clean(event.actor),
                        event.role,
                        clean(event.session),
                    ),
                    *(event.run_id, event.queue_id, event.item_id, event.criterion),
                    *(event.rubric_version_id, event.action, event.part),
                    *(
                        to_json(event.before),
                        to_json(event.after),
                        clean(event.reason),
                    ),
                    *(event.mode, event.ms_active, event.revealed_at),
                    *(to_json(event.evidence), event.undo_of),
                ),
            )
        return int(event_id)

    def get(self, event_id: int) -> EventRow:
        """Return an event; raises ``NotFound``."""
        rows = self._event_rows("id = ?", (event_id,))
        if not rows:
            raise NotFound(f"There is no review event {event_id}.")
        return rows[0]

    def of_step(self, step: int) -> list[EventRow]:
        """Return the events of one act, in order. Raises ``NotFound`` if the step is unknown."""
        rows = self._event_rows("step = ?", (step,))
        if not rows:
            raise NotFound(f"There is no review step {step}.")
        return rows

    def of_cell(self, run_id: int, item_id: str, criterion: str | None = None) -> list[EventRow]:
        """Return the events of a cell, or of a whole item without ``criterion``."""
        if criterion is None:
            return self._event_rows("run_id = ? AND item_id = ?", (run_id, item_id))
        return self._event_rows(
            "run_id = ? AND item_id = ? AND criterion IN (?, '')", (run_id, item_id, criterion)
        )

    def of_run(self, run_id: int, queue_id: int | None = None) -> Iterator[EventRow]:
        """Yield all events of a run, or of one of its queues, in order."""
        rows = self._files.rows(
            f"SELECT {_COLUMNS} FROM review_event "
            "WHERE run_id = ? AND (? IS NULL OR queue_id = ?) ORDER BY id",
            (run_id, queue_id, queue_id),
        )
        return map(_event_row, rows)

    def newest(self, run_id: int, queue_id: int, *, limit: int, offset: int = 0) -> list[EventRow]:
        """Return the newest events of a queue, newest first."""
        rows = self._files.rows(
            f"SELECT {_COLUMNS} FROM review_event WHERE run_id = ? AND queue_id = ? "
            "ORDER BY id DESC LIMIT ? OFFSET ?",
            (run_id, queue_id, limit, offset),
        )
        return [_event_row(row) for row in rows]

    def count(self, run_id: int, queue_id: int) -> int:
        """Return the number of events of a queue."""
        ((count,),) = self._files.tuples(
            "SELECT count(*) FROM review_event WHERE run_id = ? AND queue_id = ?",
            (run_id, queue_id),
        )
        return int(count)

    def last_act(self, queue_id: int, actor: str, before: int | None = None) -> int | None:
        """Return the step of a person's newest act that is not undone, or ``None``.

        ``before`` restricts this to acts before that step.
        """
        ((step,),) = self._files.tuples(
            f"SELECT max(step) FROM review_event e WHERE queue_id = ? AND actor = ? "
            f"AND action IN {_ACTS} AND (? IS NULL OR step < ?) "
            "AND NOT EXISTS (SELECT 1 FROM review_event u WHERE u.undo_of = e.id)",
            (queue_id, actor, before, before),
        )
        return None if step is None else int(step)

    def notes(self, queue_id: int, actor: str, most: int) -> list[str]:
        """Return the last notes of a person's verdicts in a queue, newest first, each once."""
        rows = self._files.tuples(
            "SELECT reason FROM review_event WHERE queue_id = ? AND actor = ? "
            "AND action IN ('verdict', 'final') AND trim(reason) != '' "
            "GROUP BY reason ORDER BY max(id) DESC LIMIT ?",
            (queue_id, actor, most),
        )
        return [str(reason) for (reason,) in rows]

    def spent(self, queue_id: int, actor: str, most: int) -> dict[str, int]:
        """Return, by item, the milliseconds that a person spent on verdicts still in force.

        A verdict counts for at most ``most``. Items without a recorded time are left out.
        """
        return dict(
            self._files.tuples(
                "SELECT item_id, sum(min(ms_active, ?)) FROM review_event e "
                "WHERE queue_id = ? AND actor = ? AND action = 'verdict' AND ms_active > 0 "
                "AND NOT EXISTS (SELECT 1 FROM review_event u WHERE u.undo_of = e.id) "
                "GROUP BY item_id",
                (most, queue_id, actor),
            )
        )

    def requests(self, run_id: int) -> list[EventRow]:
        """Return the regrade requests of a run, oldest first."""
        return self._event_rows("run_id = ? AND action = 'request'", (run_id,))

    def withdrawn(self, run_id: int) -> set[int]:
        """Return the event ids of a run's withdrawn requests."""
        return {int(event.after["request"]) for event in self._event_rows(_WITHDRAWN, (run_id,))}

    def last_request(self, run_id: int, item_id: str, criterion: str) -> int:
        """Return the event id of the newest request on a cell, or 0."""
        ((event_id,),) = self._files.tuples(
            "SELECT coalesce(max(id), 0) FROM review_event WHERE run_id = ? AND item_id = ? "
            "AND criterion = ? AND action = 'request'",
            (run_id, item_id, criterion),
        )
        return int(event_id)

    def regrade_queues(self, run_id: int) -> dict[tuple[str, str], tuple[int, int | None]]:
        """Return the newest regrade queue of each cell, and the event that ended it.

        The event is ``None`` while the cell is waiting.
        """
        return {
            (item, criterion): (queue, event)
            for item, criterion, queue, event in self._files.tuples(
                "SELECT c.item_id, c.criterion, c.queue_id, CASE c.state WHEN 'resolved' THEN "
                "coalesce((SELECT max(v.final_event) FROM review_verdict v WHERE v.queue_id = "
                "c.queue_id AND v.item_id = c.item_id AND v.criterion = c.criterion), "
                "(SELECT s.event_id FROM settled s WHERE s.run_id = q.run_id "
                "AND s.item_id = c.item_id AND s.criterion = c.criterion)) END "
                "FROM queue_cell c JOIN review_queue q ON q.id = c.queue_id WHERE q.run_id = ? "
                "AND json_extract(q.rule, '$.requested') AND q.archived IS NULL ORDER BY q.id",
                (run_id,),
            )
        }

    def unqueued_requests(self, run_id: int) -> set[tuple[str, str]]:
        """Return the cells with an open request that no regrade queue contains."""
        queued, withdrawn = self.regrade_queues(run_id), self.withdrawn(run_id)
        cells = set()
        for event in self.requests(run_id):
            if event.id in withdrawn:
                continue
            place = (event.item_id, event.criterion)
            _, ended = queued.get(place, (0, 0))
            if ended is not None and ended < event.id:
                cells.add(place)
        return cells

    def last_reviewed(self, queue_id: int) -> dict[str, str]:
        """Return the time of each person's last review in a queue, by name."""
        return dict(
            self._files.tuples(
                "SELECT actor, max(ts) FROM review_event WHERE queue_id = ? AND action IN "
                "('verdict', 'final', 'reveal', 'skip', 'flag', 'repeat', 'undo') GROUP BY actor",
                (queue_id,),
            )
        )

    def newest_times(self, rubric_id: int, limit: int) -> list[int]:
        """Return the milliseconds spent on the newest verdicts on any version of a rubric."""
        return [
            ms
            for (ms,) in self._files.tuples(
                "SELECT e.ms_active FROM review_event e "
                "JOIN rubric_version v ON v.id = e.rubric_version_id "
                "WHERE v.rubric_id = ? AND e.action = 'verdict' AND e.ms_active > 0 "
                "ORDER BY e.id DESC LIMIT ?",
                (rubric_id, limit),
            )
        ]

    def undone(self, ids: Sequence[int]) -> set[int]:
        """Return the ids among these events that have been undone."""
        rows = self._files.tuples(
            "SELECT undo_of FROM review_event WHERE undo_of IN (SELECT value FROM json_each(?))",
            (json.dumps(list(ids)),),
        )
        return {event_id for (event_id,) in rows}

    def later_act(self, event: EventRow, actions: Sequence[str]) -> EventRow | None:
        """Return the newest later act on the event's cell that is still in force.

        Other reviewers' verdicts do not depend on the event; an adjudicator's decision does.
        """
        rows = self._event_rows(
            "queue_id = ? AND item_id = ? AND criterion = ? AND id > ? "
            "AND step <> ? AND action IN (SELECT value FROM json_each(?)) "
            "AND (actor = ? OR action NOT IN ('verdict', 'final') OR part = 'resolve') "
            "AND NOT EXISTS (SELECT 1 FROM review_event u WHERE u.undo_of = review_event.id)",
            (
                *(event.queue_id, event.item_id, event.criterion, event.id, event.step),
                *(json.dumps(list(actions)), event.actor),
            ),
        )
        return rows[-1] if rows else None

    def seen(self, queue_id: int, item_id: str, criterion: str, actor: str) -> str | None:
        """Return the time a person first saw a cell's votes, undone or not, or ``None``."""
        ((time,),) = self._files.tuples(
            "SELECT min(revealed_at) FROM review_event WHERE queue_id = ? AND actor = ? "
            "AND item_id = ? AND criterion = ? AND action = 'reveal'",
            (queue_id, actor, item_id, criterion),
        )
        return None if time is None else str(time)

    def _event_rows(self, where: str, values: Sequence[Any]) -> list[EventRow]:
        rows = self._files.rows(
            f"SELECT {_COLUMNS} FROM review_event WHERE {where} ORDER BY id", values
        )
        return [_event_row(row) for row in rows]


def _event_row(row: sqlite3.Row) -> EventRow:
    fields = dict(row)
    for name in ("before", "after", "evidence"):
        fields[name] = json.loads(fields[name])
    return EventRow(**fields)


_REVIEWER = "id, name, role, created"


class Reviewers:
    """Available as ``store.reviewers``. Names are permanent and unique, ignoring case."""

    def __init__(self, files: Connections) -> None:
        self._files = files

    def make(self, name: str, *, now: str) -> ReviewerRow:
        """Return the reviewer with this name, or add one. The first reviewer becomes a lead."""
        with self._files.write() as db:
            db.execute(
                "INSERT INTO reviewer (name, role, created) SELECT ?, "
                "CASE WHEN EXISTS (SELECT 1 FROM reviewer) THEN 'reviewer' ELSE 'lead' END, ? "
                "WHERE true ON CONFLICT (name) DO NOTHING",
                (clean(name), now),
            )
            return self.get(name)

    def get(self, name: str) -> ReviewerRow:
        """Return the reviewer with this name; raises ``NotFound``."""
        rows = self._files.rows(f"SELECT {_REVIEWER} FROM reviewer WHERE name = ?", (clean(name),))
        if not rows:
            raise NotFound(f"There is no reviewer {name!r}.")
        return ReviewerRow(**dict(rows[0]))

    def list(self) -> builtins.list[ReviewerRow]:
        """Return all reviewers, by name."""
        rows = self._files.rows(f"SELECT {_REVIEWER} FROM reviewer ORDER BY name")
        return [ReviewerRow(**dict(row)) for row in rows]

    def set_role(self, name: str, role: Role) -> ReviewerRow:
        """Change a reviewer's role; raises ``NotFound``."""
        with self._files.write() as db:
            db.execute("UPDATE reviewer SET role = ? WHERE name = ?", (role, clean(name)))
            return self.get(name)
