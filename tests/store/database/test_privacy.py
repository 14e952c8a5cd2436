"""The data file and what lies beside it can be read by their owner alone, whatever the umask."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.errors import StoreError
from core.store.store import Store

pytestmark = pytest.mark.usefixtures("lax")


@pytest.fixture
def lax() -> Iterator[None]:
    """The umask of many machines: everybody may read what is made."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def rights(path: Path) -> str:
    return oct(stat.S_IMODE(path.stat().st_mode))


def test_a_new_data_file_its_log_and_its_folder_are_private(tmp_path: Path) -> None:
    store = Store(tmp_path / "a" / "b" / "studio.db")
    store.settings.put("a", 1)
    beside = {path.name: rights(path) for path in store.path.parent.iterdir()}
    assert beside == dict.fromkeys(["studio.db", "studio.db-wal", "studio.db-shm"], "0o600")
    assert rights(store.path.parent) == "0o700"
    assert rights(tmp_path / "a") == "0o755"  # not the program's


def test_a_file_and_a_folder_that_somebody_made_are_left_as_they_are(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir(mode=0o750)
    Store(folder / "studio.db").close()
    (folder / "studio.db").chmod(0o640)
    Store(folder / "studio.db").close()
    assert (rights(folder), rights(folder / "studio.db")) == ("0o750", "0o640")


def test_the_programs_own_folder_is_tightened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    path = tmp_path / "rubric-studio" / "studio.db"
    first = Store(path)
    first.settings.put("a", 1)
    for one in path.parent.iterdir():  # as an earlier version left them
        one.chmod(0o644)
    path.parent.chmod(0o755)
    Store(path)
    assert {rights(one) for one in path.parent.iterdir()} == {"0o600"}
    assert rights(path.parent) == "0o700"


def test_what_is_saved_of_a_lost_file_is_private(tmp_path: Path) -> None:
    store = Store(tmp_path / "studio.db")
    store.settings.put("a", 1)
    (tmp_path / "studio.db").unlink()
    with pytest.raises(StoreError):
        store.settings.put("a", 1)
    (saved,) = tmp_path.glob("studio-saved-*.db")
    assert rights(saved) == "0o600"
