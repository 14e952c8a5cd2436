"""Convert Parquet and Arrow files to rows of plain data, with pyarrow."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import islice
from typing import Any, Literal

from core.errors import InputError, Problem
from core.formats.source.archives import MOST_UNPACKED
from core.formats.source.parsed import (
    LONGEST_WORD,
    MAX_ROWS,
    MEGABYTE,
    SharedWords,
    TableRows,
    refusal,
    too_many_rows,
)

ColumnarKind = Literal["parquet", "arrow"]
_BATCH = 1000
#: Types of bytes (pictures, sound).
_BYTES = ("binary", "large_binary", "fixed_size_binary")


def columnar_kind(data: bytes) -> ColumnarKind | None:
    """Return the kind of a columnar file by its first bytes."""
    if data.startswith(b"PAR1"):
        return "parquet"
    return "arrow" if data.startswith((b"ARROW1\0\0", b"\xff\xff\xff\xff", b"FEA1")) else None


def read_columnar(data: bytes, name: str, most: int | None = None) -> TableRows:
    """Return the rows of a Parquet or Arrow file (file, stream, Feather).

    Structs become mappings, lists stay lists, timestamps become texts. Binary columns (pictures,
    sound) are left out. Stops after ``most`` rows.

    Raises:
        InputError: damaged, encrypted, or too large for a small machine.
    """
    import pyarrow as pa

    try:
        schema, batches = _open_batches(data)
        names = [str(column) for column in schema.names]
        twice = sorted({column for column in names if names.count(column) > 1})
        if twice:
            problem = Problem(f"names the column {twice[0]!r} twice.", "Rename one of them.")
            raise refusal("table", [problem], name)
        left_out = [f.name for f in schema if str(f.type).startswith(_BYTES)]
        columns = [column for column in names if column not in left_out]
        rows = list(islice(_rows_of_batches(batches, columns, name), most))
        # Arrow's buffers would use memory in addition to the rows.
        del batches
        pa.default_memory_pool().release_unused()
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = str(error).strip().split("\n")[0].rstrip(".")[:200]
        raise InputError(f"This file cannot be read: {reason}.", (), name) from None
    if not rows or not columns:
        raise refusal("table", [Problem("has no rows.", "Choose another file.")], name)
    notices = tuple(Problem(f"The column {c!r} holds bytes and is left out.") for c in left_out)
    return TableRows(tuple(columns), tuple(rows), tuple(range(1, len(rows) + 1)), notices)


def _open_batches(data: bytes) -> tuple[Any, Iterable[Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    if columnar_kind(data) == "parquet":
        file = pq.ParquetFile(pa.BufferReader(data), buffer_size=MEGABYTE)
        return file.schema_arrow, file.iter_batches(batch_size=_BATCH, use_threads=False)
    if data.startswith(b"FEA1"):
        raise ValueError("Feather of version 1 is not read; write it with version 2")
    if data.startswith(b"ARROW1"):
        whole = pa.ipc.open_file(data)
        return whole.schema, (whole.get_batch(at) for at in range(whole.num_record_batches))
    stream = pa.ipc.open_stream(data)
    return stream.schema, stream


def _rows_of_batches(
    batches: Iterable[Any], columns: list[str], name: str
) -> Iterator[dict[str, Any]]:
    size, count, words = 0, 0, SharedWords()
    for batch in batches:
        for start in range(0, batch.num_rows, _BATCH):
            for row in batch.select(columns).slice(start, _BATCH).to_pylist():
                cells = {key: _plain_value(value, words) for key, value in row.items()}
                count += 1
                size += _memory_of(cells)
                if count > MAX_ROWS:
                    raise refusal("table", [too_many_rows()], name)
                if size > MOST_UNPACKED:
                    most = MOST_UNPACKED / MEGABYTE
                    message = f"This file unpacks to more than {most:,.0f} MB. Split it."
                    raise InputError(message, (), name)
                yield cells


def _memory_of(value: Any) -> int:
    """Return the approximate memory of a value in bytes."""
    if isinstance(value, dict):
        return 100 + sum(len(str(key)) + _memory_of(part) for key, part in value.items())
    if isinstance(value, list):
        return 60 + sum(map(_memory_of, value))
    return len(value) if isinstance(value, str) else 8


def _plain_value(value: Any, words: SharedWords) -> Any:
    if isinstance(value, str):
        return value if len(value) > LONGEST_WORD else words[value]
    if isinstance(value, dict):
        return {str(key): _plain_value(part, words) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain_value(part, words) for part in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return str(value)
    return value if value is None or isinstance(value, bool | int) else str(value)
