"""What a server says of itself: ``/healthz`` to its keeper, ``/metrics`` to Prometheus.

Health is one word and anybody may ask. Figures are for whoever has the token in
``RUBRIC_STUDIO_METRICS_TOKEN``; where none is set, for this machine alone and not through a proxy.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import logging
import re
import secrets
import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from urllib.parse import urlsplit

from core.domain.panel import Judge
from core.errors import RubricStudioError
from core.judging.providers.base import provider_of
from core.services.runs.server import AsgiApp, Message, Receive, Send, is_loopback_host
from core.services.runs.server_log import request_id
from core.store.store import Store

log = logging.getLogger(__name__)
HEALTH, METRICS = "/healthz", "/metrics"
#: Streamlit's own figures are guarded as ours are.
GUARDED = (METRICS, "/_stcore/metrics")
#: With less room than this on the disk of the data file a server is not well.
LEAST_ROOM = 50_000_000
_FORWARDED = {b"forwarded", b"x-forwarded-for", b"x-real-ip", b"x-forwarded-host"}
_REQUEST_ID = re.compile(r"[\w.-]{1,64}", re.ASCII)


class Monitor:
    """The middleware: answers health and metrics itself; gives every other request an id and a line
    in the log.

    Args:
        app: what is asked otherwise.
        store: opens the data file.
        token: who brings it may read the figures; empty: nobody need, from this machine.
        base: the path under which the app is (``server.baseUrlPath``).
        sessions: how many browsers are connected.
    """

    def __init__(
        self,
        app: AsgiApp,
        store: Callable[[], Store],
        token: str = "",
        base: str = "",
        sessions: Callable[[], int] = lambda: 0,
    ) -> None:
        self._app, self._token = app, token
        self._base = f"/{base.strip('/')}" if base.strip("/") else ""
        self._figures, self._store = Figures(store, sessions), store

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request, or let the app answer it."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        path = str(scope.get("path", "")).removeprefix(self._base)
        if scope["type"] == "http" and path == HEALTH:
            await _answer(send, *await asyncio.to_thread(health, self._store))
        elif path in GUARDED and not self._may(scope):
            await _answer(send, 403, "Figures are for who has the token (docs/operating.md).\n")
        elif scope["type"] == "http" and path == METRICS:
            await _answer(send, 200, await asyncio.to_thread(self._figures.text))
        else:
            await self._logged(scope, receive, send)

    def _may(self, scope: Message) -> bool:
        given = {name: said.decode("latin-1") for name, said in scope["headers"]}
        if self._token:
            brought = given.get(b"authorization", "").removeprefix("Bearer ")
            return hmac.compare_digest(brought.encode(), self._token.encode())
        client = scope.get("client") or ("",)
        near = _is_loopback(str(client[0])) and is_loopback_host(given.get(b"host", ""))
        return near and not _FORWARDED & given.keys()

    async def _logged(self, scope: Message, receive: Receive, send: Send) -> None:
        given: dict[bytes, bytes] = dict(scope["headers"])
        brought = given.get(b"x-request-id", b"").decode("latin-1")
        name = brought if _REQUEST_ID.fullmatch(brought) else secrets.token_hex(8)
        began, status = time.monotonic(), 0

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = [*message["headers"], (b"x-request-id", name.encode())]
                message = {**message, "headers": headers}
            await send(message)

        token = request_id.set(name)
        try:
            await self._app(scope, receive, answer)
        finally:
            request_id.reset(token)
            told = {"request": name, "method": scope.get("method", "WEBSOCKET")}
            told |= {"path": scope["path"], "ms": round((time.monotonic() - began) * 1000)}
            log.info("answered", extra={**told, "status": status})


async def _answer(send: Send, status: int, text: str) -> None:
    body = text.encode()
    headers = [
        (b"content-type", b"text/plain; version=0.0.4; charset=utf-8"),
        (b"cache-control", b"no-store"),
        (b"content-length", b"%d" % len(body)),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def health(store: Callable[[], Store]) -> tuple[int, str]:
    """Status and word: whether the data file can be read, and has room to grow."""
    try:
        found = store()
        found.counts()
        room = shutil.disk_usage(found.path.parent).free
    except (RubricStudioError, OSError) as error:
        log.error("The data file is out of reach (%s).", type(error).__name__)
        return 503, "the data file is out of reach\n"
    return (200, "ok\n") if room >= LEAST_ROOM else (503, "the disk is nearly full\n")


class Figures:
    """The figures, in Prometheus' words. Calls are counted on from where they were last."""

    def __init__(self, store: Callable[[], Store], sessions: Callable[[], int]) -> None:
        self._store, self._sessions = store, sessions
        self._lock = threading.Lock()
        self._seen, self._calls = 0, Counter[str]()

    def text(self) -> str:
        """All of them."""
        store = self._store()
        with self._lock:
            self._seen, new = store.runs.calls_after(self._seen)
            for judge, count in new:
                self._calls[_provider(judge)] += count
            calls = dict(self._calls)
        counts = store.counts()
        log_ = store.path.with_name(f"{store.path.name}-wal")
        size = store.path.stat().st_size + (log_.stat().st_size if log_.exists() else 0)
        lines = [
            *_family("runs", "gauge", "Runs, by status.", "status", store.runs.statuses()),
            *_family("votes", "gauge", "Votes kept.", value=counts.votes),
            *_family("failures_open", "gauge", "Open failures.", value=counts.failures_open),
            *_family("calls_total", "counter", "Calls answered, by provider.", "provider", calls),
            *_family("sessions", "gauge", "Browsers connected.", value=self._sessions()),
            *_family("data_file_bytes", "gauge", "The data file and its log.", value=size),
            *_family(
                "disk_free_bytes",
                "gauge",
                "Room on its disk.",
                value=shutil.disk_usage(store.path.parent).free,
            ),
        ]
        return "\n".join(lines) + "\n"


def _provider(judge: Judge) -> str:
    """Whom a judge asks, as somebody who watches the server knows it."""
    return urlsplit(judge.api_base).netloc or provider_of(judge.model) or "openai"


def _family(
    name: str,
    kind: str,
    tells: str,
    label: str = "",
    values: dict[str, int] | None = None,
    value: int = 0,
) -> Iterable[str]:
    full = f"rubric_studio_{name}"
    yield f"# HELP {full} {tells}"
    yield f"# TYPE {full} {kind}"
    if not label:
        yield f"{full} {value}"
    for said, count in sorted((values or {}).items()):
        plain = said.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
        yield f'{full}{{{label}="{plain}"}} {count}'
