"""The start times of the next calls to a provider, for a process or the whole machine.

Two processes that each use a provider's full limit would exceed it. So the times are in a small
file that all processes of a user on a machine lock briefly. Monotonic clocks are machine-wide.
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
#: A time more than this many seconds ahead is from before the machine's last boot.
_TOO_FAR = 3600.0


class PaceTimes:
    """The earliest times of the next call to a provider, by requests and by tokens.

    The times are in a file in ``folder``, which is created for the first known limit if files can
    be locked.
    """

    def __init__(self, folder: Path | None = None, place: str = "") -> None:
        self.request = self.token = float("-inf")
        # A place may contain characters that are not allowed in file names.
        name = text_hash(place).removeprefix("sha256:")[:32]
        self._path = None if folder is None or fcntl is None else folder / name
        self._file: int | None = None

    @contextmanager
    def held(self, now: float) -> Iterator[None]:
        """Lock the times within the block, also against other processes."""
        file = self._open_file()
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

    def _open_file(self) -> int | None:
        """Return the file's descriptor, or ``None`` if it cannot be opened."""
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
