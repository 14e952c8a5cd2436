"""`backup --nightly`: no older copy goes before a new one is there and sound; all workspaces."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from core.store.store import Store
from tests.command_line import cli
from tests.places import ROOT
from tests.services.access.made import CONFIG, team
from tests.services.results.partly_assessed import partly_assessed

OLDER = [f"studio-2026-03-{day:02}.db" for day in range(1, 4)]


@pytest.fixture
def db(tmp_path: Path) -> Path:
    store = Store(tmp_path / "data" / "studio.db")
    partly_assessed(store)
    return store.path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three copies of earlier nights, and a file of somebody else's."""
    folder = tmp_path / "copies"
    folder.mkdir()
    for name in (*OLDER, "studio-of-mine.db"):
        (folder / name).write_text("a copy")
    return folder


def broken(db: Path) -> None:
    """A score that its votes do not make."""
    connection = sqlite3.connect(db)
    connection.execute("UPDATE run_item SET score = 0.123")
    connection.commit()
    connection.close()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_oldest_goes_once_a_new_one_is_there(db: Path, folder: Path) -> None:
    done = cli("backup", folder, "--nightly", "--keep", 3, "--db", db, "--json")
    (made,) = json.loads(done.stdout)["copies"]
    new = Path(made["file"]).name
    assert (done.returncode, re.fullmatch(r"studio-\d{4}-\d\d-\d\d\.db", new) is None) == (0, False)
    assert names(folder) == sorted([*OLDER[1:], new, "studio-of-mine.db"])
    assert cli("verify", "--db", folder / new).returncode == 0
    # The same night again: in place of it, and nothing else goes.
    assert cli("backup", folder, "--nightly", "--keep", 3, "--db", db).returncode == 0
    assert names(folder) == sorted([*OLDER[1:], new, "studio-of-mine.db"])


def test_of_a_damaged_file_no_older_copy_goes(db: Path, folder: Path) -> None:
    before = names(folder)
    broken(db)
    done = cli("backup", folder, "--nightly", "--keep", 1, "--db", db)
    assert (done.returncode, "its older copies stay" in done.stderr) == (1, True)
    assert names(folder) == before
    # Nor of one that is no data file any more.
    db.write_bytes(b"\0" * 20_000)
    assert cli("backup", folder, "--nightly", "--keep", 1, "--db", db).returncode == 1
    assert names(folder) == before


def test_every_workspace_is_copied_and_one_that_fails_keeps_none_from_it(
    db: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks = ""
    for name in ("law", "physics"):
        data = db.parent / f"{name}.db"
        partly_assessed(Store(data))
        blocks += f'\n[[workspace]]\nname = "{name}"\ntitle = "{name}"\ndata = "{data}"\n'
    team(db.parent, monkeypatch, CONFIG + blocks)
    broken(db.parent / "law.db")
    done = cli("backup", folder, "--nightly", "--json")
    said = json.loads(done.stdout)
    assert (done.returncode, [*said["failed"]]) == (1, ["law"])
    assert [Path(one["file"]).name.partition("-")[0] for one in said["copies"]] == ["physics"]


def test_the_loop_of_compose_keeps_older_copies_of_a_damaged_file(
    db: Path, folder: Path, tmp_path: Path
) -> None:
    (script,) = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]["backup"]["command"]
    programs = tmp_path / "bin"
    programs.mkdir()
    studio = f'#!/bin/sh\nexec "{sys.executable}" -m core.cli "$@"\n'
    # The loop ends where it would wait.
    for name, text in (("rubric-studio", studio), ("sleep", '#!/bin/sh\nkill -TERM "$PPID"\n')):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"

    def night() -> None:
        subprocess.run(
            ["/bin/sh", "-c", script.replace("/backups", str(folder))],
            env={**os.environ, "PATH": path, "RUBRIC_STUDIO_DB": str(db), "PYTHONPATH": str(ROOT)},
            cwd=ROOT,
            capture_output=True,
            timeout=60,
            check=False,
        )

    before = names(folder)
    broken(db)
    night()
    assert names(folder) == before
    db.unlink()
    partly_assessed(Store(db.with_name("studio.db")))
    night()
    assert len(names(folder)) == len(before) + 1


def test_the_image_makes_both_folders_that_its_user_writes() -> None:
    text = (ROOT / "Dockerfile").read_text()
    made = re.search(r"install -d -o studio -g studio -m 0700 (.*)", text)
    volumes = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]["backup"]["volumes"]
    named = {one.split(":")[1] for one in volumes if not one.startswith(".")}
    assert made is not None
    assert set(made[1].split()) >= named == {"/data", "/backups"}
