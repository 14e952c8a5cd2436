"""The stand-in for a model provider ends, whatever its clients did."""

from __future__ import annotations

import gc
import socket
import time

import pytest

from tests.provider import Provider
from tests.services.runs.world import until

MUCH = b"x" * 20_000_000


def test_a_connection_that_closed_after_its_last_words_does_not_keep_it_from_ending() -> None:
    with Provider() as provider:
        host, _, port = provider.url.split("/")[2].partition(":")
        connections = provider._loop._transports  # type: ignore[attr-defined]
        with socket.create_connection((host, int(port))) as client:
            until(lambda: len(connections) == 1)
            (ours,) = connections.values()
            for act in (lambda: ours.write(MUCH), ours.close):
                provider._loop.call_soon_threadsafe(act)
            while client.recv(1_000_000):
                pass
        until(lambda: ours.get_protocol() is None)


@pytest.mark.parametrize("patience", [0.05, 0.2])
def test_a_connection_that_comes_in_as_it_ends_is_closed(patience: float) -> None:
    # The loop is busy while somebody connects and while it is told to end: it then finds both in
    # the same turn.
    with Provider() as provider:
        host, _, port = provider.url.split("/")[2].partition(":")
        provider._loop.call_soon_threadsafe(time.sleep, patience)
        time.sleep(patience / 4)
        client = socket.create_connection((host, int(port)))
    client.close()
    del provider
    # An unclosed socket is a warning, and so fails this test.
    gc.collect()
