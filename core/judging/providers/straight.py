"""A POST made of what the requests of a judge share, over aiohttp's connections.

They differ in their messages alone, and messages are joined of texts that many share: so all else
of a body is written once (``BodyFrame``), and so is each text. What aiohttp's session does for each
request (merging headers, cookies, a task that writes the body, timers, a response) costs as much as
all else that is done for a call: aiohttp makes the head of a request once, and it is sent again and
again. Connections, TLS and the reading of answers are aiohttp's as ever. This uses parts of aiohttp
that may change: another version than those known is asked through its session, and so is a proxy.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from core.judging.providers.base import JOINT, Request
from core.judging.providers.bounded import Body, TooLarge, bound_for

if TYPE_CHECKING:
    import ssl

    import aiohttp

#: How the versions begin whose inner parts are known.
_KNOWN = ("3.14.",)
#: What no line of a head may hold.
_BREAKS = ("\r", "\n", "\0")

#: Status, headers and body of an answer.
Answered = tuple[int, Mapping[str, str], bytes]

#: So many texts of messages are kept as they are sent, none of them longer than this.
_TEXTS, _LONGEST_TEXT = 512, 64 * 1024
_MESSAGES = '"messages": []'


class BodyFrame:
    """The body of a request but for what it says; ``text`` has an empty list in that place."""

    def __init__(self, text: str) -> None:
        self._before, _, self._after = text.partition(_MESSAGES)

    @classmethod
    def of(cls, body: Mapping[str, object]) -> BodyFrame | None:
        """The frame of a body; ``None`` where the messages' place cannot be told.

        A system text that stands apart belongs to what is said.
        """
        rest = {name: value for name, value in body.items() if name != "system"}
        text = json.dumps({**rest, "messages": []})
        return cls(text) if text.count(_MESSAGES) == 1 else None

    def around(self, said: str) -> bytes:
        """The bytes that ``json.dumps`` would give, with this in the messages' place."""
        return f"{self._before}{said}{self._after}".encode()


def said_in_chat(request: Request) -> str:
    """The messages of a request as they stand in its body, written from their pieces."""
    all_of = request.pieces or [(one["role"], (one["content"],)) for one in request.messages]
    said = [f'{{"role": {escaped(role)}, "content": {escaped(*texts)}}}' for role, texts in all_of]
    return f'"messages": [{", ".join(said)}]'


def escaped(*pieces: str) -> str:
    """These texts, joined, as JSON. Many are in many requests: those are written once."""
    return f'"{_JOINT.join(map(_text, pieces))}"'


def _text(text: str) -> str:
    return _kept_text(text) if len(text) <= _LONGEST_TEXT else json.dumps(text)[1:-1]


@lru_cache(maxsize=_TEXTS)
def _kept_text(text: str) -> str:
    return json.dumps(text)[1:-1]


_JOINT = json.dumps(JOINT)[1:-1]


class PostHead:
    """The head of a POST to one address, as aiohttp makes it, but for the length of the body."""

    def __init__(self, request: aiohttp.ClientRequest, before: bytes, after: bytes) -> None:
        import aiohttp

        self.request = request
        self.unlimited = aiohttp.ClientTimeout()  # whoever posts has a limit for all of it
        self._before, self._after = before, after

    def with_body(self, body: bytes) -> bytes:
        """The whole request."""
        return b"".join((self._before, str(len(body)).encode(), self._after, body))


#: So many seconds a connection that nobody uses is kept, as by aiohttp.
_KEPT_OPEN = 15.0


class Wire(NamedTuple):
    """A connection, and what of aiohttp stands behind it for as long as it is open."""

    connection: aiohttp.connector.Connection
    protocol: Any
    transport: Any

    def usable(self) -> bool:
        """Whether it is open, and neither side has anything left to say on it.

        Where an answer came before all was sent, the rest would stand before the next request.
        """
        closing = self.protocol.should_close or self.transport.is_closing()
        return not closing and self.transport.get_write_buffer_size() == 0


class Line:
    """Connections to where one kind of requests goes; of the free ones the oldest goes first.

    aiohttp opens them, and would give each back after every answer: what it does then, and when
    one is taken again, costs as much as sending a request.
    """

    def __init__(self, connector: aiohttp.BaseConnector) -> None:
        self._connector = connector
        self._free: deque[tuple[Wire, float]] = deque()
        self._sweeping: asyncio.TimerHandle | None = None

    async def take(self, head: PostHead) -> Wire:
        """A connection that is ready to be written to."""
        while self._free:
            wire, since = self._free.popleft()
            if wire.usable() and time.monotonic() - since <= _KEPT_OPEN:
                return wire
            wire.connection.close()
        connection = await self._connector.connect(head.request, [], head.unlimited)
        protocol: Any = connection.protocol
        # What reads answers then reads one after the other.
        protocol.set_response_params(read_until_eof=True, auto_decompress=False)
        return Wire(connection, protocol, protocol.transport)

    def give(self, wire: Wire) -> None:
        """Have one back, its answer read; it is closed where no other can follow."""
        if not wire.usable():
            wire.connection.close()
            return
        self._free.append((wire, time.monotonic()))
        if self._sweeping is None:
            self._sweep_later()

    def close(self) -> None:
        """Close those that are free."""
        if self._sweeping is not None:
            self._sweeping.cancel()
        while self._free:
            self._free.popleft()[0].connection.close()

    def _sweep_later(self) -> None:
        self._sweeping = asyncio.get_running_loop().call_later(_KEPT_OPEN, self._sweep)

    def _sweep(self) -> None:
        self._sweeping, now = None, time.monotonic()
        while self._free and now - self._free[0][1] >= _KEPT_OPEN:
            self._free.popleft()[0].connection.close()
        if self._free:
            self._sweep_later()


def head_of(
    session: aiohttp.ClientSession,
    url: str,
    headers: dict[str, str],
    trusted: ssl.SSLContext | bool,
) -> PostHead | None:
    """The head of a POST; ``None`` where the session is to be asked, or will say what is wrong."""
    import aiohttp
    from yarl import URL

    try:
        place = URL(url)
    except ValueError:
        return None
    known = aiohttp.__version__.startswith(_KNOWN) and place.scheme in ("http", "https")
    if not known or not place.raw_host or place.raw_user or place.raw_password:
        return None
    request = aiohttp.ClientRequest(
        "POST", place, headers=headers, data=b"", session=session, ssl=trusted,
        loop=asyncio.get_running_loop(),
    )  # fmt: skip
    given = list(request.headers.items())
    if any(sign in text for field in given for text in field for sign in _BREAKS):
        return None
    lines = [f"POST {request.url.raw_path_qs} HTTP/1.1"]
    lines += [f"{name}: {value if name != 'Content-Length' else '%'}" for name, value in given]
    before, after = ("\r\n".join(lines) + "\r\n\r\n").split("Content-Length: %")
    return PostHead(request, f"{before}Content-Length: ".encode(), after.encode())


class Patience:
    """Ends what takes longer than so many seconds, as ``asyncio.timeout`` would.

    Who began first is late first: one timer is enough for all that goes on at once.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._begun: dict[Spell, None] = {}
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, spell: Spell) -> None:
        """From now on its time runs."""
        loop = asyncio.get_running_loop()
        spell.until = loop.time() + self._seconds
        self._begun[spell] = None
        if self._timer is None:
            self._timer = loop.call_at(spell.until, self._look)

    def end(self, spell: Spell) -> None:
        """It is over, in time or not."""
        self._begun.pop(spell, None)

    def close(self) -> None:
        """Nothing goes on any more."""
        if self._timer is not None:
            self._timer.cancel()

    def _look(self) -> None:
        self._timer, loop = None, asyncio.get_running_loop()
        while (first := next(iter(self._begun), None)) is not None:
            if first.until > loop.time():
                self._timer = loop.call_at(first.until, self._look)
                return
            del self._begun[first]
            first.cut_off()


class Spell:
    """``with Spell(patience):`` what a task does inside is cut off with ``TimeoutError``."""

    __slots__ = ("_before", "_late", "_patience", "_task", "until")

    def __init__(self, patience: Patience) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._patience, self._task, self._before = patience, task, task.cancelling()
        self._late, self.until = False, 0.0

    def __enter__(self) -> None:
        self._patience.begin(self)

    def cut_off(self) -> None:
        """Its time is over."""
        self._late = True
        self._task.cancel()

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._patience.end(self)
        if not self._late:
            return
        # Where somebody else cancelled the task as well, that counts.
        alone = self._task.uncancel() <= self._before
        if alone and kind is asyncio.CancelledError:
            raise TimeoutError from error


async def post(line: Line, head: PostHead, body: bytes, patience: Patience) -> Answered:
    """The answer, read up to the bound. Raises what aiohttp's session would raise."""
    with Spell(patience):
        wire = await line.take(head)
        try:
            wire.transport.write(head.with_body(body))
            answer, content = await _begun(wire.protocol, head)
            read, whole = _come(answer, content), True
            if read is None:
                read, whole = await read_body(content, answer.headers, answer.code)
        except BaseException:
            wire.connection.close()
            raise
        if whole:
            line.give(wire)
        else:
            # A refusal's first words are enough; the connection is given up with the rest.
            wire.connection.close()
    return answer.code, answer.headers, read


def _come(answer: Any, content: Any) -> bytes | None:
    """The whole body where all of it is there, as it mostly is, and is plain; else ``None``.

    Who reads it from the stream has aiohttp look first whether there is more to take apart.
    """
    size, there = content.total_bytes, content.is_eof() and content.exception() is None
    if not there or size > bound_for(answer.code) or answer.headers.get("Content-Encoding"):
        return None
    return b"".join(content._buffer) if size else b""


async def _begun(wire: Any, head: PostHead) -> tuple[Any, Any]:
    """What is known of an answer before its body, and the body's stream."""
    import aiohttp
    from aiohttp.http_exceptions import HttpProcessingError

    while True:
        try:
            answer, content = await wire.read()
        except HttpProcessingError as error:
            raise aiohttp.ClientResponseError(
                head.request.request_info, (),
                status=error.code, message=error.message, headers=error.headers,
            ) from error  # fmt: skip
        if not 100 <= answer.code < 200 or answer.code == 101:
            return answer, content


async def read_body(content: Any, headers: Mapping[str, str], status: int) -> tuple[bytes, bool]:
    """A body, and whether it was read to its end. Raises ``TooLarge`` where it matters."""
    packed, bound = headers.get("Content-Encoding", ""), bound_for(status)
    piece = await content.readany()
    if not packed and content.at_eof() and len(piece) <= bound:
        return piece, True
    body = Body(packed, bound)
    try:
        while piece:
            body.feed(piece)
            piece = await content.readany()
    except TooLarge:
        if status == 200:
            raise
        return body.whole(), False
    return body.whole(), True
