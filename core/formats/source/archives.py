"""Read members of a zip archive within limits, including Zstandard ones.

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

from core.errors import InputError
from core.formats.source.parsed import MAX_DATASET_BYTES, MEGABYTE

MOST_MEMBERS = 50_000
ZSTANDARD = 93
_LOCAL = struct.Struct("<4s22xHH")
#: Errors of the standard library for encrypted archives and unsupported compression (RuntimeError),
#: and for damaged archives (the rest; ValueError: a place before the beginning).
BROKEN = (
    *(zipfile.BadZipFile, zipfile.LargeZipFile, RuntimeError),
    *(zlib.error, lzma.LZMAError, EOFError, ValueError, OSError, struct.error),
)


@contextmanager
def broken_refused(name: str) -> Iterator[None]:
    """Report a broken archive as an ``InputError`` that names it."""
    try:
        yield
    except BROKEN as error:
        raise InputError(f"This archive cannot be opened: {error}.", (), name) from None


def opened_archive(data: bytes, name: str) -> zipfile.ZipFile:
    """Open the archive once for all of its members, since listing them is slow.

    Raises:
        InputError: it is broken, or holds more than ``MOST_MEMBERS``.
    """
    _require_few(_told(data), name)
    with broken_refused(name):
        return zipfile.ZipFile(io.BytesIO(data))


def members(
    archive: zipfile.ZipFile, name: str, *, apart: bool = False
) -> dict[str, zipfile.ZipInfo]:
    """Return the files in an archive by path, in order. Raises ``InputError``.

    More than ``MOST_MEMBERS`` files and symbolic links, which hold only a path, are refused. If
    paths repeat, the last file counts, as for programs that add to an archive. With ``apart`` they
    are refused.
    """
    infos = [info for info in archive.infolist() if not info.is_dir()]
    _require_few(len(infos), name)
    if any(info.flag_bits & 1 for info in infos):
        raise InputError("This archive has a password. Pack it anew without one.", (), name)
    for info in infos:
        if stat.S_ISLNK(info.external_attr >> 16):
            message = f"{info.filename} is a link to another file. Put the file itself in."
            raise InputError(message, (), name)
    # Programs may write backslashes, or a path from the root of the disk.
    by_path = {info.filename.replace("\\", "/").lstrip("/"): info for info in infos}
    if apart and len(by_path) < len(infos):
        ids = {id(info) for info in by_path.values()}
        twice = next(info.filename for info in infos if id(info) not in ids)
        message = f"This archive holds {twice} more than once. Give each file a name of its own."
        raise InputError(message, (), name)
    return by_path


def _require_few(many: int, name: str) -> None:
    if many > MOST_MEMBERS:
        message = f"This archive holds {many:,} files; {MOST_MEMBERS:,} is the limit."
        raise InputError(message, (), name)


def _told(data: bytes) -> int:
    """Return the number of files stated at the end of the archive."""
    large, end = data.rfind(b"PK\x06\x06"), data.rfind(b"PK\x05\x06")
    many = int.from_bytes(data[end + 10 : end + 12], "little") if end >= 0 else 0
    if many == 0xFFFF and large >= 0:  # more than fit there: the record of a large archive has it
        many = int.from_bytes(data[large + 32 : large + 40], "little")
    return many


def zstandard_member(data: bytes, member: zipfile.ZipInfo, name: str) -> bytes:
    """Return a Zstandard member's content. Raises ``InputError``."""
    most = MAX_DATASET_BYTES
    with broken_refused(name):
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
