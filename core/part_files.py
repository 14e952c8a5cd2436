"""Write files under a temporary name and rename them when complete; remove abandoned ones.

A temporary file is locked while its writer lives, on any machine or in any container. So an
unlocked temporary file is known to be abandoned.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from threading import get_ident

#: The prefix and suffix of temporary names, used by no other program.
_START, _END = ".rubric-studio-", ".part"
_NUMBERS = count()


@contextmanager
def part_file(target: Path, mode: int = 0o666) -> Iterator[Path]:
    """Yield an empty hidden file next to ``target``, which replaces it on success or is deleted.

    Abandoned temporary files are deleted first. Raises ``OSError``.
    """
    delete_leftovers(target.parent)
    part, descriptor = _create_locked(target, mode)
    try:
        yield part
    finally:
        with suppress(OSError):
            part.unlink()
        os.close(descriptor)


def delete_leftovers(folder: Path) -> None:
    """Delete the temporary files in a folder whose writers have ended."""
    with suppress(OSError):
        for part in folder.glob(f"{_START}*{_END}"):
            with suppress(OSError):
                delete_ended(part)


def _create_locked(target: Path, mode: int) -> tuple[Path, int]:
    while True:
        # A name is never used twice, since abandoned parts are deleted by name.
        name = f"{_START}{os.getpid()}-{get_ident()}-{next(_NUMBERS)}{_END}"
        part = target.with_name(name)
        descriptor = os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR, mode)
        try:
            lock_file(descriptor)
            if part.exists():
                return part, descriptor
        except BlockingIOError:
            pass
        # Another process deleted this file before it was locked.
        os.close(descriptor)


def delete_ended(file: Path) -> None:
    """Delete a file whose writer has ended. Raises ``OSError`` if it is locked.

    On systems without such locks, an open file cannot be deleted either.
    """
    descriptor = os.open(file, os.O_RDWR)
    try:
        if lock_file(descriptor):
            file.unlink()
    finally:
        os.close(descriptor)


def lock_file(descriptor: int) -> bool:
    """Lock a file for as long as it is open; return whether files can be locked here.

    Raises ``OSError`` if another process has locked it.
    """
    try:
        import fcntl
    except ImportError:
        return False
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return True
