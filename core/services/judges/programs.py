"""Programs as judges: none runs on this machine that its person has not allowed.

A panel, or the panel of a run in a data file, may come from anybody. What is allowed is kept in the
person's own folder, never with the panel: the command as it stands, the folder it runs in, and what
the files that it names hold. If one of these changes, it is another program.
"""

from __future__ import annotations

import hashlib
import json
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
from core.part_files import part_file
from core.settings import allowed_programs_file
from core.text.names import visible

#: Of a larger file (a model's weights, say) only size and time are looked at.
_MOST_HASHED = 100_000_000
_MEND = "Read it and what it names. If you trust it, say so once: --trust (Python: trust=True)."


def programs_of(judges: Iterable[Judge], *, trust: bool = False) -> Mapping[str, JudgeFunction]:
    """The judges that are programs, as functions: for who starts grading himself, never a page.

    ``trust`` allows them on this machine, from now on.

    Raises:
        InputError: one was not allowed yet; it is shown in full.
    """
    programs = [judge for judge in judges if judge.kind == "command"]
    if programs:
        file = allowed_programs_file()
        allowed = _read(file)
        strange = [judge for judge in programs if _digest(judge) not in allowed]
        if strange and not trust:
            raise InputError(
                "This panel runs programs that nobody has allowed on this machine.",
                tuple(_shown(judge) for judge in strange),
            )
        if strange:
            _write(file, {**allowed, **{_digest(one): _entry(one) for one in strange}})
    return commands_of(programs)


def unasked(judges: Iterable[Judge]) -> Mapping[str, JudgeFunction]:
    """The same for a run that asks nobody any more: one that is asked fails, and is not run."""

    async def refuse(*_: object) -> Any:
        raise RuntimeError("This program was not allowed on this machine.")

    return {judge.name: refuse for judge in judges if judge.kind == "command"}


def _shown(judge: Judge) -> Problem:
    words = visible(shlex.join(judge.command))
    return Problem(
        f"would run, in {visible(str(Path.cwd()))}: {words}", _MEND, (judge.name, "command")
    )


def _entry(judge: Judge) -> dict[str, Any]:
    return {"command": list(judge.command), "folder": str(Path.cwd()), "allowed": clock.now()}


def _digest(judge: Judge) -> str:
    """The command as it stands, where it runs, and what the files that it names hold."""
    program = shutil.which(judge.command[0]) or judge.command[0]
    files = {word: _of_file(Path(word)) for word in (program, *judge.command[1:])}
    return content_hash([list(judge.command), str(Path.cwd()), files])


def _of_file(path: Path) -> str:
    """What a file holds; empty where there is none of that name."""
    try:
        if not path.is_file():
            return ""
        found = path.stat()
        if found.st_size > _MOST_HASHED:
            return f"{found.st_size} {found.st_mtime_ns}"
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError):
        return ""


def _read(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read: {error}. Mend or remove it.", (), str(file)) from None
    return found if isinstance(found, dict) else {}


def _write(file: Path, allowed: Mapping[str, Any]) -> None:
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with part_file(file, 0o600) as part:
            part.write_text(json.dumps(allowed, indent=2) + "\n", "utf-8")
            part.replace(file)
    except OSError as error:
        said = f"cannot be written, so that no program can be allowed: {error.strerror}."
        raise InputError(said, (), str(file)) from None
