"""A data file on a place that cannot be written: it is read, and nothing is left beside it."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from core.errors import StoreError
from core.store.store import Store
from tests.read_only import cli_there, locked
from tests.services.results.partly_assessed import partly_assessed


@pytest.fixture
def archived(tmp_path: Path) -> Path:
    """A whole copy of a data file with a run, as an archive keeps one."""
    store = Store(tmp_path / "studio.db")
    partly_assessed(store)
    path = tmp_path / "archive" / "studio.db"
    store.backup(path)
    return path


@pytest.mark.parametrize(
    "words",
    [
        ("verify",),
        ("runs",),
        ("show", 1),
        ("score", 1),
        ("export", 1, "--format", "csv", "--out", "-"),
    ],
)
def test_it_is_read(archived: Path, words: tuple[object, ...]) -> None:
    with locked(archived.parent):
        done = cli_there(*words, "--db", archived)
        assert (done.returncode, "can only be read here" in done.stderr) == (0, True), done.stderr
    assert [path.name for path in archived.parent.iterdir()] == ["studio.db"]


def test_it_is_read_as_it_was_left_in_use_too(archived: Path) -> None:
    # Opened once, so that it has a log; whoever had it open ends without taking that away.
    store = Store(archived)
    store.settings.put("a", 1)
    held = archived.parent.with_name("left")
    held.mkdir()
    for path in archived.parent.iterdir():
        shutil.copy(path, held / path.name)
    with locked(held):
        done = cli_there("verify", "--json", "--db", held / "studio.db")
    assert (done.returncode, json.loads(done.stdout)) == (0, {"ok": True, "problems": []})
    copied = sqlite3.connect(held / "studio.db")
    assert copied.execute("SELECT value FROM setting WHERE key = 'a'").fetchall() == [("1",)]


@pytest.mark.parametrize("words", [("demo",), ("worker",)])
def test_what_would_write_says_so(archived: Path, words: tuple[str, ...]) -> None:
    with locked(archived.parent):
        done = cli_there(*words, "--db", archived)
    assert done.returncode == 2
    assert "can be written" in done.stderr or "cannot be written" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_older_file_is_not_brought_up_to_date_there(archived: Path) -> None:
    connection = sqlite3.connect(archived)
    connection.execute("DELETE FROM _sqlite_migrations WHERE name = 'sums'")
    connection.commit()
    connection.close()
    with pytest.raises(StoreError, match="of an earlier version"):
        Store(archived, reading=True)
