"""The items of a run that a filter keeps, as SQL."""

from __future__ import annotations

import json
from typing import Any

from core.domain.runs import RunItemFilter, RunItemSort
from core.store.items import FOUND, found_values

#: ``ri`` drives, so that an order by one of its indexes needs no sorting.
RUN_ITEMS = """
    run_item ri JOIN run r ON r.id = ri.run_id
    LEFT JOIN item i ON i.version_id = r.dataset_version_id AND i.item_id = ri.item_id
"""
#: The tags of an item, one a row, as ``value``.
TAGS = "json_each(i.content, '$.tags')"
_COLUMNS: dict[RunItemSort, str] = {
    "position": "ri.position",
    "item_id": "ri.item_id",
    "score": "ri.score",
    "agreement": "ri.agreement",
    "failures": "ri.failures",
    "abstentions": "ri.abstentions",
}


def order(sort: RunItemSort, descending: bool) -> str:
    """The ORDER BY terms; items without a value come last either way."""
    column = _COLUMNS[sort]
    return f"{column} {'DESC' if descending else 'ASC'} NULLS LAST, ri.position"


def clause(run_id: int, where: RunItemFilter) -> tuple[str, list[Any]]:
    """The WHERE condition over ``RUN_ITEMS`` and the values it takes."""
    tests: list[tuple[str, Any]] = [
        ("ri.run_id = ?", run_id),
        ("(ri.failures > 0) = ?", where.has_failures),
        ("(ri.abstentions > 0) = ?", where.has_abstentions),
        ("ri.complete = ?", where.complete),
        ("ri.review = ?", where.review),
        ("ri.outcome = ?", where.outcome),
        ("ri.agreement <= ?", where.max_agreement),
        ("ri.score >= ?", where.min_score),
        ("ri.score <= ?", where.max_score),
        ("i.system = ?", where.system),
        (f"EXISTS (SELECT 1 FROM {TAGS} WHERE value = ?)", where.tag),
        ("i.split = ?", where.split),
    ]
    if where.item_ids is not None:
        tests.append(("ri.item_id IN (SELECT value FROM json_each(?))", json.dumps(where.item_ids)))
    parts = [test for test, value in tests if value is not None]
    values = [value for _, value in tests if value is not None]
    if where.search:
        parts.append(FOUND)
        values += found_values(where.search)
    if where.criterion is not None:
        verdict = "c.abstained = 1" if where.option is None else "c.abstained = 0 AND c.option = ?"
        parts.append(
            "EXISTS (SELECT 1 FROM cell c WHERE c.run_id = ri.run_id AND c.item_id = ri.item_id "
            f"AND c.criterion = ? AND {verdict})"
        )
        values += [where.criterion] if where.option is None else [where.criterion, where.option]
    return " AND ".join(parts), values
