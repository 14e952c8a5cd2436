"""Write imported votes into an empty run, in one transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from itertools import repeat
from operator import add
from typing import Any

from core.domain.runs import ImportedData
from core.store.database.content import clean
from core.store.runs.results import ADD_CELL, DERIVED, RESULT, result_values

_VOTE = """
    INSERT INTO vote (run_id, item_id, criterion, judge, replicate, option, abstained, reason,
        evidence, ord, confidence, probabilities, detail, call_id, created)
    VALUES (?, ?, ?, ?, ?, ?, ?, '', '[]', NULL, NULL, NULL, '{}', NULL, ?)
"""
_FAILURE = """
    INSERT INTO failure (run_id, item_id, criterion, judge, replicate, attempt, kind, message, ord,
        call_id, created, open)
    VALUES (?, ?, ?, ?, ?, 1, 'empty', ?, NULL, NULL, ?, 1)
"""
_ITEM = f"""
    UPDATE run_item SET votes = ?, abstentions = ?, failures = ?, {RESULT}
    WHERE run_id = ? AND item_id = ?
"""
_COUNT = """
    UPDATE run SET votes = votes + ?, abstentions = abstentions + ?,
        failures_open = failures_open + ? WHERE id = ?
"""


def store_import(db: sqlite3.Connection, run_id: int, brought: ImportedData, now: str) -> None:
    """Store an import, row by row, within an open transaction."""
    for item_ids, criteria, judges, options, abstained in brought.votes:
        columns = (item_ids, criteria, judges, repeat(0), options, abstained)
        # Not strict: `repeat` never ends.
        db.executemany(_VOTE, zip(repeat(run_id), *columns, repeat(now), strict=False))
    message = clean(brought.words)
    db.executemany(_FAILURE, ((run_id, *cell, message, now) for cell in brought.failed))
    totals = [0, 0, 0]

    def item_rows() -> Iterator[tuple[Any, ...]]:
        for counts, result, trace in brought.items:
            totals[:] = map(add, totals, counts)
            yield (*counts, *result_values(result, trace), run_id, result.item_id)

    db.executemany(_ITEM, item_rows())
    db.executemany(ADD_CELL, ((run_id, item_id, *cell) for item_id, cell in brought.cells))
    db.execute(_COUNT, (*totals, run_id))
    db.execute(DERIVED, (run_id,))
