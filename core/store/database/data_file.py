"""The data file: check that it was not moved, restrict its readers, copy it."""

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
from core.settings import user_data_file

# Only the owner of the data file may read it.
#
# SQLite gives the log and its index the permissions of the data file, so the file is made before
# SQLite opens it. Folders and files of other owners stay as they are, except in the program's own
# folder.

FOLDER, FILE = 0o700, 0o600


def make_private(path: Path) -> None:
    """Create the folder and an empty data file, unless they exist. Raises ``OSError``."""
    if not path.parent.is_dir():
        path.parent.parent.mkdir(parents=True, exist_ok=True)
        path.parent.mkdir(mode=FOLDER, exist_ok=True)
    # SQLite opens an existing file, and reports a path where no file can be created.
    with suppress(OSError):
        make_file(path)
    if path == user_data_file():
        _restrict_access(path)


def make_file(path: Path) -> None:
    """Create an empty file that only its owner may read. Raises ``FileExistsError``."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, FILE))


def _restrict_access(path: Path) -> None:
    for place, mode in (
        (path.parent, FOLDER),
        *((path.with_name(path.name + end), FILE) for end in ("", "-wal", "-shm")),
    ):
        # A missing file, or one of another owner, cannot be changed.
        with suppress(OSError):
            if place.stat().st_mode & 0o077:
                place.chmod(mode)


# Read-only data files: on a read-only disk, in a folder of another owner, or a copy.


def cannot_write(path: Path) -> bool:
    """Return whether this process cannot write an existing data file or its log.

    SQLite creates the log when a file is opened, and deletes it when the last connection closes.
    """
    if not path.exists():
        return False
    log_writable = os.access(path.parent, os.W_OK) or all(log.exists() for log in _log_files(path))
    return not (os.access(path, os.W_OK) and log_writable)


def read_only_uri(path: Path) -> str:
    """Return the URI with which SQLite opens a data file and writes nothing at all.

    Without a log, no process has the file open, so it is read without locks, which would need files
    of their own. With a log, another process may be writing, so it is read with locks.
    """
    log, index = _log_files(path)
    without_log = not index.exists() and not (log.exists() and log.stat().st_size)
    return f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' if without_log else ''}"


def _log_files(path: Path) -> list[Path]:
    return [path.with_name(path.name + end) for end in ("-wal", "-shm")]


# Check that the data file is still in place, and save its content if it is not.
#
# A program that has a file open goes on reading and writing after the file was deleted, moved or
# replaced, and those writes are lost. So every write checks first. Two calls of ``stat`` take some
# microseconds.

#: Device and inode, which identify a file whatever its name.
FileId = tuple[int, int]


class FilePlace:
    """The path of this process's data file, and the identity of the opened file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._log_path = path.with_name(f"{path.name}-wal")
        self._file = _file_id(path)
        self._saving = threading.Lock()
        self._saved: str | None = None

    def in_place(self) -> bool:
        """Return whether the file is still the one that was opened."""
        return _file_id(self._path) == self._file

    def log(self) -> FileId | None:
        """Return the identity of the log of new writes (the WAL)."""
        return _file_id(self._log_path)

    def require(
        self, connection: sqlite3.Connection | None = None, log: FileId | None = None
    ) -> None:
        """Raise ``StoreError`` unless the file and a connection's ``log`` are in place.

        The first failure saves what the connection can still read in a file next to it.
        """
        in_place = self.in_place()
        if in_place and (connection is None or self.log() == log):
            return
        subject = (
            f"The log of {self._path} ({self._log_path.name})" if in_place else str(self._path)
        )
        raise StoreError(
            f"{subject} was deleted, moved or replaced while it was in use, so nothing more is "
            f"written. {self._save_copy(connection)}"
        )

    def _save_copy(self, connection: sqlite3.Connection | None) -> str:
        """Save what the connection reads; return a sentence with the path, or with what to do."""
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


def _file_id(path: Path) -> FileId | None:
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_dev, stat.st_ino


class Backup(NamedTuple):
    """The counts of a copy's content."""

    file: str
    bytes: int
    runs: int
    votes: int


def copy_to(
    connection: sqlite3.Connection, target: Path, is_intact: Callable[[Path], bool]
) -> Backup | None:
    """Copy all that the connection reads to ``target``, atomically; return its counts.

    ``is_intact`` checks the finished copy before it replaces ``target``; if it fails, returns
    ``None``.

    Raises:
        StoreError: ``target`` cannot be written.
    """
    try:
        # The copy, and a new folder, are private from the first byte on.
        target.parent.mkdir(mode=FOLDER, parents=True, exist_ok=True)
        with part_file(target, FILE) as part:
            with closing(sqlite3.connect(part)) as copy:
                connection.backup(copy)
                # A single file, which opens without a log.
                copy.execute("PRAGMA journal_mode = DELETE")
            if not is_intact(part):
                return None
            backup = _counts_of_copy(part, target)
            part.replace(target)
            _flush_folder(target.parent)
    except (sqlite3.Error, OSError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise StoreError(f"{target} cannot be written: {reason}.") from None
    return backup


def _counts_of_copy(part: Path, target: Path) -> Backup:
    """Return the counts of a copy; zeros if it is damaged."""
    runs = votes = 0
    with suppress(sqlite3.Error), closing(sqlite3.connect(read_only_uri(part), uri=True)) as copy:
        ((runs, votes),) = copy.execute(
            "SELECT count(*) FILTER (WHERE kind = 'run'), coalesce(sum(votes), 0) FROM run"
        ).fetchall()
    return Backup(str(target), part.stat().st_size, int(runs), int(votes))


def _flush_folder(folder: Path) -> None:
    """Flush a new name to the disk, on systems where folders can be opened."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def find_damage(ask: Callable[[str], Iterable[tuple[Any, ...]]]) -> list[dict[str, str]]:
    """Return SQLite's own findings: damaged pages, broken constraints, orphan rows."""
    problems = [
        {"what": problem, "where": "the file"}
        for (problem,) in ask("PRAGMA integrity_check(100)")
        if problem != "ok"
    ]
    problems += [
        {"what": f"refers to a row of {parent} that is not there", "where": f"{table} row {row}"}
        for table, row, parent, _ in ask("PRAGMA foreign_key_check")
    ]
    return problems
