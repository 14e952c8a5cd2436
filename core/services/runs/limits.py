"""How much a server takes in at once: open pages, and files that are left on them.

Streamlit limits the size of one file (``server.maxUploadSize``) and holds them all in memory for as
long as a page is open; nothing limits how many there are, or how many pages.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from core.services.runs.server import AsgiApp, Message, Receive, Send

#: Bytes of the files on one open page, and on all of them together.
ON_ONE_PAGE, IN_ALL = 200_000_000, 1_000_000_000
_UPLOAD = re.compile(r"/_stcore/upload_file/([^/]+)/[^/]+$")
_FULL = (
    "This server has as many open pages as it can serve ({most}). Close one that you do not need, "
    "or try again in a few minutes.\n"
)
_TOO_MUCH = (
    "{whose} hold {now:,} MB of files, and together they may hold {most:,} MB. Remove one, or "
    "reload the page, and try again.\n"
)
_NO_LENGTH = "This file does not say how large it is.\n"


class Limits:
    """The middleware: 503 for a page too many, 413 for a file too many, each with a sentence.

    Args:
        app: what is asked otherwise.
        sessions: how many pages are open.
        uploaded: how many bytes of files the page of a session holds, and all pages together.
        most: so many pages may be open.
    """

    def __init__(
        self,
        app: AsgiApp,
        sessions: Callable[[], int],
        uploaded: Callable[[str], tuple[int, int]],
        most: int,
    ) -> None:
        self._app, self._sessions, self._uploaded, self._most = app, sessions, uploaded, most

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request, or let the app answer it."""
        status, words = self._refused(scope)
        if not words:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1013})
        else:
            body = words.encode()
            headers = [
                (b"content-type", b"text/plain; charset=utf-8"),
                (b"content-length", b"%d" % len(body)),
                (b"retry-after", b"60"),
            ]
            await send({"type": "http.response.start", "status": status, "headers": headers})
            await send({"type": "http.response.body", "body": body})

    def _refused(self, scope: Message) -> tuple[int, str]:
        """Status and words; none where it is let in."""
        if scope["type"] not in ("http", "websocket"):
            return 0, ""
        given: dict[bytes, bytes] = dict(scope["headers"])
        page = scope["type"] == "websocket" or (
            scope["method"] == "GET" and b"text/html" in given.get(b"accept", b"")
        )
        if page and self._sessions() >= self._most:
            return 503, _FULL.format(most=self._most)
        found = _UPLOAD.search(str(scope.get("path", "")))
        if found and scope.get("method") == "PUT":
            return self._file(found[1], given.get(b"content-length", b""))
        return 0, ""

    def _file(self, session: str, length: bytes) -> tuple[int, str]:
        if not length.isdigit():
            return 411, _NO_LENGTH
        here, everywhere = self._uploaded(session)
        for whose, now, most in (
            ("The files on this page", here, ON_ONE_PAGE),
            ("All open pages", everywhere, IN_ALL),
        ):
            if now + int(length) > most:
                return 413, _TOO_MUCH.format(
                    whose=whose, now=now // 1_000_000, most=most // 1_000_000
                )
        return 0, ""
