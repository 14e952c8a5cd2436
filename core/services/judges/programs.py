"""Programs as judges: only programs that this machine's user has allowed may run.

A permit (`services/access/permits`) covers a command, its working folder, and the contents of the
files that it names. A change of any of these makes it another program.
"""

from __future__ import annotations

import hashlib
import shlex
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from core import clock
from core.domain.panel import Judge
from core.errors import InputError, Problem
from core.identity import content_hash
from core.judging.command_judge import commands_of
from core.judging.function_judge import JudgeFunction
from core.services.access.permits import (
    REFUSED,
    add_permits,
    allow_sendings,
    permits_of_kind,
    unlisted_problems,
)
from core.text.names import visible

#: Larger files (such as a model's weights) are compared only by size and time.
_MOST_HASHED = 100_000_000
_MEND = "Read it and what it names. If you trust it, say so once: --trust (Python: trust=True)."


def programs_of(
    judges: Iterable[Judge], *, trust: bool = False, typed: bool = False, source: str = ""
) -> Mapping[str, JudgeFunction]:
    """Return the judges that are programs, as functions; for the terminal and Python, never a page.

    ``trust`` allows them on this machine from now on, and the secrets that all these judges send.
    Judges that the user ``typed`` need no permit. ``source`` is the file with the judges.

    Raises:
        InputError: a program or secret is not allowed yet; the message shows it in full.
    """
    judges = tuple(judges)
    programs = [judge for judge in judges if judge.kind == "command"]
    allowed = permits_of_kind("programs") if programs else {}
    not_allowed = [judge for judge in programs if _digest(judge) not in allowed]
    secrets = () if trust or typed else unlisted_problems(judges)
    if (not_allowed and not trust) or secrets:
        message = "This panel runs programs that are not allowed on this machine."
        shown = () if trust else tuple(_unpermitted_program(judge) for judge in not_allowed)
        raise InputError(message if shown else REFUSED, (*shown, *secrets), source)
    add_permits("programs", {_digest(program): _entry(program) for program in not_allowed})
    if trust or typed:
        allow_sendings(judges)
    return commands_of(programs)


def functions_that_refuse(judges: Iterable[Judge]) -> Mapping[str, JudgeFunction]:
    """Return these functions for a run that makes no more calls: each fails without running
    anything.
    """

    async def refuse(*_: object) -> Any:
        raise RuntimeError("This program was not allowed on this machine.")

    return {judge.name: refuse for judge in judges if judge.kind == "command"}


def _unpermitted_program(judge: Judge) -> Problem:
    command = visible(shlex.join(judge.command))
    return Problem(
        f"would run, in {visible(str(Path.cwd()))}: {command}", _MEND, (judge.name, "command")
    )


def _entry(judge: Judge) -> dict[str, Any]:
    return {"command": list(judge.command), "folder": str(Path.cwd()), "allowed": clock.now()}


def _digest(judge: Judge) -> str:
    """Return a hash of the command, its folder, and the contents of the files that it names."""
    program = shutil.which(judge.command[0]) or judge.command[0]
    files = {word: _file_hash(Path(word)) for word in (program, *judge.command[1:])}
    return content_hash([list(judge.command), str(Path.cwd()), files])


def _file_hash(path: Path) -> str:
    """Return a hash of a file's contents; empty if the file does not exist."""
    try:
        if not path.is_file():
            return ""
        status = path.stat()
        if status.st_size > _MOST_HASHED:
            return f"{status.st_size} {status.st_mtime_ns}"
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError):
        return ""
