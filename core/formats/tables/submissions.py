"""Convert submitted files to rows of items, per file or per participant."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from core.domain.dataset import MAX_TEXT
from core.errors import InputError, Problem
from core.formats.office.documents import blocks_of, document_text, has_marks, is_document
from core.formats.office.markdown import headed_texts
from core.formats.source.archives import MOST_FILES
from core.formats.source.opened import Opened
from core.formats.source.parsed import TableRows

#: A folder with only these files is not a folder of submissions.
_TABLES = frozenset(
    {
        *(".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".yaml", ".yml"),
        *(".xlsx", ".ods", ".parquet", ".arrow", ".feather"),
    }
)
#: Moodle: a folder per participant, or everything in the file's name. The number is the
#: "Participant 12345" of its grading worksheet.
_MOODLE = re.compile(r"(?P<who>[^/]+)_(?P<id>\d+)_assignsubmission_[a-z]+_?(?P<file>/.+|[^/]*)\Z")
#: The longest path to match. On a long crafted path the pattern takes minutes.
_LONGEST_PATH = 1000
#: Canvas: name, LATE, the user's number (or one for this assignment), the file's number and name.
_CANVAS = re.compile(
    r"(?P<who>[^_/]+)_(?:(?P<late>LATE)_)?(?P<id>\d+)_(?:\d+_(?P<file>[^/]+)|(?P<text>text|link)\.html)\Z"
)
_CANVAS_BLIND = re.compile(
    r"(?:(?P<late>LATE)_)?(?P<id>anon_[A-Za-z0-9]+)_(?:\d+_(?P<file>[^/]+)|(?P<text>text|link)\.html)\Z"
)


class _HandedIn(NamedTuple):
    """A file and its author, according to its path."""

    id: str
    label: str
    notes: dict[str, Any]
    place: str


def submissions_in(opened: Opened) -> TableRows | None:
    """Return the submissions in an archive, document or headed text; ``None`` for other files.

    Raises:
        InputError: it cannot be opened, or has no text at all.
    """
    name, archive = opened.name, opened.archive
    if is_document(opened):
        rows = submission_rows({PurePosixPath(name.replace("\\", "/")).name: opened}, name)
        return rows._replace(notices=(*rows.notices, *_tables_in_text(opened)))
    if archive is None:
        return headed_texts(opened)
    archive.refuse_twice()
    if not could_be_submissions(archive.members):
        return None
    if len(archive.members) > MOST_FILES:
        raise InputError(f"This archive holds more than {MOST_FILES:,} files.", (), name)
    return submission_rows({path: archive.read(path) for path in archive.members}, name)


def _tables_in_text(opened: Opened) -> list[Problem]:
    """Return a notice for each table that is only a part of a document's text."""
    votes = "To read its numbers as votes: save the table as .xlsx or .csv."
    return [
        Problem(
            f"Its table of {len(block) - 1} rows is read as part of the text.",
            votes if has_marks(block) else "",
        )
        for block in blocks_of(opened)
        if not isinstance(block, str) and len(block) > 2
    ]


def could_be_submissions(paths: Mapping[str, object]) -> bool:
    """Return whether some files are not data tables."""
    return any(PurePosixPath(path).suffix.lower() not in _TABLES for path in paths)


def submission_rows(files: Mapping[str, bytes | Opened], name: str) -> TableRows:
    """Return a row per participant if paths name them, otherwise per file.

    Moodle and Canvas name participants. Several files of a participant are one submission, each
    under its name. A document without text, or an unreadable one, is an item without text. Other
    files are left out. Notices report all of this.

    Raises:
        InputError: none of the files has a text.
    """
    common = _common_folder(list(files))
    rows: dict[str, dict[str, Any]] = {}
    parts: dict[str, list[tuple[str, str]]] = {}
    left_out, remarks = list[str](), list[Problem]()
    for path in sorted(files, key=str.casefold):
        handed = _parse_path(path.removeprefix(common))
        try:
            read = document_text(Opened.of(files[path], path))
        except InputError as error:
            remarks.append(Problem(f"{handed.place}: {error.message}", "It has no text here."))
            read_text, remark = None, ""
        else:
            if read is None:
                left_out.append(handed.place)
                continue
            read_text, remark = read
        if remark:
            remarks.append(Problem(f"{handed.place}: {remark}"))
        row = rows.setdefault(handed.id, {"id": handed.id, "submission": None})
        row |= handed.notes
        if read_text:
            parts.setdefault(handed.id, []).append((handed.label, read_text))
    for id, texts in parts.items():
        text = _joined_texts(texts)
        if len(text) > MAX_TEXT:
            message = f"{id}: its files have more than {MAX_TEXT:,} characters together."
            remarks.append(Problem(message, "The rest is left out."))
        rows[id]["submission"] = text[:MAX_TEXT]
    if not parts:
        message = (
            f"{remarks[0].message}" if len(remarks) == 1 else "None of its files contains text."
        )
        raise InputError(f"There is nothing to judge. {message}", tuple(remarks[1:]), name)
    columns = tuple(dict.fromkeys(key for row in rows.values() for key in row))
    notices = (*_submission_notices(files, rows, left_out), *remarks)
    return TableRows(columns, tuple(rows.values()), (None,) * len(rows), notices)


def _submission_notices(
    files: Mapping[str, object], rows: Mapping[str, dict[str, Any]], left_out: list[str]
) -> list[Problem]:
    count = len(files) - len(left_out)
    kind = "a participant" if any("participant" in row for row in rows.values()) else "a file"
    notices = [Problem(f"Read as {len(rows):,} submissions in {count:,} files, one {kind}.")]
    if kind == "a participant":
        message = "Names from the paths are kept as a note (participant); judges do not see them."
        notices.append(Problem(message))
    if left_out:
        remaining = f" and {len(left_out) - 10} more" if len(left_out) > 10 else ""
        shown = ", ".join(map(repr, left_out[:10]))
        message = (
            f"Left out, because they contain no text (pictures, archives ...): {shown}{remaining}."
        )
        notices.append(Problem(message))
    return notices


def _joined_texts(texts: list[tuple[str, str]]) -> str:
    if len(texts) == 1:
        return texts[0][1]
    return "\n\n".join(f"## {label}\n\n{text}" for label, text in texts)


def _parse_path(path: str) -> _HandedIn:
    moodle = _match_moodle_path(path)
    if moodle:
        label = moodle["file"].lstrip("/") or PurePosixPath(path).name
        return _HandedIn(moodle["id"], label, {"participant": moodle["who"]}, path)
    name = PurePosixPath(path).name
    canvas = _CANVAS.match(name) or _CANVAS_BLIND.match(name)
    if canvas:
        groups = canvas.groupdict()
        notes: dict[str, Any] = {"late": True} if groups["late"] else {}
        if groups.get("who"):
            notes["participant"] = groups["who"]
        return _HandedIn(groups["id"], groups["file"] or f"{groups['text']}.html", notes, path)
    return _HandedIn(path, name, {}, path)


def _match_moodle_path(path: str) -> re.Match[str] | None:
    return _MOODLE.match(path) if len(path) <= _LONGEST_PATH else None


def _common_folder(paths: list[str]) -> str:
    """Return the folder that holds all files, unless it is a participant's own."""
    folder = os.path.commonpath([os.path.dirname(path) for path in paths]) if paths else ""  # noqa: PTH120
    return f"{folder}/" if folder and not _match_moodle_path(f"{folder}/x") else ""
