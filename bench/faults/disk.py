"""Rows 11 and 12, and those beside them: a disk that is full or fails, a file that is locked."""

from __future__ import annotations

import multiprocessing
import os
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

from bench.faults.kills import at_writes
from bench.faults.world import (
    ROOT,
    Counting,
    Row,
    Site,
    command,
    faulty,
    site,
    small_disk,
    until,
)
from core.store.store import Store


def full(trials: int) -> Row:
    """The disk is full in the middle of a run, and later it is not; a disk that only reads."""
    row = Row()
    with small_disk("12M") as disk:
        if disk is None:
            row.untried.append("a small file system: this machine lets nobody mount one")
            return row
        with site(200, Counting(0.02), under=disk) as at:
            running = at.grade("--concurrency", 8)
            until(lambda: at.provider.count > 20, 60)
            _fill_up(disk, 150_000)
            _log_delay(row, at)
            (disk / "ballast").unlink()
            _, said = running.communicate(timeout=120)
            _as_if_nothing(row, at, said, running.returncode)
            row.must("disk is full" in said and "goes on" in said, "it did not say so")
    with small_disk("12M") as disk:
        assert disk is not None
        with site(2, under=disk) as at:
            subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
            running = at.grade()
            _, said = running.communicate(timeout=60)
            lines = said.strip().splitlines()
            row.say(f"read-only: exit {running.returncode}, {len(lines)} line: {lines[-1][-90:]}")
            row.must(running.returncode == 2 and "Traceback" not in said, said[-300:])
            subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
    return row


def _fill_up(disk: Path, rest: int) -> None:
    room = os.statvfs(disk)
    # What is worked off meanwhile may take the last of it.
    with suppress(OSError), (disk / "ballast").open("wb") as file:
        file.write(b"\0" * max(0, room.f_bavail * room.f_frsize - rest))


def _log_delay(row: Row, at: Site) -> None:
    """Waits until nothing moves any more: nothing is asked while nothing can be kept."""
    last, since = -1, time.monotonic()
    while time.monotonic() - since < 3:
        time.sleep(0.1)
        if at.provider.count != last:
            last, since = at.provider.count, time.monotonic()
    held = at.provider.count - at.votes
    row.say(f"full: {at.votes} votes kept, {held} answers wait, nothing more is asked")
    row.must(at.provider.count < at.planned, "it went on asking")
    row.must(not at.sound(), f"while full: {at.sound()}")


def _as_if_nothing(row: Row, at: Site, said: str, status: int | None) -> None:
    row.say(f"after it: {at.votes} of {at.planned} votes, {at.provider.count} requests")
    row.must(status in (0, None), f"exit {status}")
    row.must(at.votes == at.planned and not at.twice(), "votes lost or twice")
    row.must(at.provider.count == at.planned == at.attempts(), "asked again")
    row.must("Traceback" not in said, said[-300:])
    row.must(not at.sound(), at.sound())


def full_under_the_app(trials: int) -> Row:
    """The disk is full while the app works off a run; the run goes on when there is room."""
    row = Row()
    with small_disk("12M") as disk:
        if disk is None:
            row.untried.append("a small file system: this machine lets nobody mount one")
            return row
        with site(150, Counting(0.02), under=disk) as at, app(at) as (url, log):
            run = at.plan(at.judge(concurrency=8))
            until(lambda: at.provider.count > 20, 60)
            _fill_up(disk, 150_000)
            _log_delay(row, at)
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=10) as answer:
                row.must(answer.status == 200, "the app does not answer")
            (disk / "ballast").unlink()
            row.must(until(lambda: _status(at, run) == "done", 60), "no end")
            _as_if_nothing(row, at, log.read_text(), None)
    return row


def _status(at: Site, run: int) -> str:
    return str(at.ask(f"SELECT status FROM run WHERE id = {run}")[0][0])


class app:  # noqa: N801
    """A server on the site's data file: its address and its log."""

    def __init__(self, at: Site) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.url = f"http://127.0.0.1:{probe.getsockname()[1]}"
        self.log = at.folder.parent / f"{at.folder.name}.log"
        if at.folder.parent != Path("/tmp"):
            self.log = Path(f"/tmp/{at.folder.name}.log")
        words = ("-m", "core.cli", "app", "--db", at.db, "--port", self.url.rpartition(":")[2])
        with self.log.open("w") as log:
            self._server = subprocess.Popen(
                [sys.executable, *map(str, words)],
                cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
            )  # fmt: skip

    def __enter__(self) -> tuple[str, Path]:
        def answers() -> bool:
            try:
                return bool(urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=2))
            except OSError:
                return False

        assert until(answers, 120), self.log.read_text()
        return self.url, self.log

    def __exit__(self, *_: Any) -> None:
        self._server.terminate()
        self._server.wait(30)
        self.log.unlink()


def failing_writes(trials: int) -> Row:
    """An I/O error at every n-th write, and one or a full disk at each of 25 writes of a run."""
    row = Row()
    for kind in ("eio", "enospc"):
        found = at_writes(kind, 25)
        row.say(f"{kind}, once: {found.figures[0]}")
        row.wrong += found.wrong
    with ThreadPoolExecutor(2) as threads:
        found_ = list(threads.map(_every, (2, 3, 5, 7, 11, 17, 29, 53)))
    row.say("eio at every 2nd to 53rd write, until write 400: " + ", ".join(s for s, _ in found_))
    row.wrong += [wrong for _, wrong in found_ if wrong]
    return row


def _every(nth: int) -> tuple[str, str]:
    with site(10) as at:
        running = at.grade("--concurrency", 4, **faulty("eio", every=nth, until=400))
        try:
            _, said = running.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            running.terminate()
            _, said = running.communicate(timeout=60)
        if at.votes < at.planned:
            if at.count("SELECT count(*) FROM run"):
                at.go_on()
            else:
                at.grade().communicate(timeout=120)
        wrong = at.sound()
        if at.votes != at.planned or at.twice():
            wrong += f" {at.votes} of {at.planned} votes"
        if "Traceback" in said:
            wrong += said[-300:]
        return f"{nth}: {at.provider.count - at.planned} again", wrong and f"every {nth}: {wrong}"


def locked(trials: int) -> Row:
    """Another program holds the write lock for 33 s; two processes make one new file, 50 times."""
    row = Row()
    with site(100, Counting(0.05)) as at, ThreadPoolExecutor(1) as threads:
        opened = threads.submit(_first_opens, 50)
        running = at.grade("--concurrency", 2)
        until(lambda: at.votes > 10, 60)
        other = sqlite3.connect(at.db, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        held, began = at.votes, time.monotonic()
        time.sleep(33)
        row.must(at.votes == held, "votes while locked")
        other.execute("COMMIT")
        other.close()
        _, said = running.communicate(timeout=120)
        row.say(f"locked for {time.monotonic() - began:.0f} s with {held} votes")
        _as_if_nothing(row, at, said, running.returncode)
        failed = opened.result()
    row.say(f"first open by two at once: {failed} of 50 failed")
    row.must(not failed, "a first open failed")
    return row


def _first_opens(times: int) -> int:
    import tempfile

    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        gate, failed = spawn.Barrier(2), spawn.Value("i", 0)
        both = [spawn.Process(target=_open, args=(folder, times, gate, failed)) for _ in "ab"]
        for one in both:
            one.start()
        for one in both:
            one.join()
        return int(failed.value)


def _open(folder: str, times: int, gate: Any, failed: Any) -> None:
    for turn in range(times):
        gate.wait()
        try:
            Store(Path(folder) / f"{turn}.db").counts()
        except Exception as error:
            print(error)
            failed.value += 1


def twice_started(trials: int) -> Row:
    """The same run worked off by two at the same moment, and by two processes."""
    row, more, how = Row(), 0, []
    for _ in range(trials):
        with site(5, Counting(0.01)) as at:
            run, gate = at.plan(), threading.Barrier(2)

            def start(at: Site = at, run: int = run, gate: threading.Barrier = gate) -> str:
                gate.wait()
                return at.work(run)

            with ThreadPoolExecutor(2) as threads:
                how.append(sorted(one.result() for one in [threads.submit(start) for _ in "ab"]))
            more += at.provider.count - at.planned
            row.must(at.votes == at.planned and not at.twice(), "votes lost or twice")
    with site(50, Counting(0.02)) as at:
        run = at.plan()
        both = [command("resume", run, "--db", at.db, "--json") for _ in "ab"]
        ends = [one.wait(120) for one in both]
        more += at.provider.count - at.planned
        row.must(ends == [0, 0], f"exits {ends}")
    row.say(f"{trials} pairs in threads, 1 of processes: paid twice {more}; the second {how[0][0]}")
    row.must(not more, "paid twice")
    return row
