"""Import, browse and export datasets, and map the columns of a file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core import clock
from core.domain.dataset import Dataset, Item
from core.domain.library import DatasetRow, DatasetVersion, ItemFilter, ItemRow, RubricVersion
from core.domain.rubric import Rubric
from core.errors import InputError, Problem
from core.formats.columns.text_columns import proposed_texts
from core.formats.datasets.dataset_file import MAX_ITEMS, build_dataset, dump_dataset
from core.formats.datasets.mapping import ColumnMapping, guess_mapping
from core.formats.rubrics.rubric_file import rubric_from_data
from core.formats.source.opened import Opened
from core.formats.tables.table import Table, read_table, value_paths, with_paths
from core.services.access.allowing import allowed
from core.services.access.blindness import require_labels_open
from core.store.database.content import noun_hash
from core.store.runs.kept import MANY
from core.store.store import Store
from core.text.names import fold

EVERYTHING = ItemFilter()


@dataclass(frozen=True)
class Checked:
    """The result of a table and a mapping: a dataset, or every reason why it is invalid."""

    dataset: Dataset | None
    problems: tuple[Problem, ...] = ()
    notices: tuple[Problem, ...] = ()


def read_source(data: str | bytes | Opened, name: str, sheet: str | None = None) -> Table:
    """Read the table in a file or pasted text. Raises ``InputError`` with every bad line."""
    return read_table(data, name, sheet, most=MAX_ITEMS + 1)


def paths_inside_cells(table: Table) -> list[str]:
    """Return paths within cells that could be columns, like ``messages[-1].content``."""
    return [path for path, value in value_paths(table).items() if value is not None]


def with_path_columns(table: Table, paths: Sequence[str]) -> Table:
    """Return the table with these paths within cells as additional columns."""
    return with_paths(table, paths)


def likeliest_submission(table: Table) -> str | None:
    """Return the path that is probably the submission, if no column is named like one."""
    if (guess := guess_mapping(table)).submission is not None or guess.are_tasks:
        return None
    path = next(iter(proposed_texts(table)), "")
    return path if path in value_paths(table) else None


def with_likeliest_path(table: Table, guess: ColumnMapping) -> ColumnMapping:
    """Return the guess. If it has no submission column, propose a path within the cells."""
    best = likeliest_submission(table)
    if guess.submission is not None or best not in table.columns:
        return guess
    meta = tuple(column for column in guess.meta if column != best)
    return guess.model_copy(update={"submission": best, "meta": meta})


def rubric_in_table(table: Table) -> Rubric | None:
    """Return the rubric in a JSON document; ``None`` if the document has no valid rubric."""
    value = table.header.get("rubric")
    if value is None:
        return None
    try:
        return rubric_from_data(
            value,
            table.name,
            lambda path: table.line_of_header(("rubric", *path)),
            str(table.header.get("name") or "Untitled rubric"),
        ).value
    except InputError:
        # `check` reports its problems, together with all others.
        return None


def suggest_mapping(table: Table, rubric: Rubric | None = None) -> ColumnMapping:
    """Guess the roles of columns; ``rubric`` is used if the file has none."""
    return guess_mapping(table, rubric_in_table(table) or rubric)


def check(table: Table, mapping: ColumnMapping, rubric: Rubric | None = None) -> Checked:
    """Return the dataset, or every problem with its line."""
    try:
        parsed = build_dataset(table, mapping, table.name, rubric)
    except InputError as error:
        return Checked(None, error.problems or (Problem(error.message),))
    return Checked(parsed.value, (), parsed.notices)


@allowed("write")
def import_dataset(
    store: Store,
    dataset: Dataset,
    *,
    name: str = "",
    dataset_id: int | None = None,
    source: str = "",
) -> tuple[DatasetVersion, bool]:
    """Store a dataset as a new one, or as the next version of ``dataset_id``; return its version,
    and whether the same content was stored before.

    Args:
        store: the data file.
        dataset: the result of ``check``.
        name: its name; empty keeps the dataset's own (or, with ``dataset_id``, the older
            version's).
        dataset_id: the dataset that gets a new version. Runs keep the version they were planned
            with.
        source: its origin, e.g. a file name.
    """
    now = clock.now()
    if dataset_id is None:
        version = store.datasets.create(_named_dataset(dataset, name), now=now, source=source)
        existed = version.created != now
    else:
        latest = store.datasets.latest(dataset_id)
        named, parent = _named_dataset(dataset, name or latest.name), latest.number
        version = store.datasets.add_version(
            dataset_id, named, parent=parent, now=now, source=source
        )
        existed = version.id == latest.id
    if version.items >= MANY:
        # Computed here, before a page needs it. Columns need numpy, which is not worth loading for
        # few items.
        from core.services.datasets import item_columns, twins

        item_columns.columns_of_version(store, version.id)
        twins.twin_numbers(store, version.id)
    return version, existed


def _named_dataset(dataset: Dataset, name: str) -> Dataset:
    name = " ".join(name.split())
    if not name or name == dataset.name:
        return dataset
    if len(name) > 200:
        problem = Problem("has more than 200 characters.", "Choose a shorter one.", ("name",))
        raise InputError("This dataset cannot be saved.", (problem,))
    return dataset.model_copy(update={"name": name})


@allowed("write")
def keep_rubric(store: Store, rubric: Rubric, source: str = "") -> RubricVersion:
    """Store a rubric that came with a dataset, unless a version has the same content."""
    same = store.rubrics.find_by_hash(noun_hash(rubric))
    if same is not None and any(row.id == same.rubric_id for row in store.rubrics.list()):
        return same
    note = f"Came with {source}" if source else ""
    return store.rubrics.create(rubric, now=clock.now(), note=note)


@allowed("write")
def rubric_version(store: Store, rubric: Rubric, source: str) -> int:
    """Return the version with this content, created if needed in the rubric of that name."""
    for row in store.rubrics.list():
        if fold(row.name) == fold(rubric.name):
            note = f"from {source}"
            return store.rubrics.add_version(
                row.id, rubric, parent=row.number, now=clock.now(), note=note
            ).id
    return store.rubrics.create(rubric, now=clock.now(), note=f"from {source}").id


@allowed("write")
def dataset_version(store: Store, dataset: Dataset, source: str) -> int:
    """Return the version with this content, created if needed in the dataset of that name."""
    for row in store.datasets.list():
        if fold(row.name) == fold(dataset.name):
            return store.datasets.add_version(
                row.id, dataset, parent=row.number, now=clock.now(), source=source
            ).id
    return store.datasets.create(dataset, now=clock.now(), source=source).id


def list_datasets(store: Store, *, search: str = "", archived: bool = False) -> list[DatasetRow]:
    """Return the datasets with every word of ``search`` in the name, last changed first."""
    terms = fold(search).split()
    rows = store.datasets.list(archived=archived)
    return [row for row in rows if all(word in fold(row.name) for word in terms)]


def latest(store: Store, dataset_id: int) -> DatasetVersion:
    """Return the newest version of a dataset; ``NotFound`` if there is none."""
    return store.datasets.latest(dataset_id)


def versions_of(store: Store, dataset_id: int) -> list[DatasetVersion]:
    """Return the versions of a dataset, newest first."""
    return store.datasets.versions(dataset_id)


def count_items(store: Store, version_id: int, where: ItemFilter = EVERYTHING) -> int:
    """Return how many items the filter keeps."""
    return store.datasets.count(version_id, where)


def page_of_items(
    store: Store, version_id: int, where: ItemFilter, *, offset: int, limit: int
) -> list[ItemRow]:
    """Return one page of the items that the filter keeps, in the dataset's order."""
    return store.datasets.rows(version_id, where, offset=offset, limit=limit)


def item_at_offset(store: Store, version_id: int, where: ItemFilter, offset: int) -> str | None:
    """Return the id of the item at this offset, from 0, among those the filter keeps, if any."""
    rows = page_of_items(store, version_id, where, offset=offset, limit=1) if offset >= 0 else []
    return rows[0].id if rows else None


def item_of_version(store: Store, version: DatasetVersion, item_id: str) -> Item:
    """Return one item with its texts, and its dataset's prompt and reference filled in."""
    return version.head.resolved(store.datasets.item(version.id, item_id))


def systems_of_version(store: Store, version_id: int) -> list[str]:
    """Return the systems that items of this version name, sorted."""
    return store.datasets.systems(version_id)


def label_counts(store: Store, version_id: int) -> dict[str, dict[str, int]]:
    """Return how often each label was given, by criterion."""
    return store.datasets.label_counts(version_id)


def items_as_jsonl(store: Store, version_id: int) -> str:
    """Return the items as JSONL, each with the values that the dataset defines for all.

    Raises ``NotAllowed`` for people who review a run on it blind, since it contains labels.
    """
    require_labels_open(store, store.datasets.version(version_id).dataset_id)
    return dump_dataset(store.datasets.load(version_id))


def file_name(name: str) -> str:
    """Return a safe file name for an export.

    >>> file_name("Essays / 2026")
    'essays-2026.jsonl'
    """
    return (re.sub(r"[^\w]+", "-", name.casefold()).strip("-")[:80] or "dataset") + ".jsonl"


@allowed("write")
def archive(store: Store, dataset_id: int) -> None:
    """Archive a dataset; its versions and runs stay."""
    store.datasets.archive(dataset_id, now=clock.now())


@allowed("write")
def restore(store: Store, dataset_id: int) -> None:
    """Restore an archived dataset."""
    store.datasets.restore(dataset_id)
