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

try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None  # type: ignore[assignment]

log = logging.getLogger(__name__)
_TIMES = struct.Struct("=dd")
#: A time further ahead than this many seconds is from before the machine's last start.
_TOO_FAR = 3600.0


class PaceTimes:
    """The earliest times of the next call to a place, by requests and by tokens.

    They are in a file of ``folder``, made for the first known limit, if files can be locked here.
    """

    def __init__(self, folder: Path | None = None, place: str = "") -> None:
        self.request = self.token = float("-inf")
        # A place may contain characters that file names cannot.
        name = text_hash(place).removeprefix("sha256:")[:32]
        self._path = None if folder is None or fcntl is None else folder / name
        self._file: int | None = None

    @contextmanager
    def held(self, now: float) -> Iterator[None]:
        """Hold the times exclusively within the block, also among processes."""
        file = self._opened()
        if file is None:
            yield
            return
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
        if self._file is None and self._path is not None:
            try:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            except OSError as error:
                self._path = None
                log.info("Limits a minute are kept to by this process alone: %s", error)
        return self._file

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
