"""Limit the load of a server: open pages, sign-in requests, files uploaded to pages.

Streamlit limits the size of one file (``server.maxUploadSize``) and keeps all files in memory while
a page is open. It does not limit the number of files or pages.
"""

from __future__ import annotations

import asyncio
import html
import re
import time
from collections import defaultdict
from collections.abc import Callable

from core.services.access.open_pages import (
    SLOWLY,
    STEPS_A_MINUTE,
    OpenPages,
    RateLimit,
    Visit,
    network_of,
)
from core.services.runs.server import AsgiApp, Message, Receive, Send

#: Bytes allowed in files on one open page, and on all pages together.
ON_ONE_PAGE, IN_ALL = 200_000_000, 1_000_000_000
#: Seconds that a page stays open without a sign-in, and seconds between checks of the sign-in.
LIFE, LOOK = 120.0, 60.0
#: Seconds after which a rejected request may be repeated.
AGAIN = 60
_UPLOAD = re.compile(r"/_stcore/upload_file/([^/]+)/[^/]+$")
_SIGN_IN = re.compile(r"/(auth/login|auth/logout|oauth2callback)/?$")
_PAGE = (
    '<!doctype html><html lang="en"><meta name="viewport" content="width=device-width">'
    '<title>Rubric Studio</title><body style="font: 1.1em sans-serif; margin: 3em">{}</body></html>'
)
_TOO_MUCH = (
    "{whose} hold {now:,} MB of files; the limit is {most:,} MB. Remove a file, or reload the "
    "page, and try again."
)
_NO_LENGTH = "This file does not say how large it is."
#: Returns the user of these cookies, as in `Visit`.
Who = Callable[[str], str | None]


class Limits:
    """The middleware: it rejects too many pages (503), sign-ins that come too fast (429) and too
    many files (413), each with a sentence. It closes a page without a sign-in after a while.

    Args:
        app: handles all other requests.
        pages: the open pages.
        uploaded: returns the bytes of files on a session's page, and on all pages together.
        who: returns the user of these cookies.
        sign_in: returns the address of a sign-in that needs no open page, or an empty string.
        life: the seconds that a page stays open without a sign-in.
        look: the seconds between checks of a sign-in.
    """

    def __init__(
        self,
        app: AsgiApp,
        pages: OpenPages,
        uploaded: Callable[[str], tuple[int, int]],
        who: Who = lambda cookies: "",
        sign_in: Callable[[], str] = lambda: "",
        life: float = LIFE,
        look: float = LOOK,
    ) -> None:
        self._app, self._pages, self._uploaded = app, pages, uploaded
        self._who, self._sign_in, self._life, self._look = who, sign_in, life, look
        self._steps = defaultdict[str, RateLimit](lambda: RateLimit(*STEPS_A_MINUTE))

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it to the app."""
        if scope["type"] == "websocket":
            await self._serve_page(scope, receive, send)
            return
        status, message = await self._refusal(scope) if scope["type"] == "http" else (0, "")
        if message:
            await _send_answer(send, status, message)
        else:
            await self._app(scope, receive, send)

    async def _refusal(self, scope: Message) -> tuple[int, str]:
        """Return a status and a message; the message is empty if the request may pass."""
        path = str(scope.get("path", ""))
        if match := _SIGN_IN.search(path):
            slow = self._steps[match[1]].take(_client_network(scope), time.monotonic())
            return (0, "") if slow else (429, SLOWLY)
        headers: dict[bytes, bytes] = dict(scope["headers"])
        if scope["method"] == "GET" and b"text/html" in headers.get(b"accept", b""):
            who, network = await self._visit_of(scope)
            reason = self._pages.why_not((who, network))
            return (503, self._small_page(reason, who)) if reason else (0, "")
        match = _UPLOAD.search(path)
        if match and scope.get("method") == "PUT":
            return self._refusal_of_file(match[1], headers.get(b"content-length", b""))
        return 0, ""

    async def _visit_of(self, scope: Message) -> Visit:
        # Reading the members opens a data file, so it runs in a thread.
        user = await asyncio.to_thread(self._who, _cookie_text(scope))
        return user, _client_network(scope)

    def _small_page(self, words: str, who: str | None) -> str:
        """Return a sentence as a small page, with a sign-in link for anonymous visitors."""
        sign_in_url = self._sign_in() if who is None else ""
        link = f'<p><a href="{html.escape(sign_in_url)}">Log in</a></p>' if sign_in_url else ""
        return _PAGE.format(f"<p>{html.escape(words)}</p>{link}")

    async def _serve_page(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve an open page until it must close."""
        visit = await self._visit_of(scope)
        who, _ = visit
        if self._pages.enter(visit, time.monotonic()):
            # The page shows the reason. Uvicorn logs any other response as an error.
            await send({"type": "websocket.close", "code": 1013})
            return
        ended = False
        loop = asyncio.get_running_loop()
        until = loop.time() + (self._life if who is None else self._look)

        async def receive_until_ended() -> Message:
            nonlocal ended, until
            while not ended:
                if loop.time() < until:
                    try:
                        async with asyncio.timeout_at(until):
                            return await receive()
                    except TimeoutError:
                        pass
                elif who is not None and (await self._visit_of(scope))[0] == who:
                    until = loop.time() + self._look
                else:
                    ended = True
                    await send({"type": "websocket.close", "code": 1013})
            return {"type": "websocket.disconnect", "code": 1013}

        async def send_unless_ended(message: Message) -> None:
            if not ended:
                await send(message)

        try:
            await self._app(scope, receive_until_ended, send_unless_ended)
        finally:
            self._pages.leave(visit)

    def _refusal_of_file(self, session: str, length: bytes) -> tuple[int, str]:
        if not length.isdigit():
            return 411, _NO_LENGTH
        page, all_pages = self._uploaded(session)
        for holder, used, most in (
            ("The files on this page", page, ON_ONE_PAGE),
            ("All open pages", all_pages, IN_ALL),
        ):
            if used + int(length) > most:
                return 413, _TOO_MUCH.format(
                    whose=holder, now=used // 1_000_000, most=most // 1_000_000
                )
        return 0, ""


def _cookie_text(scope: Message) -> str:
    return "; ".join(
        value.decode("latin-1") for name, value in scope["headers"] if name == b"cookie"
    )


def _client_network(scope: Message) -> str:
    """Return the client's network. Only a trusted proxy (``FORWARDED_ALLOW_IPS``) may name a client
    other than the one that connects.
    """
    return network_of(str((scope.get("client") or ("",))[0]))


async def _send_answer(send: Send, status: int, text: str) -> None:
    body, retry_seconds = f"{text}\n".encode(), str(AGAIN).encode()
    kind, more = b"text/plain", list[tuple[bytes, bytes]]()
    if status == 503:
        # Send a page that the browser reloads.
        kind, more = b"text/html", [(b"refresh", retry_seconds)]
    headers = [
        (b"content-type", kind + b"; charset=utf-8"),
        (b"content-length", b"%d" % len(body)),
        (b"retry-after", retry_seconds),
        *more,
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
