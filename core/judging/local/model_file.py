"""A local model file (GGUF), whose server starts on the first call.

The server is llama.cpp's, from the extra ``local``, in a separate process at a free port of this
machine. It ends with the process that started it, which holds the other end of its input.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from core.domain.panel import Judge

PREFIX = "file:"
_MAGIC = b"GGUF"
#: Variables that override the number of threads, and the tokens of context per call.
THREADS, CONTEXT = "RUBRIC_STUDIO_LOCAL_THREADS", "RUBRIC_STUDIO_LOCAL_CONTEXT"
_CONTEXT = 8192
#: Concurrent calls; each gets the full context window.
AT_ONCE = 2


def model_path(model: str) -> Path | None:
    """Return the path of the file that a model's name refers to, or ``None``.

    >>> model_path("file:/models/small.gguf").name, model_path("gpt-x")
    ('small.gguf', None)
    """
    return Path(model.removeprefix(PREFIX)).expanduser() if model.startswith(PREFIX) else None


def judge_of_file(path: str) -> Judge:
    """Return a judge whose model is this file, with settings for a small model.

    >>> judge_of_file("models/small.gguf").name
    'small'
    """
    file = Path(path).expanduser().absolute()
    # A small model that never stops costs minutes.
    return Judge(name=file.stem, model=f"{PREFIX}{file}", concurrency=AT_ONCE, max_tokens=1024)


def missing_requirement(judge: Judge) -> tuple[str, str] | None:
    """Return what a judge that runs a model file lacks and how to fix it, or ``None``."""
    path = model_path(judge.model)
    if path is None:
        return None
    try:
        with path.open("rb") as file:
            good = file.read(len(_MAGIC)) == _MAGIC
    except OSError as error:
        return f"cannot be read: {error.strerror}.", "Give the path of a GGUF file."
    if not good:
        return "is no GGUF file.", "Give the path of a model in GGUF, the format of llama.cpp."
    if find_spec("xllamacpp") is None:
        return "needs llama.cpp.", 'Install it: pip install "rubric-studio[local]".'
    return None


class NotStarted(Exception):
    """A server did not start; the text says why."""


class _Server:
    """A running server and its address."""

    def __init__(self, path: Path, environ: Mapping[str, str]) -> None:
        threads = environ.get(THREADS) or str(max(1, (os.cpu_count() or 2) - 1))
        context = environ.get(CONTEXT) or str(_CONTEXT)
        program = [sys.executable, str(Path(__file__).with_name("server.py"))]
        with tempfile.TemporaryFile("w+") as log:
            self.process = subprocess.Popen(
                [*program, str(path), threads, context, str(AT_ONCE)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
            )  # fmt: skip
            assert self.process.stdout is not None
            self.address = self.process.stdout.readline().strip()
            if not self.address:
                self.stop()
                log.seek(0)
                last = (log.read().strip().splitlines() or ["it said nothing"])[-1]
                raise NotStarted(f"The server of {path.name} did not start: {last[:300]}")

    def stop(self) -> None:
        """End the process and wait for it."""
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
        self.process.wait()


_servers: dict[Path, _Server] = {}
_starting = threading.Lock()


def server_address(path: Path) -> str:
    """Return the address of the file's server, starting it if necessary.

    Raises ``NotStarted``.
    """
    with _starting:
        server = _servers.get(path)
        if server is None or server.process.poll() is not None:
            if not _servers:
                atexit.register(stop_servers)
            server = _servers[path] = _Server(path, os.environ)
        return f"{server.address}/v1"


def stop_servers() -> None:
    """Stop all servers of this process."""
    while _servers:
        _servers.popitem()[1].stop()
