"""Copies one can rely on: flipped bits, kills of a copy at every write, kills of an upload."""

from __future__ import annotations

import json
import random
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.faults.world import Row, Site, command, faulty, site
from core.cli import integrity
from core.errors import RubricStudioError
from core.store.store import Store
from tests.services.runs.test_flipped_bits import rows_of, verified_words

PLACES = 40


def bits(trials: int) -> Row:
    """One bit of a data file flips: `verify` finds it, and `backup` keeps no copy of it."""
    row, dice, meant, copied = Row(), random.Random(5), 0, 0
    with site(4) as at:
        at.plan()
        at.work()
        whole, flipped = at.folder / "whole.db", at.folder / "flipped" / "studio.db"
        Store(at.db).backup(whole)
        flipped.parent.mkdir()
        data, before = whole.read_bytes(), rows_of(whole)
        while meant < 10 * trials:
            place, bit = dice.randrange(len(data)), 1 << dice.randrange(8)
            for old in flipped.parent.iterdir():
                old.unlink()
            flipped.write_bytes(data[:place] + bytes([data[place] ^ bit]) + data[place + 1 :])
            try:
                if rows_of(flipped) == before:
                    continue
            except (sqlite3.Error, UnicodeDecodeError):
                pass  # nobody can read it: no copy may be kept of it either
            meant += 1
            row.must(verified_words(flipped) != "sound", f"byte {place}, bit {bit}: called sound")
            copied += _copied(flipped, at.folder / "copy.db")
    row.say(f"{meant} flips that changed a record: 0 called sound, {copied} copied")
    row.must(not copied, f"{copied} damaged files copied")
    return row


def _copied(db: Path, target: Path) -> bool:
    try:
        made, _ = integrity.backup(Store(db), target, force=True)
    except RubricStudioError:
        return False
    return made is not None


def killed_copies(trials: int) -> Row:
    """kill -9 at 40 writes of a copy that takes the place of an older one."""
    row = Row()
    with site(4) as at:
        at.plan()
        at.work()
        counted, copy = at.folder / "count", at.folder / "copies" / "studio.db"
        words = ("backup", copy, "--db", at.db, "--force")
        command(*words, **_at_part("none", count=counted)).communicate()
        writes = int(counted.read_text())
        for step in sorted({1 + (writes - 1) * n // (PLACES - 1) for n in range(PLACES)}):
            command(*words, **_at_part("kill", at=step)).communicate()
            row.must(verified_words(copy) == "sound", f"at write {step}: the copy is not sound")
            Store(copy).close()  # a start beside what the kill left
            left = [one.name for one in copy.parent.iterdir() if one.name.endswith(".part")]
            row.must(not left, f"at write {step}: left {left}")
    row.say(f"{min(PLACES, writes)} places of {writes} writes: a whole copy is there after each")
    return row


def _at_part(kind: str, **more: object) -> dict[str, str]:
    return {**faulty(kind, **more), "FAULT_FILE": ".rubric-studio-"}


def killed_uploads(trials: int) -> Row:
    """kill -9 while a batch is sent; the run goes on, or is cancelled: no text is left there."""
    row, dice = Row(), random.Random(9)
    waits = [(n, dice.uniform(0.1, 4.0)) for n in range(trials)]
    with ThreadPoolExecutor(2) as threads:
        left = list(threads.map(lambda one: _killed_upload(*one), waits))
    row.say(f"{trials} kills, of which {sum(at for at, _ in left)} left a file at the provider")
    for _, wrong in left:
        row.must(not wrong, wrong)
    return row


def _killed_upload(number: int, seconds: float) -> tuple[bool, str]:
    with site(4) as at:
        _slow_uploads(at)
        running = at.grade("--batch")
        until = time.monotonic() + 30
        while not at.provider.batches.files and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(seconds / 10)
        running.kill()
        running.communicate()
        there = at.provider.batches.left
        if number % 2:
            command("cancel", 1, "--db", at.db).communicate(timeout=120)
        else:
            said, _ = command("resume", 1, "--db", at.db, "--json").communicate(timeout=120)
            if json.loads(said)["votes"] != at.planned:
                return there, f"kill {number}: {said}"
        return there, f"kill {number}: texts are left" if at.provider.batches.left else ""


def _slow_uploads(at: Site) -> None:
    """The provider takes a moment to say that it has got a file."""
    at.provider.batches.slow = 0.15
