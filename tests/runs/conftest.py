"""A provider that answers by the request alone."""

from collections.abc import Iterator

import pytest

from tests.provider import Provider
from tests.runs.world import by_request


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as server:
        server.rule = by_request
        yield server
