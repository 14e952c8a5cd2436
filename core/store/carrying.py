"""Votes of one run carried over to another: copies that say where they came from."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import dataclass

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
