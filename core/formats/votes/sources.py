"""Open a file, folder or archive and its relevant files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from core.errors import InputError
from core.formats.folder import DATASET_NAMES, RUBRIC_NAMES, folder_files, read_bytes
from core.formats.office.workbook import book_in
from core.formats.source.archives import Unpacked
from core.formats.source.opened import Opened
from core.formats.source.parsed import MAX_DATASET_BYTES, stem
from core.formats.tables.submissions import could_be_submissions
from core.formats.votes.gradescope import looks_like_evaluations
from core.formats.votes.tools.known_tools import tool_of

VOTES = "votes.csv"
MANIFEST = "manifest.json"
KNOWN = (*RUBRIC_NAMES, *DATASET_NAMES, VOTES, MANIFEST)
#: The most tables; no assignment has more questions.
MOST_TABLES = 200


@dataclass(frozen=True)
class VoteSource:
    """Files by name within a folder or archive, or a single file.

    ``title`` is the folder's name, or the file's without its ending. ``sheet`` is the chosen sheet
    of a workbook.
    """

    name: str
    files: Mapping[str, Opened]
    lone: bool
    title: str
    sheet: str | None = None

    @property
    def first_file(self) -> Opened:
        """Return the first file, which is the only one of a single file."""
        return next(iter(self.files.values()))

    def first_existing(self, names: Iterable[str]) -> str | None:
        """Return the first of these files that exists."""
        return next((name for name in names if name in self.files), None)

    def with_sheet(self, sheet: str | None) -> VoteSource:
        """Return the source with a chosen sheet."""
        return replace(self, sheet=sheet)


class _Named(Mapping[str, Opened]):
    """Files of a folder, read on demand, since together they may be large."""

    def __init__(self, folder: Path, names: Iterable[str]) -> None:
        self._paths = {name: folder / name for name in names}
        for path in self._paths.values():
            # Refuse unreadable files before anything begins.
            read_bytes(path, MAX_DATASET_BYTES, only_look=True)

    def __getitem__(self, name: str) -> Opened:
        return Opened(read_bytes(self._paths[name], MAX_DATASET_BYTES), name)

    def __contains__(self, name: object) -> bool:
        return name in self._paths

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)


def open_path(path: str | os.PathLike[str]) -> VoteSource:
    """Open the file, folder or zip archive at a path. Raises ``InputError``."""
    file = Path(path)
    if not file.is_dir():
        return open_bytes(read_bytes(file, MAX_DATASET_BYTES), file.name)
    files: Mapping[str, Opened] = _Named(file, [n for n in KNOWN if (file / n).is_file()])
    if not files:
        tables = [table.name for table in sorted(file.glob("*.csv")) if _is_evaluations(table)]
        files = _Named(file, tables[:MOST_TABLES])
    if not files:
        files = {name: Opened(data, name) for name, data in folder_files(file).items()}
        if not could_be_submissions(files):
            raise InputError(f"{_NOTHING} This folder has none of them.", (), str(path))
    name = file.resolve().name or "folder"
    return VoteSource(name, files, False, name)


def _is_evaluations(path: Path) -> bool:
    with path.open("rb") as file:
        return looks_like_evaluations(file.read(4000))


def open_bytes(data: bytes | Opened, name: str) -> VoteSource:
    """Open a file or zip archive in memory; a workbook is a file."""
    title, opened = stem(name, "Imported votes"), Opened.of(data, name)
    alone = VoteSource(name, {name: opened}, True, title)
    if opened.once(book_in) is not None or opened.archive is None or tool_of(opened):
        return alone
    archive = opened.archive
    archive.refuse_twice()
    folder, members = _known_members(archive)
    members = members or _evaluation_tables(archive)
    if members:
        files = {name: Opened(archive.read(member), name) for name, member in members.items()}
        return VoteSource(name, files, False, folder or title)
    if could_be_submissions(archive.members):
        return alone
    raise InputError(f"{_NOTHING} This archive has none of them.", (), name)


_NOTHING = (
    "Votes come as a table (CSV, JSONL, .xlsx and others), as a folder with votes.csv, rubric.yaml "
    "and items.jsonl, or as an experiment with manifest.json and items.jsonl; submissions as "
    "documents, texts or programs."
)


def _known_members(archive: Unpacked) -> tuple[str, dict[str, str]]:
    """Return an archive's shallowest folder with known files, and these by name."""
    folders: dict[tuple[int, str], dict[str, str]] = {}
    for member in archive.members:
        path = PurePosixPath(member)
        if path.name in KNOWN:
            folders.setdefault((len(path.parts), str(path.parent)), {})[path.name] = member
    if not folders:
        return "", {}
    first = min(folders)
    return PurePosixPath(first[1]).name, folders[first]


def _evaluation_tables(archive: Unpacked) -> dict[str, str]:
    """Return tables of evaluations, one per question, by bare file names."""
    tables: dict[str, str] = {}
    for member in archive.members:
        path = PurePosixPath(member)
        if path.suffix.lower() != ".csv" or len(tables) >= MOST_TABLES:
            continue
        if looks_like_evaluations(archive.beginning(member)):
            tables[path.name if path.name not in tables else member] = member
    return tables
