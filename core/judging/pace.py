"""The start times of the next calls to a provider, in a process or machine-wide.

Two processes that each use a provider's whole limit use it twice. So the times are in a small file
that all processes of a user on a machine lock briefly. Their monotonic clocks are the machine's.
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
#: A time further ahead than this many seconds is from before the machine's last start.
_TOO_FAR = 3600.0


class PaceTimes:
    """The earliest times of the next call, by requests and by tokens."""

    def __init__(self) -> None:
        self.request = self.token = float("-inf")

    @contextmanager
    def held(self, now: float) -> Iterator[None]:
        """Hold the times exclusively within the block."""
        yield

    def close(self) -> None:
        """Release resources."""


class SharedPaceTimes(PaceTimes):
    """The same in a file of ``folder`` for a provider or address, made on first use."""

    def __init__(self, folder: Path, place: str) -> None:
        super().__init__()
        # A place may contain characters that file names cannot.
        self._path = folder / text_hash(place).removeprefix("sha256:")[:32]
        self._file: int | None = None
        self._alone = False

    @contextmanager
    def held(self, now: float) -> Iterator[None]:
        """Hold the times exclusively among processes within the block."""
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
        """Return the file, or ``None`` if there can be none."""
        if self._file is None and not self._alone:
            try:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            except OSError as error:
                self._alone = True
                log.info("Limits a minute are kept to by this process alone: %s", error)
        return self._file

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


def pace_times(folder: Path | None, place: str) -> PaceTimes:
    """Return the times of a place, shared in ``folder`` if files can be locked.

    The file is made only for a known limit per minute.
    """
    try:
        import fcntl  # noqa: F401
    except ImportError:
        return PaceTimes()
    return PaceTimes() if folder is None else SharedPaceTimes(folder, place)
