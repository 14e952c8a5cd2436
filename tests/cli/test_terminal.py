"""What texts of others may do to a terminal: nothing. Files and JSON keep every character."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

from core.store.store import Store
from tests.command_line import cli
from tests.places import ROOT

#: Sets a window's title; writes to the clipboard; clears the screen by one character of its own.
TITLE, CLIPBOARD, CLEAR = "\x1b]0;mine\x07", "\x1b]52;c;aGk=\x07", "\x9b2J"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")


@pytest.fixture
def hostile(store: Store, tmp_path: Path) -> Path:
    """Votes whose items, criterion, rater and reasons hold what terminals obey."""
    votes = tmp_path / f"votes {TITLE}.csv"
    with votes.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["item_id", "criterion_id", "rater_id", "vote", "rationale"])
        for item in range(4):
            for rater in ("ann", f"bob{CLEAR}"):
                vote = "UNMET" if item == 0 and rater == "ann" else "MET"
                rows.writerow([f"i{item}{CLIPBOARD}", f"Right{TITLE}", rater, vote, f"So{CLEAR}."])
    return votes


def test_no_verb_lets_a_text_of_others_steer_the_terminal(store: Store, hostile: Path) -> None:
    item, db = f"i0{CLIPBOARD}", ("--db", store.path)
    first = cli("import", hostile, *db)
    assert first.returncode == 0, first.stderr
    said = [
        first,
        cli("runs", *db),
        cli("show", 1, *db),
        cli("show", 1, item, *db),
        cli("show", 1, "--doubt", *db),
        cli("show", 1, f"nobody{CLIPBOARD}", *db),
        cli("score", 1, *db),
        cli("metrics", 1, *db),
        cli("queue", "make", 1, "--name", f"Mine \u202e{TITLE}", "--audit", 1, *db),
        cli("queue", "list", *db),
        cli("regrade", "add", 1, item, "--note", "Look.", "--from", f"Tom{CLEAR}", *db),
        cli("regrade", "list", 1, *db),
        cli("import", hostile, "--map", f"item={CLEAR}", *db),
        cli("lint", hostile),
        cli("runs", "--json", *db),
        cli("score", 1, "--json", *db),
    ]
    for one in said:
        assert OBEYED.findall(one.stderr) == [], one.args
        assert OBEYED.findall(one.stdout) == [], one.args
    assert "␛]52;c;aGk=␇" in said[3].stdout
    assert "⟦U+009B⟧2J" in said[3].stdout
    assert item in {row["id"] for row in json.loads(said[-1].stdout)["items"]}


def test_files_on_stdout_keep_every_character(store: Store, hostile: Path) -> None:
    cli("import", hostile, "--db", store.path)
    made = cli("export", 1, "--format", "csv", "--out", "-", "--db", store.path)
    ids = {row["item_id"] for row in csv.DictReader(made.stdout.lstrip("\ufeff").splitlines())}
    assert f"i3{CLIPBOARD}" in ids


def test_one_module_writes_to_the_terminal() -> None:
    writers = {
        path.name
        for path in (ROOT / "core" / "cli").rglob("*.py")
        if re.search(r"click\.s?echo|\bprint\(|sys\.std(out|err)\.write", path.read_text())
    }
    assert writers == {"common.py"}
