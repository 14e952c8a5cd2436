"""Files and folders on disk for the command line; errors are `InputError`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.domain.dataset import Dataset
from core.domain.rubric import Rubric
from core.errors import InputError
from core.formats.datasets.dataset_file import parse_dataset
from core.formats.rubrics.forms import read_rubrics
from core.formats.source.archives import MOST_FILES, MOST_UNPACKED, is_hidden
from core.formats.source.opened import Opened
from core.formats.source.parsed import MAX_DATASET_BYTES, MAX_RUBRIC_BYTES, MEGABYTE, Parsed
from core.part_files import part_file

if TYPE_CHECKING:
    from core.formats.datasets.clean_items import CleanItems

RUBRIC_NAMES = ("rubric.yaml", "rubric.yml", "rubric.json")
DATASET_NAMES = ("items.jsonl", "items.json", "items.csv", "items.tsv")


def read_folder(path: str | os.PathLike[str]) -> tuple[Parsed[Rubric], Parsed[Dataset]]:
    """Return the rubric and the items, with checked labels, of a folder. Raises ``InputError``."""
    folder = Path(path)
    if not folder.is_dir():
        raise InputError(
            "This is not a folder. Name one with rubric.yaml and items.jsonl.", (), str(path)
        )
    rubric = read_rubric_file(folder)
    dataset = read_dataset_file(folder, rubric.value)
    return rubric, dataset


def read_rubric_file(path: str | os.PathLike[str]) -> Parsed[Rubric]:
    """Return the rubric in a file of any format, or in a folder's rubric.yaml.

    Raises ``InputError``, also if a table holds several.
    """
    file = _existing_file(Path(path), RUBRIC_NAMES)
    return only_rubric(read_bytes(file, MAX_RUBRIC_BYTES), str(file))


def read_rubric_files(path: str | os.PathLike[str]) -> tuple[Parsed[Rubric], ...]:
    """Return all rubrics in a file of any format, or a folder's. Raises ``InputError``."""
    file = _existing_file(Path(path), RUBRIC_NAMES)
    return read_rubrics(read_bytes(file, MAX_RUBRIC_BYTES), str(file))


def only_rubric(data: bytes | Opened, name: str) -> Parsed[Rubric]:
    """Return the only rubric in a file's data. Raises ``InputError``."""
    first, *others = read_rubrics(data, name)
    if others:
        names = ", ".join(repr(rubric.value.name) for rubric in (first, *others))
        raise InputError(
            f"This file holds {1 + len(others)} rubrics: {names}. `rubric-studio convert "
            f"{Path(name).name} --to yaml --out FOLDER` writes each to a file of its own; name "
            "one.",
            (),
            name,
        )
    return first


def read_dataset_file(
    path: str | os.PathLike[str],
    rubric: Rubric | None = None,
    changes: Sequence[str] | None = None,
    sheet: str | None = None,
) -> Parsed[Dataset]:
    """Return the dataset in a file or in a folder's items.jsonl.

    It is checked against ``rubric`` if given. ``changes`` map columns as ``--map`` does. ``sheet``
    names the sheet of a workbook. A dataset from a folder takes the folder's name. Raises
    ``InputError``.
    """
    given = Path(path)
    file = _existing_file(given, DATASET_NAMES)
    parsed = parse_dataset(read_bytes(file, MAX_DATASET_BYTES), str(file), rubric, changes, sheet)
    if given.is_dir() and parsed.value.name == file.stem:
        named = parsed.value.model_copy(update={"name": given.resolve().name[:200] or file.stem})
        return replace(parsed, value=named)
    return parsed


def read_clean_dataset(path: str | os.PathLike[str], rubric: Rubric) -> CleanItems | None:
    """Return the items of a folder's items.jsonl by columns, without texts.

    ``None`` if ``read_dataset_file`` is needed.
    """
    # Columns need numpy, which slows the start of the server.
    from core.formats.datasets.clean_items import read_clean_items

    file = _existing_file(Path(path), DATASET_NAMES)
    if file.suffix != ".jsonl" or not file.is_file():
        return None
    try:
        text = read_bytes(file, MAX_DATASET_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else read_clean_items(text, rubric)


def folder_files(folder: Path) -> dict[str, bytes]:
    """Return a folder's files by path, without hidden files and links.

    Raises:
        InputError: too many files, too large, or an unreadable one.
    """
    files, size = dict[str, bytes](), 0
    for path in _walk_files(folder):
        if len(files) >= MOST_FILES:
            raise InputError(f"This folder holds more than {MOST_FILES:,} files.", (), str(folder))
        files[path.relative_to(folder).as_posix()] = data = read_bytes(path, MAX_DATASET_BYTES)
        size += len(data)
        if size > MOST_UNPACKED:
            most = MOST_UNPACKED / MEGABYTE
            raise InputError(f"This folder holds more than {most:,.0f} MB.", (), str(folder))
    return files


def _walk_files(root: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(root):
        folders[:] = sorted(folder for folder in folders if not is_hidden(folder))
        for name in sorted(files):
            path = Path(place) / name
            if not is_hidden(name) and path.is_file() and not path.is_symlink():
                yield path


def parse_data(path: str | os.PathLike[str]) -> Any:
    """Return the plain data of a YAML or JSON file, read as strictly as a rubric."""
    file = _existing_file(Path(path), ())
    opened = Opened(read_bytes(file, MAX_RUBRIC_BYTES), str(file))
    return opened.document("file", MAX_RUBRIC_BYTES).value


def read_bytes(path: Path, limit: int, *, only_look: bool = False) -> bytes:
    """Return the bytes of a file or pipe; ``only_look`` reads just the beginning.

    Raises ``InputError``: missing, no permission, larger than ``limit``.
    """
    try:
        if path.is_fifo():
            with path.open("rb") as pipe:
                data = pipe.read(limit + 1)
        elif not path.is_file():
            raise InputError("There is no such file.", (), str(path))
        elif path.stat().st_size > limit:
            data = b""
        else:
            with path.open("rb") as file:
                data = file.read(1 if only_look else -1)
        if len(data) > limit or (not data and path.stat().st_size > limit):
            most = limit / MEGABYTE
            raise InputError(f"This file is larger than {most:,.0f} MB. Split it.", (), str(path))
        return data
    except (OSError, ValueError) as error:
        # ValueError: a path with a NUL. OSError also covers names that are too long.
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"This file cannot be opened: {reason}.", (), str(path)) from None


def write_bytes(path: Path, data: bytes) -> None:
    """Write a whole file atomically: a full disk leaves the old file.

    Raises ``InputError``: no permission, no room. Devices, pipes and files in a folder that allows
    no new file are written directly.
    """
    named = path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # A link stays a link; write its target.
        path = path.resolve()
        if (path.exists() and not path.is_file()) or not os.access(path.parent, os.W_OK):
            path.write_bytes(data)
            return
        with part_file(path) as part:
            part.write_bytes(data)
            if path.exists():
                shutil.copymode(path, part)
            part.replace(path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot be written: {reason}.", (), str(named)) from None


def _existing_file(path: Path, names: tuple[str, ...]) -> Path:
    """Return ``path``, or if it is a folder, the first of ``names`` that exists in it."""
    try:
        if not path.is_dir():
            return path
        inside = [path / name for name in names if (path / name).is_file()]
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"This folder cannot be opened: {reason}.", (), str(path)) from None
    if not inside:
        advice = f"It has no {' or '.join(names)}." if names else "Name a file."
        raise InputError(f"This is a folder. {advice}", (), str(path))
    return inside[0]
