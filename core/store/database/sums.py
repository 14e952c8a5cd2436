"""Checksums of recorded rows, stored with them and checked by ``verify``.

A bit that flips on a disk leaves a row that SQLite accepts. So each transaction adds a checksum of
its new rows, for every table of facts. Columns that may change later are left out.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

#: Rows hashed at a time. Checksums depend on it, so it never changes.
_AT_ONCE = 1000


class FactTable(NamedTuple):
    """A table whose rows have a rising key, with its columns that never change."""

    table: str
    columns: str
    words: str
    key: str = "id"
    order: str = "id"


_OF_VOTE = "id, run_id, item_id, criterion, judge, replicate"
_FACTS = (
    FactTable(
        "rubric_version",
        "id, rubric_id, number, hash, name, criteria, content, created, author, note",
        "rubric versions",
    ),
    FactTable(
        "dataset_version",
        "id, dataset_id, number, hash, name, head, items, labelled, created, source",
        "dataset versions",
    ),
    # The content of items is covered by the hash of their version.
    FactTable(
        "item",
        "version_id, position, item_id, system, split, labelled, preview",
        "items of dataset versions",
        "version_id",
        "version_id, position",
    ),
    FactTable(
        "label_draw", "id, version_id, note, declared_by, declared", "declared draws of labels"
    ),
    FactTable(
        "run",
        "id, kind, rubric_version_id, dataset_version_id, panel, panel_hash, plan, plan_hash, "
        "items, planned, created",
        "plans of runs",
    ),
    FactTable(
        "run_item",
        "run_id, position, item_id, planned",
        "items of runs",
        "run_id",
        "run_id, position",
    ),
    FactTable("segment", "id, hash, hex(body)", "pieces of prompts"),
    FactTable(
        "call",
        "id, run_id, judge, prompt, params, reply, thinking, model, finish, tokens_in, "
        "tokens_cached, tokens_out, tokens_thinking, cost, seconds, tries, created, cached, "
        "first_cost, asked, kept",
        "calls",
    ),
    FactTable(
        "vote",
        f"{_OF_VOTE}, option, abstained, reason, evidence, ord, confidence, probabilities, "
        "detail, call_id, created",
        "votes",
    ),
    FactTable("failure", f"{_OF_VOTE}, attempt, kind, message, ord, call_id, created", "failures"),
    FactTable(
        "review_queue", "id, run_id, rule, seed, author, created", "queues as they were made"
    ),
    FactTable(
        "review_event",
        "id, step, ts, actor, role, session, run_id, queue_id, item_id, criterion, "
        "rubric_version_id, action, part, before, after, reason, mode, ms_active, revealed_at, "
        "evidence, undo_of",
        "decisions of people",
    ),
    FactTable(
        "scored_change",
        "id, run_id, ts, actor, from_id, to_id, kept, marked, reason",
        "changes of the version that scores follow",
    ),
    FactTable(
        "help_step",
        "id, task_id, name, value, failure, message, call, asked, cost, created",
        "steps of a model's help",
    ),
    FactTable(
        "audit",
        "id, at, actor, role, via, verb, act, object, before, after",
        "lines of the record of changes",
    ),
)
#: Data without a checksum, since it may change at any time.
UNCOVERED = (
    "judges, panels, settings and drafts; names, members and reviewers; the states of queues "
    "and settled cells (the decisions themselves are covered); total costs of runs; batches in "
    "progress; cached figures and answers"
)
_ENDS = " UNION ALL ".join(
    f"SELECT '{facts.table}', (SELECT coalesce(max({facts.key}), 0) FROM {facts.table}), "
    f"(SELECT coalesce(max(last), 0) FROM group_sum WHERE tbl = '{facts.table}')"
    for facts in _FACTS
)
_BY_TABLE = {facts.table: facts for facts in _FACTS}


#: A group of rows: of what, and its first and last key.
RowGroup = tuple[str, int, int]


def add_sums(db: sqlite3.Connection) -> None:
    """Store the checksums of this transaction's new rows, at its end."""
    for facts, after, last in _tables_to_sum(db):
        _store_sum(db, facts, last, _digest_rows(db, facts, after, last))


def mark_uncovered(db: sqlite3.Connection) -> None:
    """Mark all existing rows as recorded without a checksum."""
    for facts, _, last in _tables_to_sum(db):
        _store_sum(db, facts, last, "")


def _tables_to_sum(db: sqlite3.Connection) -> list[tuple[FactTable, int, int]]:
    """Return the tables with unsummed rows: table, last key covered, last key."""
    ends = db.execute(_ENDS).fetchall()
    return [(_BY_TABLE[table], summed, last) for table, last, summed in ends if last > summed]


def _store_sum(db: sqlite3.Connection, facts: FactTable, last: int, digest: str) -> None:
    db.execute("INSERT INTO group_sum VALUES (?, ?, ?)", (facts.table, last, digest))


def altered_rows(db: sqlite3.Connection) -> Iterator[RowGroup]:
    """Yield the groups of rows that differ from their checksums."""
    for facts, after, last, digest in _checked_groups(db):
        if digest and digest != _digest_if_readable(db, facts, after, last):
            yield facts.words, after + 1, last


def uncovered_rows(db: sqlite3.Connection) -> Iterator[RowGroup]:
    """Yield groups of rows without a checksum, which are old or from another program."""
    for facts, after, last, digest in _checked_groups(db):
        if not digest:
            yield facts.words, after + 1, last
    for facts, after, last in _tables_to_sum(db):
        yield facts.words, after + 1, last


def _checked_groups(db: sqlite3.Connection) -> Iterator[tuple[FactTable, int, int, str]]:
    """Yield each group: table, key before its first row, last key, checksum."""
    for facts in _FACTS:
        rows = db.execute(
            "SELECT last, digest FROM group_sum WHERE tbl = ? ORDER BY last", (facts.table,)
        ).fetchall()
        for (after, _), (last, digest) in pairwise([(0, ""), *rows]):
            yield facts, after, last, digest


def _digest_if_readable(db: sqlite3.Connection, facts: FactTable, after: int, last: int) -> str:
    """Return the checksum of rows, or "" if they cannot be read."""
    try:
        return _digest_rows(db, facts, after, last)
    except sqlite3.DatabaseError:
        return ""


def _digest_rows(db: sqlite3.Connection, facts: FactTable, after: int, last: int) -> str:
    """Return the checksum of the rows with a key above ``after``, up to ``last``."""
    hashed = hashlib.sha256()
    cursor = db.execute(
        f"SELECT {facts.columns} FROM {facts.table} "
        f"WHERE {facts.key} > ? AND {facts.key} <= ? ORDER BY {facts.order}",
        (after, last),
    )
    while rows := cursor.fetchmany(_AT_ONCE):
        hashed.update(json.dumps(rows).encode())
    return f"sha256:{hashed.hexdigest()}"
