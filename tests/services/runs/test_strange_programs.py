"""A program in somebody's panel or data file runs only if it was allowed on this machine."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import rubric_studio as rs
from core.errors import InputError
from core.settings import allowed_file
from tests.command_line import cli
from tests.services.runs.test_code_as_judge import folder, grade

#: Leaves a file behind wherever it runs, and abstains. The note says which version of it ran.
PROGRAM = "import pathlib; pathlib.Path(__file__).with_name('ran').write_text('once')\n"


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "mine"))


@pytest.fixture
def at(tmp_path: Path) -> Path:
    """A folder of somebody else's: a panel with a program."""
    (tmp_path / "theirs").mkdir()
    script = tmp_path / "theirs" / "judge.py"
    command = [sys.executable, str(script), "--say", "\x1b[2Jhello"]
    made = folder(tmp_path / "theirs", {"name": "mine", "kind": "command", "command": command})
    script.write_text(PROGRAM)
    return made


def ran(at: Path) -> bool:
    """Whether it has run since the last look."""
    there = (at / "ran").exists()
    (at / "ran").unlink(missing_ok=True)
    return there


def test_it_is_shown_in_full_and_runs_once_it_is_allowed(at: Path) -> None:
    refused = grade(at)
    assert (refused.returncode, ran(at)) == (2, False)
    assert str(at / "judge.py") in refused.stderr
    assert "--trust" in refused.stderr
    assert "\x1b" not in refused.stderr  # a terminal would obey it, and hide the rest
    assert json.loads(cli("runs", "--db", at / "x.db", "--json").stdout)["runs"] == []

    assert grade(at, "--trust").returncode == 0
    assert ran(at)
    # From now on it may; what is kept lies in the person's folder, not beside panel or data.
    assert (grade(at).returncode, ran(at)) == (0, True)
    kept = allowed_file()
    assert len(json.loads(kept.read_text())) == 1
    assert kept.stat().st_mode & 0o077 == 0
    assert not kept.is_relative_to(at)


def test_another_script_under_the_same_name_is_another_program(at: Path) -> None:
    grade(at, "--trust")
    (at / "judge.py").write_text(PROGRAM + "# and more\n")
    ran(at)
    assert (grade(at).returncode, ran(at)) == (2, False)


def test_the_same_words_in_another_folder_are_another_program(
    at: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grade(at, "--trust")
    ran(at)
    monkeypatch.chdir(tmp_path)
    assert (grade(at).returncode, ran(at)) == (2, False)


@pytest.mark.parametrize("verb", ["resume", "retry"])
def test_a_run_of_a_strange_data_file_runs_nothing_unasked(at: Path, verb: str) -> None:
    (at / "judge.py").write_text(PROGRAM + "raise SystemExit(1)\n")
    grade(at, "--trust")
    allowed_file().unlink()  # as on the machine of whoever gets the file
    ran(at)
    words = (verb, 1, "--db", at / "x.db", "--json")
    refused = cli(*words)
    assert (refused.returncode, ran(at)) == (2, False)
    assert str(at / "judge.py") in refused.stderr
    assert cli("cancel", 1, "--db", at / "x.db").returncode == 0
    cli(*words, "--trust")
    assert ran(at) == (verb == "retry")  # of a finished run nothing is left to resume


def test_a_worker_and_a_probe_run_none_at_all(at: Path) -> None:
    grade(at, "--trust")
    ran(at)
    probed = cli("probe", 1, "--db", at / "x.db", "--json")
    assert (probed.returncode, ran(at)) == (2, False)


def test_python_asks_as_well(at: Path, tmp_path: Path) -> None:
    judge = rs.Judge(name="mine", kind="command", command=(sys.executable, str(at / "judge.py")))
    given: dict[str, Any] = {"judges": [judge], "db": tmp_path / "py.db", "progress": False}
    with pytest.raises(InputError) as refused:
        rs.grade(str(at / "rubric.yaml"), str(at / "items.csv"), **given)
    assert (str(at / "judge.py") in str(refused.value.problems[0]), ran(at)) == (True, False)
    rs.grade(str(at / "rubric.yaml"), str(at / "items.csv"), trust=True, **given)
    assert ran(at)
    run = rs.grade(str(at / "rubric.yaml"), str(at / "items.csv"), **given)
    assert (len(run.votes), ran(at)) == (6, True)


def test_a_file_of_what_is_allowed_that_cannot_be_read_allows_nothing(at: Path) -> None:
    file = allowed_file()
    file.parent.mkdir(parents=True)
    file.write_text("{")
    refused = grade(at, "--trust")
    assert (refused.returncode, ran(at)) == (2, False)
    assert str(file) in refused.stderr
