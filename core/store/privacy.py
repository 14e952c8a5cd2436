"""Who may read the data file: its owner alone.

SQLite gives the log and the index of the log the rights of the data file, so the file is made
before SQLite opens it. A folder or a file that somebody else made is left as it is, except in the
program's own folder.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from core.settings import own_data_file

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
