"""Data files for tests: an empty one, or one with the worked example graded, is copied, not made.

To make the tables takes five times as long as to copy them, and most tests need a file. To grade
the example takes four seconds of work.
"""

from __future__ import annotations

import tempfile
from functools import lru_cache
from pathlib import Path

from core.services.reports.worked_example import grade_example
from core.store.store import Store


@lru_cache(maxsize=1)
def _empty() -> bytes:
    """An empty data file as this program makes it, made once in a process."""
    with tempfile.TemporaryDirectory() as folder:
        return _closed(Store(Path(folder) / "studio.db"))


@lru_cache(maxsize=1)
def _graded() -> bytes:
    """A data file with the worked example, graded once in a process."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "studio.db")
        grade_example(store)
        return _closed(store)


def _closed(store: Store) -> bytes:
    store.checkpoint()
    store.close()
    return store.path.read_bytes()


def new_store(path: Path) -> Store:
    """The store of an empty data file at ``path``."""
    return _copied(_empty(), path)


def graded_example(path: Path) -> Store:
    """The store of a data file at ``path`` with the worked example graded."""
    return _copied(_graded(), path)


def _copied(data: bytes, path: Path) -> Store:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as file:
        file.write(data)
    return Store(path)
