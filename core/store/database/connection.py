"""Connections: one per thread, opened with retries, written to by named actors.

SQLite's busy timeout does not cover everything. Switching a new file to WAL fails at once with
"locked" if another process does the same, so opening is retried until a deadline.
"""

from __future__ import annotations

import copy
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from core.domain.access import LOCAL, Actor, Verb, allow
from core.errors import Damaged, InputError, NotAllowed, NotFound, StoreError, WriteBlocked
from core.part_files import delete_leftovers
from core.store.database.content import to_json
from core.store.database.data_file import FilePlace, cannot_write, make_private, read_only_uri
from core.store.database.migrations import migrate, migrations_due
from core.store.database.sums import add_sums

BUSY_SECONDS = 30.0
#: Seconds for which a thread waits for its turn among the threads of this process.
TURN_SECONDS = 60.0
#: Primary result codes: https://sqlite.org/rescode.html
_WAITING = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}
_IN_WORDS = {
    sqlite3.SQLITE_BUSY: "stayed locked by another program; try again",
    sqlite3.SQLITE_LOCKED: "stayed locked by another program; try again",
    sqlite3.SQLITE_PROTOCOL: "stayed locked by another program; try again",
    sqlite3.SQLITE_FULL: "cannot grow because the disk is full; free some space and try again",
    sqlite3.SQLITE_READONLY: "cannot be written; check the permissions of the file and its folder",
    sqlite3.SQLITE_PERM: "cannot be opened; check its permissions",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened; check that its folder is there, yours and writable",
    sqlite3.SQLITE_IOERR: "could not be read or written; check the disk",
    sqlite3.SQLITE_CORRUPT: "is damaged; restore it from a copy",
    sqlite3.SQLITE_NOTADB: "is not a data file of Rubric Studio; name another file",
}
#: Messages of the driver and SQLite about damaged texts.
_NONSENSE = ("Could not decode to UTF-8", "malformed JSON")
#: Errors that may pass without any intervention.
_PASSING = _WAITING | {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}

T = TypeVar("T")


class _TakenBack(Exception):
    """Rolls a rehearsal back."""


@dataclass
class PermissionGrant:
    """A permission in use: a verb on an object, and whether the audit record has it.

    ``before`` and ``after`` are plain data that a service may add to the record.
    """

    actor: Actor
    verb: Verb
    act: str
    object: Any
    at: str
    before: Any = None
    after: Any = None
    recorded: bool = False


#: The largest integer that SQLite holds.
LARGEST = 2**63 - 1
#: The grant that this thread currently uses.
_granted: ContextVar[PermissionGrant | None] = ContextVar("granted", default=None)
#: Verbs that are not audited, since no other user sees what they write.
_UNRECORDED = frozenset[Verb]({"read", "draft"})


class Connections:
    """The connections of one process to one data file, ready on construction.

    Raises:
        StoreError: the file is foreign, newer than this program, locked, or unreachable.
    """

    def __init__(self, path: str | Path, *, reading: bool = False) -> None:
        self.path = Path(path)
        #: Whether the file is read-only, by choice or because nothing can be written.
        self.read_only = reading or cannot_write(self.path)
        self.actor = LOCAL
        self._local = threading.local()
        self._turn = threading.Lock()
        if not self.read_only:
            try:
                make_private(self.path)
            except OSError as error:
                raise StoreError(f"The folder of {self.path} cannot be made: {error}.") from None
        try:
            with self.in_words():
                _retry_while_locked(self._require_current if self.read_only else self._make_ready)
        except sqlite3.DatabaseError as error:
            # The file's tables do not match its version.
            raise Damaged(f"{self.path} is damaged ({error}); restore it from a copy.") from error
        self._place = FilePlace(self.path)

    def acting(self, actor: Actor) -> Connections:
        """Return the same connections for an actor, who may only write with a grant."""
        connections = copy.copy(self)
        connections.actor = actor
        return connections

    @contextmanager
    def authorised(
        self, permission: Verb, action: str, details: Any, time: str
    ) -> Iterator[PermissionGrant]:
        """Authorise the actor for an action within the block; an outer grant stays in force.

        Raises:
            NotAllowed: the actor lacks the permission.
        """
        within = _granted.get()
        if within is not None and within.actor == self.actor:
            yield within
            return
        allow(self.actor, permission)
        grant = PermissionGrant(self.actor, permission, action, details, time)
        token = _granted.set(grant)
        try:
            yield grant
        finally:
            _granted.reset(token)

    @property
    def thread_connection(self) -> sqlite3.Connection:
        """Return this thread's connection.

        It is opened on first use. A forked child gets its own.
        """
        owned: tuple[int, sqlite3.Connection] | None = getattr(self._local, "held", None)
        if owned is None or owned[0] != os.getpid():
            # Without this check SQLite would create a new, empty file if the old one is gone.
            self._place.require()
            with self.in_words():
                owned = (os.getpid(), _retry_while_locked(self._open_connection))
            self._local.held = owned
            self._local.log = self._place.log()
        return owned[1]

    def close(self) -> None:
        """Close this thread's connection. The next use opens it again."""
        owned: tuple[int, sqlite3.Connection] | None = getattr(self._local, "held", None)
        if owned is not None:
            owned[1].close()
            self._local.held = None

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """Run a transaction (``BEGIN IMMEDIATE``), or a savepoint within another one.

        A granted act is recorded for audit in the same transaction. Threads of this process take
        turns, since SQLite polls: an unlucky thread might never get the lock.

        Raises:
            StoreError: the file or its log was moved or deleted, so the data would be lost.
            NotAllowed: the actor has no grant.
        """
        grant = _granted.get()
        if not self.actor.trusted and (grant is None or grant.actor != self.actor):
            raise NotAllowed("Nothing was changed: this act does not say who may do it.")
        connection = self.thread_connection
        self._place.require(connection, self._local.log)
        begin, commit, undo = ("BEGIN IMMEDIATE", "COMMIT", "ROLLBACK")
        within = connection.in_transaction
        if within:
            begin, commit = ("SAVEPOINT inner", "RELEASE inner")
            undo = "ROLLBACK TO inner; RELEASE inner"
        with nullcontext() if within else self._hold_turn(), self.in_words():
            connection.execute(begin)
            recorded = False
            try:
                recorded = _put_on_record(connection, grant)
                yield connection
                if not within:
                    add_sums(connection)
                connection.execute(commit)
            except BaseException:
                if recorded and grant is not None:
                    grant.recorded = False
                # An error such as a full disk may already have ended the transaction.
                if connection.in_transaction:
                    for statement in undo.split("; "):
                        connection.execute(statement)
                raise

    def set_archived(self, table: str, row_id: int, timestamp: str | None) -> None:
        """Archive a row of a table, or restore it with ``None``; raises ``NotFound``."""
        with self.write() as db:
            cursor = db.execute(
                f"UPDATE {table} SET archived = ? WHERE id = ?", (timestamp, row_id)
            )
            if not cursor.rowcount:
                raise NotFound(f"There is no {table} {row_id}.")

    @contextmanager
    def rehearsal(self) -> Iterator[None]:
        """Run a transaction that is always rolled back, to preview its result."""
        with suppress(_TakenBack), self.write():
            yield
            raise _TakenBack

    @contextmanager
    def moment(self) -> Iterator[None]:
        """Run a read-only transaction."""
        self.thread_connection.execute("BEGIN")
        try:
            yield
        finally:
            self.thread_connection.execute("ROLLBACK")

    def checkpoint(self) -> None:
        """Move the log into the file and empty it.

        Gives up if other connections are busy with the log for a second.
        """
        with suppress(sqlite3.OperationalError):
            self.thread_connection.execute("PRAGMA busy_timeout = 1000")
            self.thread_connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        self.thread_connection.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[sqlite3.Row]:
        """Return all rows, by column name.

        All rows are fetched at once, since an open cursor would pin an old snapshot.
        """
        with self.in_words():
            cursor = self.thread_connection.cursor()
            cursor.row_factory = sqlite3.Row
            return cursor.execute(sql, values).fetchall()

    def tuples(
        self, sql: str, values: Sequence[Any] | Mapping[str, Any] = ()
    ) -> list[tuple[Any, ...]]:
        """Return all rows as plain tuples, for large results."""
        with self.in_words():
            return self.thread_connection.execute(sql, values).fetchall()

    def _open_connection(self) -> sqlite3.Connection:
        return _open_connection(read_only_uri(self.path) if self.read_only else self.path)

    def _require_current(self) -> None:
        with closing(self._open_connection()) as connection:
            if migrations_due(connection, str(self.path)):
                raise StoreError(
                    f"{self.path} is of an earlier version, and cannot be brought up to date where "
                    "it can only be read. Copy it to a folder that can be written."
                )

    def _make_ready(self) -> None:
        delete_leftovers(self.path.parent)
        connection = self._open_connection()
        try:
            needs_migration = migrations_due(connection, str(self.path))
            _use_wal(connection, self.path)
            if needs_migration:
                connection.execute("BEGIN IMMEDIATE")
                try:
                    # Another process may have migrated meanwhile, so check again under the lock.
                    if migrations_due(connection, str(self.path)):
                        migrate(connection)
                    connection.execute("COMMIT")
                finally:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
        finally:
            connection.close()

    @contextmanager
    def _hold_turn(self) -> Iterator[None]:
        if not self._turn.acquire(timeout=TURN_SECONDS):
            raise WriteBlocked(f"{self.path} {_IN_WORDS[sqlite3.SQLITE_BUSY]}.")
        try:
            yield
        finally:
            self._turn.release()

    @contextmanager
    def in_words(self) -> Iterator[None]:
        """Translate SQLite's errors into ``StoreError``."""
        try:
            yield
        except UnicodeDecodeError as error:
            # SQLite's own message would repeat the text it read.
            raise Damaged(f"{self.path} {_IN_WORDS[sqlite3.SQLITE_CORRUPT]}.") from error
        except sqlite3.DatabaseError as error:
            nonsense = str(error).startswith(_NONSENSE)
            code = sqlite3.SQLITE_CORRUPT if nonsense else _error_code(error)
            text = _IN_WORDS.get(code)
            if text is None:
                raise
            broken = Damaged if code == sqlite3.SQLITE_CORRUPT else StoreError
            kind = WriteBlocked if code in _PASSING else broken
            raise kind(f"{self.path} {text}.") from error
        except OverflowError as error:
            if "SQLite" not in str(error):
                raise
            raise InputError(f"A number is too large: at most {LARGEST:,} can be kept.") from None


def add_to_record(*, before: Any = None, after: Any = None) -> None:
    """Add the data before or after the current act to its audit record."""
    grant = _granted.get()
    if grant is not None:
        grant.before = grant.before if before is None else before
        grant.after = grant.after if after is None else after


def _put_on_record(db: sqlite3.Connection, grant: PermissionGrant | None) -> bool:
    """Write the audit line of a grant once; return whether this call wrote it."""
    if grant is None or grant.recorded or not grant.actor.audited or grant.verb in _UNRECORDED:
        return False
    actor, plain = grant.actor, (grant.object, grant.before, grant.after)
    db.execute(
        "INSERT INTO audit (at, actor, role, via, verb, act, object, before, after) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (grant.at, actor.name, actor.role, actor.via, grant.verb, grant.act, *map(to_json, plain)),
    )
    grant.recorded = True
    return True


def new_id(cursor: sqlite3.Cursor) -> int:
    """Return the id of the row that ``cursor`` has just inserted."""
    row_id = cursor.lastrowid
    assert row_id is not None, "the statement was no INSERT"
    return row_id


class _OfAThread(sqlite3.Connection):
    """A connection that closes when its thread ends.

    No other thread may close it, so closing the store cannot. For the driver's own connections,
    Python 3.13 and later give a ResourceWarning in this case.
    """

    def __del__(self) -> None:
        # Garbage collection in another thread raises this, but the connection is closed anyway.
        with suppress(sqlite3.ProgrammingError):
            self.close()


def _open_connection(path: Path | str) -> sqlite3.Connection:
    # isolation_level=None: the driver never opens a transaction itself.
    connection = sqlite3.connect(
        path,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        factory=_OfAThread,
        uri=isinstance(path, str),
    )
    try:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA recursive_triggers = ON")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA temp_store = MEMORY")
        # This first query opens the log, which must be the current one.
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def _use_wal(connection: sqlite3.Connection, path: Path) -> None:
    (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
    if mode != "wal":
        (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
    if mode != "wal":
        raise StoreError(f"{path} is on a disk that programs cannot share; use a local disk.")


def _retry_while_locked(attempt: Callable[[], T]) -> T:
    """Call ``act()`` until the file is unlocked, for at most ``BUSY_SECONDS``."""
    deadline, pause = time.monotonic() + BUSY_SECONDS, 0.005
    while True:
        try:
            return attempt()
        except sqlite3.OperationalError as error:
            if _error_code(error) not in _WAITING or time.monotonic() > deadline:
                raise
        time.sleep(pause)
        pause = min(pause * 2, 0.1)


def _error_code(error: sqlite3.Error) -> int:
    # The low byte is the primary code; some errors come from the driver and have none.
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
