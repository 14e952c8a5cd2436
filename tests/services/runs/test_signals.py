"""Ended by a service manager or a closed terminal as with Ctrl-C: nothing answered is lost."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from core.services.runs import lifecycle, runner
from core.services.runs.planning import RunRequest
from core.store.runs import logbook
from core.store.store import Store
from tests.command_line import cli
from tests.new_store import new_store
from tests.provider import Provider, stall
from tests.services.runs.test_kept_answers import with_judge
from tests.services.runs.world import ROOT, by_request, slowly, until, write_files

HANGING = Path(__file__).parent / "hanging"
ENDING = [signal.SIGTERM, signal.SIGHUP]


def started(
    *arguments: object, hang_up: signal.Handlers = signal.SIG_DFL, **environment: str
) -> subprocess.Popen[str]:
    """A program as a script's background job is started: Ctrl-C is ignored there, and inherited.

    What these tests run under may ignore a hang-up; the program inherits ``hang_up`` instead, which
    is ``SIG_IGN`` under nohup.
    """
    before = {
        signal.SIGINT: signal.signal(signal.SIGINT, signal.SIG_IGN),
        signal.SIGHUP: signal.signal(signal.SIGHUP, hang_up),
    }
    try:
        return subprocess.Popen(
            [sys.executable, *map(str, arguments)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
        )
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_grade_and_resume_end_on_it_as_on_ctrl_c(tmp_path: Path, provider: Provider) -> None:
    provider.rule = lambda body: slowly(body, 0.2)
    rubric, dataset = write_files(tmp_path, 20)
    db = tmp_path / "studio.db"
    how = ("--judge", "openai/ada", "--api-base", provider.url, "--concurrency", 2, "--db", db)
    new_store(db).close()
    # Both end by one piece of code (`core.cli.common`), whichever of the two it is.
    grade, resume = ("grade", rubric, dataset, *how), ("resume", 1, "--db", db)
    for sent, words in zip(ENDING, (grade, resume), strict=True):
        before = provider.count
        process = started("-m", "core.cli", *words)
        until(lambda b=before: provider.count > b + 5, 60)  # type: ignore[misc]
        process.send_signal(sent)
        _, said = process.communicate(timeout=60)
        assert (process.returncode, said.splitlines()[-1]) == (
            130,
            "Interrupted. What was finished is kept.",
        )
        row = Store(db).runs.row(1)
        assert row.status == "interrupted"
        # The two calls that were out had the time to be answered.
        assert (provider.count, row.calls, row.lost) == (row.votes, row.votes, 0)
    provider.rule = by_request
    done = cli("resume", 1, "--db", db, "--json")
    assert json.loads(done.stdout)["votes"] == 60
    assert provider.count == 60


def test_a_second_signal_ends_at_once_what_waits_for_the_calls_that_are_out(
    store: Store, request_: RunRequest, provider: Provider, caplog: pytest.LogCaptureFixture
) -> None:
    # Eight of twelve are answered; the four that are out will not be for an hour.
    provider.rule = lambda body: by_request(body) if provider.count <= 8 else stall(3600)
    run_id = lifecycle.start(store, with_judge(request_, concurrency=4))

    def twice() -> None:
        until(lambda: store.runs.row(run_id).votes == 8 and provider.count == 12)
        os.kill(os.getpid(), signal.SIGTERM)
        until(lambda: "A second signal ends it at once" in caplog.text)
        os.kill(os.getpid(), signal.SIGTERM)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "GRACE", 3600.0)
        patch.setattr(runner, "TOGETHER", 0.0)
        ending = threading.Thread(target=twice)
        ending.start()
        with pytest.raises(KeyboardInterrupt):
            runner.work_here(store, run_id)
        ending.join()
    row = store.runs.row(run_id)
    assert (row.status, row.votes, row.lost) == ("interrupted", 8, 4)


def test_a_second_signal_ends_what_hangs_on_one_text(tmp_path: Path, provider: Provider) -> None:
    rubric, dataset = write_files(tmp_path, 6)
    db = new_store(tmp_path / "studio.db").path
    how = ("--judge", "openai/ada", "--api-base", provider.url, "--db", db, "--concurrency", 1)
    process = started(
        *("-m", "core.cli", "grade", rubric, dataset, *how),
        PYTHONPATH=f"{ROOT}{os.pathsep}{HANGING}", HANGS_ON="i002 tone openai/ada 0",
    )  # fmt: skip

    def at() -> bytes:
        found = [logbook.read_logbook(path) for path in logbook.logbooks_of_process(db, "")]
        return found[0].at if found and found[0] else b""

    until(lambda: b"tone" in at(), 60)
    recorded = Store(db).runs.row(1).votes
    process.send_signal(signal.SIGTERM)

    def ended() -> bool:
        process.send_signal(signal.SIGTERM)
        return process.poll() is not None

    until(ended)
    _, said = process.communicate()
    # One more may come while it cleans up, when signals are the system's again.
    assert process.returncode in (130, -signal.SIGTERM)
    assert "Traceback" not in said
    assert Store(db).runs.row(1).votes >= recorded
    assert json.loads(cli("resume", 1, "--db", db, "--json").stdout)["votes"] == 18


def test_what_is_started_with_nohup_outlives_its_terminal(
    tmp_path: Path, provider: Provider
) -> None:
    provider.rule = lambda body: slowly(body, 0.05)
    rubric, dataset = write_files(tmp_path, 4)
    db = new_store(tmp_path / "studio.db").path
    how = ("--judge", "openai/ada", "--api-base", provider.url, "--db", db)
    grade = ("-m", "core.cli", "grade", rubric, dataset, *how, "--concurrency", 1)
    process = started(*grade, hang_up=signal.SIG_IGN)
    until(lambda: provider.count > 2, 60)
    process.send_signal(signal.SIGHUP)
    process.communicate(timeout=60)
    assert (process.returncode, provider.count) == (0, 12)


@pytest.fixture
def queued(store: Store, request_: RunRequest, provider: Provider) -> int:
    provider.rule = lambda body: slowly(body, 0.3)
    return lifecycle.start(store, with_judge(request_, concurrency=1))


@pytest.mark.parametrize("sent", ENDING, ids=lambda one: one.name)
def test_a_worker_gives_its_run_back(
    sent: signal.Signals, store: Store, queued: int, provider: Provider
) -> None:
    process = started("-m", "core.cli", "worker", "--db", store.path)
    until(lambda: provider.count > 2, 60)
    process.send_signal(sent)
    process.communicate(timeout=60)
    row = store.runs.row(queued)
    assert (process.returncode, row.status) == (0, "queued")
    assert provider.count == row.votes  # the one that was out had the time to be answered


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _serves(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=5):
            return True
    except OSError:
        return False


# A server takes a hang-up for a SIGTERM (`end_on_hang_up`), before it is decided where runs are
# worked off: so each of the two is sent to one kind of runner.
@pytest.mark.parametrize(
    ("sent", "runner"),
    [(signal.SIGHUP, "process"), (signal.SIGTERM, "thread")],
    ids=["SIGHUP-process", "SIGTERM-thread"],
)
def test_the_app_gives_its_run_back(
    sent: signal.Signals, runner: str, store: Store, queued: int, provider: Provider
) -> None:
    store.settings.put("example_run", queued)  # or else it would grade its example, too
    port = free_port()
    environment: dict[str, Any] = {"RUBRIC_STUDIO_RUNNER": runner}
    words = ("-m", "core.cli", "app", "--port", port, "--db", store.path)
    process = started(*words, **environment)
    until(lambda: _serves(port), 60)
    until(lambda: provider.count > 2, 60)
    process.send_signal(sent)
    process.communicate(timeout=60)
    row = store.runs.row(queued)
    assert row.status == "queued"
    assert provider.count == row.votes  # the one that was out had the time to be answered
