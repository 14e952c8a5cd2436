"""Whether the data file is still where it was opened, and saving what it held when it is not.

A program that has a file open goes on reading and writing it after somebody deleted, moved or
replaced it, and nothing of that is ever found again. So who writes looks first: two calls of
``stat``, some microseconds.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from pathlib import Path

from core.errors import StoreError
from core.store.privacy import make_file

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
