"""A provider whose judges read off the answers what they are worth."""

from collections.abc import Iterator

import pytest

from tests.provider import Provider
from tests.services.pairwise.world import honest, words_or


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as server:
        server.rule = words_or(honest)
        yield server
