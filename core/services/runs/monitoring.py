"""A server's monitoring: ``/healthz`` for supervisors, ``/metrics`` for Prometheus.

Health is public and a single word. Figures need the token in ``RUBRIC_STUDIO_METRICS_TOKEN``.
Without a token, only this machine may read them, and not through a proxy.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import re
import secrets
import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from urllib.parse import urlsplit

from core import clock
from core.domain.panel import Judge
from core.errors import RubricStudioError
from core.judging.known_providers import provider_of
from core.services.access.open_pages import is_loopback
from core.services.runs.server import (
    AsgiApp,
    Message,
    Receive,
    Send,
    address_prefix,
    is_loopback_host,
)
from core.services.runs.server_log import request_id
from core.store.store import Store

log = logging.getLogger(__name__)
Stores = Callable[[], Mapping[str, Store]]
HEALTH, METRICS = "/healthz", "/metrics"
#: Reports whether pages can be served, for a proxy that chooses between app processes.
HEALTH_OF_PAGES = "/healthz/pages"
#: Streamlit's own figures, protected like ours.
GUARDED = (METRICS, "/_stcore/metrics")
#: A server is unhealthy with fewer free bytes of disk than this for its data file.
LEAST_ROOM = 50_000_000
#: A server is unhealthy if runs are due and none has moved for this many seconds.
STILL = 60.0
#: The setting with the time of the last backup.
LAST_BACKUP = "last_backup"
_FORWARDED = {b"forwarded", b"x-forwarded-for", b"x-real-ip", b"x-forwarded-host"}
_REQUEST_ID = re.compile(r"[\w.-]{1,64}", re.ASCII)


class Monitor:
    """The middleware: it answers health and metrics, and gives other requests an id and a log line.

    Args:
        app: handles all other requests.
        stores: opens the data files, by workspace; the key is "" for a single file.
        token: required to read the figures; if empty, any client on this machine may read them.
        base: the path under which the app is (``server.baseUrlPath``).
        sessions: returns the number of connected browsers.
    """

    def __init__(
        self,
        app: AsgiApp,
        stores: Stores,
        token: str = "",
        base: str = "",
        sessions: Callable[[], int] = lambda: 0,
    ) -> None:
        self._app, self._token = app, token
        self._base = address_prefix(base)
        self._watch = StallWatch()
        self._figures, self._stores = Figures(stores, sessions, self._watch), stores

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it to the app."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        path = str(scope.get("path", "")).removeprefix(self._base)
        if scope["type"] == "http" and path == HEALTH:
            await _send_answer(
                send, *await asyncio.to_thread(data_health, self._stores, self._watch)
            )
        elif scope["type"] == "http" and path == HEALTH_OF_PAGES:
            await _send_answer(send, *await asyncio.to_thread(data_health, self._stores))
        elif path in GUARDED and not self._may_read(scope):
            await _send_answer(
                send, 403, "Figures are for who has the token (docs/operating.md).\n"
            )
        elif scope["type"] == "http" and path == METRICS:
            await _send_answer(send, 200, await asyncio.to_thread(self._figures.text))
        else:
            await self._serve_logged(scope, receive, send)

    def _may_read(self, scope: Message) -> bool:
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        if self._token:
            credential = headers.get(b"authorization", "").removeprefix("Bearer ")
            return hmac.compare_digest(credential.encode(), self._token.encode())
        client = scope.get("client") or ("",)
        is_local = is_loopback(str(client[0])) and is_loopback_host(headers.get(b"host", ""))
        return is_local and not _FORWARDED & headers.keys()

    async def _serve_logged(self, scope: Message, receive: Receive, send: Send) -> None:
        request_headers: dict[bytes, bytes] = dict(scope["headers"])
        brought = request_headers.get(b"x-request-id", b"").decode("latin-1")
        name = brought if _REQUEST_ID.fullmatch(brought) else secrets.token_hex(8)
        began, status = time.monotonic(), 0

        async def answer_message(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = [*message["headers"], (b"x-request-id", name.encode())]
                message = {**message, "headers": headers}
            await send(message)

        token = request_id.set(name)
        try:
            await self._app(scope, receive, answer_message)
        finally:
            request_id.reset(token)
            fields = {"request": name, "method": scope.get("method", "WEBSOCKET")}
            fields |= {"path": scope["path"], "ms": round((time.monotonic() - began) * 1000)}
            log.info("answered", extra={**fields, "status": status})


async def _send_answer(send: Send, status: int, text: str) -> None:
    body = text.encode()
    headers = [
        (b"content-type", b"text/plain; version=0.0.4; charset=utf-8"),
        (b"cache-control", b"no-store"),
        (b"content-length", b"%d" % len(body)),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class StallWatch:
    """Tells whether due runs are processed, by the name of each data file.

    A run moves while its lease is renewed: the worker renews it every second, even during long
    calls. A run that waits for its place in the queue moves when others do.
    """

    def __init__(self) -> None:
        self._since: dict[str, float] = {}

    def stalled_seconds(self, name: str, store: Store) -> float:
        """Return how many seconds runs have been due without any moving; 0 is healthy."""
        now, due_at = clock.seconds_now(), store.leases.lease_expiries()
        if not due_at or max(due_at) > now:
            self._since.pop(name, None)
            return 0.0
        # Queued runs count from the first check that saw them; leases count from their end.
        since = self._since.setdefault(name, now)
        return now - (min(since, max(due_at)) if max(due_at) else since)


def last_backup(stores: Iterable[Store]) -> str:
    """Return when the data files were last backed up (the oldest time), or "never"."""
    times = [str(store.settings.get(LAST_BACKUP, "")) for store in stores]
    return min(times, default="") or "never"


def data_health(stores: Stores, watch: StallWatch | None = None) -> tuple[int, str]:
    """Return a status and a word: whether every data file is readable and has space to grow.

    With ``watch``, also check that runs move, and report when the last backup was made.
    """
    try:
        opened = dict(stores())
        for store in opened.values():
            store.counts()
        free_bytes = min(shutil.disk_usage(store.path.parent).free for store in opened.values())
        still = (
            []
            if watch is None
            else [watch.stalled_seconds(name, store) for name, store in opened.items()]
        )
        copied = "" if watch is None else f"last good backup: {last_backup(opened.values())}\n"
    except (RubricStudioError, OSError) as error:
        log.error("A data file is out of reach (%s).", type(error).__name__)
        return 503, "a data file is out of reach\n"
    if free_bytes < LEAST_ROOM:
        return 503, "the disk is nearly full\n"
    if max(still, default=0.0) >= STILL:
        return 503, f"no run moves\n{copied}"
    return 200, f"ok\n{copied}"


class Figures:
    """The figures in Prometheus's format. Each read adds only the calls since the last read."""

    def __init__(self, stores: Stores, sessions: Callable[[], int], watch: StallWatch) -> None:
        self._stores, self._sessions, self._watch = stores, sessions, watch
        self._lock = threading.Lock()
        self._seen, self._calls = Counter[str](), Counter[tuple[str, str]]()

    def text(self) -> str:
        """Return all figures as text."""
        figures = [_Figure("sessions", self._sessions())]
        for workspace, store in self._stores().items():
            named = {"workspace": workspace} if workspace else {}
            figures += [
                replace(figure, labels=named | figure.labels)
                for figure in self._figures_of(workspace, store)
            ]
        lines = list[str]()
        for name, (kind, tells) in FAMILIES.items():
            lines += [f"# HELP {_PREFIX}{name} {tells}", f"# TYPE {_PREFIX}{name} {kind}"]
            lines += [figure.line for figure in figures if figure.name == name]
        return "\n".join(lines) + "\n"

    def _figures_of(self, workspace: str, store: Store) -> Iterable[_Figure]:
        with self._lock:
            self._seen[workspace], new = store.runs.calls_after(self._seen[workspace])
            for judge, count in new:
                self._calls[workspace, _provider_name(judge)] += count
            calls = {
                provider: n
                for (of_workspace, provider), n in self._calls.items()
                if of_workspace == workspace
            }
        counts = store.counts()
        log_file = store.path.with_name(f"{store.path.name}-wal")
        size = store.path.stat().st_size + (log_file.stat().st_size if log_file.exists() else 0)
        for status, count in sorted(store.runs.statuses().items()):
            yield _Figure("runs", count, {"status": status})
        for provider, count in sorted(calls.items()):
            yield _Figure("calls_total", count, {"provider": provider})
        yield _Figure("votes", counts.votes)
        yield _Figure("failures_open", counts.failures_open)
        yield _Figure("calls_out", store.runs.calls_out())
        yield _Figure("still_seconds", round(self._watch.stalled_seconds(workspace, store)))
        yield _Figure("last_call_seconds", _unix_seconds(store.runs.last_call()))
        yield _Figure(
            "last_backup_seconds", _unix_seconds(str(store.settings.get(LAST_BACKUP, "")))
        )
        yield _Figure("data_file_bytes", size)
        yield _Figure("disk_free_bytes", shutil.disk_usage(store.path.parent).free)


_PREFIX = "rubric_studio_"
#: Each figure's kind and description.
FAMILIES = {
    "runs": ("gauge", "Runs, by status."),
    "votes": ("gauge", "Votes kept."),
    "failures_open": ("gauge", "Open failures."),
    "calls_total": ("counter", "Calls answered, by provider."),
    "calls_out": ("gauge", "Calls of runs that are out, or not recorded yet."),
    "still_seconds": ("gauge", "Seconds for which runs are due and none moves; 0 where one does."),
    "last_call_seconds": ("gauge", "When a call was last recorded (Unix time); 0: never."),
    "last_backup_seconds": ("gauge", "When the last good backup was made (Unix time); 0: never."),
    "sessions": ("gauge", "Browsers connected."),
    "data_file_bytes": ("gauge", "The data file and its log."),
    "disk_free_bytes": ("gauge", "Room on its disk."),
}


@dataclass(frozen=True)
class _Figure:
    """One figure with its labels."""

    name: str
    value: int
    labels: dict[str, str] = field(default_factory=dict)

    @property
    def line(self) -> str:
        """Return the figure as a line for Prometheus."""
        labels = ",".join(f'{name}="{_escape_label(value)}"' for name, value in self.labels.items())
        return f"{_PREFIX}{self.name}{f'{{{labels}}}' if labels else ''} {self.value}"


def _escape_label(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")


def _unix_seconds(timestamp: str) -> int:
    return round(datetime.fromisoformat(timestamp).timestamp()) if timestamp else 0


def _provider_name(judge: Judge) -> str:
    """Return a judge's provider, named as operators know it."""
    return urlsplit(judge.api_base).netloc or provider_of(judge.model) or "openai"
