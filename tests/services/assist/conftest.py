"""A store and a provider of their own for every test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.store.store import Store
from tests.new_store import new_store
from tests.provider import Provider


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty data file."""
    opened = new_store(tmp_path / "studio.db")
    yield opened
    opened.close()


@pytest.fixture
def provider() -> Iterator[Provider]:
    """The scripted provider."""
    with Provider() as running:
        yield running
