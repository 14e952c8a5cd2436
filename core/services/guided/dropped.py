"""Recognise files dropped on the page by their content: texts, a rubric, or votes.

For unrecognised files, a message names the nearest known shapes. Files that are not used yet
are stored as drafts.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from core import clock
from core.domain.rubric import Rubric
from core.errors import InputError, Problem
from core.formats.columns.text_columns import LONG, text_shape
from core.formats.datasets.mapping import guess_mapping
from core.formats.office.documents import marks_in
from core.formats.office.workbook import SheetNotChosen
from core.formats.rubrics.forms import looks_like_rubric
from core.formats.source.opened import Opened
from core.formats.source.parsed import Parsed
from core.formats.tables.submissions import could_be_submissions
from core.formats.tables.table import Table
from core.formats.votes.tools.known_tools import TOOL_NAMES
from core.formats.votes.vote_layouts import answers_share_a_scale
from core.formats.votes.vote_mapping import guess_vote_mapping
from core.services.access.allowing import allowed
from core.services.guided import texts
from core.services.guided.texts import File
from core.services.imports import import_files
from core.services.imports.import_files import SHAPE_WORDS, FileShape
from core.services.rubrics import import_export
from core.services.rubrics.draft_shapes import RubricDraft, new_draft
from core.services.rubrics.drafts import rubric_from
from core.store.store import Store
from core.text.numbers import plural

#: How a rubric in YAML or JSON begins, after any comments.
_STRUCTURED = re.compile(
    r"\s*(?:#.*\n\s*)*(?:[{\[]|-\s+\w+:|(?:name|criteria|sections|guidelines|description):)"
)

Kind = Literal["texts", "rubric", "votes", "unknown"]
#: The screen on which dropped files wait: Start takes every kind, the others only their own.
Place = Literal["start", "texts", "rubric", "votes", "dataset", "unknown"]
_KEPT = "dropped/"
_PASTED = "pasted/"
#: The largest drop, in bytes, that survives a reload; a larger drop must be repeated.
MOST_KEPT = 30_000_000


@dataclass(frozen=True)
class Recognised:
    """One file, or a group of documents: its kind, a line on its content, and its problems.

    ``systems`` are those that the texts name, in their order. ``also_votes``: a table of texts has
    columns that could also be raters' answers.
    """

    kind: Kind
    files: tuple[File, ...]
    line: str
    problems: tuple[Problem, ...] = ()
    systems: tuple[str, ...] = ()
    also_votes: bool = False

    @property
    def title(self) -> str:
        """Return its title."""
        if len(self.files) == 1:
            return self.files[0].name
        return plural(len(self.files), "document")


def recognise(files: Sequence[File]) -> tuple[Recognised, ...]:
    """Return the dropped files as recognised, in their order; documents that are no rubrics form a
    group.
    """
    recognised, documents = list[Recognised](), list[File]()
    for file in files:
        opened = Opened(file.data, file.name)
        if _is_rubric(opened):
            recognised.append(_recognise_rubric(file, opened))
        elif _is_document(file) and opened.once(marks_in) is None:
            documents.append(file)
        else:
            recognised.append(_recognise_table(file, opened))
    if documents:
        recognised.append(_recognise_texts(tuple(documents)))
    return tuple(recognised)


def _is_document(file: File) -> bool:
    """Return whether the file is one person's text: a document, a page, plain text, a program."""
    archive = PurePosixPath(file.name.lower()).suffix in (".zip", ".eval")
    return not archive and could_be_submissions({file.name.lower(): b""})


def _is_rubric(opened: Opened) -> bool:
    if looks_like_rubric(opened, opened.name):
        return True
    if opened.ending not in ("yaml", "yml", "json"):
        return False
    try:
        return import_files.look_at_bytes(opened, opened.name).kind == "rubric"
    except InputError:
        # The reader that runs next reports the file's problem.
        return False


def _recognise_rubric(file: File, opened: Opened) -> Recognised:
    try:
        parsed = import_export.rubrics_in(opened, file.name)
    except InputError as error:
        # The table may list students of a class, with columns that are called like levels: Name,
        # First draft, Second draft.
        otherwise = _recognise_texts((file,), opened)
        if otherwise.kind == "texts":
            return otherwise
        line = "This looks like a rubric, but it cannot be read."
        return Recognised("unknown", (file,), line, error.problems or (Problem(error.message),))
    if len(parsed) > 1:
        return Recognised("rubric", (file,), f"{plural(len(parsed), 'rubric')}.")
    return Recognised("rubric", (file,), f"A rubric with {in_words(parsed[0].value)}.")


def rubrics(files: Sequence[File]) -> tuple[Parsed[Rubric], ...]:
    """Return the rubrics in these files. Raises ``InputError``."""
    return tuple(
        rubric for file in files for rubric in import_export.rubrics_in(file.data, file.name)
    )


def unasked_rubric(files: Sequence[File]) -> Rubric | None:
    """Return the only rubric in these files, if it needs no question and no remark."""
    try:
        parsed = rubrics(files)
    except InputError:
        return None
    return parsed[0].value if len(parsed) == 1 and not parsed[0].notices else None


def pasted_rubric(text: str) -> Parsed[Rubric]:
    """Return the rubric in pasted text: a table, YAML or JSON, or else one requirement per line.

    Raises:
        InputError: there is no criterion, or there are problems, each with its line.
    """
    if import_export.is_table(text, "pasted text") or _STRUCTURED.match(text):
        return import_export.rubrics_in(text, "pasted text")[0]
    lines, criteria, notices = import_export.read_paste(text)
    draft = import_export.with_lines_added(new_draft(), lines)
    draft = import_export.with_criteria_added(draft, criteria)
    if not draft["criteria"]:
        raise InputError("It contains no criterion. Write one requirement per line.")
    named: RubricDraft = {**draft, "name": draft["name"] or "Pasted rubric"}
    return Parsed(rubric_from(named), notices)


def in_words(rubric: Rubric) -> str:
    """Return a rubric's size in words: `4 criteria, 20 points`."""
    points = plural_points(rubric.max_points)
    return f"{plural(len(rubric.criteria), 'criterion', 'criteria')}, {points}"


def plural_points(points: float) -> str:
    """Return a number of points in words.

    >>> plural_points(1), plural_points(12.5)
    ('1 point', '12.5 points')
    """
    return f"{points:g} {'point' if points == 1 else 'points'}"


def _recognise_table(file: File, opened: Opened) -> Recognised:
    try:
        look = import_files.look_at_bytes(opened, file.name)
    except SheetNotChosen as error:
        return _sheets_to_choose(error, (file,))
    except InputError as error:
        problems = error.problems or (Problem(error.message),)
        return Recognised("unknown", (file,), "This cannot be read.", problems)
    if look.kind == "rubric":
        return _recognise_rubric(file, opened)
    if look.kind == "dataset":
        return _recognise_texts((file,), opened)
    if look.kind in ("wide", "unknown") and look.table is not None and _holds_texts(look.table):
        wide = guess_vote_mapping(look.table, "wide")
        return _recognise_texts((file,), opened, also_votes=answers_share_a_scale(look.table, wide))
    if look.kind == "unknown":
        return _recognise_unknown_table(file, look)
    return Recognised("votes", (file,), _votes_words(look))


def _holds_texts(table: Table) -> bool:
    """Return whether a table whose columns look alike contains texts that could be graded."""
    column = guess_mapping(table).submission
    texts = None if column is None else text_shape(table, column)
    return texts is not None and texts.sentences and texts.length >= LONG


def _sheets_to_choose(error: SheetNotChosen, files: tuple[File, ...]) -> Recognised:
    line = f"A workbook with rows on {len(error.sheets)} sheets; choose one in the next step."
    return Recognised("texts", files, line)


def _recognise_texts(
    files: tuple[File, ...], opened: Opened | None = None, *, also_votes: bool = False
) -> Recognised:
    try:
        look = texts.look(texts.read(files, opened=opened))
    except SheetNotChosen as error:
        return _sheets_to_choose(error, files)
    except InputError as error:
        problems = error.problems or (Problem(error.message),)
        return Recognised("unknown", files, "It contains no text to grade.", problems)
    answer_columns = _answer_columns(files, look.table)
    if answer_columns is not None:
        return answer_columns
    return Recognised("texts", files, look.line, systems=look.systems, also_votes=also_votes)


def _answer_columns(files: tuple[File, ...], table: Table) -> Recognised | None:
    """Recognise a table with the answers of several systems in columns; ``None`` for others."""
    answer_columns = texts.side_by_side(table)
    if answer_columns is None:
        return None
    prompt, columns = answer_columns
    named = " and ".join(f"“{column}”" for column in columns[:3])
    line = f"{plural(len(table.rows), 'row')}: “{prompt}”, answered in {named}."
    return Recognised("texts", files, line, systems=columns)


def _recognise_unknown_table(file: File, look: FileShape) -> Recognised:
    """Recognise a table without known columns; a person may name the column of texts."""
    if (
        look.table is not None
        and (answer_columns := _answer_columns((file,), look.table)) is not None
    ):
        return answer_columns
    if look.table is not None and texts.columns_of(look.table):
        rows = plural(len(look.table.rows), "row")
        line = f"A table with {rows}; say in the next step which column holds the texts."
        return Recognised("texts", (file,), line, import_files.nearest_in_words(look))
    line = "Nothing here is known: no texts, no rubric, no votes."
    return Recognised("unknown", (file,), line, import_files.nearest_in_words(look))


def _votes_words(look: FileShape) -> str:
    tool = next((name for kind, name in TOOL_NAMES.items() if kind == look.kind), None)
    if tool is not None:
        return f"Results of {tool}."
    shape = SHAPE_WORDS.get(look.kind, "votes")
    rows = f", {plural(len(look.table.rows), 'row')}" if look.table else ""
    return f"{shape[:1].upper()}{shape[1:]}{rows}."


def files_of_kind(files: Sequence[Recognised], kind: Kind) -> tuple[File, ...]:
    """Return the files of that kind."""
    return tuple(
        file for recognised in files if recognised.kind == kind for file in recognised.files
    )


# Files and text that were dropped or pasted, but not used yet: drafts of that person.


@allowed("draft")
def keep_files(store: Store, place: Place, files: Sequence[File]) -> None:
    """Save dropped files as a draft until they are used; without files, or if they are too large,
    delete the draft.
    """
    if not files or sum(len(file.data) for file in files) > MOST_KEPT:
        store.drafts.delete(_KEPT + place)
        return
    content = [[file.name, base64.b64encode(file.data).decode("ascii")] for file in files]
    store.drafts.save(_KEPT + place, content, now=clock.now())


def kept_files(store: Store, place: Place) -> tuple[File, ...]:
    """Return the files that were dropped there, in any tab, and not used yet."""
    draft = store.drafts.get(_KEPT + place)
    return () if draft is None else tuple(File(n, base64.b64decode(d)) for n, d in draft.content)


@allowed("draft")
def keep_text(store: Store, place: Place, text: str) -> None:
    """Save pasted text as a draft until it is used; blank or oversized text deletes the draft."""
    if not text.strip() or len(text.encode()) > MOST_KEPT:
        store.drafts.delete(_PASTED + place)
    else:
        store.drafts.save(_PASTED + place, text, now=clock.now())


def kept_text(store: Store, place: Place) -> str:
    """Return the text that was pasted there, in any tab, and not used yet; otherwise an empty
    string.
    """
    draft = store.drafts.get(_PASTED + place)
    return "" if draft is None else str(draft.content)
