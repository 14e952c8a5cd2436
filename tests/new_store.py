"""Data files for tests: an empty one is copied, not made.

To make the tables takes five times as long as to copy them, and most tests need a file.
"""

from __future__ import annotations

import tempfile
from functools import lru_cache
from pathlib import Path

from core.store.store import Store


@lru_cache(maxsize=1)
def _empty() -> bytes:
    """An empty data file as this program makes it, made once in a process."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "studio.db")
        store.checkpoint()
        store.close()
        return store.path.read_bytes()


def new_store(path: Path) -> Store:
    """The store of an empty data file at ``path``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as file:
        file.write(_empty())
    return Store(path)
