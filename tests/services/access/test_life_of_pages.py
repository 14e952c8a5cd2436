"""A page without a sign-in is closed after a while, whatever it does; sockets are real."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import Any

import pytest
import uvicorn
from websockets.exceptions import ConnectionClosed

from core.services.access.open_pages import OpenPages
from core.services.runs import limits
from core.services.runs.limits import Limits
from tests.services.access.at_the_door import page, pages

#: How long a page lives here without a sign-in, and how often a sign-in is looked at.
LIFE, LOOK = 0.5, 0.2


@dataclass
class Room:
    """A server that says everything again, and who is a member of it now, by their cookies."""

    port: int = 0
    members: set[str] = field(default_factory=set)
    left: list[int] = field(default_factory=list)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        while (said := await receive())["type"] == "websocket.receive":
            await send({"type": "websocket.send", "text": said["text"]})
        self.left.append(said["code"])
        with suppress(Exception):  # as Streamlit's sender may, which is not told at once
            await send({"type": "websocket.send", "text": "too late"})


@pytest.fixture
def room() -> Iterator[Room]:
    made = Room()
    app = Limits(made, OpenPages(40), lambda session: (0, 0), life=LIFE, look=LOOK,
                 who=lambda cookies: cookies if cookies in made.members else None)  # fmt: skip
    line = socket.create_server(("127.0.0.1", 0))
    made.port = line.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(app, lifespan="off", log_level="error"))
    thread = threading.Thread(target=server.run, args=([line],))
    thread.start()
    yield made
    server.should_exit = True
    thread.join()


def lasts(one: Any, *, talking: bool) -> float:
    """After how many seconds a page is closed; each second tells that it is still open."""
    began = time.monotonic()
    with suppress(ConnectionClosed):
        while time.monotonic() - began < 10:
            if talking:
                one.send("again")
                assert one.recv(timeout=10) == "again"
            else:
                with suppress(TimeoutError):
                    one.recv(timeout=0.05)
    return time.monotonic() - began


@pytest.mark.parametrize("talking", [False, True])
def test_a_page_without_a_sign_in_is_closed_however_much_it_says(room: Room, talking: bool) -> None:
    assert (limits.LIFE, limits.LOOK) == (120, 60)
    with page(room.port) as one:
        assert LIFE * 0.9 < lasts(one, talking=talking) < 10
    assert one.protocol.close_code == 1013
    # The app is told, and the place is free: 2 of an address.
    with ExitStack() as stay:
        assert len(pages(stay, room.port, 4)[0]) == 2
        assert room.left == [1013]


def test_a_page_with_a_sign_in_stays_for_as_long_as_that_counts(room: Room) -> None:
    room.members.add("a=ann")
    with page(room.port, {"Cookie": "a=ann"}) as one:
        until = time.monotonic() + 3 * LIFE
        while time.monotonic() < until:
            one.send("here")
            assert one.recv(timeout=10) == "here"
        room.members.clear()
        assert lasts(one, talking=True) < 10
    # It comes back as one without a sign-in.
    with ExitStack() as stay:
        assert len(pages(stay, room.port, 4, headers={"Cookie": "a=ann"})[0]) == 2


def test_so_many_pages_a_minute_are_opened_from_an_address_without_a_sign_in(room: Room) -> None:
    opened = 0
    for _ in range(35):
        with ExitStack() as stay:
            opened += len(pages(stay, room.port, 1)[0])
        until = time.monotonic() + 10
        while len(room.left) < opened and time.monotonic() < until:
            time.sleep(0.005)
    # The minute may turn meanwhile.
    assert opened in (30, 35)
