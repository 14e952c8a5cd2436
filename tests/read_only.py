"""A folder that cannot be written, and a process for which that holds."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.places import ROOT

#: Root may write everywhere, unless it gives that up before it begins.
_AS_OTHERS = ("setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner")


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Nothing in the folder, and nothing of its files, can be written meanwhile."""
    files = [path for path in folder.iterdir() if path.is_file()]
    for path in files:
        path.chmod(0o444)
    folder.chmod(0o555)
    try:
        yield
    finally:
        folder.chmod(0o755)
        for path in files:
            path.chmod(0o644)


def begin(*words: object, **more: object) -> subprocess.Popen[str]:
    """A Python with these words that may write no more than the rights of files say."""
    before = _AS_OTHERS if os.geteuid() == 0 else ()
    return subprocess.Popen(
        [*before, sys.executable, *map(str, words)],
        cwd=ROOT,
        text=True,
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more},  # type: ignore[call-overload]
    )


def cli_there(*words: object) -> subprocess.CompletedProcess[str]:
    """The command as such a process."""
    process = begin("-m", "core.cli", *words)
    out, err = process.communicate(timeout=120)
    return subprocess.CompletedProcess([*map(str, words)], process.returncode, out, err)
