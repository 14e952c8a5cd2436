"""Servers of the app for browser tests, each on a free port."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
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
    def using(self, db: Path, runner: RunnerPlace) -> Iterator[str]:
        """The address while the server uses this data file and has its Runner there.

        A traceback meanwhile is an error.
        """
        self._use(db, runner)
        yield self.url
        self._use(db, "none")
        self.calm()

    def _use(self, db: Path, runner: RunnerPlace) -> None:
        asked = f"{self.url}/tests/use?{quote(str(db))}&{runner}"
        urllib.request.urlopen(asked, timeout=PATIENCE).close()

    def calm(self) -> None:
        """No traceback was written since the last look."""
        said = self.log.read_text(errors="replace")[self._read :]
        self._read += len(said)
        assert "Traceback" not in said, said[-4000:]


@contextmanager
def serving(
    script: Path,
    db: Path,
    runner: RunnerPlace,
    folder: Path,
    secrets: Callable[[str], str] | None = None,
) -> Iterator[Server]:
    """A server of its own for as long as it is used; `secrets`: its secrets file, by its address.

    A server with secrets is for a login, which needs a name: `localhost`.
    """
    port, log = free_port(), folder / "server.log"
    url = f"http://{'localhost' if secrets else '127.0.0.1'}:{port}"
    settings = {"RUBRIC_STUDIO_DB": str(db), "RUBRIC_STUDIO_RUNNER": runner}
    command = [sys.executable, "-m", "streamlit", "run", str(script)]
    options = ["--server.port", str(port), "--server.address", "127.0.0.1"]
    if secrets is not None:
        (folder / "secrets.toml").write_text(secrets(url), encoding="utf-8")
        options.append(f"--secrets.files={folder / 'secrets.toml'}")
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*command, *options],
            cwd=ROOT,
            env={**os.environ, **settings, "PYTHONPATH": str(ROOT)},
            stdout=out,
            stderr=subprocess.STDOUT,
        )
        try:
            answering(f"{url}/_stcore/health", process, log)
            server = Server(url, log)
            yield server
            server.calm()
        finally:
            process.terminate()
            process.wait(timeout=30)


def free_port() -> int:
    """A port of this machine that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answering(url: str, server: subprocess.Popen[bytes], log: Path | None = None) -> None:
    """Wait until a server that was started answers there."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if server.poll() is not None:
            break
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            time.sleep(0.2)
    said = log.read_text(errors="replace")[-2000:] if log else url
    raise RuntimeError(f"The server did not start:\n{said}")
