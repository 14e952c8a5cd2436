"""Serving the app, and keeping a Runner beside it in the place that the settings say."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from core.errors import InputError
from core.judging.offline import load
from core.services import signals
from core.services.jobs import Runner
from core.settings import ROOT, Settings
from core.store.place import FilePlace
from core.store.store import Store


def serve(settings: Settings, port: int, host: str = "127.0.0.1") -> NoReturn:
    """Becomes the app's server; only this machine reaches it unless ``host`` says otherwise.

    It answers to the names of where it listens and to `settings.hosts` (`guarding`).
    """
    entry = ROOT / "app.py"
    if not entry.exists():
        raise InputError(
            "The app's files are not beside the installed core. "
            "Run the app from a checkout: `make run`."
        )
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
        "RUBRIC_STUDIO_DB": str(settings.db),
        "RUBRIC_STUDIO_HOSTS": ",".join(settings.hosts),
    }
    os.chdir(ROOT)  # Streamlit reads .streamlit/config.toml from the working directory
    arguments = [
        *(sys.executable, "-m", "streamlit", "run", str(entry)),
        *(f"--server.port={port}", f"--server.address={host}"),
        # Streamlit has a check of its own, which knows nothing of a proxy that asks by the address.
        *(f"--server.corsAllowedOrigins=https://{name}" for name in settings.hosts),
    ]
    os.execve(sys.executable, arguments, environment)


@contextmanager
def runner_beside(settings: Settings) -> Iterator[None]:
    """A Runner for as long as the server lives: in a process of its own, in a thread, or none."""
    from core.services import open_store

    signals.hang_up_ends()
    if settings.runner == "none":
        yield
    elif settings.runner == "thread":
        runner = Runner(open_store(settings)).start()
        try:
            yield
        finally:
            runner.stop()
    else:
        keeper = WorkerProcess(settings)
        try:
            yield
        finally:
            keeper.stop()


class WorkerProcess:
    """A worker process that is started again if it dies, and that dies with this one.

    The worker ends when its standard input ends, which happens when this process is gone, however
    it went.
    """

    def __init__(self, settings: Settings) -> None:
        self._command = [
            sys.executable,
            "-m",
            "core.cli",
            "worker",
            "--with-parent",
            "--db",
            str(settings.db),
        ]
        self._place = FilePlace(settings.db)
        self._stopping = threading.Event()
        self._worker = self._spawn()
        self._thread = threading.Thread(target=self._keep, name="worker-keeper", daemon=True)
        self._thread.start()

    def _spawn(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(self._command, stdin=subprocess.PIPE, cwd=ROOT)

    def _keep(self) -> None:
        while not self._stopping.is_set():
            self._worker.wait()
            if not self._stopping.is_set():
                time.sleep(1.0)
                if not self._place.in_place():
                    return  # a new worker would make a new, empty file there
                self._worker = self._spawn()

    def stop(self) -> None:
        """Lets the worker hand its runs back, then ends it."""
        self._stopping.set()
        if self._worker.stdin is not None:
            self._worker.stdin.close()
        try:
            self._worker.wait(10)
        except subprocess.TimeoutExpired:
            self._worker.kill()
            self._worker.wait()


def work_until_told(store: Store, *, with_parent: bool = False) -> None:
    """Works off queued runs until Ctrl-C or, ``with_parent``, until standard input ends."""
    runner = Runner(store)
    if with_parent:

        def watch() -> None:
            sys.stdin.buffer.read()
            runner.stop(0)

        threading.Thread(target=watch, name="parent-watch", daemon=True).start()
        # Somebody sits before the app: a first spot check should not wait for these imports.
        threading.Thread(target=load, name="warm-up", daemon=True).start()
    try:
        runner.serve()
    except KeyboardInterrupt:
        runner.stop(0)
