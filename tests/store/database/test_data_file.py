"""The data file or its log deleted, moved or replaced while it is open: nothing goes astray."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from core.errors import StoreError
from core.store.store import Store
from tests.store.making import NOW, RUBRIC


def deleted(db: Path) -> None:
    db.unlink()


def moved(db: Path) -> None:
    db.rename(db.with_name("elsewhere.db"))


def replaced(db: Path) -> None:
    other = db.with_name("other.db")
    Store(other).close()
    other.replace(db)


def without_log(db: Path) -> None:
    db.with_name(f"{db.name}-wal").unlink()


@pytest.mark.parametrize("change", [deleted, moved, replaced, without_log])
def test_nothing_is_written_into_a_file_that_is_gone_and_what_it_held_is_saved(
    change: Callable[[Path], None], tmp_path: Path
) -> None:
    db = tmp_path / "studio.db"
    store = Store(db)
    store.settings.put("kept", "so far")
    change(db)
    with pytest.raises(StoreError, match=r"deleted, moved or replaced .* saved in (\S+)\.") as said:
        store.settings.put("kept", "later")
    (saved,) = tmp_path.glob("studio-saved-*.db")
    assert f"saved in {saved}." in str(said.value)
    copy = Store(saved)
    assert copy.settings.get("kept") == "so far"
    assert copy.verify() == []


def test_a_thread_that_comes_later_makes_no_empty_file_where_ours_was(tmp_path: Path) -> None:
    db = tmp_path / "studio.db"
    store = Store(db)
    store.rubrics.create(RUBRIC, now=NOW)
    db.unlink()
    said: list[str] = []

    def look() -> None:
        try:
            store.counts()
        except StoreError as error:
            said.append(str(error))

    other = threading.Thread(target=look)
    other.start()
    other.join()
    assert "deleted, moved or replaced" in said[0]
    assert not db.exists()


def test_a_log_that_was_written_back_by_whoever_closed_last_is_no_loss(tmp_path: Path) -> None:
    db = tmp_path / "studio.db"
    store = Store(db)
    store.settings.put("a", 1)
    store.close()  # the last connection takes the log away
    store.settings.put("b", 2)
    assert Store(db).settings.get("b") == 2


def test_a_file_whose_tables_say_nonsense_is_damaged_in_words(store: Store) -> None:
    store.checkpoint()
    store.close()
    data = store.path.read_bytes()
    at = data.index(b"CREATE TABLE group_sum")
    for wrong in (b"CREATE \xe1ABLE", b"CREATE TABLE ((", b"CREATE VIEWS "):
        store.path.write_bytes(data[:at] + wrong + data[at + len(wrong) :])
        with pytest.raises(StoreError, match="damaged"):
            Store(store.path)
    store.path.write_bytes(data)
    connection = sqlite3.connect(store.path)
    connection.execute("DELETE FROM _sqlite_migrations WHERE name = 'label_draws'")
    connection.commit()
    connection.close()
    with pytest.raises(StoreError, match="label_draw already exists"):
        Store(store.path)
