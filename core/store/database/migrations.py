"""Recognise a data file and migrate an older one."""

from __future__ import annotations

import json
import sqlite3
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from core.domain.gates import ScoringPolicy
from core.errors import StoreError
from core.store.database.content import to_json
from core.store.database.kept_secrets import clean_secrets
from core.store.database.later_tables import (
    ACCESS,
    BATCHES,
    HELP_LEASES,
    HELP_MADE_BY,
    HELPS,
    KEPT,
    LABEL_DRAWS,
    REVIEWS,
    SCORED_VERSIONS,
    SUMS,
)
from core.store.database.sums import mark_uncovered
from core.store.database.tables import LIBRARY, RUNS, TRIGGERS, VOTES

if TYPE_CHECKING:
    from sqlite_utils import Database, Migrations


#: "RubS" in ASCII, in the header of every data file (``PRAGMA application_id``).
APPLICATION_ID = 0x52756253
SET = "rubric-studio"
#: The names of all migrations in order, here so that checking them imports no migration code.
NAMES = (
    "first_tables",
    "outcomes",
    "responses",
    "reviews",
    "scored_versions",
    "helps",
    "exchanges",
    "calls_out",
    "no_secrets",
    "access",
    "help_made_by",
    "batches",
    "kept",
    "label_draws",
    "coverage",
    "sums",
    "help_leases",
)


def first_tables(db: Database) -> None:
    """Create all tables of version 0.1."""
    db.conn.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    for statement in (*LIBRARY, *RUNS, *VOTES, *TRIGGERS):
        db.conn.execute(_dedent(statement))


def outcomes(db: Database) -> None:
    """Add the outcome of an item, for older rubrics derived from its gates."""
    db.conn.execute(
        "ALTER TABLE run_item ADD COLUMN outcome TEXT CHECK (outcome IN ('pass', 'fail', 'review'))"
    )
    db.conn.execute(
        "UPDATE run_item SET outcome = CASE WHEN fail THEN 'fail' ELSE 'review' END "
        "WHERE fail = 1 OR review = 1"
    )
    db.conn.execute("CREATE INDEX run_item_by_outcome ON run_item (run_id, outcome)")


def responses(db: Database) -> None:
    """Add the answer cache, empty for older files."""
    db.conn.execute(
        "CREATE TABLE response (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, "
        "model TEXT NOT NULL, completion TEXT NOT NULL, cost REAL, created TEXT NOT NULL) STRICT"
    )
    for table, column in (
        ("run", "cached INTEGER NOT NULL DEFAULT 0"),
        ("run", "saved REAL NOT NULL DEFAULT 0"),
        ("call", "cached INTEGER NOT NULL DEFAULT 0 CHECK (cached IN (0, 1))"),
        ("call", "first_cost REAL"),
    ):
        db.conn.execute(f"ALTER TABLE {table} ADD COLUMN {column}")


def reviews(db: Database) -> None:
    """Add reviewers, queues, events and settled cells."""
    for statement in REVIEWS:
        db.conn.execute(_dedent(statement))


def scored_versions(db: Database) -> None:
    """Add the rubric version that a run's scores follow, by default its own."""
    for statement in SCORED_VERSIONS:
        db.conn.execute(_dedent(statement))


def helps(db: Database) -> None:
    """Add tasks of writing models, with every step."""
    for statement in HELPS:
        db.conn.execute(_dedent(statement))


def exchanges(db: Database) -> None:
    """Add the calls and saved calls of each question, unknown for older ones."""
    for column in ("asked", "kept"):
        db.conn.execute(f"ALTER TABLE call ADD COLUMN {column} INTEGER")


def calls_out(db: Database) -> None:
    """Add calls in flight and calls lost at a stop or kill, unknown for older runs."""
    for column in ("lost", "out"):
        db.conn.execute(f"ALTER TABLE run ADD COLUMN {column} INTEGER NOT NULL DEFAULT 0")


def no_secrets(db: Database) -> None:
    """Remove possible secrets from the stored ``params`` of judges."""
    clean_secrets(db.conn)


def access(db: Database) -> None:
    """Add members, the audit record and the user who created a run, unknown for older runs."""
    for statement in ACCESS:
        db.conn.execute(_dedent(statement))


def help_made_by(db: Database) -> None:
    """Add the user who started a help task, unknown for older tasks."""
    for statement in HELP_MADE_BY:
        db.conn.execute(statement)


def batches(db: Database) -> None:
    """Add batches at providers."""
    for statement in BATCHES:
        db.conn.execute(_dedent(statement))


def kept(db: Database) -> None:
    """Add cached columns for pages."""
    for statement in KEPT:
        db.conn.execute(_dedent(statement))


def label_draws(db: Database) -> None:
    """Add declared draws of labels."""
    for statement in LABEL_DRAWS:
        db.conn.execute(_dedent(statement))


def coverage(db: Database) -> None:
    """Add coverage to scores, and remove the scores of items that are assessed less than half.

    Half is the default ``min_coverage``, which older rubrics have. Items with an unassessed
    criterion need a person, unless people have settled that it cannot be assessed.
    """
    from core.scoring.older_traces import with_coverage
    from core.scoring.trace import Trace

    least = ScoringPolicy().min_coverage

    settled: dict[tuple[int, str], frozenset[str]] = {}
    for run, item, criterion in db.conn.execute(
        "SELECT run_id, item_id, criterion FROM cell WHERE rule = 'adjudicated' AND abstained = 1"
    ):
        settled[run, item] = settled.get((run, item), frozenset()) | {criterion}

    @lru_cache(maxsize=10_000)
    def now(text: str, settled: frozenset[str]) -> tuple[Any, ...]:
        # Many items of a run have the same answers, and therefore the same trace.
        trace = with_coverage(Trace.from_dict(json.loads(text)), least, settled)
        scores = (trace.total, trace.raw, trace.low, trace.high, trace.complete, trace.fail)
        return (*scores, trace.review, trace.outcome, to_json(trace.to_dict()))

    last = 0
    while rows := db.conn.execute(
        "SELECT rowid, trace, run_id, item_id FROM run_item WHERE rowid > ? "
        "ORDER BY rowid LIMIT 1000",
        (last,),
    ).fetchall():
        last = rows[-1][0]
        db.conn.executemany(
            "UPDATE run_item SET score = ?, raw = ?, low = ?, high = ?, complete = ?, fail = ?, "
            "review = ?, outcome = ?, trace = ? WHERE rowid = ?",
            (
                (*now(text, settled.get((run, item), frozenset())), row)
                for row, text, run, item in rows
                if text is not None
            ),
        )
    db.conn.execute("UPDATE run SET derived = derived + 1")


def sums(db: Database) -> None:
    """Add checksums of new rows; existing rows have none."""
    for statement in SUMS:
        db.conn.execute(_dedent(statement))
    mark_uncovered(db.conn)


def help_leases(db: Database) -> None:
    """Add leases to help tasks, like those of runs."""
    for statement in HELP_LEASES:
        db.conn.execute(statement)


@lru_cache(maxsize=1)
def migrations() -> Migrations:
    """Return the migrations in order. Only this function imports sqlite_utils, which is slow."""
    with _hidden_packages("pandas", "numpy"):
        from sqlite_utils import Migrations

    steps = Migrations(SET)
    steps()(first_tables)
    steps()(outcomes)
    steps()(responses)
    steps()(reviews)
    steps()(scored_versions)
    steps()(helps)
    steps()(exchanges)
    steps()(calls_out)
    steps()(no_secrets)
    steps()(access)
    steps()(help_made_by)
    steps()(batches)
    steps()(kept)
    steps()(label_draws)
    steps()(coverage)
    steps()(sums)
    steps()(help_leases)
    return steps


def migrations_due(connection: sqlite3.Connection, path: str) -> bool:
    """Return whether migrations are due.

    Raises ``StoreError`` for a foreign file and for a file of a newer version.
    """
    tables = {
        name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")
    }
    if not tables:
        return True
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application != APPLICATION_ID:
        raise StoreError(f"{path} is a database of another program; name another file.")
    applied = [
        name
        for (name,) in connection.execute(
            "SELECT name FROM _sqlite_migrations WHERE migration_set = ? ORDER BY id", (SET,)
        )
    ]
    if set(applied) - set(NAMES):
        raise StoreError(
            f"{path} was written by a newer Rubric Studio; update the program to open it."
        )
    return len(applied) < len(NAMES)


def migrate(connection: sqlite3.Connection) -> None:
    """Apply due migrations. The caller holds the write lock (``BEGIN IMMEDIATE``)."""
    steps = migrations()
    from sqlite_utils import Database

    steps.apply(Database(connection))


@contextmanager
def _hidden_packages(*names: str) -> Iterator[None]:
    """Hide these packages from imports within the block; they are optional there.

    Does nothing while other threads run, since they would miss the packages, too.
    """
    alone = threading.active_count() == 1
    hidden = [name for name in names if alone and name not in sys.modules]
    # With None as its entry, the import system treats a module as missing.
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]


def altered_schema(connection: sqlite3.Connection) -> list[str]:
    """Return tables, indexes and triggers that differ from this program's schema."""
    expected, actual = _fresh_schema(), _schema(connection)
    return [name for name in expected if actual.get(name) != expected[name]]


@lru_cache(maxsize=1)
def _fresh_schema() -> dict[str, tuple[str, str]]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as fresh:
        migrate(fresh)
        return _schema(fresh)


def _schema(connection: sqlite3.Connection) -> dict[str, tuple[str, str]]:
    rows = connection.execute("SELECT name, type, sql FROM sqlite_master WHERE sql IS NOT NULL")
    return {name: (kind, sql) for name, kind, sql in rows}


def _dedent(statement: str) -> str:
    # SQLite stores the statement as written, and tools that dump a schema show it.
    lines = statement.strip().splitlines()
    return "\n".join(line.removeprefix("    ") for line in lines)
