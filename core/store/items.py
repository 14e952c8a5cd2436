"""Items of dataset versions: browsing, fetching, counting labels."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from core.domain.dataset import Item
from core.domain.library import ItemFilter, ItemRow
from core.domain.names import STORED
from core.errors import NotFound
from core.store.connection import Connections
from core.store.content import like, like_json

#: True where the item ``i`` holds the search text; ``found_values`` gives what it takes.
FOUND = r"""
    (i.item_id LIKE ? ESCAPE '\' OR i.content -> '$.submission' LIKE ? ESCAPE '\'
     OR i.content -> '$.prompt' LIKE ? ESCAPE '\' OR i.content -> '$.context' LIKE ? ESCAPE '\'
     OR i.content -> '$.reference' LIKE ? ESCAPE '\')
"""
_EVERYTHING = ItemFilter()
_PAGE = 500


def found_values(search: str) -> list[str]:
    """The values that ``FOUND`` takes to look for ``search``."""
    inside = like_json(search)
    return [like(search), inside, inside, inside, inside]


class Items:
    """The part of ``store.datasets`` that reads items."""

    def __init__(self, files: Connections) -> None:
        self._files = files

    def rows(
        self, version_id: int, where: ItemFilter = _EVERYTHING, *, offset: int = 0, limit: int = 50
    ) -> list[ItemRow]:
        """A page of items for browsing, in the dataset's order."""
        clause, values = _clause(version_id, where)
        return [
            ItemRow(*row)
            for row in self._files.tuples(
                "SELECT i.position, i.item_id, i.preview, i.system, i.split, i.labelled "
                f"FROM item i WHERE {clause} ORDER BY i.position LIMIT ? OFFSET ?",
                (*values, limit, offset),
            )
        ]

    def count(self, version_id: int, where: ItemFilter = _EVERYTHING) -> int:
        """How many items the filter keeps."""
        clause, values = _clause(version_id, where)
        ((count,),) = self._files.tuples(f"SELECT count(*) FROM item i WHERE {clause}", values)
        return int(count)

    def systems(self, version_id: int) -> list[str]:
        """The systems that items name, sorted; items without one do not count."""
        found = self._files.tuples(
            "SELECT DISTINCT system FROM item WHERE version_id = ? AND system <> '' ORDER BY 1",
            (version_id,),
        )
        return [system for (system,) in found]

    def item(self, version_id: int, item_id: str) -> Item:
        """One item whole, without its dataset's prompt and reference (``head.resolved``)."""
        found = self._files.tuples(
            "SELECT content FROM item WHERE version_id = ? AND item_id = ?", (version_id, item_id)
        )
        if not found:
            raise NotFound(f"There is no item {item_id!r} in dataset version {version_id}.")
        return Item.model_validate_json(found[0][0], context=STORED)

    def items(self, version_id: int, ids: Iterable[str] | None = None) -> Iterator[Item]:
        """The items (or those with these ids) whole, in the dataset's order, read page by page.

        Raises:
            NotFound: an id is not in this version.
        """
        for content in self.contents(version_id, ids):
            yield Item.model_validate_json(content, context=STORED)

    def contents(self, version_id: int, ids: Iterable[str] | None = None) -> Iterator[str]:
        """As ``items``, as the JSON text that is kept."""
        positions = self._positions(version_id, ids)
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
        """How often each label was given, by criterion; labels are spelt as given."""
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
        """Every label as (item id, criterion, label), of the items without a rubric of their own.

        Far cheaper than reading the items, where only their labels matter.
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

    def _positions(self, version_id: int, ids: Iterable[str] | None) -> list[int]:
        if ids is None:
            found = self._files.tuples(
                "SELECT position FROM item WHERE version_id = ? ORDER BY position", (version_id,)
            )
            return [position for (position,) in found]
        wanted = set(ids)
        held = dict(
            self._files.tuples(
                "SELECT item_id, position FROM item WHERE version_id = ? AND item_id IN "
                "(SELECT value FROM json_each(?))",
                (version_id, json.dumps(sorted(wanted))),
            )
        )
        missing = wanted - held.keys()
        if missing:
            raise NotFound(f"There is no item {min(missing)!r} in dataset version {version_id}.")
        return sorted(held.values())


def _clause(version_id: int, where: ItemFilter) -> tuple[str, Sequence[Any]]:
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
        values += found_values(where.search)
    return " AND ".join(parts), values
