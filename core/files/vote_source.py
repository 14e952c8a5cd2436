"""Where votes are read from: a file, a folder or a zip archive of one; and their shape."""

from __future__ import annotations

import io
import lzma
import os
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from core.errors import InputError
from core.files.evalassist import holds_rows
from core.files.evaluation_mark import looks_like_evaluations
from core.files.folder import DATASET_NAMES, RUBRIC_NAMES, read_bytes
from core.files.mapping import guess_mapping
from core.files.parsed import stem
from core.files.rubric_forms import looks_like_rubric
from core.files.tables import Table, read_table
from core.files.text import MAX_DATASET_BYTES, MEGABYTE
from core.files.vote_mapping import looks_long, looks_wide

VOTES = "votes.csv"
MANIFEST = "manifest.json"
KNOWN = (*RUBRIC_NAMES, *DATASET_NAMES, VOTES, MANIFEST)
#: More questions than this has no assignment.
MOST_TABLES = 200
#: What an archive may unpack to, all its files together.
MOST_UNPACKED = 4 * MAX_DATASET_BYTES
_ZIP = b"PK\x03\x04"

#: What a file or folder holds.
SourceKind = Literal["folder", "long", "wide", "autorubric", "gradescope", "rubric", "dataset"]
#: The same, or ``unknown``: a table that is nothing of all this, from which nothing is guessed.
SeenKind = Literal[SourceKind, "unknown"]


@dataclass(frozen=True)
class VoteSource:
    """Files by their names within a folder or archive; a lone file stands by itself.

    ``title`` is what to call it: the folder's name, or that of the file without its ending.
    """

    name: str
    files: Mapping[str, bytes]
    lone: bool
    title: str

    def first(self, names: Iterable[str]) -> str | None:
        """The first of these files that is there."""
        return next((name for name in names if name in self.files), None)


def open_path(path: str | os.PathLike[str]) -> VoteSource:
    """The file, folder or zip archive at a path. Raises ``InputError`` where it cannot be read."""
    given = Path(path)
    if not given.is_dir():
        return open_bytes(read_bytes(given, MAX_DATASET_BYTES), given.name)
    found = {
        name: read_bytes(given / name, MAX_DATASET_BYTES)
        for name in KNOWN
        if (given / name).is_file()
    }
    if not found:
        tables = [one for one in sorted(given.glob("*.csv")) if _is_evaluations(one)]
        found = {one.name: read_bytes(one, MAX_DATASET_BYTES) for one in tables[:MOST_TABLES]}
    if not found:
        raise InputError(f"{_NOTHING} This folder has none of them.", (), str(path))
    name = given.resolve().name or "folder"
    return VoteSource(name, found, False, name)


def _is_evaluations(path: Path) -> bool:
    with path.open("rb") as file:
        return looks_like_evaluations(file.read(4000))


def open_bytes(data: bytes, name: str) -> VoteSource:
    """The same for a file or zip archive at hand."""
    title = stem(name, "Imported votes")
    if not data.startswith(_ZIP):
        return VoteSource(name, {name: data}, True, title)
    folder, files = _unzipped(data, name)
    return VoteSource(name, files, False, folder or title)


_NOTHING = (
    "Votes come as a table (CSV or JSONL), as a folder with votes.csv, rubric.yaml and "
    "items.jsonl, or as an experiment with manifest.json and items.jsonl."
)


#: What the standard library raises for archives that are encrypted or compressed in a way that we
#: lack (RuntimeError), and for damaged ones (the rest; ValueError: a place before the beginning).
_BROKEN = (
    *(zipfile.BadZipFile, zipfile.LargeZipFile, RuntimeError),
    *(EOFError, ValueError, OSError, zlib.error, lzma.LZMAError),
)


def _unzipped(data: bytes, name: str) -> tuple[str, dict[str, bytes]]:
    """The archive's shallowest folder that holds known files (its name), and those files."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            folder, members = _members(archive)
            if not members:
                members = _tables(archive)
            if not members:
                raise InputError(f"{_NOTHING} This archive has none of them.", (), name)
            return folder, _all_inflated(archive, members, name)
    except _BROKEN as error:
        raise InputError(f"This archive cannot be opened: {error}.", (), name) from None


def _members(archive: zipfile.ZipFile) -> tuple[str, dict[str, zipfile.ZipInfo]]:
    folders: dict[tuple[int, str], dict[str, zipfile.ZipInfo]] = {}
    for info in archive.infolist():
        path = PurePosixPath(info.filename.replace("\\", "/"))
        if path.name in KNOWN and not info.is_dir() and "__MACOSX" not in path.parts:
            folder = str(path.parent)
            folders.setdefault((len(path.parts), folder), {})[path.name] = info
    if not folders:
        return "", {}
    first = min(folders)
    return PurePosixPath(first[1]).name, folders[first]


def _tables(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """Tables of evaluations, one per question, by their names without folders."""
    found: dict[str, zipfile.ZipInfo] = {}
    for info in archive.infolist():
        path = PurePosixPath(info.filename.replace("\\", "/"))
        if path.suffix.lower() != ".csv" or "__MACOSX" in path.parts or len(found) >= MOST_TABLES:
            continue
        with archive.open(info) as file:
            if looks_like_evaluations(file.read(4000)):
                found[path.name if path.name not in found else str(path)] = info
    return found


def _all_inflated(
    archive: zipfile.ZipFile, members: Mapping[str, zipfile.ZipInfo], name: str
) -> dict[str, bytes]:
    found, size = dict[str, bytes](), 0
    for member, info in members.items():
        found[member] = _inflated(archive, info, name)
        size += len(found[member])
        if size > MOST_UNPACKED:
            most = MOST_UNPACKED / MEGABYTE
            raise InputError(f"This archive holds more than {most:,.0f} MB. Split it.", (), name)
    return found


def _inflated(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str) -> bytes:
    with archive.open(info) as file:
        # Read, not trusted: an archive may say less than it holds.
        data = file.read(MAX_DATASET_BYTES + 1)
    if len(data) > MAX_DATASET_BYTES:
        most = MAX_DATASET_BYTES / MEGABYTE
        message = f"{info.filename} is larger than {most:,.0f} MB. Split it."
        raise InputError(message, (), name)
    return data


def kind_of(source: VoteSource) -> SeenKind:
    """What the source holds, by the names of its files and columns."""
    if looks_like_evaluations(next(iter(source.files.values()))):
        return "gradescope"
    if not source.lone:
        if VOTES not in source.files and MANIFEST in source.files:
            return "autorubric"
        return "folder"
    (name, data), *_ = source.files.items()
    ending = name.lower().rpartition(".")[2]
    if holds_rows(data, name):
        return "dataset"
    if ending in ("yaml", "yml") or (ending == "json" and b'"criteria"' in data[:20_000]):
        return "rubric"
    if looks_like_rubric(data, name):
        return "rubric"
    return kind_of_table(read_table(data, name))


def kind_of_table(table: Table) -> SeenKind:
    """Whether a table holds votes, one a row or one rater a column, or items to be judged."""
    if looks_long(table):
        return "long"
    if looks_wide(table):
        return "wide"
    return "dataset" if guess_mapping(table).submission is not None else "unknown"
