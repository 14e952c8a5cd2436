"""Columns that were worked out from the rest of the file, kept so that pages need not do it again.

Nothing here is a fact: whatever is kept can be deleted, and is then worked out anew. A ``stamp``
says what it was made from; kept under another stamp it is not what is asked for.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from core.domain.access import LOCAL
from core.errors import StoreError
from core.store.database.connection import Connections

if TYPE_CHECKING:
    import numpy.typing as npt

#: Of fewer items than this columns are read as quickly as they are kept.
MANY = 500
#: Where the arrays of a body begin, so that each can be read where it lies.
_ALIGNED = 8


class Columns(NamedTuple):
    """Plain data, and arrays by name."""

    head: Mapping[str, Any]
    arrays: Mapping[str, npt.NDArray[Any]]


class Kept:
    """Reached as ``store.kept``. Keeping is nobody's act: whoever may read may leave it here."""

    def __init__(self, files: Connections) -> None:
        self._files = files.acting(LOCAL)

    def made(
        self, about: str, stamp: int, make: Callable[[], Columns], *, keep: bool = True
    ) -> Columns:
        """What was kept about something under this stamp, else what ``make`` gives.

        That is then kept, if ``keep`` says that it is worth it. The stamp must be older than what
        ``make`` reads: kept under one that is too old, it is only never asked for again.
        """
        found = self._get(about, stamp)
        if found is None:
            found = make()
            if keep:
                self._put(about, stamp, found)
        return found

    def _get(self, about: str, stamp: int) -> Columns | None:
        found = self._files.tuples(
            "SELECT body FROM kept WHERE about = ? AND stamp = ?", (about, stamp)
        )
        return _read(found[0][0]) if found else None

    def _put(self, about: str, stamp: int, columns: Columns) -> None:
        """Keep it in place of what was kept before, unless the file cannot be written just now."""
        if self._files.mine.in_transaction:
            return
        body = _written(columns)
        try:
            with self._files.write() as db:
                db.execute(
                    "INSERT INTO kept (about, stamp, body) VALUES (?, ?, ?) ON CONFLICT (about) "
                    "DO UPDATE SET stamp = excluded.stamp, body = excluded.body",
                    (about, stamp, body),
                )
        except StoreError:
            # A full disk, or somebody who holds the file: whoever reads has what they asked for,
            # and the next one works it out again.
            return


def _written(columns: Columns) -> bytes:
    """A line of JSON with the place of every array, and the arrays one after the other."""
    places, parts, at = {}, list[bytes](), 0
    for name, array in columns.arrays.items():
        raw = array.tobytes()
        gap = -len(raw) % _ALIGNED
        places[name] = (array.dtype.str, at, len(array))
        parts += [raw, b"\0" * gap]
        at += len(raw) + gap
    head = json.dumps({"head": columns.head, "arrays": places}).encode()
    head += b" " * (-(len(head) + 1) % _ALIGNED)
    return b"".join([head, b"\n", *parts])


def _read(body: bytes) -> Columns:
    import numpy as np

    end = body.index(b"\n") + 1
    told = json.loads(body[:end])
    arrays = {
        name: np.frombuffer(body, np.dtype(kind), count, end + at)
        for name, (kind, at, count) in told["arrays"].items()
    }
    return Columns(told["head"], arrays)
