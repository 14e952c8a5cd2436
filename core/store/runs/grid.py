"""A run as a grid of items and criteria: the cells of a page, and places of items."""

from __future__ import annotations

import json
from collections.abc import Sequence

from core.domain.runs import GridRow
from core.store.database.connection import Connections


class Grid:
    """Reached as ``store.grid``."""

    def __init__(self, files: Connections) -> None:
        self._files = files

    def cells(self, run_id: int, item_ids: Sequence[str]) -> list[GridRow]:
        """The cells of these items that have a verdict or an open failure."""
        ids = json.dumps(list(item_ids))
        failed = {
            (item, criterion): count
            for item, criterion, count in self._files.tuples(
                "SELECT item_id, criterion, count(*) FROM failure WHERE run_id = ? AND open = 1 "
                "AND item_id IN (SELECT value FROM json_each(?)) GROUP BY 1, 2",
                (run_id, ids),
            )
        }
        found = []
        for row in self._files.tuples(
            "SELECT item_id, criterion, option, abstained, agreement, entropy, votes, "
            "abstentions, failures, rule FROM cell WHERE run_id = ? "
            "AND item_id IN (SELECT value FROM json_each(?))",
            (run_id, ids),
        ):
            open_ = failed.pop((row[0], row[1]), 0)
            kept = GridRow._make(row)
            failures = max(kept.failures, open_)
            found.append(kept._replace(abstained=bool(kept.abstained), failures=failures))
        return found + [
            GridRow(item, criterion, None, False, None, None, 0, 0, count, "")
            for (item, criterion), count in failed.items()
        ]
