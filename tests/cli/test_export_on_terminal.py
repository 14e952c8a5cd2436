"""What an export holds for a terminal to obey is shown there, and kept everywhere else."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

from tests.command_line import cli
from tests.places import ROOT
from tests.services.runs.test_code_as_judge import CHECKS, folder, grade

#: Names the window, wipes the screen, and turns round what follows.
HOSTILE = "\x1b]0;hello\x07\x1b[2J\u202e"


def on_terminal(*words: object) -> str:
    """What a command writes to a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "core.cli", *map(str, words)], cwd=ROOT, stdout=theirs
    ) as process:
        os.close(theirs)
        said = b""
        while part := _read(ours):
            said += part
    os.close(ours)
    assert process.returncode == 0
    return said.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # whoever wrote has ended
        return b""


def test_an_export_on_a_terminal_shows_what_it_would_obey(tmp_path: Path) -> None:
    at = folder(tmp_path, CHECKS)
    (at / "items.csv").write_text(f'id,submission\n"a{HOSTILE}b",Thank you\n')
    assert grade(at).returncode == 0
    for form in ("csv", "jsonl"):
        words = ("export", 1, "--format", form, "--db", at / "x.db", "--out")
        shown = on_terminal(*words, "-")
        assert not {"\x1b", "\x07", "\u202e"} & set(shown)
        assert "hello" in shown
    # Into a file or a pipe goes what it is.
    assert (
        cli("export", 1, "--format", "csv", "--db", at / "x.db", "--out", at / "f.csv").returncode
        == 0
    )
    assert HOSTILE in (at / "f.csv").read_text("utf-8-sig")
    assert HOSTILE in cli("export", 1, "--format", "csv", "--db", at / "x.db", "--out", "-").stdout
