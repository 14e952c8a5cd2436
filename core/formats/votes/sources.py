"""What was handed over, opened: a lone file, a folder, or an archive, with the files that count."""

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
#: More questions than this has no assignment.
MOST_TABLES = 200


@dataclass(frozen=True)
class VoteSource:
    """Files by their names within a folder or archive; a lone file stands by itself.

    ``title`` is what to call it: the folder's name, or that of the file without its ending.
    ``sheet`` is the sheet of a workbook that somebody named.
    """

    name: str
    files: Mapping[str, bytes]
    lone: bool
    title: str
    sheet: str | None = None

    def first(self, names: Iterable[str]) -> str | None:
        """The first of these files that is there."""
        return next((name for name in names if name in self.files), None)

    def on_sheet(self, sheet: str | None) -> VoteSource:
        """The same, with a sheet named."""
        return replace(self, sheet=sheet)


class _Named(Mapping[str, bytes]):
    """Files of a folder, each read when it is asked for: together they may be large."""

    def __init__(self, folder: Path, names: Iterable[str]) -> None:
        self._paths = {name: folder / name for name in names}
        for path in self._paths.values():
            # What cannot be read is refused before anything is begun.
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
    """The file, folder or zip archive at a path. Raises ``InputError`` where it cannot be read."""
    given = Path(path)
    if not given.is_dir():
        return open_bytes(read_bytes(given, MAX_DATASET_BYTES), given.name)
    found: Mapping[str, bytes] = _Named(given, [n for n in KNOWN if (given / n).is_file()])
    if not found:
        tables = [one for one in sorted(given.glob("*.csv")) if _is_evaluations(one)]
        found = {one.name: read_bytes(one, MAX_DATASET_BYTES) for one in tables[:MOST_TABLES]}
    if not found:
        found = folder_files(given)
        if not could_be_submissions(found):
            raise InputError(f"{_NOTHING} This folder has none of them.", (), str(path))
    name = given.resolve().name or "folder"
    return VoteSource(name, found, False, name)


def _is_evaluations(path: Path) -> bool:
    with path.open("rb") as file:
        return looks_like_evaluations(file.read(4000))


def open_bytes(data: bytes, name: str) -> VoteSource:
    """The same for a file or zip archive at hand; a workbook is a file."""
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
    """The archive's shallowest folder that holds known files (its name), and those files."""
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
    """Tables of evaluations, one per question, by their names without folders."""
    found: dict[str, str] = {}
    for member in archive.members:
        path = PurePosixPath(member)
        if path.suffix.lower() != ".csv" or len(found) >= MOST_TABLES:
            continue
        if looks_like_evaluations(archive.beginning(member)):
            found[path.name if path.name not in found else member] = member
    return found
