"""Columns computed from the rest of the file, cached for pages.

The cache holds no facts: deleted entries are computed again. A ``stamp`` identifies the source
data; entries with another stamp are ignored.
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

#: With fewer items, computing the columns is as fast as reading them.
MANY = 500
#: Alignment of arrays within a body, so that each can be read in place.
_ALIGNED = 8


class Columns(NamedTuple):
    """Plain data, and arrays by name."""

    head: Mapping[str, Any]
    arrays: Mapping[str, npt.NDArray[Any]]


class KeptAnswerStore:
    """Available as ``store.kept``. Writing to the cache needs no permission."""

    def __init__(self, files: Connections) -> None:
        self._files = files.acting(LOCAL)

    def cached_columns(
        self, subject: str, stamp: int, make: Callable[[], Columns], *, keep: bool = True
    ) -> Columns:
        """Return the cached columns under this stamp, or the result of ``make``.

        A new result is cached if ``keep`` is true. Read the stamp before the data: an entry under
        an outdated stamp is simply never read again.
        """
        columns = self._get_entry(subject, stamp)
        if columns is None:
            columns = make()
            if keep:
                self._put_entry(subject, stamp, columns)
        return columns

    def _get_entry(self, subject: str, stamp: int) -> Columns | None:
        rows = self._files.tuples(
            "SELECT body FROM kept WHERE about = ? AND stamp = ?", (subject, stamp)
        )
        return _deserialised(rows[0][0]) if rows else None

    def _put_entry(self, subject: str, stamp: int, columns: Columns) -> None:
        """Cache an entry, replacing the old one, unless the file cannot be written."""
        if self._files.thread_connection.in_transaction:
            return
        body = _serialised(columns)
        try:
            with self._files.write() as db:
                db.execute(
                    "INSERT INTO kept (about, stamp, body) VALUES (?, ?, ?) ON CONFLICT (about) "
                    "DO UPDATE SET stamp = excluded.stamp, body = excluded.body",
                    (subject, stamp, body),
                )
        except StoreError:
            # Ignore a full or locked disk: the caller has the result, and the next caller computes
            # it again.
            return


def _serialised(columns: Columns) -> bytes:
    """Return a line of JSON with the offset of every array, followed by the arrays."""
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


def _deserialised(body: bytes) -> Columns:
    import numpy as np

    end = body.index(b"\n") + 1
    head = json.loads(body[:end])
    arrays = {
        name: np.frombuffer(body, np.dtype(kind), count, end + at)
        for name, (kind, at, count) in head["arrays"].items()
    }
    return Columns(head["head"], arrays)
