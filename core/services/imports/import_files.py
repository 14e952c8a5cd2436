"""From a file to what would be imported, for the command line and the page alike."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from core import clock
from core.domain.rubric import Rubric
from core.errors import InputError, Problem
from core.formats.datasets.dataset_file import MAX_ITEMS, dataset_of
from core.formats.datasets.labels import WORD, words_in_changes
from core.formats.datasets.roles import HOW_TO_SAY
from core.formats.datasets.table import Table, table_of_files, with_paths
from core.formats.folder import read_dataset_file, read_rubric_file
from core.formats.known import kind_of
from core.formats.office.workbook import SheetNotChosen
from core.formats.rubrics.forms import read_rubrics
from core.formats.source.opened import Opened
from core.formats.votes.imported import VoteBundle
from core.formats.votes.item_texts import not_to_be_read
from core.formats.votes.proposals.near_shapes import (
    TableKind,
    first_reading,
    kept,
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
from core.formats.votes.sources import VoteSource, open_bytes, open_path
from core.formats.votes.tools.known_tools import TOOL_NAMES, read_items, tool_of
from core.formats.votes.tools.scales import Bins
from core.formats.votes.vote_changes import (
    change_votes,
    is_for_items,
    is_only_for_items,
    layout_meant,
)
from core.formats.votes.vote_mapping import Layout, VoteMapping
from core.formats.votes.vote_tables import strange_words, votes_in
from core.services.access.allowing import allowed
from core.services.datasets.catalog import Checked, keep_rubric
from core.services.imports.said import alone_said, notices_said, roles_said, votes_said
from core.services.imports.vote_import import (
    ImportPreview,
    bring_in,
    make_ready,
    preview,
)
from core.store.store import Store

#: What the shapes of tables are called.
SHAPE_WORDS: dict[SeenKind, str] = {
    "long": "votes, one answer a row",
    "wide": "votes, a rater a column",
    "criteria": "votes, a criterion a column",
    "pairs": "pairs of answers, compared",
    "dataset": "items to be judged",
}


@dataclass(frozen=True)
class FileLook:
    """A source that was opened: its shape, and for a table which column is probably what."""

    source: VoteSource
    kind: SeenKind
    table: Table | None = None
    mapping: VoteMapping | None = None


def look(
    source: VoteSource,
    *,
    kind: SourceKind | None = None,
    rubric: Rubric | None = None,
    changes: Sequence[str] = (),
) -> FileLook:
    """Return what a source seems to be, or what ``kind`` or changes of the mapping say it is.

    Raises ``InputError``.
    """
    chosen = bool(changes) or rubric is not None
    seen: SeenKind = kind or kind_of(source, rubric, told=chosen)
    first = None
    if changes and source.lone and (table_kind := _of_table(seen)):
        first = first_reading(table_of(source, rubric=rubric), table_kind, rubric, changes)
    unsaid = seen == "unknown" and source.lone and not changes
    if unsaid and (mapping := only_reading(table_of(source, MAX_ITEMS, rubric), rubric)):
        return FileLook(source, mapping.layout, table_of(source, rubric=rubric), mapping)
    seen = seen if kind else _kind_meant(seen, changes, first.layout if first else None)
    if seen not in TABLES:
        return FileLook(source, seen, table_of(source, MAX_ITEMS) if seen == "unknown" else None)
    table = table_of(source, rubric=rubric)
    guess = guess_layout(table, seen, rubric)
    file_look = FileLook(source, seen, table, guess if first is None else kept(guess, first))
    return (
        replace(file_look, mapping=guessed(file_look, rubric))
        if kind and not changes
        else file_look
    )


def _of_table(seen: SeenKind) -> TableKind | None:
    """Return the kind of a table; ``None`` for what is none."""
    return next((kind for kind in get_args(TableKind) if kind == seen), None)


def _kind_meant(seen: SeenKind, changes: Sequence[str], first: Layout | None) -> SeenKind:
    """Return what kind of file a table is, given the caller's roles for its columns.

    Votes, proposed or read, stay votes in their layout where nothing says another one.
    """
    is_votes = seen in TABLES or (seen == "unknown" and first is not None)
    if not (is_votes or seen in ("dataset", "unknown") or (changes and seen in TOOL_NAMES)):
        return seen
    are_items = is_only_for_items if is_votes else is_for_items
    meant = layout_meant(changes, first)
    return meant or ("dataset" if are_items(changes) else first if is_votes and first else seen)


def likeliest_kind(seen: FileLook) -> SeenKind | None:
    """Return the kind of votes that an unrecognised table comes nearest to, if to any."""
    if seen.kind != "unknown" or seen.table is None or not_to_be_read(seen.table):
        return None
    kind = next((shape.kind for shape in nearest_shapes(seen.table)), None)
    return kind if kind in TABLES else None


def nearest_in_words(seen: FileLook, *, options: bool = False) -> tuple[Problem, ...]:
    """Of a table that is not recognised: the shapes that it comes nearest to, and what they lack.

    With ``options`` each says what the command line would have to be told.
    """
    if seen.kind != "unknown" or seen.table is None:
        return ()
    if why := not_to_be_read(seen.table):
        return (Problem(why),)
    sheet = seen.source.sheet
    more = f" --sheet {shlex.quote(sheet)}" if sheet else ""
    return tuple(
        Problem(
            f"as {SHAPE_WORDS[near.kind]}: {near.lacks}.",
            f"If it is that: {near.options}{more}" if options else "",
        )
        for near in nearest_shapes(seen.table)
    )


def guessed(seen: FileLook, rubric: Rubric | None) -> VoteMapping | None:
    """Return the mapping of a table, guessed again with the help of a rubric."""
    if seen.table is None or seen.mapping is None:
        return None
    return likely_mapping(seen.table, guess_layout(seen.table, seen.mapping.layout, rubric), rubric)


def look_at_bytes(
    data: bytes | Opened, name: str, *, rubric: Rubric | None = None, sheet: str | None = None
) -> FileLook:
    """Look at a file in memory; of a workbook, at the given sheet."""
    return look(open_bytes(data, name).on_sheet(sheet), rubric=rubric)


@dataclass(frozen=True)
class CheckedVotes:
    """The result of checking a source: votes to import, or every reason against it."""

    bundle: VoteBundle | None
    preview: ImportPreview | None = None
    problems: tuple[Problem, ...] = ()


def check(
    store: Store,
    seen: FileLook,
    mapping: VoteMapping | None,
    *,
    rubric_version: int | None = None,
    dataset_version: int | None = None,
    bins: Sequence[str] = (),
) -> CheckedVotes:
    """Return the votes under this mapping, on a rubric and a dataset that are kept here, if named.

    ``bins`` are words like ``tone=0,0.5,1`` that cut the numbers of a tool's results into steps.
    """
    rubric = None if rubric_version is None else store.rubrics.version(rubric_version).rubric
    dataset = None if dataset_version is None else store.datasets.load(dataset_version)
    try:
        bundle = read_bundle(
            seen.source,
            seen.kind,
            rubric=rubric,
            dataset=dataset,
            mapping=mapping,
            bins=Bins.of(bins),
        )
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
    """Return what ``import --json`` says: what was kept, or with ``dry`` what would be.

    ``changes`` are words like ``item=doc_id`` that change a guessed mapping. A rubric or a dataset
    alone is kept as such; of a table that holds several rubrics, each. ``bins`` are words
    like ``tone=0,0.5,1`` that cut numbers into steps. ``sheet`` names the sheet of a workbook.
    ``words`` are like ``tone:ja=MET``: which option the file's word for an answer is. ``data`` is
    the content, if it was not read from ``path`` (standard input).
    """
    read_rubric = read_rubric_file(rubric).value if rubric else None
    read_dataset = read_dataset_file(dataset, read_rubric).value if dataset else None
    source = open_path(path) if data is None else open_bytes(data, path.name)
    source = source.on_sheet(sheet)
    try:
        seen = look(source, kind=kind, rubric=read_rubric, changes=changes)
    except SheetNotChosen as several:
        source = _on_its_sheet(source, several)
        seen = look(source, kind=kind, rubric=read_rubric, changes=changes)
    if seen.kind == "unknown":
        raise _unknown(seen)
    if seen.kind == "dataset":
        meant = [WORD + word for word in words]
        return _items(store, seen, read_rubric, [*changes, *meant], dry)
    mapping = changed(seen, changes)
    if words:
        mapping = with_words(mapping, words)
    if seen.kind == "rubric":
        return _rubrics(store, seen, dry)
    if bins and seen.kind not in TOOL_NAMES:
        raise InputError("--bins is for the scores of other tools; this is not one of their files.")
    bundle = read_bundle(
        seen.source,
        seen.kind,
        rubric=read_rubric,
        dataset=read_dataset,
        mapping=mapping,
        bins=Bins.of(bins),
        said={column for change in changes for column in change.partition("=")[2].split(",")},
    )
    expected = preview(store, bundle)
    done = None if dry else bring_in(store, bundle, source=path.name, seen=expected)
    report = votes_said(bundle, expected, done) | {"db": str(store.path)}
    # What follows needs as much again as many items took.
    del bundle
    if done is not None:
        make_ready(store, done)
    return report


def _on_its_sheet(source: VoteSource, several: SheetNotChosen) -> VoteSource:
    """Return a workbook on the only one of its sheets with votes, or with items.

    Raises:
        SheetNotChosen: several have some, or none has.
    """
    kinds = {sheet: _kind_on(source.on_sheet(sheet)) for sheet in several.sheets}
    for wanted in ("votes", "items"):
        sheets = [sheet for sheet, kind in kinds.items() if kind == wanted]
        if len(sheets) == 1:
            return source.on_sheet(sheets[0])
        if sheets:
            break
    raise several


def _kind_on(source: VoteSource) -> Literal["votes", "items", "neither"]:
    try:
        seen = look(source)
        near = nearest_shapes(seen.table) if seen.kind == "unknown" and seen.table else ()
    except InputError:
        return "neither"
    if seen.kind in TABLES or any(shape.kind != "dataset" for shape in near):
        return "votes"
    return "items" if seen.kind == "dataset" or near else "neither"


def changed(seen: FileLook, changes: Sequence[str]) -> VoteMapping | None:
    """Return the guessed mapping with changes like ``item=doc_id`` or ``kind:gpt=llm``.

    Raises:
        InputError: a change that is not understood.
    """
    if not changes or seen.table is None or seen.mapping is None:
        if changes:
            raise InputError("--map is for tables; this source names its columns itself.")
        return seen.mapping
    return change_votes(seen.mapping, changes, seen.table)


def with_words(mapping: VoteMapping | None, words: Sequence[str]) -> VoteMapping:
    """Return the mapping with the given meanings of the file's labels. Raises ``InputError``."""
    if mapping is None:
        raise InputError("--map-label is for tables of votes.")
    return mapping.model_copy(update={"words": words_in_changes(words)})


def words_to_say(
    seen: FileLook, mapping: VoteMapping | None, rubric: Rubric | None
) -> dict[str, list[str]]:
    """Return the file's labels that are not options of the rubric, by criterion."""
    if rubric is None or mapping is None or seen.table is None:
        return {}
    try:
        lines = votes_in(with_paths(seen.table, mapping.used().values()), mapping).lines
    except InputError:
        # The check says what is wrong with the mapping.
        return {}
    return strange_words(rubric, lines)


def _unknown(seen: FileLook) -> InputError:
    """Return the refusal of a table from which nothing is guessed."""
    columns = seen.table.columns if seen.table else ()
    shown = ", ".join(map(repr, columns[:20])) + (" and more" if len(columns) > 20 else "")
    near = nearest_in_words(seen, options=True)
    mend = "" if near else f" {HOW_TO_SAY}"
    message = "This is neither a table of votes nor a dataset in a known format."
    return InputError(f"{message} Its columns are {shown}.{mend}", near, seen.source.name)


def _rubrics(store: Store, seen: FileLook, dry: bool) -> dict[str, Any]:
    """Rubrics alone."""
    name = seen.source.name
    first, *more = rubrics = read_rubrics(seen.source.opened, name)
    notices = tuple(notice for read in rubrics for notice in read.notices)
    if more:
        notices += (Problem(f"The file holds {len(rubrics)} rubrics; each is kept."),)
    criteria = len(first.value.criteria)
    report = alone_said("rubric", first.value.name, dry) | {"criteria": criteria}
    if not dry:
        versions = [keep_rubric(store, read.value, name).id for read in rubrics]
        report |= {"rubric_version": versions[0], "rubric_versions": versions}
    return report | {"notices": notices_said(notices), "db": str(store.path)}


def _items(
    store: Store, seen: FileLook, rubric: Rubric | None, changes: Sequence[str], dry: bool
) -> dict[str, Any]:
    """Return a dataset alone."""
    name, opened = seen.source.name, seen.source.opened
    if seen.source.lone:
        parsed = read_items(opened, name, rubric, changes, seen.source.sheet, spend=True)
    else:
        name = seen.source.title
        parsed = dataset_of(table_of_files(seen.source.files, name), name, rubric, changes)
    items = parsed.value
    report = alone_said("dataset", items.name, dry) | {"items": len(items.items)}
    if not dry:
        version = store.datasets.create(items, now=clock.now(), source=name)
        report["dataset_version"] = version.id
    notices = {"notices": notices_said(parsed.notices), "db": str(store.path)}
    return report | roles_said(parsed.roles) | notices


@dataclass(frozen=True)
class ToolItems:
    """The items that another tool's results are about; ``tool`` is the tool's name."""

    tool: str
    found: Checked


def tool_items(data: str | bytes, name: str) -> ToolItems | None:
    """Return what a file holds that is another tool's results; ``None`` of any other file."""
    opened = Opened(data, name)
    tool = None if isinstance(data, str) else tool_of(opened)
    if tool is None:
        return None
    try:
        parsed = read_items(opened, name)
    except InputError as error:
        problems = error.problems or (Problem(error.message),)
        return ToolItems(tool.title, Checked(None, problems))
    return ToolItems(tool.title, Checked(parsed.value, notices=parsed.notices))
