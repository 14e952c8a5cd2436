"""A process's current work on runs, in a file that outlives a kill.

The file is mapped into memory: a note takes some nanoseconds and no disk access. It survives a kill
of the process, but not a power failure. It records that the process is alive, which code runs now,
and how many calls each run sent.
"""

from __future__ import annotations

import json
import logging
import mmap
import os
import re
import struct
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from core.domain.votes import Cell
from core.identity import canonical_json
from core.part_files import delete_ended, lock_file

log = logging.getLogger(__name__)
#: The heartbeat counter, and the length of the description of the current work.
_HEAD = struct.Struct("=QI")
_LENGTH = struct.Struct("=I")
#: A run's id, its fence (the number of its lease), the calls recorded before this lease, and the
#: calls sent under it.
_RUN = struct.Struct("=qqqq")
_COUNT = struct.Struct("=q")
_RUNS_AT, MOST_RUNS = 8192, 256
#: The most bytes stored of the current work.
ROOM = _RUNS_AT - _HEAD.size
_SIZE = _RUNS_AT + MOST_RUNS * _RUN.size


def path_of(data_file: Path, owner: str) -> Path:
    """Return the path of the logbook of a lease's owner.

    >>> path_of(Path("studio.db"), "host:7:ab12").name
    'studio.db-work-host_7_ab12'
    """
    return data_file.with_name(f"{data_file.name}-work-{re.sub(r'[^A-Za-z0-9.-]', '_', owner)}")


class Logbook:
    """A process's own logbook; without a file, other processes cannot read it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None
        self._moves = 0
        self._places: dict[int, int] = {}
        self._out: dict[int, int] = {}
        self._kept: mmap.mmap | bytearray = bytearray(_SIZE)
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            # The file is written in full, because space that is not allocated now might be missing
            # later.
            if os.write(self._file, bytes(_SIZE)) == _SIZE and lock_file(self._file):
                self._kept = mmap.mmap(self._file, _SIZE)
        except OSError as error:
            log.info("What this process is at is known to it alone: %s", error)

    def record_heartbeat(self) -> None:
        """Record a heartbeat."""
        self._moves += 1
        struct.pack_into("=Q", self._kept, 0, self._moves)

    def record_work(self, work: bytes) -> None:
        """Record the current work; empty if unnamed."""
        # The length is cleared first, so no reader gets half of the text.
        _LENGTH.pack_into(self._kept, 8, 0)
        if work:
            self._kept[_HEAD.size : _HEAD.size + len(work)] = work
            _LENGTH.pack_into(self._kept, 8, len(work))

    def begin(self, run_id: int, fence: int, calls: int) -> None:
        """Start a run; ``calls`` is the number recorded so far."""
        place = next((n for n in range(MOST_RUNS) if n not in self._places.values()), None)
        if place is not None:
            self._places[run_id], self._out[run_id] = place, 0
            _RUN.pack_into(self._kept, _RUNS_AT + place * _RUN.size, run_id, fence, calls, 0)

    def went_out(self, run_id: int, n_calls: int) -> None:
        """Add ``n_calls``, which may be negative, to the number of calls sent for a run."""
        if run_id in self._places:
            self._out[run_id] += n_calls
            place = _RUNS_AT + self._places[run_id] * _RUN.size + _RUN.size - _COUNT.size
            _COUNT.pack_into(self._kept, place, self._out[run_id])

    def end(self, run_id: int) -> None:
        """End the work on a run."""
        if (place := self._places.pop(run_id, None)) is not None:
            _RUN.pack_into(self._kept, _RUNS_AT + place * _RUN.size, 0, 0, 0, 0)

    def close(self) -> None:
        """Delete the file."""
        if isinstance(self._kept, mmap.mmap):
            self._kept.close()
        if self._file is not None:
            with suppress(OSError):
                self._path.unlink()
            os.close(self._file)
            self._file = None


@contextmanager
def logbook_for(data_file: Path, owner: str) -> Iterator[Logbook]:
    """Open an owner's logbook for the duration of its work."""
    book = Logbook(path_of(data_file, owner))
    try:
        yield book
    finally:
        book.close()


class LogbookContent(NamedTuple):
    """The content of a logbook.

    ``out`` maps run and fence to the calls recorded before and the calls sent since.
    """

    moves: int
    at: bytes
    out: dict[tuple[int, int], tuple[int, int]]

    @property
    def cells(self) -> tuple[int, tuple[Cell, ...]]:
        """Return the run and the cells in progress; run 0 if there are none."""
        if not self.at:
            return 0, ()
        run_id, cells = json.loads(self.at)
        return run_id, tuple(Cell(*cell) for cell in cells)

    def unrecorded(self, run_id: int, fence: int, calls: int) -> int | None:
        """Return the number of a run's sent calls that its recorded ``calls`` lack, or ``None``."""
        if (run_id, fence) not in self.out:
            return None
        before, calls_out = self.out[run_id, fence]
        return max(0, before + calls_out - calls)


def cells_argument(run_id: int, cells: Sequence[Cell]) -> bytes:
    """Return the argument of ``Logbook.at`` for as many cells of a run as fit.

    >>> LogbookContent(0, cells_argument(7, [Cell("i1", "tone", "ada")]), {}).cells
    (7, (Cell(item='i1', criterion='tone', judge='ada', replicate=0),))
    """
    for named_cells in (cells, cells[:1], ()):
        text = canonical_json([run_id, named_cells]).encode("utf-8", "surrogatepass")
        if len(text) <= ROOM:
            return text
    return b""


def read_logbook(path: Path) -> LogbookContent | None:
    """Return the content of a logbook, or ``None`` if the file is missing.

    Its owner may be alive or dead.
    """
    try:
        content = path.read_bytes()
    except OSError:
        return None
    if len(content) != _SIZE:
        return None
    moves, length = _HEAD.unpack_from(content)
    runs = (_RUN.unpack_from(content, _RUNS_AT + n * _RUN.size) for n in range(MOST_RUNS))
    out = {(run, fence): (before, out) for run, fence, before, out in runs if run}
    return LogbookContent(moves, content[_HEAD.size : _HEAD.size + min(length, ROOM)], out)


def unrecorded_calls(
    data_file: Path, owner: str, run_id: int, fence: int, calls: int, counted: int
) -> int:
    """Return the number of a run's sent calls that its recorded ``calls`` lack.

    Without a logbook this is ``counted``, which the owner last wrote to the data file.
    """
    noted = read_logbook(path_of(data_file, owner))
    exact = None if noted is None else noted.unrecorded(run_id, fence, calls)
    return counted if exact is None else exact


def logbooks_of_process(data_file: Path, owner_begins: str) -> list[Path]:
    """Return the logbooks of a process, by the beginning of its owners' names."""
    start = path_of(data_file, owner_begins).name
    with suppress(OSError):
        return sorted(path for path in data_file.parent.iterdir() if path.name.startswith(start))
    return []


def delete_dead_logbooks(data_file: Path, held: Collection[str]) -> None:
    """Delete logbooks of dead owners, except for owners in ``held``."""
    live = {path_of(data_file, owner) for owner in held}
    for path in logbooks_of_process(data_file, ""):
        if path not in live:
            with suppress(OSError):
                delete_ended(path)
