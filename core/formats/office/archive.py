"""Open, list and unpack zip archives within limits."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import PurePosixPath

from core.errors import InputError
from core.formats.source.archives import (
    ZSTANDARD,
    broken_refused,
    members,
    opened_archive,
    zstandard_member,
)
from core.formats.source.parsed import MAX_DATASET_BYTES, MEGABYTE

#: The limit of unpacked bytes, over all that is read of an archive.
MOST_UNPACKED = 4 * MAX_DATASET_BYTES
#: A class hands in fewer files than this.
MOST_FILES = 20_000
_CHUNK = 1 << 16
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")


def is_zip(data: bytes) -> bool:
    """Return whether a file begins like a zip archive."""
    return data.startswith(_ZIP)


class Unpacked:
    """The files in a zip archive by path, with a count of unpacked bytes.

    Files that programs add for themselves (``__MACOSX``, ``.DS_Store`` and other hidden files) are
    left out. Nothing is written to disk, so a path that climbs out is harmless.
    """

    def __init__(self, data: bytes, name: str, *, apart: bool = False) -> None:
        self.name = name
        self._left = MOST_UNPACKED
        self._data = data
        self._archive = opened_archive(data, name)
        every = members(self._archive, name, apart=apart)
        self.members = {path: info for path, info in every.items() if not is_hidden(path)}
        self.hidden = len(every) - len(self.members)

    def chunks(self, member: str) -> Iterator[bytes]:
        """Yield a file in pieces. Raises ``InputError``: damaged, encrypted, too big."""
        for chunk in self._unpacked(self.members[member]):
            self._left -= len(chunk)
            if self._left < 0:
                most = MOST_UNPACKED / MEGABYTE
                message = f"This file unpacks to more than {most:,.0f} MB. Split it."
                raise InputError(message, (), self.name)
            yield chunk

    def _unpacked(self, info: zipfile.ZipInfo) -> Iterator[bytes]:
        if info.compress_type == ZSTANDARD:
            yield zstandard_member(self._data, info, self.name)
            return
        with broken_refused(self.name), self._archive.open(info) as file:
            while chunk := file.read(_CHUNK):
                yield chunk

    def read(self, member: str, most: int = MAX_DATASET_BYTES) -> bytes:
        """Return a whole file. Raises ``InputError``, also if larger than ``most``."""
        data = bytearray()
        for chunk in self.chunks(member):
            data += chunk
            # Count what is read, since an archive may state less than it holds.
            if len(data) > most:
                limit = most / MEGABYTE
                message = f"{member} is larger than {limit:,.0f} MB. Split it."
                raise InputError(message, (), self.name)
        return bytes(data)

    def beginning(self, member: str, size: int = 4000) -> bytes:
        """Return the first bytes of a file."""
        for chunk in self.chunks(member):
            return chunk[:size]
        return b""


def is_hidden(path: str) -> bool:
    """Return whether a file is hidden, or a resource of macOS or Windows.

    >>> is_hidden("__MACOSX/._a.txt"), is_hidden("a/.DS_Store"), is_hidden("a/b.txt")
    (True, True, False)
    """
    parts = PurePosixPath(path).parts
    return any(part.startswith((".", "~$")) and part not in ("..", ".") for part in parts) or (
        "__MACOSX" in parts or parts[-1:] in (("Thumbs.db",), ("desktop.ini",))
    )
