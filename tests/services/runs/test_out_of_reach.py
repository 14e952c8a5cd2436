"""The data file locked, full or gone while a run is worked off: said, waited for, nothing lost."""

from __future__ import annotations

import logging
import os
import sqlite3
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.errors import StoreError, WriteBlocked
from core.services.runs import lifecycle, worker
from core.services.runs.planning import RunRequest
from core.services.runs.runner import Runner, work_here
from core.store.database import connection
from core.store.store import Store
from tests.command_line import cli_process
from tests.new_store import new_store
from tests.provider import Answer, Provider
from tests.services.runs.test_kept_answers import with_judge
from tests.services.runs.world import by_request, slowly, until, votes_of, write_files


@pytest.fixture
def full(store: Store, monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """While it is set the file may not grow: SQLite itself says that the disk is full."""
    event, record = threading.Event(), store.votes.record

    def recorded(*arguments: Any, **options: Any) -> Any:
        db = store.votes._files.thread_connection
        ((pages,),) = db.execute("PRAGMA page_count").fetchall()
        # A full disk has no room at all; as little as a page may do for one more vote.
        db.execute(f"PRAGMA max_page_count = {pages if event.is_set() else 2**30}")
        return record(*arguments, **options)

    monkeypatch.setattr(store.votes, "record", recorded)
    monkeypatch.setattr(worker, "TRY_EVERY", 0.02)
    monkeypatch.setattr(worker, "LAST_SECONDS", 0.1)
    return event


def started(store: Store, request: RunRequest) -> tuple[int, list[object], threading.Thread]:
    run_id = lifecycle.start(store, request)
    ended: list[object] = []

    def work() -> None:
        try:
            ended.append(work_here(store, run_id))
        except StoreError as error:
            ended.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    return run_id, ended, thread


def test_on_a_full_disk_answers_wait_in_memory_and_are_recorded_when_there_is_space(
    store: Store,
    request_: RunRequest,
    provider: Provider,
    full: threading.Event,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def answered(body: dict[str, Any]) -> Answer:
        # The first four at once; those asked meanwhile when it is known that the disk is full.
        if provider.count > 4:
            until(lambda: "disk is full" in caplog.text)
        return by_request(body)

    provider.rule = answered
    full.set()
    run_id, ended, thread = started(store, with_judge(request_, concurrency=4))
    until(lambda: "disk is full" in caplog.text)
    asked = steady(lambda: provider.count)
    # What was asked before it was known, and no more: the answers wait, and nobody is asked.
    assert store.runs.row(run_id).votes < asked <= 8
    full.clear()
    thread.join(20)
    assert ended == ["done"]
    assert (store.runs.row(run_id).votes, provider.count) == (12, 12)
    assert [record.levelno for record in caplog.records] == [logging.WARNING] * 2
    assert "goes on by itself" in caplog.records[0].message
    assert "goes on" in caplog.records[1].message


def test_stopped_while_the_disk_is_full_a_run_says_how_many_answers_are_not_recorded(
    store: Store,
    request_: RunRequest,
    provider: Provider,
    full: threading.Event,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    put = store.responses.put

    def no_room(*arguments: Any, **options: Any) -> Any:
        if full.is_set():
            raise WriteBlocked("The disk is full.")
        return put(*arguments, **options)

    monkeypatch.setattr(store.responses, "put", no_room)
    provider.rule = lambda body: slowly(body, 0.1)
    full.set()
    run_id = lifecycle.start(store, with_judge(request_, concurrency=2))
    runner = Runner(store).start()
    until(lambda: "disk is full" in caplog.text)
    lost = steady(lambda: provider.count) - store.runs.row(run_id).votes
    runner.stop()
    assert f"Not recorded, and to be asked again: {lost} that were answered." in caplog.text
    assert "Traceback" not in caplog.text
    assert lost > 0


def steady(value: Callable[[], int], seconds: float = 0.5) -> int:
    """The value once it has stayed the same for so long."""
    now, since = value(), time.monotonic()
    while time.monotonic() - since < seconds:
        time.sleep(0.02)
        if value() != now:
            now, since = value(), time.monotonic()
    return now


def locked(db: Path, seconds: float) -> threading.Thread:
    """Another program that holds the write lock for a while."""
    taken = threading.Event()

    def hold() -> None:
        other = sqlite3.connect(db, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        taken.set()
        time.sleep(seconds)
        other.execute("COMMIT")
        other.close()

    thread = threading.Thread(target=hold)
    thread.start()
    taken.wait()
    return thread


def test_a_write_lock_longer_than_our_patience_holds_a_run_up_and_does_not_end_it(
    tmp_path: Path,
    request_: RunRequest,
    provider: Provider,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connection, "BUSY_SECONDS", 0.1)
    monkeypatch.setattr(worker, "BEAT_EVERY", 0.05)
    monkeypatch.setattr(worker, "TRY_EVERY", 0.02)
    provider.rule = lambda body: slowly(body, 0.1)
    store = Store(tmp_path / "studio.db")
    run_id, ended, thread = started(store, with_judge(request_, concurrency=1))
    until(lambda: store.runs.row(run_id).votes > 0)
    locked(store.path, 1.0).join()
    thread.join(20)
    assert ended == ["done"]
    assert (store.runs.row(run_id).votes, provider.count) == (12, 12)


def harmed_while_grading(
    folder: Path, provider: Provider, pause: float, at_once: int, harm: Callable[[Path], object]
) -> subprocess.CompletedProcess[str]:
    """What came of `grade` to whose data file something happened after some answers."""
    provider.rule = lambda body: slowly(body, pause)
    db = folder / "studio.db"
    new_store(db).close()
    rubric, dataset = write_files(folder, 40)
    done = list[subprocess.CompletedProcess[str]]()
    judge = ("--judge", "openai/ada", "--api-base", provider.url, "--concurrency", at_once)
    words = ("grade", rubric, dataset, *judge, "--db", db)
    thread = threading.Thread(target=lambda: done.append(cli_process(*words)))
    thread.start()
    until(lambda: provider.count > 3, 60)
    harm(db)
    thread.join(60)
    return done[0]


@pytest.mark.parametrize("left", [0.25, 0.5, 0.75])
def test_a_data_file_that_is_cut_short_stops_grading_with_one_sentence(
    left: float, tmp_path: Path, provider: Provider
) -> None:
    def cut_short(db: Path) -> None:
        os.truncate(db, int(db.stat().st_size * left) // 4096 * 4096)

    done = harmed_while_grading(tmp_path, provider, 0.05, 2, cut_short)
    assert done.returncode == 2
    assert "is damaged; restore it from a copy" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_the_app_says_in_one_sentence_that_its_data_file_is_damaged(tmp_path: Path) -> None:
    db = tmp_path / "studio.db"
    new_store(db).close()
    os.truncate(db, db.stat().st_size // 2 // 4096 * 4096)
    done = cli_process("app", "--db", db, "--port", 1)
    assert done.returncode == 2
    assert done.stderr == f"rubric-studio: {db} is damaged; restore it from a copy.\n"


@pytest.mark.parametrize("gone", ["studio.db", "studio.db-wal"])
def test_a_data_file_that_goes_away_stops_grading_with_a_clear_word_and_status(
    gone: str, tmp_path: Path, provider: Provider
) -> None:
    done = harmed_while_grading(tmp_path, provider, 0.2, 1, lambda db: (tmp_path / gone).unlink())
    assert done.returncode == 2
    assert "was deleted, moved or replaced while it was in use" in done.stderr
    assert "Traceback" not in done.stderr
    assert provider.count < 120  # it did not go on
    (saved,) = tmp_path.glob("studio-saved-*.db")
    assert len(votes_of(Store(saved))) >= 1
