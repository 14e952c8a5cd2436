"""Connections: one per thread, opened patiently, written through one door, in somebody's name.

SQLite's own busy timeout does not cover everything: switching a new file to WAL answers "locked"
at once when another process does the same, so opening is tried again until a deadline.
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
from core.errors import Damaged, InputError, NotAllowed, NotFound, NotNow, StoreError
from core.part_files import sweep
from core.store.database.content import to_json
from core.store.database.data_file import FilePlace, cannot_write, make_private, to_read
from core.store.database.migrations import migrate, pending
from core.store.database.sums import add_sums

BUSY_SECONDS = 30.0
#: How long a thread waits for its turn among those of this process.
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
#: What the driver and SQLite say of texts that nobody wrote so.
_NONSENSE = ("Could not decode to UTF-8", "malformed JSON")
#: What may be over in a while, with nobody having to start anything again.
_PASSING = _WAITING | {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}

T = TypeVar("T")


class _TakenBack(Exception):
    """Ends a rehearsal."""


@dataclass
class Grant:
    """What somebody was let do: a verb on an object, and whether the record has it.

    ``before`` and ``after`` are plain data that a service may add for the record.
    """

    actor: Actor
    verb: Verb
    act: str
    object: Any
    at: str
    before: Any = None
    after: Any = None
    recorded: bool = False


#: The largest whole number that SQLite holds.
LARGEST = 2**63 - 1
#: What this thread was let do last, while it does it.
_granted: ContextVar[Grant | None] = ContextVar("granted", default=None)
#: Verbs that leave no line in the record of changes: nobody else sees what they write.
_UNRECORDED = frozenset[Verb]({"read", "draft"})


class Connections:
    """The connections of one process to one data file. Made ready on construction.

    Raises:
        StoreError: the file is not ours, newer than this program, locked, or out of reach.
    """

    def __init__(self, path: str | Path, *, reading: bool = False) -> None:
        self.path = Path(path)
        #: Whether nothing can be written: it was opened so, or cannot be opened otherwise.
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
                _patiently(self._require_current if self.read_only else self._make_ready)
        except sqlite3.DatabaseError as error:
            # Its tables are not those that it says it has.
            raise Damaged(f"{self.path} is damaged ({error}); restore it from a copy.") from error
        self._place = FilePlace(self.path)

    def acting(self, actor: Actor) -> Connections:
        """The same connections, in somebody's name: they write only what they were let do."""
        other = copy.copy(self)
        other.actor = actor
        return other

    @contextmanager
    def granted(self, verb: Verb, act: str, about: Any, at: str) -> Iterator[Grant]:
        """Let the actor do this for as long as it takes; within another grant, that one holds.

        Raises:
            NotAllowed: the actor may not.
        """
        within = _granted.get()
        if within is not None and within.actor == self.actor:
            yield within
            return
        allow(self.actor, verb)
        grant = Grant(self.actor, verb, act, about, at)
        token = _granted.set(grant)
        try:
            yield grant
        finally:
            _granted.reset(token)

    @property
    def mine(self) -> sqlite3.Connection:
        """This thread's connection (opened on first use; a forked child gets its own)."""
        held: tuple[int, sqlite3.Connection] | None = getattr(self._local, "held", None)
        if held is None or held[0] != os.getpid():
            # Or else SQLite would make a new, empty file where ours was.
            self._place.require()
            with self.in_words():
                held = (os.getpid(), _patiently(self._connect))
            self._local.held = held
            self._local.log = self._place.log()
        return held[1]

    def close(self) -> None:
        """Close this thread's connection. The next use opens it again."""
        held: tuple[int, sqlite3.Connection] | None = getattr(self._local, "held", None)
        if held is not None:
            held[1].close()
            self._local.held = None

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """One transaction (``BEGIN IMMEDIATE``), all or nothing; within another, a savepoint.

        What somebody was let do is put on record in the same transaction. Threads of this process
        take turns: SQLite lets those who wait look again now and then, and whoever is unlucky
        never gets in.

        Raises:
            StoreError: the file or its log is not where it was: what is written would be lost.
            NotAllowed: it is in the name of somebody who was not let do anything.
        """
        grant = _granted.get()
        if not self.actor.trusted and (grant is None or grant.actor != self.actor):
            raise NotAllowed("Nothing was changed: this act does not say who may do it.")
        connection = self.mine
        self._place.require(connection, self._local.log)
        begin, commit, undo = ("BEGIN IMMEDIATE", "COMMIT", "ROLLBACK")
        within = connection.in_transaction
        if within:
            begin, commit = ("SAVEPOINT inner", "RELEASE inner")
            undo = "ROLLBACK TO inner; RELEASE inner"
        with nullcontext() if within else self._in_turn(), self.in_words():
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
                # An error such as a full disk may have ended the transaction already.
                if connection.in_transaction:
                    for statement in undo.split("; "):
                        connection.execute(statement)
                raise

    def set_archived(self, table: str, row_id: int, when: str | None) -> None:
        """Put a row of a table away, or with ``None`` bring it back; raises ``NotFound``."""
        with self.write() as db:
            found = db.execute(f"UPDATE {table} SET archived = ? WHERE id = ?", (when, row_id))
            if not found.rowcount:
                raise NotFound(f"There is no {table} {row_id}.")

    @contextmanager
    def rehearsal(self) -> Iterator[None]:
        """A transaction that is always taken back: to see what would come of it."""
        with suppress(_TakenBack), self.write():
            yield
            raise _TakenBack

    @contextmanager
    def moment(self) -> Iterator[None]:
        """One transaction that only reads."""
        self.mine.execute("BEGIN")
        try:
            yield
        finally:
            self.mine.execute("ROLLBACK")

    def checkpoint(self) -> None:
        """Move the log into the file and empty it, unless others are busy with it for a second."""
        with suppress(sqlite3.OperationalError):
            self.mine.execute("PRAGMA busy_timeout = 1000")
            self.mine.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        self.mine.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[sqlite3.Row]:
        """All rows, by column name. Fetched whole: an open cursor would pin an old snapshot."""
        with self.in_words():
            cursor = self.mine.cursor()
            cursor.row_factory = sqlite3.Row
            return cursor.execute(sql, values).fetchall()

    def tuples(
        self, sql: str, values: Sequence[Any] | Mapping[str, Any] = ()
    ) -> list[tuple[Any, ...]]:
        """All rows as plain tuples, where there are many of them."""
        with self.in_words():
            return self.mine.execute(sql, values).fetchall()

    def _connect(self) -> sqlite3.Connection:
        return _connect(to_read(self.path) if self.read_only else self.path)

    def _require_current(self) -> None:
        with closing(self._connect()) as connection:
            if pending(connection, str(self.path)):
                raise StoreError(
                    f"{self.path} is of an earlier version, and cannot be brought up to date where "
                    "it can only be read. Copy it to a folder that can be written."
                )

    def _make_ready(self) -> None:
        sweep(self.path.parent)
        connection = self._connect()
        try:
            due = pending(connection, str(self.path))
            _use_wal(connection, self.path)
            if due:
                connection.execute("BEGIN IMMEDIATE")
                try:
                    # Somebody may have been faster; looked at again, now under the lock.
                    if pending(connection, str(self.path)):
                        migrate(connection)
                    connection.execute("COMMIT")
                finally:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
        finally:
            connection.close()

    @contextmanager
    def _in_turn(self) -> Iterator[None]:
        if not self._turn.acquire(timeout=TURN_SECONDS):
            raise NotNow(f"{self.path} {_IN_WORDS[sqlite3.SQLITE_BUSY]}.")
        try:
            yield
        finally:
            self._turn.release()

    @contextmanager
    def in_words(self) -> Iterator[None]:
        """What SQLite refuses, as errors of ours."""
        try:
            yield
        except UnicodeDecodeError as error:
            # What SQLite says of it repeats what it found.
            raise Damaged(f"{self.path} {_IN_WORDS[sqlite3.SQLITE_CORRUPT]}.") from error
        except sqlite3.DatabaseError as error:
            nonsense = str(error).startswith(_NONSENSE)
            code = sqlite3.SQLITE_CORRUPT if nonsense else _code(error)
            words = _IN_WORDS.get(code)
            if words is None:
                raise
            broken = Damaged if code == sqlite3.SQLITE_CORRUPT else StoreError
            kind = NotNow if code in _PASSING else broken
            raise kind(f"{self.path} {words}.") from error
        except OverflowError as error:
            if "SQLite" not in str(error):
                raise
            raise InputError(f"A number is too large: at most {LARGEST:,} can be kept.") from None


def on_record(*, before: Any = None, after: Any = None) -> None:
    """Say more of the act under way, before it writes: plain data as it was, or as it will be."""
    grant = _granted.get()
    if grant is not None:
        grant.before = grant.before if before is None else before
        grant.after = grant.after if after is None else after


def _put_on_record(db: sqlite3.Connection, grant: Grant | None) -> bool:
    """The line of what somebody was let do, once; whether this was the time."""
    if grant is None or grant.recorded or not grant.actor.audited or grant.verb in _UNRECORDED:
        return False
    who, plain = grant.actor, (grant.object, grant.before, grant.after)
    db.execute(
        "INSERT INTO audit (at, actor, role, via, verb, act, object, before, after) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (grant.at, who.name, who.role, who.via, grant.verb, grant.act, *map(to_json, plain)),
    )
    grant.recorded = True
    return True


def new_id(cursor: sqlite3.Cursor) -> int:
    """The id of the row that ``cursor`` has just inserted."""
    row_id = cursor.lastrowid
    assert row_id is not None, "the statement was no INSERT"
    return row_id


class _OfAThread(sqlite3.Connection):
    """Closes when its thread ends, which is when nobody holds it any more.

    No other thread may close it, so whoever closes the store cannot. Of the driver's own
    connections Python 3.13 and later say a ResourceWarning then.
    """

    def __del__(self) -> None:
        # Collected in another thread it refuses here, and is closed all the same.
        with suppress(sqlite3.ProgrammingError):
            self.close()


def _connect(path: Path | str) -> sqlite3.Connection:
    # isolation_level=None: the driver never opens a transaction behind our back.
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
        # A first look opens the log, which shall be the one that is there now.
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


def _patiently(act: Callable[[], T]) -> T:
    """``act()``, again and again while the file is locked, for at most ``BUSY_SECONDS``."""
    deadline, pause = time.monotonic() + BUSY_SECONDS, 0.005
    while True:
        try:
            return act()
        except sqlite3.OperationalError as error:
            if _code(error) not in _WAITING or time.monotonic() > deadline:
                raise
        time.sleep(pause)
        pause = min(pause * 2, 0.1)


def _code(error: sqlite3.Error) -> int:
    # The low byte is the primary code; some errors come from the driver and have none.
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
