"""A server for a team as a process of its own, people who knock there, and a provider of logins."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from joserfc import jwt
from joserfc.jwk import KeySet, OctKey, RSAKey
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect

#: What a server signs with: its cookies, and whom a sign-in is to go to.
SECRET = "thirty-two-characters-of-nothing"
PAGE = {"Accept": "text/html,*/*"}


def cookie(email: str, issued: float | None = None) -> dict[str, str]:
    """What the browser of somebody sends who signed in then, as the server itself signs it."""
    said = {"email": email, "email_verified": True, "iat": int(issued or time.time())}
    signed = create_signed_value(SECRET, "_streamlit_user", json.dumps(said))
    return {"Cookie": f"_streamlit_user={signed.decode()}"}


def link() -> str:
    """Where a sign-in begins."""
    claims = {"provider": "default", "exp": time.time() + 60}
    return "/auth/login?provider=" + jwt.encode({"alg": "HS256"}, claims, OctKey.import_key(SECRET))


def asked(
    port: int, path: str, headers: Mapping[str, str] | None = None, *, at: str = "127.0.0.1",
    method: str = "GET",
) -> tuple[int, str, http.client.HTTPMessage]:  # fmt: skip
    """What somebody at this address of the machine is answered: status, text, headers."""
    one = http.client.HTTPConnection("127.0.0.1", port, timeout=30, source_address=(at, 0))
    one.request(method, path, headers=dict(headers or {}))
    found = one.getresponse()
    said = found.read().decode(errors="replace"), found.headers
    one.close()
    return found.status, *said


def page(
    port: int, headers: Mapping[str, str] | None = None, *, at: str = "127.0.0.1",
    path: str = "/_stcore/stream",
) -> connect:  # fmt: skip
    """An open page of somebody at this address of the machine."""
    line = socket.create_connection(("127.0.0.1", port), timeout=30, source_address=(at, 0))
    where = f"ws://127.0.0.1:{port}{path}"
    return connect(where, sock=line, additional_headers=dict(headers or {}), compression=None)


def pages(
    stay: ExitStack, port: int, many: int, **more: Any
) -> tuple[list[ClientConnection], list[InvalidStatus]]:
    """So many pages opened at once: those that stay open, and how the others were refused."""
    opened, refused = list[ClientConnection](), list[InvalidStatus]()
    for _ in range(many):
        try:
            opened.append(stay.enter_context(page(port, **more)))
        except InvalidStatus as error:
            refused.append(error)
    return opened, refused


@dataclass
class Provider:
    """A provider of logins: it counts what is asked, and signs for whoever is `who` now."""

    url: str = ""
    issuer: str = ""
    who: dict[str, Any] = field(default_factory=dict)
    key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "first"}))
    tokens: str = "/token"
    broken: bool = False
    asked: Counter[str] = field(default_factory=Counter)

    def answer(self, path: str) -> dict[str, Any] | None:
        """What is said there."""
        self.asked[path] += 1
        if path == "/.well-known/openid-configuration" and not self.broken:
            return {
                "issuer": self.issuer, "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}{self.tokens}", "jwks_uri": f"{self.url}/keys",
                "id_token_signing_alg_values_supported": ["RS256"],
            }  # fmt: skip
        if path == "/keys":
            return dict(KeySet([self.key]).as_dict(private=False))
        if path == self.tokens:
            now = int(time.time())
            claims = {"iss": self.issuer, "aud": "studio", "sub": "a", "iat": now, "exp": now + 60}
            claims |= self.who
            header = {"alg": "RS256", "kid": self.key.kid}
            token = jwt.encode(header, claims, self.key)
            return {"id_token": token, "access_token": "a", "token_type": "Bearer"}
        return None


@contextmanager
def providing() -> Iterator[Provider]:
    """Such a provider, speaking HTTP, for as long as it is used."""
    made = Provider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            said = made.answer(self.path)
            body = json.dumps(said or {}).encode()
            self.send_response(404 if said is None else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        made.url = made.issuer = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield made
        finally:
            server.shutdown()
            thread.join()


def secrets_for(provider: str) -> Callable[[str], str]:
    """The file of secrets of a server, by its address."""
    return lambda url: (
        f'[auth]\nredirect_uri = "{url}/oauth2callback"\ncookie_secret = "{SECRET}"\n'
        'client_id = "studio"\nclient_secret = "not used"\n'
        f'server_metadata_url = "{provider}/.well-known/openid-configuration"\n'
    )
