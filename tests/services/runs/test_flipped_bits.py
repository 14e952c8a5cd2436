"""A bit that flips in the data file: `verify` finds it, or says that no sum covers the place."""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path
from typing import Any

from core.cli.integrity import report_as_text, verify_store
from core.domain.review import QueueRule, QueueSettings
from core.errors import RubricStudioError
from core.services.review import queues
from core.services.runs.planning import RunRequest
from core.store.store import Store
from tests.services.reviewed import sit
from tests.services.runs.test_kept_answers import run

#: What `verify` names as covered by no sum: whole tables, and of `run` what is counted and said.
NAMED = {
    *("judge", "panel", "setting", "draft", "rubric", "dataset", "member", "reviewer"),
    *("queue_item", "queue_cell", "queue_turn", "settled", "review_verdict", "review_queue"),
    *("help_task", "batch", "batch_line", "response", "kept", "label_draw"),
}
OF_RUN = {
    *("name", "status", "calls", "tokens_in", "tokens_cached", "tokens_out", "tokens_thinking"),
    *("cost", "cost_unknown", "cached", "saved", "seconds", "started", "finished", "message"),
    *("notes", "cancel", "lease_owner", "lease_until", "fence", "lost", "out", "derived"),
    *("scored_version_id", "made_by"),
}
MEANT = 60


def rows_of(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """All rows by table, but for what SQLite and sqlite-utils keep for themselves."""
    connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    connection.text_factory = bytes
    try:
        names = [
            name.decode()
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            if not name.startswith((b"sqlite", b"_sqlite"))
        ]
        found = {name: connection.execute(f"SELECT * FROM {name}").fetchall() for name in names}
        if "run" in found:
            places = connection.execute("PRAGMA table_info(run)").fetchall()
            kept = [place for place, name, *_ in places if name.decode() not in OF_RUN]
            found["run"] = [tuple(row[place] for place in kept) for row in found["run"]]
        return {name: rows for name, rows in found.items() if name not in NAMED}
    finally:
        connection.close()


def verified_words(path: Path) -> str:
    """Return `sound`, or the report in words."""
    try:
        report = verify_store(lambda: Store(path))
    except RubricStudioError as error:
        return str(error)
    assert report_as_text(report)
    return "sound" if report == {"ok": True, "problems": []} else str(report)


def test_every_flipped_bit_that_changes_a_record_is_found(
    store: Store, request_: RunRequest, tmp_path: Path
) -> None:
    run(store, request_)
    lead = sit(store, "Lea")
    queues.make_queue(store, lead, 1, "All", QueueRule(everything=True), QueueSettings())
    whole = tmp_path / "whole.db"
    store.backup(whole)
    assert verified_words(whole) == "sound"
    data, before = whole.read_bytes(), rows_of(whole)
    chance, meant, missed = random.Random(7), 0, list[str]()
    flipped = tmp_path / "flipped" / "studio.db"
    flipped.parent.mkdir()
    while meant < MEANT:
        place, bit = chance.randrange(len(data)), chance.randrange(8)
        for old in flipped.parent.iterdir():
            old.unlink()
        flipped.write_bytes(data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :])
        try:
            after = rows_of(flipped)
        except (sqlite3.Error, UnicodeDecodeError):
            continue  # nobody can read it, let alone take it for sound
        names = before.keys() | after.keys()
        changed = [name for name in names if before.get(name) != after.get(name)]
        if not changed:
            continue
        meant += 1
        if verified_words(flipped) == "sound":
            missed.append(f"byte {place}, bit {bit}: {changed}")
    assert missed == []
