"""A run under another version of its rubric: how it is scored, and votes carried over.

The plan says what was asked, and never changes. Beside it stands the version that scores follow
now; each change of it is kept, and never altered.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from core.domain.review import CellKey
from core.errors import Conflict, InputError, NotFound
from core.store.database.connection import Connections, new_id
from core.store.database.content import clean


@dataclass(frozen=True, slots=True)
class ScoredChange:
    """A change of the version that a run's scores follow.

    ``kept`` are hashes of questions whose older answers somebody let stand; ``marked`` the cells
    whose settled decisions were put aside with it, because their question changed.
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
    marked: tuple[CellKey, ...]
    reason: str


class ScoredVersions:
    """Reached as ``store.scored``."""

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
        """Let the run's scores follow a version, and keep who did it; returns the change's id.

        ``before`` is the version that the caller saw them follow. Nothing is derived anew here.

        Raises:
            Conflict: somebody changed it meanwhile.
            InputError: the version is one of another rubric.
        """
        with self._files.write() as db:
            rows = db.execute(
                "SELECT coalesce(r.scored_version_id, r.rubric_version_id), v.rubric_id "
                "FROM run r JOIN rubric_version v ON v.id = r.rubric_version_id WHERE r.id = ?",
                (run_id,),
            ).fetchall()
            if not rows:
                raise NotFound(f"There is no run {run_id}.")
            ((standing, rubric_id),) = rows
            if standing != before:
                raise Conflict("Somebody let this run follow another version. Look at it again.")
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
        """Every change of a run, newest first."""
        rows = self._files.rows(
            "SELECT c.id, c.run_id, c.ts, c.actor, c.from_id, f.number AS from_number, c.to_id, "
            "t.number AS to_number, c.kept, c.marked, c.reason FROM scored_change c "
            "JOIN rubric_version f ON f.id = c.from_id JOIN rubric_version t ON t.id = c.to_id "
            "WHERE c.run_id = ? ORDER BY c.id DESC",
            (run_id,),
        )
        return [_change(dict(row)) for row in rows]

    def runs_of(self, rubric_id: int) -> list[int]:
        """The runs that asked a version of this rubric, newest first."""
        found = self._files.tuples(
            "SELECT r.id FROM run r JOIN rubric_version v ON v.id = r.rubric_version_id "
            "WHERE v.rubric_id = ? AND r.kind = 'run' ORDER BY r.id DESC",
            (rubric_id,),
        )
        return [run_id for (run_id,) in found]

    def settled_under(self, run_id: int) -> list[tuple[CellKey, int]]:
        """The cells that people settled, in whichever state, with the version they were shown."""
        found = self._files.tuples(
            "SELECT s.item_id, s.criterion, e.rubric_version_id FROM settled s "
            "JOIN review_event e ON e.id = (SELECT max(id) FROM review_event WHERE run_id = "
            "s.run_id AND item_id = s.item_id AND criterion = s.criterion AND action = 'settle') "
            "WHERE s.run_id = ? ORDER BY 1, 2",
            (run_id,),
        )
        return [(CellKey(item_id, criterion), version) for item_id, criterion, version in found]

    def _require_same(self, version_id: int, rubric_id: int) -> None:
        rows = self._files.tuples(
            "SELECT rubric_id FROM rubric_version WHERE id = ?", (version_id,)
        )
        if not rows:
            raise NotFound(f"There is no rubric version {version_id}.")
        if rows[0][0] != rubric_id:
            raise InputError("That is a version of another rubric than the run asked.")


def _change(fields: dict[str, Any]) -> ScoredChange:
    kept, marked = json.loads(fields.pop("kept")), json.loads(fields.pop("marked"))
    return ScoredChange(kept=tuple(kept), marked=tuple(CellKey(*p) for p in marked), **fields)


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


@dataclass(frozen=True, slots=True)
class Carried:
    """A criterion of the older run, what it is called in the newer one, and its options there.

    ``places`` gives each old choice its new place, ``None`` drops its votes; ``na`` says of each
    new choice whether it is an abstention.
    """

    old: str
    new: str
    places: Sequence[int | None]
    na: Sequence[bool]

    @property
    def same(self) -> bool:
        """Whether every option has its number still: then the order it was shown in holds, too."""
        return list(self.places) == list(range(len(self.na)))


def carry(
    db: sqlite3.Connection,
    source: int,
    target: int,
    criteria: Collection[Carried],
    own: Collection[str],
) -> None:
    """Copy votes from one run to another over the same items (a transaction is open).

    ``own`` are the items with a rubric of their own; all of their votes are copied as they are.
    """
    for one in criteria:
        values = {
            "from": source,
            "to": target,
            "old": one.old,
            "new": one.new,
            "places": json.dumps(list(one.places)),
            "na": json.dumps([int(na) for na in one.na]),
            "same": one.same,
            "own": json.dumps(list(own)),
        }
        db.execute(_COPY, values)
    db.execute(_COPY_OWN, {"from": source, "to": target, "own": json.dumps(list(own))})


def count_votes(db: sqlite3.Connection, run_id: int) -> None:
    """Bring the counts of a run and of its items up to date after ``carry``."""
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
