"""Many threads, several processes, and a process that is killed."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

from core.domain.votes import Cell
from core.errors import Conflict, StoreError, WriteBlocked
from core.store.database import connection as connection_module
from core.store.database.migrations import NAMES, migrations
from core.store.store import Store
from tests.store.making import AT, LATER, NOW, RUBRIC, claimed, record, vote

TRIALS = 40


def _open_each(folder: Path, barrier: Barrier) -> None:
    for trial in range(TRIALS):
        barrier.wait(timeout=60)
        store = Store(folder / f"{trial}.db")
        store.settings.put(f"from {os.getpid()}", True)
        store.close()


def test_two_processes_may_open_the_same_new_file_at_once(tmp_path: Path) -> None:
    # Without patience, 25 of 40 such openings failed: switching to WAL ignores the busy timeout.
    migrations()  # imported before the fork, so that both start at the same moment
    forked = multiprocessing.get_context("fork")
    barrier = forked.Barrier(2)
    pair = [forked.Process(target=_open_each, args=(tmp_path, barrier)) for _ in range(2)]
    for process in pair:
        process.start()
    for process in pair:
        process.join(timeout=120)
    assert [process.exitcode for process in pair] == [0, 0]
    for trial in range(TRIALS):
        store = Store(tmp_path / f"{trial}.db")
        with store.write() as db:
            assert db.execute("SELECT count(*) FROM setting").fetchone() == (2,)
            made = db.execute("SELECT count(*) FROM _sqlite_migrations").fetchone()
            assert made == (len(NAMES),)
        store.close()


def test_what_sqlite_refuses_at_once_is_tried_again(store: Store) -> None:
    # timeout=0 makes SQLite answer "locked" at once, as it does when two switch a file to WAL.
    holder = sqlite3.connect(store.path, isolation_level=None, check_same_thread=False)
    holder.execute("BEGIN IMMEDIATE")
    refused = sqlite3.connect(store.path, isolation_level=None, timeout=0)
    end = threading.Timer(0.1, holder.close)
    end.start()
    connection_module._retry_while_locked(lambda: refused.execute("BEGIN IMMEDIATE"))
    assert refused.in_transaction
    end.join()
    refused.close()


def test_eight_threads_write_and_read_without_losing_a_vote(store: Store, run_id: int) -> None:
    lease = claimed(store, run_id)

    def work(thread: int) -> int:
        for replicate in range(25):
            judge = f"{thread}-{replicate}"
            record(store, lease, vote("a", judge=judge))
            assert Cell("a", "Clear", judge) in store.votes.present(run_id)
            store.results.items(run_id, sort="score")
        store.close()
        return threading.get_ident()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert store.runs.row(run_id).votes == len(store.votes.present(run_id)) == 200  # 8 x 25


def test_of_many_savers_one_wins_and_the_others_are_told(store: Store) -> None:
    first = store.rubrics.create(RUBRIC, now=NOW)
    start = threading.Barrier(8)

    def save(thread: int) -> bool:
        mine = RUBRIC.model_copy(update={"description": str(thread)})
        start.wait(timeout=60)
        try:
            store.rubrics.add_version(first.rubric_id, mine, parent=1, now=LATER)
        except Conflict:
            return False
        finally:
            store.close()
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(save, range(8))) == 1
    assert store.rubrics.latest(first.rubric_id).number == 2


def test_of_many_runners_one_gets_the_run(store: Store, run_id: int) -> None:
    start = threading.Barrier(8)

    def claim(thread: int) -> bool:
        start.wait(timeout=60)
        won = store.leases.claim(f"runner {thread}", at=AT, seconds=60) is not None
        store.close()
        return won

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(claim, range(8))) == 1
    assert store.runs.row(run_id).fence == 1


def test_every_thread_has_a_connection_of_its_own(store: Store) -> None:
    def connection() -> sqlite3.Connection:
        with store.write() as db:
            return db

    with ThreadPoolExecutor(1) as pool:
        theirs = pool.submit(connection).result(timeout=60)
        assert pool.submit(connection).result(timeout=60) is theirs
        pool.submit(store.close).result(timeout=60)
    assert connection() is not theirs


def _put_and_fail(store: Store, key: str) -> None:
    with store.write():
        store.settings.put(key, 1)
        raise ZeroDivisionError


def test_a_failed_transaction_leaves_nothing_and_one_within_only_itself(store: Store) -> None:
    with pytest.raises(ZeroDivisionError):
        _put_and_fail(store, "alone")
    with store.write():
        store.settings.put("outer", 1)
        with pytest.raises(ZeroDivisionError):
            _put_and_fail(store, "inner")
    assert [store.settings.get(key) for key in ("alone", "outer", "inner")] == [None, 1, None]


def test_a_file_that_stays_locked_is_said_in_words(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.close()
    monkeypatch.setattr(connection_module, "BUSY_SECONDS", 0.05)
    holder = sqlite3.connect(store.path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="stayed locked by another program; try again"):
        store.settings.put("x", 1)
    holder.execute("ROLLBACK")
    holder.close()
    store.settings.put("x", 1)


def test_a_full_disk_is_said_in_words_and_loses_nothing(store: Store) -> None:
    store.settings.put("kept", 1)
    with store.write() as db:
        db.execute("PRAGMA max_page_count = 1")  # SQLite answers as on a full disk from here on
    with pytest.raises(StoreError, match="disk is full; free some space"):
        store.settings.put("large", "x" * 1_000_000)
    assert (store.settings.get("kept"), store.settings.get("large")) == (1, None)
    with store.write() as db:
        db.execute("PRAGMA max_page_count = 1000000")
    store.settings.put("large", "x" * 1_000_000)


WRITER = """
import sys
from core.store.store import Store
from tests.store.making import claimed, record, vote
store = Store(sys.argv[1])
lease = claimed(store, int(sys.argv[2]))
for n in range(100_000):
    record(store, lease, vote("a", judge=f"judge {n}"), vote("b", judge=f"judge {n}"))
    print(n, flush=True)
"""


def test_a_vote_that_was_acknowledged_outlives_a_killed_process(store: Store, run_id: int) -> None:
    command = [sys.executable, "-c", WRITER, str(store.path), str(run_id)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        for line in writer.stdout:
            if int(line) >= 20:
                writer.send_signal(signal.SIGKILL)
                break
        acknowledged = max([20, *(int(rest) for rest in writer.stdout.read().split())])
    present = store.votes.present(run_id)
    for n in range(acknowledged + 1):
        assert {Cell(item, "Clear", f"judge {n}") for item in "ab"} <= present
    # A batch is there whole or not at all, and so are the counts that go with it.
    assert len(present) % 2 == 0
    assert store.runs.row(run_id).votes == len(present)
    with store.write() as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_threads_of_one_program_take_turns_at_writing_and_are_not_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # SQLite itself would give up after this; another thread holds the file for longer.
    monkeypatch.setattr(connection_module, "BUSY_SECONDS", 0.05)
    store = Store(tmp_path / "studio.db")
    holding, wrote = threading.Event(), list[int]()

    def write(number: int) -> None:
        holding.wait()
        store.settings.put(f"key {number}", "value")
        wrote.append(number)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    with store.write():
        holding.set()
        time.sleep(0.3)
    for thread in threads:
        thread.join()
    assert sorted(wrote) == [0, 1, 2, 3]


def test_a_thread_whose_turn_never_comes_is_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_module, "TURN_SECONDS", 0.05)
    store = Store(tmp_path / "studio.db")
    with store.write(), ThreadPoolExecutor(1) as threads:
        refused = threads.submit(store.settings.put, "key", "value").exception()
    assert isinstance(refused, WriteBlocked)
    assert "stayed locked" in str(refused)
