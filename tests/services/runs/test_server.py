"""A real server answers to its own name and its own pages, and to nobody else."""

from __future__ import annotations

import http.client
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from core.services.runs.server import Hosts
from tests.places import ROOT

SOCKET = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}
HTTP, WEBSOCKET = "/_stcore/health", "/_stcore/stream"


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[int]:
    """The app as the command line starts it; its port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "RUBRIC_STUDIO_DB": str(folder / "studio.db"),
        "RUBRIC_STUDIO_RUNNER": "none",
    }
    command = [sys.executable, "-m", "core.cli", "app", "--port", str(port), *options]
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
        try:
            end = time.monotonic() + 60
            while not _listens(port):
                assert server.poll() is None, (folder / "server.log").read_text()
                assert time.monotonic() < end
                time.sleep(0.1)
            yield port
        finally:
            server.terminate()
            server.wait(30)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def asked(port: int, path: str, host: str, origin: str | None = None) -> int:
    """The status that such a request gets."""
    sent = {"Host": host, **({"Origin": origin} if origin else {})}
    sent |= SOCKET if path == WEBSOCKET else {}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", path, headers=sent)
    try:
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with serving(tmp_path_factory.mktemp("app"), "--allow-host", "studio.example.org") as found:
        yield found


@pytest.mark.parametrize(("path", "good"), [(HTTP, 200), (WEBSOCKET, 101)])
def test_the_server_answers_to_its_own_names_and_pages(port: int, path: str, good: int) -> None:
    for name in ("127.0.0.1", "localhost", "[::1]", "studio.example.org"):
        here = f"{name}:{port}"
        assert asked(port, path, here) == good
        assert asked(port, path, here, f"http://{here}") == good
    # A proxy that asks by the address, for a page of the name that was allowed.
    assert asked(port, path, f"127.0.0.1:{port}", "https://studio.example.org") == good


@pytest.mark.parametrize("path", [HTTP, WEBSOCKET])
def test_another_name_or_a_page_of_another_place_gets_403(port: int, path: str) -> None:
    here = f"localhost:{port}"
    names = ("evil.example", f"evil.example:{port}", "localhost.evil.example", "127.0.0.1.nip.io",
             "10.0.0.1", "a@localhost", "localhost:no", "")  # fmt: skip
    assert {name: asked(port, path, name) for name in names} == dict.fromkeys(names, 403)
    origins = (f"http://localhost:{port + 1}", "http://localhost", f"http://127.0.0.1:{port}",
               "http://evil.example", "null", "https://evil.studio.example.org")  # fmt: skip
    assert {o: asked(port, path, here, o) for o in origins} == dict.fromkeys(origins, 403)


def test_every_answer_says_what_a_page_may_load_and_who_may_frame_it(port: int) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", "/")
    found = connection.getresponse()
    policy = dict(p.split(" ", 1) for p in found.headers["Content-Security-Policy"].split("; "))
    connection.close()
    assert policy["frame-ancestors"] == policy["connect-src"] == "'self'"
    assert "'unsafe-inline'" not in policy["script-src"]
    assert "'unsafe-eval'" not in policy["script-src"]
    assert found.headers["X-Content-Type-Options"] == "nosniff"
    assert found.headers["Referrer-Policy"] == "same-origin"


def test_a_server_for_other_machines_answers_to_addresses_and_this_machines_names() -> None:
    everywhere = Hosts("0.0.0.0", ["Studio.example.org"])
    here = socket.gethostname()
    for name in ("192.168.7.9:8501", "[fe80::1]:8501", "localhost", here, "studio.example.org."):
        assert everywhere.is_own_request(name, None)
    assert not everywhere.is_own_request("evil.example", None)
    one = Hosts("192.168.7.9")
    assert one.is_own_request("192.168.7.9:8501", "http://192.168.7.9:8501")
    assert not one.is_own_request("192.168.7.8:8501", None)
