"""A whole copy of the data file while others write, and what SQLite finds wrong with it."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from core.errors import StoreError
from core.store.privacy import make_file

if TYPE_CHECKING:
    from core.store.connection import Connections


class Backup(NamedTuple):
    """What a copy holds."""

    file: str
    bytes: int
    runs: int
    votes: int


def copy_to(connection: sqlite3.Connection, target: Path) -> Backup:
    """Copy all that the connection sees to ``target``, in place of what is there, or not at all.

    Raises:
        StoreError: it cannot be written there.
    """
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        # As private as the data file, from its first byte on.
        make_file(part)
        with closing(sqlite3.connect(part)) as copy:
            connection.backup(copy)
            # One file: who opens it needs no log beside it.
            copy.execute("PRAGMA journal_mode = DELETE")
            ((runs, votes),) = copy.execute(
                "SELECT count(*) FILTER (WHERE kind = 'run'), coalesce(sum(votes), 0) FROM run"
            ).fetchall()
        part.replace(target)
    except (sqlite3.Error, OSError) as error:
        words = getattr(error, "strerror", None) or str(error)
        raise StoreError(f"{target} cannot be written: {words}.") from None
    finally:
        with suppress(OSError):
            part.unlink()
    return Backup(str(target), target.stat().st_size, int(runs), int(votes))


def damage(files: Connections, most: int = 100) -> list[dict[str, str]]:
    """What SQLite itself finds: damaged pages, broken rules of tables, rows that lost theirs."""
    found = [
        {"what": words, "where": "the file"}
        for (words,) in files.tuples(f"PRAGMA integrity_check({most})")
        if words != "ok"
    ]
    found += [
        {"what": f"refers to a row of {parent} that is not there", "where": f"{table} row {row}"}
        for table, row, parent, _ in files.tuples("PRAGMA foreign_key_check")
    ]
    return found
