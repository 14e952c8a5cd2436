"""Open, list and unpack zip archives within limits, Zstandard members included.

Python cannot unpack Zstandard before 3.14, so Arrow unpacks such a member. Nothing is written to
disk, so names of members are harmless.
"""

from __future__ import annotations

import io
import lzma
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePosixPath

from core.errors import InputError
from core.formats.source.parsed import MAX_DATASET_BYTES, MEGABYTE

MOST_MEMBERS = 50_000
#: The limit of unpacked bytes, over all files read from an archive.
MOST_UNPACKED = 4 * MAX_DATASET_BYTES
#: The most XML tags over all parts of an office file: four million take five seconds.
MOST_TAGS = 4_000_000
#: The most files of an archive; a class submits fewer.
MOST_FILES = 20_000
_CHUNK = 1 << 16
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
ZSTANDARD = 93
_LOCAL = struct.Struct("<4s22xHH")
#: Errors of the standard library for encrypted archives and unsupported compression (RuntimeError),
#: and for damaged archives (the rest; ValueError: a place before the beginning).
BROKEN = (
    *(zipfile.BadZipFile, zipfile.LargeZipFile, RuntimeError),
    *(zlib.error, lzma.LZMAError, EOFError, ValueError, OSError, struct.error),
)


@contextmanager
def refuse_broken_archive(name: str) -> Iterator[None]:
    """Report a broken archive as an ``InputError`` that names it."""
    try:
        yield
    except BROKEN as error:
        raise InputError(f"This archive cannot be opened: {error}.", (), name) from None


def is_zip(data: bytes) -> bool:
    """Return whether a file begins like a zip archive."""
    return data.startswith(_ZIP)


class Unpacked:
    """The files in a zip archive by path, with a count of unpacked bytes.

    Listing an archive is slow, so it is opened once for all of its files. More than
    ``MOST_MEMBERS`` files and symbolic links, which hold only a path, are refused. If paths repeat,
    the last file counts, because programs append new versions. Files that programs add for
    themselves (``__MACOSX``, ``.DS_Store`` and other hidden files) are left out.

    Raises:
        InputError: it is broken, or has a password.
    """

    def __init__(self, data: bytes, name: str) -> None:
        self.name, self._data = name, data
        self._left, self._seen, self._tags = MOST_UNPACKED, dict[str, int](), 0
        _require_few(_stated_file_count(data), name)
        with refuse_broken_archive(name):
            self._archive = zipfile.ZipFile(io.BytesIO(data))
        infos = [info for info in self._archive.infolist() if not info.filename.endswith("/")]
        _require_few(len(infos), name)
        if any(info.flag_bits & 1 for info in infos):
            raise InputError("This archive has a password. Create it again without one.", (), name)
        for info in infos:
            if stat.S_ISLNK(info.external_attr >> 16):
                message = f"{info.filename} is a link to another file. Put the file itself in."
                raise InputError(message, (), name)
        # Programs may write backslashes, or a path from the root of the disk.
        every = {info.filename.replace("\\", "/").lstrip("/"): info for info in infos}
        last_ids = set(map(id, every.values()))
        self._twice = next((info.filename for info in infos if id(info) not in last_ids), None)
        self.members = {path: info for path, info in every.items() if not is_hidden(path)}

    def refuse_twice(self) -> None:
        """Refuse repeated paths, for formats in which every file counts. Raises ``InputError``."""
        if self._twice is not None:
            mend = "Give each file a name of its own."
            message = f"This archive holds {self._twice} more than once. {mend}"
            raise InputError(message, (), self.name)

    def chunks(self, member: str) -> Iterator[bytes]:
        """Yield a file in pieces. Raises ``InputError``: damaged, encrypted, too big."""
        size = 0
        for chunk in self._unpack(self.members[member]):
            size += len(chunk)
            # A file that is read again counts once.
            self._left -= max(0, size - self._seen.get(member, 0))
            self._seen[member] = max(size, self._seen.get(member, 0))
            if self._left < 0:
                most = MOST_UNPACKED / MEGABYTE
                message = f"This file unpacks to more than {most:,.0f} MB. Split it."
                raise InputError(message, (), self.name)
            yield chunk

    def xml(self, member: str) -> Iterator[bytes]:
        """Yield an XML file in pieces. Raises ``InputError``, also for too many tags."""
        for chunk in self.chunks(member):
            # An escaped character takes an eighth of a tag's time.
            self._tags += chunk.count(b"<") + chunk.count(b"&") // 8
            if self._tags > MOST_TAGS:
                message = f"This file has more than {MOST_TAGS:,} cells and marks"
                mend = "Delete empty rows, columns and formats, or split it."
                raise InputError(f"{message}, which is the limit. {mend}", (), self.name)
            yield chunk

    def _unpack(self, info: zipfile.ZipInfo) -> Iterator[bytes]:
        if info.compress_type == ZSTANDARD:
            yield _zstandard_member(self._data, info, self.name)
            return
        with refuse_broken_archive(self.name), self._archive.open(info) as file:
            while chunk := file.read(_CHUNK):
                yield chunk

    def read(self, member: str, most: int = MAX_DATASET_BYTES) -> bytes:
        """Return a whole file. Raises ``InputError``, also if larger than ``most``."""
        data = bytearray()
        for chunk in self.chunks(member):
            data += chunk
            # Count the bytes read, since an archive may understate its size.
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


def _require_few(number: int, name: str) -> None:
    if number > MOST_MEMBERS:
        message = f"This archive holds {number:,} files; {MOST_MEMBERS:,} is the limit."
        raise InputError(message, (), name)


def _stated_file_count(data: bytes) -> int:
    """Return the number of files stated at the end of the archive."""
    large, end = data.rfind(b"PK\x06\x06"), data.rfind(b"PK\x05\x06")
    number = int.from_bytes(data[end + 10 : end + 12], "little") if end >= 0 else 0
    if (
        number == 0xFFFF and large >= 0
    ):  # The field is full: the record of a large archive has the number.
        number = int.from_bytes(data[large + 32 : large + 40], "little")
    return number


def _zstandard_member(data: bytes, member: zipfile.ZipInfo, name: str) -> bytes:
    """Return a Zstandard member's content. Raises ``InputError``."""
    most = MAX_DATASET_BYTES
    with refuse_broken_archive(name):
        inside = _zstandard(data, member, most)
    if len(inside) > most:
        message = f"{member.filename} is larger than {most / MEGABYTE:,.0f} MB. Split it."
        raise InputError(message, (), name)
    return inside


def _zstandard(data: bytes, member: zipfile.ZipInfo, most: int) -> bytes:
    import pyarrow as pa

    mark, name, extra = _LOCAL.unpack_from(data, member.header_offset)
    if mark != b"PK\x03\x04" or member.flag_bits & 1:
        raise zipfile.BadZipFile(f"{member.filename} is damaged or encrypted")
    start = member.header_offset + _LOCAL.size + name + extra
    stored = data[start : start + member.compress_size]
    with pa.CompressedInputStream(pa.BufferReader(stored), "zstd") as stream:
        inside = bytes(stream.read(most + 1))
    if len(inside) <= most and zlib.crc32(inside) != member.CRC:
        raise zipfile.BadZipFile(f"{member.filename} is damaged")
    return inside
