"""The command line as a script uses it: in this process, or where it matters in one of its own.

A process takes half a second to begin, so `cli` runs the command here. What only a process shows
(signals, what remains when it ends, what a library writes past Python) is run by `cli_process`.
"""

from __future__ import annotations

import subprocess
import sys

from click.testing import CliRunner

from core.cli import main
from tests.places import ROOT


def cli(*arguments: object, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    """The command in this process. An exception that it does not turn into words is raised."""
    words = [*map(str, arguments)]
    done = CliRunner().invoke(main, words, input=stdin)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return subprocess.CompletedProcess(words, done.exit_code, done.stdout, done.stderr)


def cli_process(*arguments: object) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, by the module that starts it."""
    return subprocess.run(
        [sys.executable, "-m", "core.cli", *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
