"""Score a run under another version of its rubric, and copy votes between runs.

The plan holds the version that judges saw, and never changes. The version that scores follow is
stored separately. Each change of it is recorded permanently.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.domain.rubric import Criterion
from core.errors import Conflict, InputError, NotFound
from core.store.database.connection import Connections, new_id
from core.store.database.content import clean


@dataclass(frozen=True, slots=True)
class ScoredChange:
    """A change of the rubric version that a run's scores follow.

    ``kept`` are hashes of questions whose older answers were accepted. ``marked`` are cells whose
    settled decisions were set aside, because their question changed.
    """

    id: int
    run_id: int
    ts: str
    actor: str
    from_id: int
    from_number: int
    to_id: int
    to_number: int
    kept: tuple[str, ...]
    marked: tuple[tuple[str, str], ...]
    reason: str


class ScoredVersions:
    """Available as ``store.scored``."""

    def __init__(self, files: Connections) -> None:
        self._files = files

    def follow(
        self,
        run_id: int,
        version_id: int,
        *,
        before: int,
        actor: str,
        now: str,
        kept: Sequence[str] = (),
        marked: Sequence[tuple[str, str]] = (),
        reason: str = "",
    ) -> int:
        """Make the run's scores follow a version; return the id of the change.

        ``before`` is the version that the caller saw. This call derives nothing.

        Raises:
            Conflict: the version changed in the meantime.
            InputError: the version belongs to another rubric.
        """
        with self._files.write() as db:
            rows = db.execute(
                "SELECT coalesce(r.scored_version_id, r.rubric_version_id), v.rubric_id "
                "FROM run r JOIN rubric_version v ON v.id = r.rubric_version_id WHERE r.id = ?",
                (run_id,),
            ).fetchall()
            if not rows:
                raise NotFound(f"There is no run {run_id}.")
            ((version, rubric_id),) = rows
            if version != before:
                raise Conflict(
                    "Another person changed the version that this run follows. Look at it again."
                )
            self._require_same(version_id, rubric_id)
            db.execute("UPDATE run SET scored_version_id = ? WHERE id = ?", (version_id, run_id))
            cursor = db.execute(
                "INSERT INTO scored_change "
                "(run_id, ts, actor, from_id, to_id, kept, marked, reason) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(run_id, now, clean(actor), before, version_id),
                    *(json.dumps(list(kept)), json.dumps([list(m) for m in marked])),
                    clean(reason),
                ),
            )
            return new_id(cursor)

    def changes(self, run_id: int) -> list[ScoredChange]:
        """Return every change of a run, newest first."""
        rows = self._files.rows(
            "SELECT c.id, c.run_id, c.ts, c.actor, c.from_id, f.number AS from_number, c.to_id, "
            "t.number AS to_number, c.kept, c.marked, c.reason FROM scored_change c "
            "JOIN rubric_version f ON f.id = c.from_id JOIN rubric_version t ON t.id = c.to_id "
            "WHERE c.run_id = ? ORDER BY c.id DESC",
            (run_id,),
        )
        return [_change_from(dict(row)) for row in rows]

    def runs_of(self, rubric_id: int) -> list[int]:
        """Return the runs of any version of this rubric, newest first."""
        rows = self._files.tuples(
            "SELECT r.id FROM run r JOIN rubric_version v ON v.id = r.rubric_version_id "
            "WHERE v.rubric_id = ? AND r.kind = 'run' ORDER BY r.id DESC",
            (rubric_id,),
        )
        return [run_id for (run_id,) in rows]

    def settled_under(self, run_id: int) -> list[tuple[tuple[str, str], int]]:
        """Return settled cells in any state, with the rubric version that the reviewer saw."""
        rows = self._files.tuples(
            "SELECT s.item_id, s.criterion, e.rubric_version_id FROM settled s "
            "JOIN review_event e ON e.id = (SELECT max(id) FROM review_event WHERE run_id = "
            "s.run_id AND item_id = s.item_id AND criterion = s.criterion AND action = 'settle') "
            "WHERE s.run_id = ? ORDER BY 1, 2",
            (run_id,),
        )
        return [((item_id, criterion), version) for item_id, criterion, version in rows]

    def _require_same(self, version_id: int, rubric_id: int) -> None:
        rows = self._files.tuples(
            "SELECT rubric_id FROM rubric_version WHERE id = ?", (version_id,)
        )
        if not rows:
            raise NotFound(f"There is no rubric version {version_id}.")
        if rows[0][0] != rubric_id:
            raise InputError("That is a version of another rubric than the run asked.")


def _change_from(fields: dict[str, Any]) -> ScoredChange:
    agreed, marked = json.loads(fields.pop("kept")), json.loads(fields.pop("marked"))
    return ScoredChange(
        kept=tuple(agreed), marked=tuple((item_id, name) for item_id, name in marked), **fields
    )


_COPY = """
    INSERT INTO vote (run_id, item_id, criterion, judge, replicate, option, abstained, reason,
        evidence, ord, confidence, probabilities, detail, call_id, created)
    SELECT :to, item_id, :new, judge, replicate,
        CASE WHEN option IS NULL THEN NULL ELSE :places ->> option END,
        CASE WHEN option IS NULL THEN abstained ELSE :na ->> (:places ->> option) END,
        reason, evidence, CASE WHEN :same THEN ord END, confidence,
        CASE WHEN :same THEN probabilities END,
        json_set(detail, '$.carried', json_object('run', run_id, 'vote', id)), call_id, created
    FROM vote
    WHERE run_id = :from AND criterion = :old AND (option IS NULL OR :places ->> option IS NOT NULL)
        AND item_id NOT IN (SELECT value FROM json_each(:own))
"""
_COPY_OWN = """
    INSERT INTO vote (run_id, item_id, criterion, judge, replicate, option, abstained, reason,
        evidence, ord, confidence, probabilities, detail, call_id, created)
    SELECT :to, item_id, criterion, judge, replicate, option, abstained, reason, evidence, ord,
        confidence, probabilities,
        json_set(detail, '$.carried', json_object('run', run_id, 'vote', id)), call_id, created
    FROM vote
    WHERE run_id = :from AND item_id IN (SELECT value FROM json_each(:own))
"""


def carry_votes(
    db: sqlite3.Connection,
    source: int,
    target: int,
    criteria: Mapping[str, tuple[Criterion, Sequence[int | None]]],
    own: Collection[str],
) -> None:
    """Copy votes from one run to another over the same items, within an open transaction.

    ``criteria`` has, by the older name, the newer criterion and the new place of each old choice;
    votes for a choice without a place are dropped. ``own`` are the items with their own rubric,
    whose votes are all copied unchanged.
    """
    for old, (new, places) in criteria.items():
        values = {
            "from": source,
            "to": target,
            "old": old,
            "new": new.name,
            "places": json.dumps(list(places)),
            "na": json.dumps([int(option.na) for option in new.choices]),
            # Shown orders remain valid if all options keep their numbers.
            "same": list(places) == list(range(len(new.choices))),
            "own": json.dumps(list(own)),
        }
        db.execute(_COPY, values)
    db.execute(_COPY_OWN, {"from": source, "to": target, "own": json.dumps(list(own))})


def count_votes(db: sqlite3.Connection, run_id: int) -> None:
    """Update the counts of a run and of its items after ``carry_votes``."""
    db.execute(
        "UPDATE run_item SET (votes, abstentions) = (SELECT count(*), coalesce(sum(abstained), 0) "
        "FROM vote WHERE vote.run_id = run_item.run_id AND vote.item_id = run_item.item_id) "
        "WHERE run_id = ?",
        (run_id,),
    )
    db.execute(
        "UPDATE run SET (votes, abstentions) = (SELECT sum(votes), sum(abstentions) "
        "FROM run_item WHERE run_item.run_id = run.id) WHERE id = ?",
        (run_id,),
    )
