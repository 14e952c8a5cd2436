"""The command line as a script uses it: in this process, or where it matters in one of its own.

A process takes half a second to begin, so `cli` runs the command here. What only a process shows
(signals, what remains when it ends, what a library writes past Python) is run by `cli_process`.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys

from click.testing import CliRunner

from core.cli import main
from tests.places import ROOT

#: A block of a document: its kind, and what stands in it.
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)


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


def followed(block: str) -> str:
    """What a document's lines for a shell print, run as they stand; `;` parts two of a line.

    Only a command whose status is printed next may end with another status than 0.
    """
    said, status = list[str](), 0
    commands = [command for line in block.splitlines() for command in _commands(line)]
    for (program, *arguments), following in zip(commands, [*commands[1:], []], strict=True):
        if [program, *arguments] == ["echo", "$?"]:
            said.append(f"{status}\n")
            continue
        assert program == "rubric-studio", [program, *arguments]
        done = cli(*arguments)
        status = done.returncode
        said += [done.stderr, done.stdout]
        assert status == 0 or following == ["echo", "$?"], f"{arguments}\n{done.stderr}"
    return "".join(said)


def _commands(line: str) -> list[list[str]]:
    """The commands of a line, as a shell would part them."""
    words = shlex.shlex(line, posix=True, punctuation_chars=";")
    words.whitespace_split = True
    found: list[list[str]] = [[]]
    for word in words:
        if word == ";":
            found.append([])
        else:
            found[-1].append(word)
    return [command for command in found if command]
