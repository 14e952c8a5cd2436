"""The app's server: who may talk to it, and what its pages may load."""

from __future__ import annotations

import base64
import hashlib
import ipaddress
import os
import re
import socket
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit

from core.errors import InputError
from core.services.access.open_pages import is_loopback
from core.settings import FILES, Settings, own_environment, own_python


def serve(settings: Settings, port: int, host: str = "127.0.0.1", base_path: str = "") -> NoReturn:
    """Becomes the app's server; only this machine reaches it unless ``host`` says otherwise.

    It answers to the names of where it listens and to `settings.hosts` (`guarding`); with a
    ``base_path`` its pages are below that, as a proxy that shares a name passes it on.

    Raises:
        InputError: other machines could reach it, and nobody would have to sign in.
    """
    if settings.access is None and not settings.open and not _is_loopback(host.lower()):
        raise InputError(
            f"On {host} other machines reach this app, and it asks nobody to sign in. Give it a "
            "configuration with [access] (docs/access.md), or say --open if everybody who reaches "
            "it may use it."
        )
    environment = {
        **own_environment(),
        "RUBRIC_STUDIO_DB": str(settings.db),
        "RUBRIC_STUDIO_HOSTS": ",".join(settings.hosts),
        "RUBRIC_STUDIO_OPEN": "1" if settings.open else "",
    }
    # A login's secrets may lie where the app was started; Streamlit's settings are ours alone.
    homes = dict.fromkeys([Path.home(), FILES, Path.cwd()])
    secrets = [str(home / ".streamlit" / "secrets.toml") for home in homes]
    os.chdir(FILES)  # Streamlit reads .streamlit/config.toml from the working directory
    arguments = [
        *own_python("streamlit", "run", str(FILES / "app.py")),
        *(f"--server.port={port}", f"--server.address={host}"),
        *([f"--server.baseUrlPath={base_path.strip('/')}"] if base_path.strip("/") else []),
        # Streamlit has a check of its own, which knows nothing of a proxy that asks by the address.
        *(f"--server.corsAllowedOrigins=https://{name}" for name in settings.hosts),
        *(f"--secrets.files={path}" for path in secrets),
    ]
    os.execve(sys.executable, arguments, environment)


# Who may talk to the app's server, and what its pages may load.
#
# A page of somebody else can make a browser ask this server: by a name that it has point here (DNS
# rebinding), or from another port of this machine. So every request must name this server, and one
# that says where it comes from must come from this server's own pages. No name can be made to look
# like an address: where the server listens for other machines, addresses are let in as they are.

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
AsgiApp = Callable[[Message, Receive, Send], Awaitable[None]]

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_FORWARDED = {"forwarded", "x-forwarded-for", "x-real-ip", "x-forwarded-host"}
_INLINE = re.compile(rb"<script>(.*?)</script>", re.DOTALL)
#: Where files of pages are fetched and left: pictures, downloads, uploads.
#: (Streamlit's own fonts are below `/static/media/`, and for everybody.)
FILES_OF_PAGES = re.compile(r"(?<!/static)/media/|/_stcore/upload_file/")
NO_MEMBER = b"This file is for somebody else, or you are not signed in.\n"
REFUSED = b"This server does not answer to that name or from that place (see --allow-host).\n"


class Hosts:
    """The names by which a server may be asked.

    Args:
        address: what it listens on; empty means on everything.
        further: names that whoever starts it allows, such as that of a proxy before it.
    """

    def __init__(self, address: str, further: Iterable[str] = ()) -> None:
        address = address.strip("[]").lower()
        self.further = frozenset(name.strip().lower() for name in further if name.strip())
        self.open = address in ("", "0.0.0.0", "::")
        self.names = self.further | LOOPBACK | ({address} if address else set())
        if not _is_loopback(address):
            here = socket.gethostname().lower()
            self.names |= {here, f"{here}.local", socket.getfqdn().lower()}

    def may(self, host: str | None, origin: str | None) -> bool:
        """Whether a request with these headers is for this server, and from its own pages."""
        name = _name(f"//{host}") if host else None
        if host is None or name is None:
            return False
        if name not in self.names and not (self.open and _is_address(name)):
            return False
        if origin is None:
            return True  # no browser, or a browser that follows a link
        return _place(origin) == host.lower() or _name(origin) in self.further


def below(base: str) -> str:
    """The path that an app is below, as addresses begin with it; empty: below none.

    >>> below("tools/studio/"), below("/")
    ('/tools/studio', '')
    """
    return f"/{base.strip('/')}" if base.strip("/") else ""


class Guard:
    """The middleware: 403 for whom `hosts` does not let in; headers on everything else.

    `member` says from a Cookie header and a path whether that file of a page may be fetched, or
    left there. `secure`: browsers come by https, and keep cookies for that alone. `base`: the path
    under which the app is (``server.baseUrlPath``).
    """

    def __init__(
        self,
        app: AsgiApp,
        hosts: Hosts,
        headers: dict[str, str],
        member: Callable[[str, str], bool] = lambda cookies, path: True,
        secure: bool = False,
        base: str = "",
    ) -> None:
        self._base = below(base)
        self._app, self._hosts, self._member, self._secure = app, hosts, member, secure
        self._headers = {
            name.lower().encode(): said.encode("latin-1") for name, said in headers.items()
        }

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request, or let the app answer it."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        given = [(name, said.decode("latin-1")) for name, said in scope["headers"]]
        hosts = [said for name, said in given if name == b"host"]
        origins = [said for name, said in given if name == b"origin"] or [None]
        if len(hosts) != 1 or not all(self._hosts.may(hosts[0], one) for one in origins):
            await _refuse(scope["type"], send, REFUSED)
            return
        path = str(scope.get("path", "")).removeprefix(self._base)
        if FILES_OF_PAGES.search(f"{path}/"):
            cookies = "; ".join(said for name, said in given if name == b"cookie")
            if not self._member(cookies, path):
                await _refuse(scope["type"], send, NO_MEMBER)
                return

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                kept = [pair for pair in message["headers"] if pair[0].lower() not in self._headers]
                kept = [_for_tls(*pair) for pair in kept] if self._secure else kept
                message = {**message, "headers": [*kept, *self._headers.items()]}
            await send(message)

        await self._app(scope, receive, answer)


def _for_tls(name: bytes, said: bytes) -> tuple[bytes, bytes]:
    """A header; of a cookie with the mark that it is sent by https only."""
    lacks = name.lower() == b"set-cookie" and b"; secure" not in said.lower()
    return name, said + b"; Secure" if lacks else said


async def _refuse(kind: str, send: Send, words: bytes) -> None:
    if kind == "websocket":
        await send({"type": "websocket.close", "code": 1008})  # before it was accepted: 403
        return
    headers = [(b"content-type", b"text/plain"), (b"content-length", b"%d" % len(words))]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": words})


def headers(index: bytes) -> dict[str, str]:
    """The headers of every answer; ``index`` is the page that Streamlit starts from.

    Its few inline scripts are let in by their hashes, and no other is. Styles are inline in all
    of Streamlit. Parts of ours that run in the browser arrive as text and are loaded as blobs;
    protobuf compiles WebAssembly. No text is ever evaluated as a script.
    """
    inline = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(code).digest()).decode()}'"
        for code in _INLINE.findall(index)
    )
    policy = {
        "default-src": "'self'",
        "script-src": f"'self' blob: 'wasm-unsafe-eval' {inline}".strip(),
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "media-src": "'self' data: blob:",
        "connect-src": "'self'",
        "worker-src": "'self' blob:",
        "frame-src": "'self' blob:",
        "object-src": "'none'",
        "base-uri": "'self'",
        "form-action": "'self'",
        "frame-ancestors": "'self'",
    }
    return {
        "Content-Security-Policy": "; ".join(f"{what} {said}" for what, said in policy.items()),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "same-origin",
    }


def _name(url: str) -> str | None:
    """The host that a URL names, without its port."""
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises where it is no number
    except ValueError:
        return None
    if parts.username is not None or parts.password is not None or parts.hostname is None:
        return None
    return parts.hostname.rstrip(".")


def is_loopback_host(host: str) -> bool:
    """Whether a Host header names this machine as only this machine can.

    >>> is_loopback_host("localhost:8501"), is_loopback_host("studio.example.org")
    (True, False)
    """
    return _name(f"//{host}") in LOOPBACK


def from_this_machine(headers: Mapping[str, str], address: object) -> bool:
    """Whether a browser is on this machine, and asks this machine and no proxy before it.

    ``address`` is where it asks from; Streamlit gives no text for this machine's own.
    """
    host = headers.get("Host")
    forwarded = any(name.lower() in _FORWARDED for name in headers)
    near = host is None or is_loopback_host(host)
    return near and not forwarded and not isinstance(address, str)


def _place(origin: str) -> str | None:
    """Host and port of an origin, as a Host header has them."""
    return urlsplit(origin).netloc.lower() if _name(origin) else None


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _is_loopback(address: str) -> bool:
    return address == "localhost" or is_loopback(address)
