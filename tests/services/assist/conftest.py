"""A provider of its own for every test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.provider import Provider


@pytest.fixture
def provider() -> Iterator[Provider]:
    """The scripted provider."""
    with Provider() as running:
        yield running
