"""Read replies up to a limit, so that no server can exhaust memory."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextvars import ContextVar
from functools import wraps
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import aiohttp

#: A verdict has a few hundred characters; even the longest draft stays far below this.
MOST_BYTES = 4 * 1024**2
#: A refusal's message is at its beginning; the rest is not read.
MOST_OF_REFUSAL = 64 * 1024
#: The encodings that both clients can decompress.
ACCEPTED = "gzip, deflate"
TOO_LARGE = f"The reply is larger than {MOST_BYTES // 1024**2} MB unpacked and was not read."


class TooLarge(Exception):
    """A body larger than the limit."""


class UnreadableBody(Exception):
    """A body that cannot be decompressed."""


class Body:
    """The body of an answer with this status, received in pieces with this ``encoding``."""

    def __init__(self, encoding: str, status: int) -> None:
        self._answers = status == 200
        self._most = MOST_BYTES if self._answers else MOST_OF_REFUSAL
        self._parts, self._size = list[bytes](), 0
        names = [name for part in encoding.split(",") if (name := part.strip().lower())]
        names = [name for name in names if name != "identity"]
        if len(names) > 1 or any(name not in ("gzip", "x-gzip", "deflate") for name in names):
            raise UnreadableBody(
                f"The reply is packed as {encoding[:60]!r}, which was not requested."
            )
        self._begun = self._bare = False
        self._unpack = zlib.decompressobj(zlib.MAX_WBITS | 32) if names else None

    def feed(self, data: bytes) -> bool:
        """Add a piece; return whether to read on, which is false for a refusal beyond the limit.

        Raises ``TooLarge`` or ``UnreadableBody``.
        """
        if self._unpack is None:
            return self._keep(data)
        self._begun = self._begun or bool(data)
        while data:
            room = self._most - self._size + 1
            try:
                unpacked = self._unpack.decompress(data, room)
            except zlib.error:
                data = self._retry_bare_deflate(data)
                continue
            if not self._keep(unpacked):
                return False
            data = self._unpack.unconsumed_tail or self._unpack.unused_data
            if self._unpack.eof and data:
                # Another compressed member follows the first.
                self._unpack = zlib.decompressobj(zlib.MAX_WBITS | 32)
        return True

    def _retry_bare_deflate(self, data: bytes) -> bytes:
        """Switch to "deflate" without a header, as some servers send it.

        Raises ``UnreadableBody`` after the first piece.
        """
        if self._bare or self._size:
            raise UnreadableBody("The reply cannot be unpacked.") from None
        self._bare, self._unpack = True, zlib.decompressobj(-zlib.MAX_WBITS)
        return data

    def _keep(self, data: bytes) -> bool:
        allowed_data = data[: self._most - self._size]
        self._parts.append(allowed_data)
        self._size += len(allowed_data)
        if len(allowed_data) < len(data) and self._answers:
            raise TooLarge
        return len(allowed_data) == len(data)

    def whole_body(self) -> bytes:
        """Return the body. Raises ``UnreadableBody`` if a compressed answer is cut off."""
        if self._answers and self._begun and self._unpack is not None and not self._unpack.eof:
            # The checksum comes last.
            raise UnreadableBody("The reply was cut short: it cannot be unpacked to its end.")
        return b"".join(self._parts)


async def decompress(encoding: str, status: int, pieces: AsyncIterator[bytes]) -> bytes:
    """Return an answer's decompressed body, up to the limit.

    Raises ``TooLarge`` or ``UnreadableBody``.
    """
    body = Body(encoding, status)
    async for piece in pieces:
        if not body.feed(piece):
            break
    return body.whole_body()


async def whole_answer(response: aiohttp.ClientResponse) -> tuple[int, Mapping[str, str], str]:
    """Return an answer's status, headers (any case) and body, up to the limit."""
    encoding, pieces = response.headers.get("Content-Encoding", ""), response.content.iter_any()
    body = await decompress(encoding, response.status, pieces)
    return response.status, response.headers, body.decode("utf-8", "replace")


# Watch the traffic of litellm's libraries: limited replies, no redirects, original errors.
#
# litellm reaches providers through two kinds of ``httpx`` transport. Both are wrapped once, when it
# is loaded. Requests outside of a ``CallTraffic`` pass through unchanged.

#: Headers that no longer fit a decompressed body, or that litellm would follow.
_DROPPED = {"content-encoding", "content-length", "transfer-encoding", "location"}


class CallTraffic:
    """The traffic of a call: the last request's ``url``, ``fault``, ``status`` and ``headers``.

    >>> CallTraffic().status
    0
    """

    def __init__(self) -> None:
        self.fault: BaseException | None = None
        self.url, self.status = "", 0
        self.headers: Mapping[str, str] = {}

    async def send(self, send: Callable[[Any], Awaitable[Any]], request: Any) -> Any:
        """Return the answer to an ``httpx`` request, up to the limit; sends only once."""
        if self.fault is not None:
            # litellm resends on its own if a connection breaks.
            raise self.fault
        request.headers["accept-encoding"] = ACCEPTED
        self.url = str(request.url)
        try:
            response = await send(request)
            self.status, self.headers = response.status_code, response.headers
            try:
                encoding = response.headers.get("content-encoding", "")
                body = await decompress(encoding, response.status_code, response.stream)
            finally:
                await response.aclose()
        except Exception as error:
            self.fault = error
            raise
        return _plain_response(response, body, request)


def _plain_response(response: Any, body: bytes, request: Any) -> Any:
    import httpx

    headers = [
        (name, value)
        for name, value in response.headers.multi_items()
        if name.lower() not in _DROPPED
    ]
    return httpx.Response(response.status_code, headers=headers, content=body, request=request)


watched: ContextVar[CallTraffic | None] = ContextVar("watched", default=None)


def watch_transports(*kinds: Any) -> None:
    """Make these kinds of ``httpx`` transport send through ``watched``; wrap each only once."""
    for kind in kinds:
        original = kind.handle_async_request
        if not hasattr(original, "watched"):
            kind.handle_async_request = _watched_send(original)


def _watched_send(original: Callable[[Any, Any], Awaitable[Any]]) -> Any:
    @wraps(original)
    async def handle_async_request(transport: Any, request: Any) -> Any:
        watch = watched.get()
        if watch is None:
            return await original(transport, request)
        return await watch.send(lambda sent: original(transport, sent), request)

    handle_async_request.watched = True  # type: ignore[attr-defined]
    return handle_async_request
