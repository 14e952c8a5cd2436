"""What texts of others may do to a terminal: nothing. Files and JSON keep every character."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
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


@pytest.fixture
def counted(tmp_path: Path) -> tuple[object, ...]:
    """What `grade` needs for a run that a rule judges: a name with letters of four alphabets."""
    (tmp_path / "rubric.yaml").write_text(
        "{name: Größe Ω 漢 🎓, criteria: [{name: Long, requirement: At least two words.}]}"
    )
    (tmp_path / "items.csv").write_text("id,submission\n1,one\n2,one two\n")
    (tmp_path / "panel.yaml").write_text(
        "judges: [{name: rule, kind: check, checks: "
        "{Long: {rules: [{when: {words: {min: 2}}, then: MET}], otherwise: UNMET}}}]"
    )
    files = (tmp_path / name for name in ("rubric.yaml", "items.csv"))
    return ("grade", *files, "--panel", tmp_path / "panel.yaml", "--db", tmp_path / "mine.db")


def in_shell(redirected: str, *words: object, encoding: str = "utf-8") -> tuple[int, bytes, bytes]:
    """A process of its own whose streams a shell closes or leads elsewhere: its status and both."""
    command = ["sh", "-c", f'exec "$@" {redirected}', "sh", sys.executable, "-m", "core.cli"]
    done = subprocess.run(
        [*command, *map(str, words)],
        cwd=ROOT,
        env={**os.environ, "PYTHONIOENCODING": encoding},
        capture_output=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("redirected", ["2>&-", "2>/dev/full", ">&- 2>&-"])
def test_a_run_is_worked_off_also_where_nobody_can_be_told_how_it_goes(
    counted: tuple[object, ...], redirected: str
) -> None:
    assert in_shell(redirected, *counted)[0] == 0
    (run,) = json.loads(cli("runs", "--json", *counted[-2:]).stdout)["runs"]
    assert (run["status"], run["votes"]) == ("done", 2)


@pytest.mark.parametrize(
    "words",
    ["runs", "runs --json", "export 1 --format csv --out -", "export 1 --format xlsx --out -"],
)
def test_results_that_cannot_be_written_are_one_message(
    counted: tuple[object, ...], words: str
) -> None:
    cli(*counted)
    full = "rubric-studio: standard output: cannot be written: No space left on device.\n"
    assert in_shell(">/dev/full", *words.split(), *counted[-2:])[::2] == (2, full.encode())


def test_a_closed_standard_input_is_said() -> None:
    status, _, said = in_shell("<&-", "lint", "-")
    assert (status, said[:28]) == (2, b"standard input: is closed. P")


def test_letters_that_a_terminal_has_not_got_are_escaped_and_files_stay_utf_8(
    counted: tuple[object, ...],
) -> None:
    cli(*counted)
    listed = in_shell("", "runs", *counted[-2:], encoding="latin-1")
    assert listed[0] == 0
    assert "Größe \\u03a9 \\u6f22 \\U0001f393" in listed[1].decode("latin-1")
    for words in (("runs", "--json"), ("convert", 1, "--to", "json")):
        status, written, _ = in_shell("", *words, *counted[-2:], encoding="latin-1")
        assert (status, "Größe Ω 漢 🎓" in written.decode()) == (0, True), words
        json.loads(written)
