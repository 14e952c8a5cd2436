"""The data file: whether it is where it was opened, who may read it, and a whole copy."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

from core.errors import StoreError
from core.part_files import part_file
from core.settings import own_data_file

# Who may read the data file: its owner alone.
#
# SQLite gives the log and the index of the log the rights of the data file, so the file is made
# before SQLite opens it. A folder or a file that somebody else made is left as it is, except in the
# program's own folder.

FOLDER, FILE = 0o700, 0o600


def make_private(path: Path) -> None:
    """Make the folder and an empty file for a data file, where there are none; ``OSError``."""
    if not path.parent.is_dir():
        path.parent.parent.mkdir(parents=True, exist_ok=True)
        path.parent.mkdir(mode=FOLDER, exist_ok=True)
    # An existing file, or a place where none can be made, is for SQLite to open or to refuse.
    with suppress(OSError):
        make_file(path)
    if path == own_data_file():
        _tighten(path)


def make_file(path: Path) -> None:
    """An empty file that only its owner may read. ``FileExistsError`` where there is one."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, FILE))


def _tighten(path: Path) -> None:
    for one, mode in (
        (path.parent, FOLDER),
        *((path.with_name(path.name + end), FILE) for end in ("", "-wal", "-shm")),
    ):
        # Of somebody else, or not there: nothing that we could change.
        with suppress(OSError):
            if one.stat().st_mode & 0o077:
                one.chmod(mode)


# A data file that can only be read: on a read-only disk, in somebody else's folder, or a copy.


def cannot_write(path: Path) -> bool:
    """Whether a data file is there that this process cannot write, or not with the log beside it.

    SQLite makes the log when a file is opened, and takes it away after the last who had it open.
    """
    if not path.exists():
        return False
    beside = os.access(path.parent, os.W_OK) or all(one.exists() for one in _logs(path))
    return not (os.access(path, os.W_OK) and beside)


def to_read(path: Path) -> str:
    """The address by which SQLite opens a data file and changes nothing, not even beside it.

    Without a log nobody has the file open: then it is read without locks, which need files of
    their own. With one it is read as somebody's who may be writing.
    """
    log, index = _logs(path)
    alone = not index.exists() and not (log.exists() and log.stat().st_size)
    return f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' if alone else ''}"


def _logs(path: Path) -> list[Path]:
    return [path.with_name(path.name + end) for end in ("-wal", "-shm")]


# Whether the data file is still where it was opened, and saving what it held when it is not.
#
# A program that has a file open goes on reading and writing it after somebody deleted, moved or
# replaced it, and nothing of that is ever found again. So who writes looks first: two calls of
# ``stat``, some microseconds.

#: What tells one file from another, whatever its name: device and inode.
FileId = tuple[int, int]


class FilePlace:
    """Where the data file of this process is, and which file that was when it was opened."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._log_path = path.with_name(f"{path.name}-wal")
        self._file = _id(path)
        self._saving = threading.Lock()
        self._saved: str | None = None

    def in_place(self) -> bool:
        """Whether the file is still the one that was there."""
        return _id(self._path) == self._file

    def log(self) -> FileId | None:
        """Which file the log of new writes (the WAL) is now."""
        return _id(self._log_path)

    def require(
        self, connection: sqlite3.Connection | None = None, log: FileId | None = None
    ) -> None:
        """Raise ``StoreError`` unless the file, and the ``log`` of a connection, are in place.

        What the connection still sees is first saved in a file beside it, once.
        """
        in_place = self.in_place()
        if in_place and (connection is None or self.log() == log):
            return
        what = f"The log of {self._path} ({self._log_path.name})" if in_place else str(self._path)
        raise StoreError(
            f"{what} was deleted, moved or replaced while it was in use, so nothing more is "
            f"written. {self._save(connection)}"
        )

    def _save(self, connection: sqlite3.Connection | None) -> str:
        """Save what the connection sees; says where, or what to do."""
        with self._saving:
            if self._saved is None and connection is not None:
                saved = self._path.with_name(f"{self._path.stem}-saved-{os.getpid()}.db")
                try:
                    saved.unlink(missing_ok=True)
                    make_file(saved)
                    copy = sqlite3.connect(saved)
                    try:
                        connection.backup(copy)
                    finally:
                        copy.close()
                except (sqlite3.Error, OSError):
                    return "What it held could not be saved. Put a copy back and start again."
                self._saved = f"What it held is saved in {saved}. Put it back and start again."
            return self._saved or "Put a copy back and start again."


def _id(path: Path) -> FileId | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


class Backup(NamedTuple):
    """What a copy holds."""

    file: str
    bytes: int
    runs: int
    votes: int


def copy_to(
    connection: sqlite3.Connection, target: Path, sound: Callable[[Path], bool]
) -> Backup | None:
    """Copy all that the connection sees to ``target``, in place of what is there, or not at all.

    ``sound`` looks at the finished copy before it is put there; ``None`` where that says no.

    Raises:
        StoreError: it cannot be written there.
    """
    try:
        # As private as the data file, from its first byte on; so is a folder that was not there.
        target.parent.mkdir(mode=FOLDER, parents=True, exist_ok=True)
        with part_file(target, FILE) as part:
            with closing(sqlite3.connect(part)) as copy:
                connection.backup(copy)
                # One file: who opens it needs no log beside it.
                copy.execute("PRAGMA journal_mode = DELETE")
            if not sound(part):
                return None
            made = _counted(part, target)
            part.replace(target)
            _settle(target.parent)
    except (sqlite3.Error, OSError) as error:
        words = getattr(error, "strerror", None) or str(error)
        raise StoreError(f"{target} cannot be written: {words}.") from None
    return made


def _counted(part: Path, target: Path) -> Backup:
    """What a copy holds; of a damaged one, nothing that could be counted."""
    runs = votes = 0
    with suppress(sqlite3.Error), closing(sqlite3.connect(to_read(part), uri=True)) as copy:
        ((runs, votes),) = copy.execute(
            "SELECT count(*) FILTER (WHERE kind = 'run'), coalesce(sum(votes), 0) FROM run"
        ).fetchall()
    return Backup(str(target), part.stat().st_size, int(runs), int(votes))


def _settle(folder: Path) -> None:
    """Have the disk know of a new name, where folders can be opened for that."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def damage(ask: Callable[[str], Iterable[tuple[Any, ...]]]) -> list[dict[str, str]]:
    """What SQLite itself finds: damaged pages, broken rules of tables, rows that lost theirs."""
    found = [
        {"what": words, "where": "the file"}
        for (words,) in ask("PRAGMA integrity_check(100)")
        if words != "ok"
    ]
    found += [
        {"what": f"refers to a row of {parent} that is not there", "where": f"{table} row {row}"}
        for table, row, parent, _ in ask("PRAGMA foreign_key_check")
    ]
    return found
