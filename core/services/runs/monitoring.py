"""What a server says of itself: ``/healthz`` to its keeper, ``/metrics`` to Prometheus.

Health is one word and anybody may ask. Figures are for whoever has the token in
``RUBRIC_STUDIO_METRICS_TOKEN``; where none is set, for this machine alone and not through a proxy.
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
from core.services.runs.server import AsgiApp, Message, Receive, Send, below, is_loopback_host
from core.services.runs.server_log import request_id
from core.store.store import Store

log = logging.getLogger(__name__)
Stores = Callable[[], Mapping[str, Store]]
HEALTH, METRICS = "/healthz", "/metrics"
#: Whether pages can be served: what a proxy asks that chooses between app processes.
HEALTH_OF_PAGES = "/healthz/pages"
#: Streamlit's own figures are guarded as ours are.
GUARDED = (METRICS, "/_stcore/metrics")
#: With less room than this on the disk of the data file a server is not well.
LEAST_ROOM = 50_000_000
#: Where runs are due and nobody moved one for so many seconds, work does not go on by itself.
STILL = 60.0
#: Where the data file says when it was last copied.
LAST_BACKUP = "last_backup"
_FORWARDED = {b"forwarded", b"x-forwarded-for", b"x-real-ip", b"x-forwarded-host"}
_REQUEST_ID = re.compile(r"[\w.-]{1,64}", re.ASCII)


class Monitor:
    """The middleware: answers health and metrics itself; gives every other request an id and a line
    in the log.

    Args:
        app: what is asked otherwise.
        stores: opens the data files, by their workspaces; "" where there is one for all.
        token: who brings it may read the figures; empty: nobody need, from this machine.
        base: the path under which the app is (``server.baseUrlPath``).
        sessions: how many browsers are connected.
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
        self._base = below(base)
        self._moving = Moving()
        self._figures, self._stores = Figures(stores, sessions, self._moving), stores

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request, or let the app answer it."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        path = str(scope.get("path", "")).removeprefix(self._base)
        if scope["type"] == "http" and path == HEALTH:
            await _answer(send, *await asyncio.to_thread(health, self._stores, self._moving))
        elif scope["type"] == "http" and path == HEALTH_OF_PAGES:
            await _answer(send, *await asyncio.to_thread(health, self._stores))
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
        near = is_loopback(str(client[0])) and is_loopback_host(given.get(b"host", ""))
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


class Moving:
    """Whether runs that are due are moved by anybody; each data file is looked at by its name.

    A run moves as long as its lease does: whoever holds it looks at it every second, however long
    its calls take. A run that waits for a place among others is moved when they are.
    """

    def __init__(self) -> None:
        self._since: dict[str, float] = {}

    def still(self, name: str, store: Store) -> float:
        """For how many seconds runs are due in a data file and none moves; 0: all is well."""
        now, held = clock.at(), store.leases.due()
        if not held or max(held) > now:
            self._since.pop(name, None)
            return 0.0
        # That nobody takes up what waits is known since somebody looked; of a lease, when it ended.
        since = self._since.setdefault(name, now)
        return now - (min(since, max(held)) if max(held) else since)


def last_backup(stores: Iterable[Store]) -> str:
    """When the data file was last copied, of several the one whose copy is oldest; or never."""
    found = [str(one.settings.get(LAST_BACKUP, "")) for one in stores]
    return min(found, default="") or "never"


def health(stores: Stores, moving: Moving | None = None) -> tuple[int, str]:
    """Status and word: whether every data file can be read, and has room to grow; and, with
    ``moving``, whether runs move, and when the last copy was made.
    """
    try:
        found = dict(stores())
        for one in found.values():
            one.counts()
        room = min(shutil.disk_usage(one.path.parent).free for one in found.values())
        still = [] if moving is None else [moving.still(name, one) for name, one in found.items()]
        copied = "" if moving is None else f"last good backup: {last_backup(found.values())}\n"
    except (RubricStudioError, OSError) as error:
        log.error("A data file is out of reach (%s).", type(error).__name__)
        return 503, "a data file is out of reach\n"
    if room < LEAST_ROOM:
        return 503, "the disk is nearly full\n"
    if max(still, default=0.0) >= STILL:
        return 503, f"no run moves\n{copied}"
    return 200, f"ok\n{copied}"


class Figures:
    """The figures, in Prometheus' words. Calls are counted on from where they were last."""

    def __init__(self, stores: Stores, sessions: Callable[[], int], moving: Moving) -> None:
        self._stores, self._sessions, self._moving = stores, sessions, moving
        self._lock = threading.Lock()
        self._seen, self._calls = Counter[str](), Counter[tuple[str, str]]()

    def text(self) -> str:
        """All of them."""
        found = [_Figure("sessions", self._sessions())]
        for workspace, store in self._stores().items():
            named = {"workspace": workspace} if workspace else {}
            found += [replace(one, labels=named | one.labels) for one in self._of(workspace, store)]
        lines = list[str]()
        for name, (kind, tells) in FAMILIES.items():
            lines += [f"# HELP {_PREFIX}{name} {tells}", f"# TYPE {_PREFIX}{name} {kind}"]
            lines += [one.line for one in found if one.name == name]
        return "\n".join(lines) + "\n"

    def _of(self, workspace: str, store: Store) -> Iterable[_Figure]:
        with self._lock:
            self._seen[workspace], new = store.runs.calls_after(self._seen[workspace])
            for judge, count in new:
                self._calls[workspace, _provider(judge)] += count
            calls = {who: n for (where, who), n in self._calls.items() if where == workspace}
        counts = store.counts()
        log_file = store.path.with_name(f"{store.path.name}-wal")
        size = store.path.stat().st_size + (log_file.stat().st_size if log_file.exists() else 0)
        for status, count in sorted(store.runs.statuses().items()):
            yield _Figure("runs", count, {"status": status})
        for who, count in sorted(calls.items()):
            yield _Figure("calls_total", count, {"provider": who})
        yield _Figure("votes", counts.votes)
        yield _Figure("failures_open", counts.failures_open)
        yield _Figure("calls_out", store.runs.calls_out())
        yield _Figure("still_seconds", round(self._moving.still(workspace, store)))
        yield _Figure("last_call_seconds", _unix(store.runs.last_call()))
        yield _Figure("last_backup_seconds", _unix(str(store.settings.get(LAST_BACKUP, ""))))
        yield _Figure("data_file_bytes", size)
        yield _Figure("disk_free_bytes", shutil.disk_usage(store.path.parent).free)


_PREFIX = "rubric_studio_"
#: What is told: its kind, and what it is.
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
    """One figure."""

    name: str
    value: int
    labels: dict[str, str] = field(default_factory=dict)

    @property
    def line(self) -> str:
        """As Prometheus reads it."""
        told = ",".join(f'{name}="{_escaped(said)}"' for name, said in self.labels.items())
        return f"{_PREFIX}{self.name}{f'{{{told}}}' if told else ''} {self.value}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")


def _unix(when: str) -> int:
    return round(datetime.fromisoformat(when).timestamp()) if when else 0


def _provider(judge: Judge) -> str:
    """Whom a judge asks, as somebody who watches the server knows it."""
    return urlsplit(judge.api_base).netloc or provider_of(judge.model) or "openai"
