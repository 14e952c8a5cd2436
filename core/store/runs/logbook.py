"""What a process that works on runs is at, in a file beside the data file that outlives a kill.

The file is mapped into memory: a note costs some nanoseconds and no look at the disk, and the
system keeps it when the process is killed, though not when the power fails. It says that the
process moves, whose code runs at this moment, and how many calls went out of each run.
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
from core.part_files import lock, take_away

log = logging.getLogger(__name__)
#: How often the process moved; the length of what it is at.
_HEAD = struct.Struct("=QI")
_LENGTH = struct.Struct("=I")
#: A run, its fence, the calls recorded before that, and those that went out since.
_RUN = struct.Struct("=qqqq")
_COUNT = struct.Struct("=q")
_RUNS_AT, MOST_RUNS = 8192, 256
#: So many bytes of what a process is at are kept.
ROOM = _RUNS_AT - _HEAD.size
_SIZE = _RUNS_AT + MOST_RUNS * _RUN.size


def path_of(data_file: Path, owner: str) -> Path:
    """Where the logbook of an owner of leases is.

    >>> path_of(Path("studio.db"), "host:7:ab12").name
    'studio.db-work-host_7_ab12'
    """
    return data_file.with_name(f"{data_file.name}-work-{re.sub(r'[^A-Za-z0-9.-]', '_', owner)}")


class Logbook:
    """A process's own; where no file can be made, what is noted is known to nobody else."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None
        self._moves = 0
        self._places: dict[int, int] = {}
        self._out: dict[int, int] = {}
        self._kept: mmap.mmap | bytearray = bytearray(_SIZE)
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            # Written, not left out: a place that is not on the disk yet could turn out to be full.
            if os.write(self._file, bytes(_SIZE)) == _SIZE and lock(self._file):
                self._kept = mmap.mmap(self._file, _SIZE)
        except OSError as error:
            log.info("What this process is at is known to it alone: %s", error)

    def moved(self) -> None:
        """The process moves."""
        self._moves += 1
        struct.pack_into("=Q", self._kept, 0, self._moves)

    def at(self, what: bytes) -> None:
        """Now this runs; empty: nothing that could be named."""
        # The length first taken away, so that nobody ever reads half of it.
        _LENGTH.pack_into(self._kept, 8, 0)
        self._kept[_HEAD.size : _HEAD.size + len(what)] = what
        _LENGTH.pack_into(self._kept, 8, len(what))

    def begin(self, run_id: int, fence: int, calls: int) -> None:
        """A run is worked on, of which so many calls were recorded before."""
        free = next((n for n in range(MOST_RUNS) if n not in self._places.values()), None)
        if free is not None:
            self._places[run_id], self._out[run_id] = free, 0
            _RUN.pack_into(self._kept, _RUNS_AT + free * _RUN.size, run_id, fence, calls, 0)

    def went_out(self, run_id: int, more: int) -> None:
        """So many more calls of a run went out, or fewer."""
        if run_id in self._places:
            self._out[run_id] += more
            place = _RUNS_AT + self._places[run_id] * _RUN.size + _RUN.size - _COUNT.size
            _COUNT.pack_into(self._kept, place, self._out[run_id])

    def end(self, run_id: int) -> None:
        """A run is not worked on any more."""
        if (place := self._places.pop(run_id, None)) is not None:
            _RUN.pack_into(self._kept, _RUNS_AT + place * _RUN.size, 0, 0, 0, 0)

    def close(self) -> None:
        """Takes the file away."""
        if isinstance(self._kept, mmap.mmap):
            self._kept.close()
        if self._file is not None:
            with suppress(OSError):
                self._path.unlink()
            os.close(self._file)
            self._file = None


@contextmanager
def kept_for(data_file: Path, owner: str) -> Iterator[Logbook]:
    """An owner's logbook, as long as it works."""
    book = Logbook(path_of(data_file, owner))
    try:
        yield book
    finally:
        book.close()


class Noted(NamedTuple):
    """What a logbook holds. ``out`` has, by run and fence, how many calls went out and how many
    were recorded before.
    """

    moves: int
    at: bytes
    out: dict[tuple[int, int], tuple[int, int]]

    @property
    def cells(self) -> tuple[int, tuple[Cell, ...]]:
        """The run and the cells whose code runs; run 0 where it is none's."""
        if not self.at:
            return 0, ()
        run_id, cells = json.loads(self.at)
        return run_id, tuple(Cell(*cell) for cell in cells)

    def unrecorded(self, run_id: int, fence: int, calls: int) -> int | None:
        """How many calls of a run went out and are not among the ``calls`` recorded so far."""
        if (run_id, fence) not in self.out:
            return None
        before, out = self.out[run_id, fence]
        return max(0, before + out - calls)


def cells_said(run_id: int, cells: Sequence[Cell]) -> bytes:
    """What ``Logbook.at`` takes for cells of a run: as many as there is room for.

    >>> Noted(0, cells_said(7, [Cell("i1", "tone", "ada")]), {}).cells
    (7, (Cell(item='i1', criterion='tone', judge='ada', replicate=0),))
    """
    for some in (cells, cells[:1], ()):
        said = json.dumps([run_id, some]).encode()
        if len(said) <= ROOM:
            return said
    return b""


def read(path: Path) -> Noted | None:
    """What a logbook holds, whether its owner lives or not; ``None`` where there is none."""
    try:
        held = path.read_bytes()
    except OSError:
        return None
    if len(held) != _SIZE:
        return None
    moves, length = _HEAD.unpack_from(held)
    runs = (_RUN.unpack_from(held, _RUNS_AT + n * _RUN.size) for n in range(MOST_RUNS))
    out = {(run, fence): (before, out) for run, fence, before, out in runs if run}
    return Noted(moves, held[_HEAD.size : _HEAD.size + min(length, ROOM)], out)


def unrecorded(data_file: Path, owner: str, run_id: int, fence: int, calls: int, told: int) -> int:
    """How many calls of a run went out and are not among its ``calls``: by its owner's logbook or,
    where there is none, as the owner ``told`` the data file last.
    """
    noted = read(path_of(data_file, owner))
    exact = None if noted is None else noted.unrecorded(run_id, fence, calls)
    return told if exact is None else exact


def of_process(data_file: Path, owner_begins: str) -> list[Path]:
    """The logbooks of a process, by how the names of its owners begin."""
    start = path_of(data_file, owner_begins).name
    with suppress(OSError):
        return sorted(one for one in data_file.parent.iterdir() if one.name.startswith(start))
    return []


def sweep(data_file: Path, held: Collection[str]) -> None:
    """Takes away logbooks of the dead, but for those of owners in whose name runs are ``held``."""
    kept = {path_of(data_file, owner) for owner in held}
    for path in of_process(data_file, ""):
        if path not in kept:
            with suppress(OSError):
                take_away(path)
