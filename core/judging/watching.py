"""A watch over what litellm's libraries send: bounded replies, no redirects, faults as they were.

litellm reaches providers through two kinds of ``httpx`` transport. Both are wrapped, once, when it
is loaded; what is sent outside of a ``Watch`` goes through untouched.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from functools import wraps
from typing import Any

from core.judging.bounded import ACCEPTED, Body, TooLarge, bound_for

#: Headers that do not fit a body that is unpacked already, or that would be followed.
_DROPPED = {"content-encoding", "content-length", "transfer-encoding", "location"}


class Watch:
    """What one call sends. ``fault`` is what broke the last request, ``status`` the last answer's.

    >>> Watch().status
    0
    """

    def __init__(self) -> None:
        self.fault: BaseException | None = None
        self.status = 0

    async def send(self, send: Callable[[Any], Awaitable[Any]], request: Any) -> Any:
        """The answer to an ``httpx`` request, read up to the bound; what broke is not resent."""
        if self.fault is not None:
            # litellm sends again by itself where a connection broke.
            raise self.fault
        request.headers["accept-encoding"] = ACCEPTED
        try:
            response = await send(request)
            self.status = response.status_code
            try:
                body = await _read(response)
            finally:
                await response.aclose()
        except Exception as error:
            self.fault = error
            raise
        return _plain(response, body, request)


async def _read(response: Any) -> bytes:
    body = Body(response.headers.get("content-encoding", ""), bound_for(response.status_code))
    try:
        async for piece in response.stream:
            body.feed(piece)
    except TooLarge:
        if response.status_code == 200:
            raise
    return body.whole()


def _plain(response: Any, body: bytes, request: Any) -> Any:
    import httpx

    headers = [
        (name, value)
        for name, value in response.headers.multi_items()
        if name.lower() not in _DROPPED
    ]
    return httpx.Response(response.status_code, headers=headers, content=body, request=request)


watched: ContextVar[Watch | None] = ContextVar("watched", default=None)


def watch_transports(*kinds: Any) -> None:
    """Wrap these kinds of ``httpx`` transport, once."""
    for kind in kinds:
        own = kind.handle_async_request
        if not hasattr(own, "watched"):
            kind.handle_async_request = _watching(own)


def _watching(own: Callable[[Any, Any], Awaitable[Any]]) -> Any:
    @wraps(own)
    async def handle_async_request(transport: Any, request: Any) -> Any:
        watch = watched.get()
        if watch is None:
            return await own(transport, request)
        return await watch.send(lambda sent: own(transport, sent), request)

    handle_async_request.watched = True  # type: ignore[attr-defined]
    return handle_async_request
