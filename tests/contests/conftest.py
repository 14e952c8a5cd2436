"""A provider whose judges read off the answers what they are worth."""

from collections.abc import Iterator

import pytest

from tests.contests.world import honest, words_or
from tests.provider import Provider


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as server:
        server.rule = words_or(honest)
        yield server
