"""When the next call to a provider may start: known to one process, or to all of a machine.

Two processes that each keep to a provider's limit take twice as much. So the times are held in a
small file that all processes of a person on a machine lock for a moment; their monotonic clocks are
one clock, that of the machine.
"""

from __future__ import annotations

import logging
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.identity import text_hash

log = logging.getLogger(__name__)
_TIMES = struct.Struct("=dd")
#: A time further ahead than this many seconds is of another clock, before the machine's last start.
_TOO_FAR = 3600.0


class PaceTimes:
    """The times from which on the next call, by requests and by tokens, may start."""

    def __init__(self) -> None:
        self.request = self.token = float("-inf")

    @contextmanager
    def held(self, now: float) -> Iterator[None]:
        """Inside, nobody else looks at the times or changes them."""
        yield

    def close(self) -> None:
        """Give back what is held for it."""


class SharedPaceTimes(PaceTimes):
    """The same, in a file of ``folder`` for one provider or address; made when first needed."""

    def __init__(self, folder: Path, place: str) -> None:
        super().__init__()
        # A place may hold anything that no file's name may.
        self._path = folder / text_hash(place).removeprefix("sha256:")[:32]
        self._file: int | None = None
        self._alone = False

    @contextmanager
    def held(self, now: float) -> Iterator[None]:
        """Inside, no other process looks at the times or changes them."""
        file = self._opened()
        if file is None:
            yield
            return
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            before = os.pread(file, _TIMES.size, 0)
            if len(before) == _TIMES.size:
                times = _TIMES.unpack(before)
                self.request, self.token = (
                    time if time <= now + _TOO_FAR else now for time in times
                )
            yield
            after = _TIMES.pack(self.request, self.token)
            if after != before:
                os.pwrite(file, after, 0)
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)

    def _opened(self) -> int | None:
        """The file; ``None`` where there can be none, and this process is on its own."""
        if self._file is None and not self._alone:
            try:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            except OSError as error:
                self._alone = True
                log.info("Limits a minute are kept to by this process alone: %s", error)
        return self._file

    def close(self) -> None:
        """Give back the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


def pace_times(folder: Path | None, place: str) -> PaceTimes:
    """The times of a place: shared through ``folder`` where there is one, and files can be locked.

    Only a known limit a minute makes the file.
    """
    try:
        import fcntl  # noqa: F401
    except ImportError:
        return PaceTimes()
    return PaceTimes() if folder is None else SharedPaceTimes(folder, place)
