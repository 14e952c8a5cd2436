"""Turn a file into what would be imported, for the command line and the page."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

from core import clock
from core.domain.rubric import Rubric
from core.errors import InputError, Problem
from core.formats.datasets.dataset_file import MAX_ITEMS, dataset_of
from core.formats.datasets.labels import WORD, words_in_changes
from core.formats.datasets.roles import HOW_TO_SAY
from core.formats.folder import read_dataset_file, read_rubric_file
from core.formats.known import kind_of
from core.formats.office.workbook import EVERY, SheetNotChosen
from core.formats.rubrics.forms import read_rubrics
from core.formats.source.heading import ALL_DATA
from core.formats.source.opened import Opened
from core.formats.tables.sheets import SHEETS
from core.formats.tables.table import Table, table_of_files, with_paths
from core.formats.votes.imported import VoteBundle
from core.formats.votes.item_texts import why_unreadable
from core.formats.votes.proposals.near_shape import NearShape
from core.formats.votes.proposals.near_shapes import (
    TableKind,
    first_reading,
    kept_reading,
    likely_mapping,
    nearest_shapes,
    only_reading,
)
from core.formats.votes.reading import (
    TABLES,
    SeenKind,
    SourceKind,
    guess_layout,
    read_bundle,
    table_of,
)
from core.formats.votes.scales import Bins
from core.formats.votes.sources import VoteSource, open_bytes, open_path
from core.formats.votes.tools.known_tools import TOOL_NAMES, read_items, tool_of
from core.formats.votes.vote_changes import (
    change_votes,
    is_for_items,
    is_only_for_items,
    item_fields,
    layout_meant,
)
from core.formats.votes.vote_mapping import Layout, VoteMapping
from core.formats.votes.vote_tables import unknown_words, votes_in
from core.services.access.allowing import allowed
from core.services.datasets.catalog import Checked, keep_rubric
from core.services.imports.said import notices_data, roles_data, stored_data, votes_data
from core.services.imports.vote_import import ImportPreview, bring_in, make_ready, preview
from core.store.store import Store

#: Each kind of table in words.
SHAPE_WORDS: dict[SeenKind, str] = {
    "long": "votes, one answer a row",
    "wide": "votes, a rater a column",
    "criteria": "votes, a criterion a column",
    "pairs": "pairs of answers, compared",
    "dataset": "items to be judged",
}


@dataclass(frozen=True)
class FileShape:
    """An opened source: its shape and, for a table, the probable role of each column."""

    source: VoteSource
    kind: SeenKind
    table: Table | None = None
    mapping: VoteMapping | None = None

    @cached_property
    def near(self) -> tuple[NearShape, ...]:
        """Return the layouts that an unrecognised table could have; () for other sources."""
        return nearest_shapes(self.table) if self.kind == "unknown" and self.table else ()


def look(
    source: VoteSource,
    *,
    kind: SourceKind | None = None,
    rubric: Rubric | None = None,
    changes: Sequence[str] = (),
) -> FileShape:
    """Return what a source seems to hold, or what ``kind`` or changes of the mapping say it holds.

    Raises ``InputError``.
    """
    chosen = bool(changes) or rubric is not None
    shape: SeenKind = kind or kind_of(source, rubric, has_choices=chosen)
    first = None
    if changes and source.lone and (table_kind := _table_kind(shape)):
        first = first_reading(table_of(source, rubric=rubric), table_kind, rubric, changes)
    unsaid = shape == "unknown" and source.lone and not changes
    if unsaid and (mapping := only_reading(table_of(source, MAX_ITEMS, rubric), rubric)):
        table = with_paths(table_of(source, rubric=rubric), mapping.used().values())
        return FileShape(source, mapping.layout, table, mapping)
    if shape in TOOL_NAMES and (fields := item_fields(changes)):
        return FileShape(source, shape, None, VoteMapping(layout="long", **fields))
    shape = shape if kind else _kind_meant(shape, changes, first.layout if first else None)
    if shape not in TABLES:
        return FileShape(source, shape, table_of(source, MAX_ITEMS) if shape == "unknown" else None)
    table = table_of(source, rubric=rubric)
    guess = guess_layout(table, shape, rubric)
    seen = FileShape(source, shape, table, guess if first is None else kept_reading(guess, first))
    return replace(seen, mapping=guess_mapping(seen, rubric)) if kind and not changes else seen


def _table_kind(shape: SeenKind) -> TableKind | None:
    """Return the kind of a table; ``None`` if the source is not a table."""
    return next((kind for kind in get_args(TableKind) if kind == shape), None)


def _kind_meant(shape: SeenKind, changes: Sequence[str], first: Layout | None) -> SeenKind:
    """Return the kind of a table, given the caller's roles for its columns.

    Votes, proposed or read, keep their layout unless the roles name another.
    """
    is_votes = shape in TABLES or (shape == "unknown" and first is not None)
    if not (is_votes or shape in ("dataset", "unknown") or (changes and shape in TOOL_NAMES)):
        return shape
    are_items = is_only_for_items if is_votes else is_for_items
    named = layout_meant(changes, first)
    return named or ("dataset" if are_items(changes) else first if is_votes and first else shape)


def likeliest_kind(look: FileShape) -> SeenKind | None:
    """Return the kind of votes that an unrecognised table is nearest to, or ``None``."""
    if look.table is None or why_unreadable(look.table):
        return None
    kind = next((shape.kind for shape in look.near), None)
    return kind if kind in TABLES else None


def nearest_in_words(look: FileShape, *, options: bool = False) -> tuple[Problem, ...]:
    """Return the nearest shapes of an unrecognised table, and what it lacks for each.

    With ``options`` each names the command line options to use.
    """
    if look.kind != "unknown" or look.table is None:
        return ()
    if reason := why_unreadable(look.table):
        return (Problem(reason),)
    sheet = look.source.sheet
    sheet_option = f" --sheet {shlex.quote(sheet)}" if sheet else ""
    return tuple(
        Problem(
            f"as {SHAPE_WORDS[suggestion.kind]}: {suggestion.lacks}.",
            f"If it is that: {suggestion.options}{sheet_option}" if options else "",
        )
        for suggestion in look.near
    )


def guess_mapping(look: FileShape, rubric: Rubric | None) -> VoteMapping | None:
    """Return the mapping of a table, guessed again with the help of a rubric."""
    if look.table is None or look.mapping is None:
        return None
    return likely_mapping(look.table, guess_layout(look.table, look.mapping.layout, rubric), rubric)


def look_at_bytes(data: bytes | Opened, name: str, *, sheet: str | None = None) -> FileShape:
    """Return the probable content of a file in memory; of a workbook, of the given sheet."""
    return look(open_bytes(data, name).with_sheet(sheet))


@dataclass(frozen=True)
class CheckedVotes:
    """The result of checking a source: votes to import, or every reason against it."""

    bundle: VoteBundle | None
    preview: ImportPreview | None = None
    problems: tuple[Problem, ...] = ()


def check(
    store: Store,
    file_look: FileShape,
    mapping: VoteMapping | None,
    *,
    rubric_version: int | None = None,
    dataset_version: int | None = None,
    bins: Sequence[str] = (),
) -> CheckedVotes:
    """Return the votes under this mapping, on a stored rubric and dataset if they are named.

    ``bins`` are words like ``tone=0,0.5,1`` that cut the numbers of a tool's results into steps.
    """
    rubric = None if rubric_version is None else store.rubrics.version(rubric_version).rubric
    dataset = None if dataset_version is None else store.datasets.load(dataset_version)
    try:
        bundle = read_bundle(
            *(file_look.source, file_look.kind),
            rubric=rubric, dataset=dataset, mapping=mapping, bins=Bins.of(bins),
        )  # fmt: skip
        return CheckedVotes(bundle, preview(store, bundle))
    except InputError as error:
        return CheckedVotes(None, None, error.problems or (Problem(error.message),))


@allowed("write")
def import_path(
    store: Store,
    path: Path,
    *,
    rubric: Path | None = None,
    dataset: Path | None = None,
    kind: SourceKind | None = None,
    changes: Sequence[str] = (),
    bins: Sequence[str] = (),
    sheet: str | None = None,
    words: Sequence[str] = (),
    dry: bool = False,
    data: bytes | None = None,
) -> dict[str, Any]:
    """Return the data of ``import --json``: what was stored, or with ``dry`` would be.

    ``changes`` are words like ``item=doc_id`` that change a guessed mapping. A rubric or a dataset
    alone is stored as such, and so is each of several rubrics in a table. ``bins`` are words like
    ``tone=0,0.5,1`` that cut numbers into steps. ``sheet`` names the sheet of a workbook. ``words``
    like ``tone:kind=MET`` name the option of a word in the file. ``data`` is the content, if it was
    not read from ``path`` (standard input).
    """
    read_rubric = read_rubric_file(rubric).value if rubric else None
    read_dataset = read_dataset_file(dataset, read_rubric).value if dataset else None
    source = open_path(path) if data is None else open_bytes(data, path.name)
    source = source.with_sheet(sheet)
    try:
        file_look = look(source, kind=kind, rubric=read_rubric, changes=changes)
    except SheetNotChosen as several:
        source = _open_likely_sheet(source, several)
        file_look = look(source, kind=kind, rubric=read_rubric, changes=changes)
    if file_look.kind == "unknown":
        raise _unknown_kind_error(file_look)
    if file_look.kind == "dataset":
        word_changes = [WORD + word for word in words]
        return _items(store, file_look, read_rubric, [*changes, *word_changes], dry)
    mapping = change_mapping(file_look, changes)
    if words:
        mapping = with_words(mapping, words)
    if file_look.kind == "rubric":
        return _rubrics(store, file_look, dry)
    if bins and file_look.kind not in TOOL_NAMES:
        raise InputError("--bins is for the scores of other tools; this is not one of their files.")
    bundle = read_bundle(
        file_look.source, file_look.kind, rubric=read_rubric, dataset=read_dataset,
        mapping=mapping, bins=Bins.of(bins),
        chosen={column for change in changes for column in change.partition("=")[2].split(",")},
    )  # fmt: skip
    expected = preview(store, bundle)
    result = None if dry else bring_in(store, bundle, source=path.name, shown_preview=expected)
    report = votes_data(bundle, expected, result) | {"db": str(store.path)}
    # Freed here, because with many items the next step needs as much memory again.
    del bundle
    if result is not None:
        make_ready(store, result)
    return report


def _open_likely_sheet(source: VoteSource, error: SheetNotChosen) -> VoteSource:
    """Return the workbook, opened at its only sheet with votes, or with items in several columns.

    Sheets of the same columns that are a rater each are opened together. Raises ``InputError``,
    with the readings of these together, if several sheets have some, or none has.
    """
    kind_of_sheet = {sheet: _kind_of_sheet(source.with_sheet(sheet)) for sheet in error.sheets}
    kinds = {sheet: kind for sheet, (kind, columns) in kind_of_sheet.items() if columns > 1}
    for wanted in ("votes", "items"):
        sheets = [sheet for sheet, kind in kinds.items() if kind == wanted]
        if len(sheets) == 1:
            return source.with_sheet(sheets[0])
        if sheets:
            break
    if not error.alike:
        raise error
    together = source.with_sheet(EVERY)
    try:
        file_look = look(together)
    except InputError:
        raise error from None
    if file_look.mapping and file_look.mapping.rater in SHEETS:
        return together
    readings = nearest_in_words(file_look, options=True)
    raise InputError(error.message, readings, error.where) from error


def _kind_of_sheet(source: VoteSource) -> tuple[Literal["votes", "items", "neither"], int]:
    """Return what a sheet holds, and the number of its columns."""
    try:
        suggestions = (file_look := look(source)).near
    except InputError:
        return "neither", 0
    votes = {file_look.kind, *(shape.kind for shape in suggestions)} & {*TABLES}
    wide = len(file_look.table.columns) if file_look.table else 0
    are_items = file_look.kind == "dataset" or suggestions
    return "votes" if votes else "items" if are_items else "neither", wide


def change_mapping(file_look: FileShape, changes: Sequence[str]) -> VoteMapping | None:
    """Return the guessed mapping with changes like ``item=doc_id`` or ``kind:gpt=llm``.

    Raises:
        InputError: a change is not understood.
    """
    if not changes or (file_look.kind in TOOL_NAMES and file_look.mapping):
        return file_look.mapping
    if file_look.table is None or file_look.mapping is None:
        raise InputError("--map is for tables; this source names its columns itself.")
    return change_votes(file_look.mapping, changes, file_look.table)


def with_words(mapping: VoteMapping | None, words: Sequence[str]) -> VoteMapping:
    """Return the mapping with the given meanings of the file's labels. Raises ``InputError``."""
    if mapping is None:
        raise InputError("--map-label is for tables of votes.")
    return mapping.model_copy(update={"words": words_in_changes(words)})


def words_to_say(
    file_look: FileShape, mapping: VoteMapping | None, rubric: Rubric | None
) -> dict[str, list[str]]:
    """Return the file's labels that are not options of the rubric, by criterion."""
    if rubric is None or mapping is None or file_look.table is None:
        return {}
    try:
        lines = votes_in(with_paths(file_look.table, mapping.used().values()), mapping).lines
    except InputError:
        # The check that follows reports what is wrong with the mapping.
        return {}
    return unknown_words(rubric, lines)


def _unknown_kind_error(file_look: FileShape) -> InputError:
    """Return the error for a table whose kind cannot be guessed."""
    columns, notices = (t.columns, t.notices) if (t := file_look.table) else ((), ())
    shown = ", ".join(map(repr, columns[:20])) + (" and more" if len(columns) > 20 else "")
    suggestions = nearest_in_words(file_look, options=True)
    bare = f" {ALL_DATA.message}" if ALL_DATA in notices else ""
    message = f"This is neither a table of votes nor a dataset in a known format.{bare}"
    message += f" Its columns are {shown}." + ("" if suggestions else f" {HOW_TO_SAY}")
    return InputError(message, suggestions, file_look.source.name)


def _rubrics(store: Store, file_look: FileShape, dry: bool) -> dict[str, Any]:
    """Store rubrics without votes, unless ``dry``; return the report."""
    name = file_look.source.name
    first, *others = rubrics = read_rubrics(file_look.source.first_file, name)
    notices = tuple(notice for rubric in rubrics for notice in rubric.notices)
    if others:
        notices += (Problem(f"The file holds {len(rubrics)} rubrics; each is kept."),)
    criteria = len(first.value.criteria)
    report = stored_data("rubric", first.value.name, dry) | {"criteria": criteria}
    if not dry:
        versions = [keep_rubric(store, rubric.value, name).id for rubric in rubrics]
        report |= {"rubric_version": versions[0], "rubric_versions": versions}
    return report | {"notices": notices_data(notices), "db": str(store.path)}


def _items(
    store: Store, file_look: FileShape, rubric: Rubric | None, changes: Sequence[str], dry: bool
) -> dict[str, Any]:
    """Store a dataset without votes, unless ``dry``; return the report."""
    name, opened = file_look.source.name, file_look.source.first_file
    if file_look.source.lone:
        parsed = read_items(opened, name, rubric, changes, file_look.source.sheet, spend=True)
    else:
        name = file_look.source.title
        parsed = dataset_of(table_of_files(file_look.source.files, name), name, rubric, changes)
    items = parsed.value
    report = stored_data("dataset", items.name, dry) | {"items": len(items.items)}
    if not dry:
        version = store.datasets.create(items, now=clock.now(), source=name)
        report["dataset_version"] = version.id
    notices = {"notices": notices_data(parsed.notices), "db": str(store.path)}
    return report | roles_data(parsed.roles) | notices


def tool_items(data: str | bytes, name: str) -> tuple[str, Checked] | None:
    """Return the tool's name and the items of a file with another tool's results, else ``None``."""
    opened = Opened(data, name)
    tool = None if isinstance(data, str) else tool_of(opened)
    if tool is None:
        return None
    try:
        parsed = read_items(opened, name)
    except InputError as error:
        problems = error.problems or (Problem(error.message),)
        return tool.title, Checked(None, problems)
    return tool.title, Checked(parsed.value, notices=parsed.notices)
