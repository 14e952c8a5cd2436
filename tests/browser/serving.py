"""Servers of the app for browser tests, each on a free port."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from core.settings import RunnerPlace
from tests.browser.driving import PATIENCE
from tests.places import ROOT

#: The app as it is, and the app that goes over to another data file.
APP, SHARED_APP = ROOT / "app.py", Path(__file__).with_name("served.py")


@dataclass
class Server:
    """A running server."""

    url: str  # without a slash at its end
    log: Path
    _read: int = 0

    @contextmanager
    def using(self, db: Path) -> Iterator[str]:
        """The address while the server uses this data file; a traceback meanwhile is an error."""
        urllib.request.urlopen(f"{self.url}/tests/use?{quote(str(db))}", timeout=PATIENCE).close()
        yield self.url
        self.calm()

    def calm(self) -> None:
        """No traceback was written since the last look."""
        said = self.log.read_text(errors="replace")[self._read :]
        self._read += len(said)
        assert "Traceback" not in said, said[-4000:]


@contextmanager
def serving(script: Path, db: Path, runner: RunnerPlace, folder: Path) -> Iterator[Server]:
    """A server of its own for as long as it is used."""
    port, log = _free_port(), folder / "server.log"
    url = f"http://127.0.0.1:{port}"
    settings = {"RUBRIC_STUDIO_DB": str(db), "RUBRIC_STUDIO_RUNNER": runner}
    command = [sys.executable, "-m", "streamlit", "run", str(script)]
    options = ["--server.port", str(port), "--server.address", "127.0.0.1"]
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*command, *options],
            cwd=ROOT,
            env={**os.environ, **settings, "PYTHONPATH": str(ROOT)},
            stdout=out,
            stderr=subprocess.STDOUT,
        )
        try:
            _wait(url, process, log)
            server = Server(url, log)
            yield server
            server.calm()
        finally:
            process.terminate()
            process.wait(timeout=30)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if server.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=2):
                return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError(f"The app did not start:\n{log.read_text(errors='replace')[-2000:]}")
