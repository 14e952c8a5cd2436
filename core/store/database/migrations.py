"""Which data file is ours, and how an older one is brought up to date."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from core.domain.rubric import ScoringPolicy
from core.domain.secrets import (
    REMOVED,
    cleaned_address,
    looks_like_key,
    secrets_in,
    without_secrets,
)
from core.errors import StoreError
from core.identity import content_hash
from core.store.database.content import to_json
from core.store.database.later_tables import (
    ACCESS,
    BATCHES,
    HELP_MADE_BY,
    HELPS,
    KEPT,
    LABEL_DRAWS,
    REVIEWS,
    SCORED_VERSIONS,
)
from core.store.database.tables import LIBRARY, RUNS, TRIGGERS, VOTES

if TYPE_CHECKING:
    from sqlite_utils import Database, Migrations


# Taking secrets out of a data file of an earlier version, which kept ``params`` as they came.
#
# What could be a secret in the settings of a judge is replaced by a mark, and so is the same text
# wherever a provider repeated it. Votes, scores and calls stay what they are: only facts that no
# one may keep are rewritten, so the triggers that forbid it are away for the length of it.

#: Where settings of judges stand as JSON: table, its key, the column, the column of its hash.
_SETTINGS = (
    ("judge", "id", "content", ""),
    ("panel", "id", "content", "hash"),
    ("run", "id", "panel", "panel_hash"),
    ("run", "id", "plan", ""),
    ("call", "id", "params", ""),
    ("draft", "key", "content", ""),
    ("help_task", "id", "request", ""),
    ("help_task", "id", "result", ""),
    ("help_step", "id", "call", ""),
)
#: Where a provider's words stand, which may repeat a secret.
_WORDS = (
    ("call", ("reply", "thinking")),
    ("vote", ("reason", "evidence", "detail")),
    ("failure", ("message",)),
    ("response", ("completion",)),
    ("help_step", ("value", "message", "call")),
    ("help_task", ("result", "message")),
)
_TABLES = {table for table, *_ in (*_SETTINGS, *_WORDS)}
#: What is shorter may be a word of any text.
_SHORTEST = 8


def clean_secrets(db: sqlite3.Connection) -> None:
    """Clean all of the file; the caller holds the write lock."""
    # What is taken out shall not stay in the free parts of the file.
    db.execute("PRAGMA secure_delete = ON")
    guards = [
        (name, sql)
        for name, table, sql in db.execute(
            "SELECT name, tbl_name, sql FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall()
        if table in _TABLES
    ]
    for name, _ in guards:
        db.execute(f"DROP TRIGGER {name}")
    found = set[str]()
    for place in _SETTINGS:
        _clean_settings(db, *place, found.add)
    for secret in sorted(found, key=len, reverse=True):
        _clean_words(db, secret)
    for _, sql in guards:
        db.execute(sql)


def _clean_settings(
    db: sqlite3.Connection,
    table: str,
    key: str,
    column: str,
    digest: str,
    tell: Callable[[str], None],
) -> None:
    rows = db.execute(
        f"SELECT {key}, {column} FROM {table} "
        f"WHERE instr({column}, '\"params\"') OR instr({column}, '\"api_base\"') "
        f"OR instr({column}, '\"model\"')"
    )
    changed = []
    for row_id, text in rows:
        before = json.loads(text)
        after = _cleaned(before, tell)
        if after != before:
            changed.append((row_id, after))
    for row_id, after in changed:
        db.execute(f"UPDATE {table} SET {column} = ? WHERE {key} = ?", (to_json(after), row_id))
        if digest:
            hashed = (content_hash(after), row_id)
            db.execute(f"UPDATE {table} SET {digest} = ? WHERE {key} = ?", hashed)


def _cleaned(value: Any, tell: Callable[[str], None]) -> Any:
    """Plain data with the settings of every judge in it cleaned; tells what was taken out."""
    if isinstance(value, list):
        return [_cleaned(inner, tell) for inner in value]
    if not isinstance(value, dict):
        return value
    return {name: _cleaned_field(name, inner, tell) for name, inner in value.items()}


def _cleaned_field(name: str, value: Any, tell: Callable[[str], None]) -> Any:
    if name == "params" and isinstance(value, dict) and "params" not in value:
        for path in secrets_in(value):
            _tell_texts(_at(value, path), tell)
        return without_secrets(value)
    if name == "api_base" and isinstance(value, str):
        return cleaned_address(value)
    if name == "model" and isinstance(value, str) and looks_like_key(value):
        tell(value)
        return REMOVED
    return _cleaned(value, tell)


def _at(value: Any, path: tuple[str | int, ...]) -> Any:
    for part in path:
        value = value[part]
    return value


def _tell_texts(value: Any, tell: Callable[[str], None]) -> None:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            _tell_texts(inner, tell)
    elif isinstance(value, str):
        # A header's value is "Bearer KEY"; a server may have told the key alone.
        for text in {value, value.rpartition(" ")[2]}:
            if len(text) >= _SHORTEST:
                tell(text)


def _clean_words(db: sqlite3.Connection, secret: str) -> None:
    # In JSON it may stand escaped.
    for spelt in dict.fromkeys((secret, json.dumps(secret)[1:-1])):
        for table, columns in _WORDS:
            for column in columns:
                db.execute(
                    f"UPDATE {table} SET {column} = replace({column}, ?, ?) "
                    f"WHERE instr({column}, ?)",
                    (spelt, REMOVED, spelt),
                )


#: "RubS" in ASCII, in the header of every data file of ours (``PRAGMA application_id``).
APPLICATION_ID = 0x52756253
SET = "rubric-studio"
#: The migrations in order; kept apart from their code so that looking costs no import.
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
)


def first_tables(db: Database) -> None:
    """All tables of version 0.1."""
    db.conn.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    for statement in (*LIBRARY, *RUNS, *VOTES, *TRIGGERS):
        db.conn.execute(_dedent(statement))


def outcomes(db: Database) -> None:
    """The outcome of an item: what its gates said so far, for a rubric then had no decision."""
    db.conn.execute(
        "ALTER TABLE run_item ADD COLUMN outcome TEXT CHECK (outcome IN ('pass', 'fail', 'review'))"
    )
    db.conn.execute(
        "UPDATE run_item SET outcome = CASE WHEN fail THEN 'fail' ELSE 'review' END "
        "WHERE fail = 1 OR review = 1"
    )
    db.conn.execute("CREATE INDEX run_item_by_outcome ON run_item (run_id, outcome)")


def responses(db: Database) -> None:
    """Answers kept for later runs, and what was answered from them: before, nothing was."""
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
    """People who review, their queues, what they did, and what they settled."""
    for statement in REVIEWS:
        db.conn.execute(_dedent(statement))


def scored_versions(db: Database) -> None:
    """The version of its rubric that a run's scores follow: so far, always the one it asked."""
    for statement in SCORED_VERSIONS:
        db.conn.execute(_dedent(statement))


def helps(db: Database) -> None:
    """What writing models were asked for, with every step of it."""
    for statement in HELPS:
        db.conn.execute(_dedent(statement))


def exchanges(db: Database) -> None:
    """How many calls a question took and how many it was spared: unknown of those before."""
    for column in ("asked", "kept"):
        db.conn.execute(f"ALTER TABLE call ADD COLUMN {column} INTEGER")


def calls_out(db: Database) -> None:
    """Calls that are under way, and that were when a run was stopped or killed: unknown before."""
    for column in ("lost", "out"):
        db.conn.execute(f"ALTER TABLE run ADD COLUMN {column} INTEGER NOT NULL DEFAULT 0")


def no_secrets(db: Database) -> None:
    """Settings of judges without what could be a secret; ``params`` were kept as they came."""
    clean_secrets(db.conn)


def access(db: Database) -> None:
    """Members, the record of changes, and who made a run: of those before, nobody knows."""
    for statement in ACCESS:
        db.conn.execute(_dedent(statement))


def help_made_by(db: Database) -> None:
    """Who began a task of a model's help: of those before, nobody knows."""
    for statement in HELP_MADE_BY:
        db.conn.execute(statement)


def batches(db: Database) -> None:
    """Batches at providers: before, there were none."""
    for statement in BATCHES:
        db.conn.execute(_dedent(statement))


def kept(db: Database) -> None:
    """Columns kept for pages: so far none are."""
    for statement in KEPT:
        db.conn.execute(_dedent(statement))


def label_draws(db: Database) -> None:
    """Declared draws of labels: before, nobody could declare one."""
    for statement in LABEL_DRAWS:
        db.conn.execute(_dedent(statement))


def coverage(db: Database) -> None:
    """Scores that say what they cover: none where less than half was assessed, as from now on.

    Rubrics of before have the usual ``min_coverage``. What was not assessed needs a person.
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
        # Many items of a run have the same answers, and so the same trace.
        made = with_coverage(Trace.from_dict(json.loads(text)), least, settled)
        scores = (made.total, made.raw, made.low, made.high, made.complete, made.fail)
        return (*scores, made.review, made.outcome, to_json(made.to_dict()))

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


@lru_cache(maxsize=1)
def migrations() -> Migrations:
    """The set, in order. Importing sqlite_utils imports pandas, so only who migrates pays."""
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
    return steps


def pending(connection: sqlite3.Connection, path: str) -> bool:
    """Whether migrations are due. Raises ``StoreError`` for a file that is not ours, or newer."""
    tables = {
        name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")
    }
    if not tables:
        return True
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application != APPLICATION_ID:
        raise StoreError(f"{path} is a database of another program; name another file.")
    done = [
        name
        for (name,) in connection.execute(
            "SELECT name FROM _sqlite_migrations WHERE migration_set = ? ORDER BY id", (SET,)
        )
    ]
    if set(done) - set(NAMES):
        raise StoreError(
            f"{path} was written by a newer Rubric Studio; update the program to open it."
        )
    return len(done) < len(NAMES)


def migrate(connection: sqlite3.Connection) -> None:
    """Apply what is due. The caller holds the write lock (``BEGIN IMMEDIATE``)."""
    from sqlite_utils import Database

    migrations().apply(Database(connection))


def _dedent(statement: str) -> str:
    # The text is kept by SQLite as written, and shown by every tool that dumps a schema.
    lines = statement.strip().splitlines()
    return "\n".join(line.removeprefix("    ") for line in lines)
