"""Writing votes that come from elsewhere, all at once, into a run that has nothing so far."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from itertools import repeat
from typing import Any

from core.domain.runs import Brought
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


def bring(db: sqlite3.Connection, run_id: int, brought: Brought, now: str) -> None:
    """Keep what is brought, row by row as it is made (transaction open)."""
    for one in brought.votes:
        columns = (one.item, one.criterion, one.judge, repeat(0), one.option, one.abstained)
        # Without end are those that are the same in every row.
        db.executemany(_VOTE, zip(repeat(run_id), *columns, repeat(now), strict=False))
    words = clean(brought.words)
    db.executemany(_FAILURE, ((run_id, *cell, words, now) for cell in brought.failed))
    totals = Counter[str]()

    def items() -> Iterator[tuple[Any, ...]]:
        for one in brought.items:
            totals["votes"] += one.votes
            totals["abstentions"] += one.abstentions
            totals["failures"] += one.failures
            yield (*one[:3], *result_values(one.result, one.trace), run_id, one.result.item_id)

    db.executemany(_ITEM, items())
    db.executemany(ADD_CELL, ((run_id, item_id, *cell) for item_id, cell in brought.cells))
    db.execute(_COUNT, (totals["votes"], totals["abstentions"], totals["failures"], run_id))
    db.execute(DERIVED, (run_id,))
