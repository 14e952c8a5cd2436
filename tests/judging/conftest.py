"""A scripted provider on loopback, and one event loop per module."""

import asyncio
from collections.abc import Iterator

import pytest

from tests.provider import Provider


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as server:
        yield server


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    """One loop for the module: litellm's clients belong to the loop they were made on."""
    with asyncio.Runner() as runner:
        yield runner
