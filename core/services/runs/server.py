"""The app's server: which clients may connect, and what its pages may load."""

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


def serve_app(
    settings: Settings, port: int, host: str = "127.0.0.1", base_path: str = ""
) -> NoReturn:
    """Replace this process with the app's server, for this machine unless ``host`` says otherwise.

    It accepts the names of its own addresses, and `settings.hosts` (`guarding`). With a
    ``base_path``, its pages are below that path, for a proxy that serves other sites too.

    Raises:
        InputError: other machines could reach it without a sign-in.
    """
    if settings.access is None and not settings.open and not _is_loopback(host.lower()):
        raise InputError(
            f"On {host} other machines reach this app, and sign-in is off. Give it a "
            "configuration with [access] (docs/access.md), or say --open if everyone who can "
            "reach it may use it."
        )
    environment = {
        **own_environment(),
        "RUBRIC_STUDIO_DB": str(settings.db),
        "RUBRIC_STUDIO_HOSTS": ",".join(settings.hosts),
        "RUBRIC_STUDIO_OPEN": "1" if settings.open else "",
    }
    # Sign-in secrets may be in the folder where the app was started; Streamlit's settings are ours.
    homes = dict.fromkeys([Path.home(), FILES, Path.cwd()])
    secrets = [str(home / ".streamlit" / "secrets.toml") for home in homes]
    os.chdir(FILES)  # Streamlit reads .streamlit/config.toml from the working directory
    arguments = [
        *own_python("streamlit", "run", str(FILES / "app.py")),
        *(f"--server.port={port}", f"--server.address={host}"),
        *([f"--server.baseUrlPath={base_path.strip('/')}"] if base_path.strip("/") else []),
        # Behind a proxy that connects to the IP address, Streamlit does not recognise the public
        # host name as its own.
        *(f"--server.corsAllowedOrigins=https://{name}" for name in settings.hosts),
        *(f"--secrets.files={path}" for path in secrets),
    ]
    os.execve(sys.executable, arguments, environment)


# Which clients may use the app's server, and what its pages may load.
#
# A foreign page can make a browser send requests here: by a name that it points here (DNS
# rebinding), or from another port of this machine. So every request must name this server, and a
# request with an origin must come from this server's own pages. A name cannot imitate an address,
# so a server that listens for other machines accepts addresses as they are.

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
AsgiApp = Callable[[Message, Receive, Send], Awaitable[None]]

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_FORWARDED = {"forwarded", "x-forwarded-for", "x-real-ip", "x-forwarded-host"}
_INLINE = re.compile(rb"<script>(.*?)</script>", re.DOTALL)
#: The paths of pages' files: pictures, downloads, uploads.
#: (Streamlit's own fonts are below `/static/media/`, and public.)
FILES_OF_PAGES = re.compile(r"(?<!/static)/media/|/_stcore/upload_file/")
NO_MEMBER = b"This file is for somebody else, or you are not signed in.\n"
REFUSED = b"This server does not answer to that name or from that place (see --allow-host).\n"


class Hosts:
    """The names by which clients may call a server.

    Args:
        address: the address it listens on; empty means all.
        further: other allowed names, such as that of a proxy.
    """

    def __init__(self, address: str, further: Iterable[str] = ()) -> None:
        address = address.strip("[]").lower()
        self.further = frozenset(name.strip().lower() for name in further if name.strip())
        self.open = address in ("", "0.0.0.0", "::")
        self.names = self.further | LOOPBACK | ({address} if address else set())
        if not _is_loopback(address):
            hostname = socket.gethostname().lower()
            self.names |= {hostname, f"{hostname}.local", socket.getfqdn().lower()}

    def is_own_request(self, host: str | None, origin: str | None) -> bool:
        """Return whether a request names this server and comes from its own pages."""
        name = _host_of_url(f"//{host}") if host else None
        if host is None or name is None:
            return False
        if name not in self.names and not (self.open and _is_address(name)):
            return False
        if origin is None:
            return True  # The client is not a browser, or its browser follows a link.
        return _host_and_port(origin) == host.lower() or _host_of_url(origin) in self.further


def address_prefix(base: str) -> str:
    """Return the prefix of an app's addresses for its base path; an empty string for none.

    >>> address_prefix("tools/studio/"), address_prefix("/")
    ('/tools/studio', '')
    """
    return f"/{base.strip('/')}" if base.strip("/") else ""


class Guard:
    """The middleware: 403 for clients that `hosts` refuses; security headers on everything else.

    `member` decides from a Cookie header and a path whether a page's file may be read or uploaded.
    `secure`: browsers use https, and cookies are restricted to it. `base`: the path under which
    the app is (``server.baseUrlPath``).
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
        self._base = address_prefix(base)
        self._app, self._hosts, self._member, self._secure = app, hosts, member, secure
        self._headers = {
            name.lower().encode(): value.encode("latin-1") for name, value in headers.items()
        }

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it to the app."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = [(name, value.decode("latin-1")) for name, value in scope["headers"]]
        hosts = [value for name, value in headers if name == b"host"]
        origins = [value for name, value in headers if name == b"origin"] or [None]
        if len(hosts) != 1 or not all(
            self._hosts.is_own_request(hosts[0], origin) for origin in origins
        ):
            await _send_refusal(scope["type"], send, REFUSED)
            return
        path = str(scope.get("path", "")).removeprefix(self._base)
        if FILES_OF_PAGES.search(f"{path}/"):
            cookies = "; ".join(value for name, value in headers if name == b"cookie")
            if not self._member(cookies, path):
                await _send_refusal(scope["type"], send, NO_MEMBER)
                return

        async def answer_message(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [
                    pair for pair in message["headers"] if pair[0].lower() not in self._headers
                ]
                headers = [_header_for_tls(*pair) for pair in headers] if self._secure else headers
                message = {**message, "headers": [*headers, *self._headers.items()]}
            await send(message)

        await self._app(scope, receive, answer_message)


def _header_for_tls(name: bytes, value: bytes) -> tuple[bytes, bytes]:
    """Return the header; cookies are restricted to https."""
    needs_secure = name.lower() == b"set-cookie" and b"; secure" not in value.lower()
    return name, value + b"; Secure" if needs_secure else value


async def _send_refusal(kind: str, send: Send, text: bytes) -> None:
    if kind == "websocket":
        # Closing a socket before it is accepted answers 403.
        await send({"type": "websocket.close", "code": 1008})
        return
    headers = [(b"content-type", b"text/plain"), (b"content-length", b"%d" % len(text))]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": text})


def response_headers(index: bytes) -> dict[str, str]:
    """Return the headers of every response; ``index`` is the page that Streamlit starts from.

    Of inline scripts, only the few of that page are allowed, by their hashes. Streamlit's styles
    are all inline. Our own browser code arrives as text and is loaded as blobs; protobuf compiles
    WebAssembly. No text is ever evaluated as a script.
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
        "Content-Security-Policy": "; ".join(
            f"{directive} {sources}" for directive, sources in policy.items()
        ),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "same-origin",
    }


def _host_of_url(url: str) -> str | None:
    """Return the host of a URL, without its port."""
    try:
        parts = urlsplit(url)
        _ = parts.port  # Raises ``ValueError`` if it is not a number.
    except ValueError:
        return None
    if parts.username is not None or parts.password is not None or parts.hostname is None:
        return None
    return parts.hostname.rstrip(".")


def is_loopback_host(host: str) -> bool:
    """Return whether a Host header has a name of this machine that other machines cannot use.

    >>> is_loopback_host("localhost:8501"), is_loopback_host("studio.example.org")
    (True, False)
    """
    return _host_of_url(f"//{host}") in LOOPBACK


def from_this_machine(headers: Mapping[str, str], address: object) -> bool:
    """Return whether a browser on this machine connects directly, without a proxy.

    ``address`` is the client's address as Streamlit gives it: a text for other machines, ``None``
    for this one.
    """
    host = headers.get("Host")
    forwarded = any(name.lower() in _FORWARDED for name in headers)
    is_local = host is None or is_loopback_host(host)
    return is_local and not forwarded and not isinstance(address, str)


def _host_and_port(origin: str) -> str | None:
    """Return an origin's host and port, as in a Host header."""
    return urlsplit(origin).netloc.lower() if _host_of_url(origin) else None


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _is_loopback(address: str) -> bool:
    return address == "localhost" or is_loopback(address)
