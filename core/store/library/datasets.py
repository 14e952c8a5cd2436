"""Datasets, their versions and items: browsing, fetching, label counts."""

from __future__ import annotations

import builtins
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from core.domain.dataset import Dataset, Item
from core.domain.library import DatasetRow, DatasetVersion, ItemFilter, ItemRow, LabelDraw
from core.domain.rubric import Rubric
from core.errors import Conflict, NotFound
from core.store.database.connection import Connections, new_id
from core.store.database.content import (
    clean,
    dataset_text,
    dump,
    like_json,
    like_pattern,
    to_json,
)
from core.text.names import STORED

#: True for an item ``i`` that contains the search text; ``search_values`` gives the parameters.
FOUND = r"""
    (i.item_id LIKE ? ESCAPE '\' OR i.content -> '$.submission' LIKE ? ESCAPE '\'
     OR i.content -> '$.prompt' LIKE ? ESCAPE '\' OR i.content -> '$.context' LIKE ? ESCAPE '\'
     OR i.content -> '$.reference' LIKE ? ESCAPE '\')
"""
_EVERYTHING = ItemFilter()
_PAGE = 500
#: The condition for an item with its own rubric. The cheap text search comes before the slow
#: parsing.
HAS_RUBRIC = "instr(i.content, '\"rubric\"') AND json_type(i.content, '$.rubric') = 'object'"


def search_values(search: str) -> list[str]:
    """Return the parameters of ``FOUND`` for the text ``search``."""
    pattern = like_json(search)
    return [like_pattern(search), pattern, pattern, pattern, pattern]


class Items:
    """The part of ``store.datasets`` that reads items."""

    def __init__(self, files: Connections) -> None:
        self._files = files

    def rows(
        self, version_id: int, where: ItemFilter = _EVERYTHING, *, offset: int = 0, limit: int = 50
    ) -> list[ItemRow]:
        """Return a page of items for browsing, in the dataset's order."""
        clause, values = _where_clause(version_id, where)
        return [
            ItemRow(*row)
            for row in self._files.tuples(
                "SELECT i.position, i.item_id, i.preview, i.system, i.split, i.labelled "
                f"FROM item i WHERE {clause} ORDER BY i.position LIMIT ? OFFSET ?",
                (*values, limit, offset),
            )
        ]

    def count(self, version_id: int, where: ItemFilter = _EVERYTHING) -> int:
        """Return the number of items that pass the filter."""
        clause, values = _where_clause(version_id, where)
        ((count,),) = self._files.tuples(f"SELECT count(*) FROM item i WHERE {clause}", values)
        return int(count)

    def systems(self, version_id: int) -> list[str]:
        """Return the systems of the items, sorted, without the empty name."""
        rows = self._files.tuples(
            "SELECT DISTINCT system FROM item WHERE version_id = ? AND system <> '' ORDER BY 1",
            (version_id,),
        )
        return [system for (system,) in rows]

    def item(self, version_id: int, item_id: str) -> Item:
        """Return an item, without its dataset's prompt and reference.

        ``head.resolved`` adds these.
        """
        rows = self._files.tuples(
            "SELECT content FROM item WHERE version_id = ? AND item_id = ?", (version_id, item_id)
        )
        if not rows:
            raise NotFound(f"There is no item {item_id!r} in dataset version {version_id}.")
        return Item.model_validate_json(rows[0][0], context=STORED)

    def items(self, version_id: int, ids: Iterable[str] | None = None) -> Iterator[Item]:
        """Yield items in the dataset's order, optionally only those with these ids.

        Raises:
            NotFound: an id is not in this version.
        """
        for content in self.contents(version_id, ids):
            yield Item.model_validate_json(content, context=STORED)

    def contents(self, version_id: int, ids: Iterable[str] | None = None) -> Iterator[str]:
        """Yield the same items as ``items``, as stored JSON text."""
        positions = self._item_positions(version_id, ids)
        for start in range(0, len(positions), _PAGE):
            page = positions[start : start + _PAGE]
            yield from (
                content
                for (content,) in self._files.tuples(
                    "SELECT content FROM item WHERE version_id = ? AND position IN "
                    "(SELECT value FROM json_each(?)) ORDER BY position",
                    (version_id, json.dumps(page)),
                )
            )

    def label_counts(self, version_id: int) -> dict[str, dict[str, int]]:
        """Return the number of times each label was given, by criterion, spelt as given."""
        counts: dict[str, dict[str, int]] = {}
        for criterion, label, count in self._files.tuples(
            """
            SELECT given.key, given.value ->> '$.label', count(*)
            FROM item i, json_each(i.content, '$.labels') given
            WHERE i.version_id = ? AND i.labelled > 0 GROUP BY 1, 2 ORDER BY 1, 2
            """,
            (version_id,),
        ):
            counts.setdefault(criterion, {})[label] = count
        return counts

    def labels(self, version_id: int) -> Iterator[tuple[str, str, str]]:
        """Yield labels as (item id, criterion, label), omitting items with their own rubrics.

        This is far cheaper than reading whole items.
        """
        yield from self._files.tuples(
            """
            SELECT i.item_id, given.key, given.value ->> '$.label'
            FROM item i, json_each(i.content, '$.labels') given
            WHERE i.version_id = ? AND i.labelled > 0 AND i.content ->> '$.rubric' IS NULL
            ORDER BY i.position
            """,
            (version_id,),
        )

    def _item_positions(self, version_id: int, ids: Iterable[str] | None) -> list[int]:
        if ids is None:
            rows = self._files.tuples(
                "SELECT position FROM item WHERE version_id = ? ORDER BY position", (version_id,)
            )
            return [position for (position,) in rows]
        requested = set(ids)
        positions = dict(
            self._files.tuples(
                "SELECT item_id, position FROM item WHERE version_id = ? AND item_id IN "
                "(SELECT value FROM json_each(?))",
                (version_id, json.dumps(sorted(requested))),
            )
        )
        missing = requested - positions.keys()
        if missing:
            raise NotFound(f"There is no item {min(missing)!r} in dataset version {version_id}.")
        return sorted(positions.values())


def _where_clause(version_id: int, where: ItemFilter) -> tuple[str, Sequence[Any]]:
    parts: list[str] = ["i.version_id = ?"]
    values: list[Any] = [version_id]
    if where.labelled is not None:
        parts.append("(i.labelled > 0) = ?")
        values.append(where.labelled)
    if where.system is not None:
        parts.append("i.system = ?")
        values.append(where.system)
    if where.split is not None:
        parts.append("i.split = ?")
        values.append(where.split)
    if where.search:
        parts.append(FOUND)
        values += search_values(where.search)
    return " AND ".join(parts), values


_VERSION = "id, dataset_id, number, hash, head, items, labelled, created, source"
_LATEST = "(SELECT max(number) FROM dataset_version WHERE dataset_id = d.id)"
_RUNS = """
    (SELECT count(*) FROM run JOIN dataset_version v ON v.id = run.dataset_version_id
     WHERE v.dataset_id = d.id AND run.kind = 'run')
"""
_PREVIEW = 200


class Datasets(Items):
    """Available as ``store.datasets``. Versions are only ever added."""

    def create(
        self, dataset: Dataset, *, now: str, source: str = "", hidden: bool = False
    ) -> DatasetVersion:
        """Save a new dataset, or return the version with the same content.

        An archived dataset is listed again. ``hidden`` datasets (spot checks) are never listed.
        """
        head, digest = dataset_text(dataset)
        with self._files.write() as db:
            same = self.find_by_hash(digest)
            if same is not None:
                if not hidden:
                    db.execute(
                        "UPDATE dataset SET hidden = 0, archived = NULL WHERE id = ?",
                        (same.dataset_id,),
                    )
                return same
            cursor = db.execute(
                "INSERT INTO dataset (name, created, hidden) VALUES (?, ?, ?)",
                (dataset.name, now, hidden),
            )
            return self._add_version(
                db, (new_id(cursor), 1), dataset, (head, digest), (now, source)
            )

    def add_version(
        self, dataset_id: int, dataset: Dataset, *, parent: int, now: str, source: str = ""
    ) -> DatasetVersion:
        """Save the next version after version number ``parent``.

        If the latest version has the same content, nothing is added and that version is returned.

        Raises:
            Conflict: ``parent`` is no longer the latest version; nothing was overwritten.
        """
        head, digest = dataset_text(dataset)
        with self._files.write() as db:
            latest = self.latest(dataset_id)
            if latest.hash == digest:
                return latest
            if latest.number != parent:
                raise Conflict(
                    f"The dataset {latest.name!r} changed since you opened it: version "
                    f"{latest.number} was saved at {latest.created}. Nothing was overwritten."
                )
            db.execute("UPDATE dataset SET name = ? WHERE id = ?", (dataset.name, dataset_id))
            place = (dataset_id, parent + 1)
            return self._add_version(db, place, dataset, (head, digest), (now, source))

    def version(self, version_id: int) -> DatasetVersion:
        """Return a version by its id."""
        rows = self._files.rows(
            f"SELECT {_VERSION} FROM dataset_version WHERE id = ?", (version_id,)
        )
        if not rows:
            raise NotFound(f"There is no dataset version {version_id}.")
        return _version_from(rows[0])

    def latest(self, dataset_id: int) -> DatasetVersion:
        """Return the newest version of a dataset."""
        return self.versions(dataset_id)[0]

    def versions(self, dataset_id: int) -> builtins.list[DatasetVersion]:
        """Return the versions of a dataset, newest first."""
        rows = self._files.rows(
            f"SELECT {_VERSION} FROM dataset_version WHERE dataset_id = ? ORDER BY number DESC",
            (dataset_id,),
        )
        if not rows:
            raise NotFound(f"There is no dataset {dataset_id}.")
        return [_version_from(row) for row in rows]

    def find_by_hash(self, content: str) -> DatasetVersion | None:
        """Return the newest version with this content hash, or ``None``.

        Listed datasets take precedence over hidden ones.
        """
        rows = self._files.rows(
            f"SELECT {_VERSION} FROM dataset_version v WHERE hash = ? "
            "ORDER BY (SELECT hidden FROM dataset WHERE id = v.dataset_id), id DESC LIMIT 1",
            (content,),
        )
        return _version_from(rows[0]) if rows else None

    def list(self, *, archived: bool = False) -> builtins.list[DatasetRow]:
        """Return the current or the archived datasets, most recently changed first."""
        rows = self._files.rows(
            f"""
            SELECT d.id, d.name, v.number, v.id AS version_id, v.hash, v.items, v.labelled,
                {_RUNS} AS runs, d.created, v.created AS updated, v.source, d.archived
            FROM dataset d
            JOIN dataset_version v ON v.dataset_id = d.id AND v.number = {_LATEST}
            WHERE NOT d.hidden AND (d.archived IS NOT NULL) = ?
            ORDER BY v.created DESC, v.id DESC
            """,
            (archived,),
        )
        return [DatasetRow(**dict(row)) for row in rows]

    def declare_draw(self, version_id: int, note: str, *, member: str, now: str) -> LabelDraw:
        """Record that labels were drawn at random. Raises ``Conflict`` if already declared."""
        with self._files.write() as db:
            if self.label_draw(version_id) is not None:
                raise Conflict("A draw of these labels is declared already; withdraw it first.")
            db.execute(
                "INSERT INTO label_draw (version_id, note, declared_by, declared) "
                "VALUES (?, ?, ?, ?)",
                (version_id, clean(note), member, now),
            )
        return LabelDraw(version_id, note, member, now)

    def withdraw_draw(self, version_id: int, *, member: str, now: str) -> None:
        """Withdraw a declared draw; the record keeps it. Raises ``NotFound``."""
        with self._files.write() as db:
            cursor = db.execute(
                "UPDATE label_draw SET withdrawn_by = ?, withdrawn = ? "
                "WHERE version_id = ? AND withdrawn IS NULL",
                (member, now, version_id),
            )
            if not cursor.rowcount:
                raise NotFound("No draw of these labels is declared.")

    def label_draw(self, version_id: int) -> LabelDraw | None:
        """Return the current declaration about the labels, or ``None``."""
        rows = self._files.tuples(
            "SELECT version_id, note, declared_by, declared FROM label_draw "
            "WHERE version_id = ? AND withdrawn IS NULL",
            (version_id,),
        )
        return LabelDraw(*rows[0]) if rows else None

    def load(self, version_id: int) -> Dataset:
        """Return the whole dataset of a version, as saved."""
        head = self.version(version_id).head
        return head.model_copy(update={"items": tuple(self.items(version_id))})

    def archive(self, dataset_id: int, *, now: str) -> None:
        """Archive a dataset. Its versions and runs stay."""
        self._files.set_archived("dataset", dataset_id, now)

    def restore(self, dataset_id: int) -> None:
        """Restore a dataset from the archive."""
        self._files.set_archived("dataset", dataset_id, None)

    def _add_version(
        self,
        db: sqlite3.Connection,
        place: tuple[int, int],
        dataset: Dataset,
        text: tuple[str, str],
        origin: tuple[str, str],
    ) -> DatasetVersion:
        labelled = sum(1 for item in dataset.items if item.labels)
        (head, digest), (now, source) = text, origin
        cursor = db.execute(
            "INSERT INTO dataset_version (dataset_id, number, hash, name, head, items, labelled, "
            "created, source) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *place,
                digest,
                dataset.name,
                head,
                len(dataset.items),
                labelled,
                now,
                clean(source),
            ),
        )
        version_id = new_id(cursor)
        db.executemany(
            "INSERT INTO item (version_id, position, item_id, system, split, labelled, preview, "
            "content) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    version_id,
                    position,
                    item.id,
                    item.system,
                    item.split,
                    len(item.labels),
                    preview_item(item),
                    to_json(dump(item)),
                )
                for position, item in enumerate(dataset.items)
            ),
        )
        return self.version(version_id)


def preview_item(item: Item) -> str:
    """Return the start of the judged text, on one line of up to 200 characters."""
    # A plain string needs no cached property on every item.
    judged = item.submission if isinstance(item.submission, str) else item.output
    text = " ".join(judged[: _PREVIEW * 5].split())
    return text if len(text) <= _PREVIEW else text[: _PREVIEW - 1] + "…"


def _version_from(row: sqlite3.Row) -> DatasetVersion:
    fields = dict(row)
    head = json.loads(fields.pop("head"))
    rubric = head.pop("rubric", None)
    parsed = None if rubric is None else Rubric.model_validate(rubric, context=STORED)
    # The dataset is built without validation, because it has no items here, which is not valid.
    dataset = Dataset.model_construct(**head, items=(), rubric=parsed)
    return DatasetVersion(head=dataset, **fields)
