"""Open a file, folder or archive and its relevant files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from core.errors import InputError
from core.formats.datasets.submissions import could_be_submissions
from core.formats.folder import DATASET_NAMES, RUBRIC_NAMES, folder_files, read_bytes
from core.formats.office.archive import Unpacked, is_zip
from core.formats.office.workbook import book_kind
from core.formats.source.parsed import MAX_DATASET_BYTES, stem
from core.formats.votes.gradescope import looks_like_evaluations
from core.formats.votes.tools.known_tools import recognised

VOTES = "votes.csv"
MANIFEST = "manifest.json"
KNOWN = (*RUBRIC_NAMES, *DATASET_NAMES, VOTES, MANIFEST)
#: No assignment has more questions than this.
MOST_TABLES = 200


@dataclass(frozen=True)
class VoteSource:
    """Files by name within a folder or archive, or a lone file.

    ``title`` is the folder's name, or the file's without its ending. ``sheet`` is the chosen sheet
    of a workbook.
    """

    name: str
    files: Mapping[str, bytes]
    lone: bool
    title: str
    sheet: str | None = None

    def first(self, names: Iterable[str]) -> str | None:
        """Return the first of these files that exists."""
        return next((name for name in names if name in self.files), None)

    def on_sheet(self, sheet: str | None) -> VoteSource:
        """Return the source with a chosen sheet."""
        return replace(self, sheet=sheet)


class _Named(Mapping[str, bytes]):
    """Files of a folder, read on demand, since together they may be large."""

    def __init__(self, folder: Path, names: Iterable[str]) -> None:
        self._paths = {name: folder / name for name in names}
        for path in self._paths.values():
            # Refuse unreadable files before anything begins.
            read_bytes(path, MAX_DATASET_BYTES, only_look=True)

    def __getitem__(self, name: str) -> bytes:
        return read_bytes(self._paths[name], MAX_DATASET_BYTES)

    def __contains__(self, name: object) -> bool:
        return name in self._paths

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)


def open_path(path: str | os.PathLike[str]) -> VoteSource:
    """Open the file, folder or zip archive at a path. Raises ``InputError``."""
    given = Path(path)
    if not given.is_dir():
        return open_bytes(read_bytes(given, MAX_DATASET_BYTES), given.name)
    files: Mapping[str, bytes] = _Named(given, [n for n in KNOWN if (given / n).is_file()])
    if not files:
        tables = [
            table_path for table_path in sorted(given.glob("*.csv")) if _is_evaluations(table_path)
        ]
        files = {
            table_path.name: read_bytes(table_path, MAX_DATASET_BYTES)
            for table_path in tables[:MOST_TABLES]
        }
    if not files:
        files = folder_files(given)
        if not could_be_submissions(files):
            raise InputError(f"{_NOTHING} This folder has none of them.", (), str(path))
    name = given.resolve().name or "folder"
    return VoteSource(name, files, False, name)


def _is_evaluations(path: Path) -> bool:
    with path.open("rb") as file:
        return looks_like_evaluations(file.read(4000))


def open_bytes(data: bytes, name: str) -> VoteSource:
    """Open a file or zip archive in memory; a workbook is a file."""
    title = stem(name, "Imported votes")
    if not is_zip(data) or book_kind(data, name) is not None or recognised(data, name):
        return VoteSource(name, {name: data}, True, title)
    archive = Unpacked(data, name, apart=True)
    folder, files = _unzipped(archive)
    if files:
        return VoteSource(name, files, False, folder or title)
    if could_be_submissions(archive.members):
        return VoteSource(name, {name: data}, True, title)
    raise InputError(f"{_NOTHING} This archive has none of them.", (), name)


_NOTHING = (
    "Votes come as a table (CSV, JSONL, .xlsx and others), as a folder with votes.csv, rubric.yaml "
    "and items.jsonl, or as an experiment with manifest.json and items.jsonl; submissions as "
    "documents, texts or programs."
)


def _unzipped(archive: Unpacked) -> tuple[str, dict[str, bytes]]:
    """Return an archive's shallowest folder with known files, and its files."""
    folder, members = _members(archive)
    members = members or _tables(archive)
    return folder, {name: archive.read(member) for name, member in members.items()}


def _members(archive: Unpacked) -> tuple[str, dict[str, str]]:
    folders: dict[tuple[int, str], dict[str, str]] = {}
    for member in archive.members:
        path = PurePosixPath(member)
        if path.name in KNOWN:
            folders.setdefault((len(path.parts), str(path.parent)), {})[path.name] = member
    if not folders:
        return "", {}
    first = min(folders)
    return PurePosixPath(first[1]).name, folders[first]


def _tables(archive: Unpacked) -> dict[str, str]:
    """Return tables of evaluations, one per question, by bare file names."""
    tables: dict[str, str] = {}
    for member in archive.members:
        path = PurePosixPath(member)
        if path.suffix.lower() != ".csv" or len(tables) >= MOST_TABLES:
            continue
        if looks_like_evaluations(archive.beginning(member)):
            tables[path.name if path.name not in tables else member] = member
    return tables
