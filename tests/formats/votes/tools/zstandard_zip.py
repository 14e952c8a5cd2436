"""A zip archive whose members are packed with Zstandard, which Python 3.11 cannot write."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Mapping

import pyarrow as pa

_LOCAL, _CENTRAL = b"PK\x03\x04", b"PK\x01\x02"


def packed(files: Mapping[str, bytes]) -> bytes:
    """Stored members that hold Zstandard frames, their headers then told so (method 93)."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as archive:
        for name, inside in files.items():
            archive.writestr(name, pa.compress(inside, codec="zstd", asbytes=True))
    data = bytearray(made.getvalue())
    with zipfile.ZipFile(made) as archive:
        infos = archive.infolist()
    central = data.index(_CENTRAL)
    for info in infos:
        inside = files[info.filename]
        told = struct.pack("<II", zlib.crc32(inside), info.compress_size)
        size = struct.pack("<I", len(inside))
        local = info.header_offset
        data[local + 8 : local + 10] = data[central + 10 : central + 12] = struct.pack("<H", 93)
        data[local + 14 : local + 26] = data[central + 16 : central + 28] = told + size
        central += 46 + len(info.filename.encode())
    return bytes(data)
