"""A store of its own for every test, and a small run in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.store.store import Store
from tests.new_store import new_store
from tests.store.making import queued_run


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = new_store(tmp_path / "studio.db")
    yield made
    made.close()


@pytest.fixture
def run_id(store: Store) -> int:
    return queued_run(store)
