"""Verdicts and scores derived from votes, and filters of items."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from core.domain.runs import (
    CellSign,
    Derive,
    ItemResult,
    RunItemFilter,
    RunItemRow,
    RunItemSort,
)
from core.domain.votes import ADJUDICATED, BallotRow, ItemBallots, Verdict
from core.errors import NotFound
from core.store.database.content import to_json
from core.store.library.datasets import FOUND, search_values
from core.store.runs.cells import CellVerdicts

#: ``ri`` comes first, so that its indexes can serve as sort orders.
RUN_ITEMS = """
    run_item ri JOIN run r ON r.id = ri.run_id
    LEFT JOIN item i ON i.version_id = r.dataset_version_id AND i.item_id = ri.item_id
"""
#: The tags of an item, one per row, as ``value``.
TAGS = "json_each(i.content, '$.tags')"
_COLUMNS: dict[RunItemSort, str] = {
    "position": "ri.position",
    "item_id": "ri.item_id",
    "score": "ri.score",
    "agreement": "ri.agreement",
    "failures": "ri.failures",
    "abstentions": "ri.abstentions",
    "system": "nullif(i.system, '')",
    "criterion": "(SELECT c.value FROM cell c WHERE c.run_id = ri.run_id "
    "AND c.item_id = ri.item_id AND c.criterion = ?)",
}
_HERE = "FROM cell c WHERE c.run_id = ri.run_id AND c.item_id = ri.item_id"
_SIGNS: dict[CellSign, str] = {
    "split": f"EXISTS (SELECT 1 {_HERE} AND c.entropy > 0 AND %s)",
    "abstained": f"EXISTS (SELECT 1 {_HERE} AND c.abstentions > 0 AND %s)",
    "settled": f"EXISTS (SELECT 1 {_HERE} AND c.rule = '{ADJUDICATED}' AND %s)",
    "failed": "EXISTS (SELECT 1 FROM failure c WHERE c.run_id = ri.run_id "
    "AND c.item_id = ri.item_id AND c.open = 1 AND %s)",
    "none": f"NOT EXISTS (SELECT 1 {_HERE} AND %s)",
}


def order_terms(sort: RunItemSort, descending: bool, sort_key: str = "") -> tuple[str, list[Any]]:
    """Return ORDER BY terms and their parameters; missing values sort last."""
    column = _COLUMNS[sort]
    terms = f"{column} {'DESC' if descending else 'ASC'} NULLS LAST, ri.position"
    return terms, [sort_key] if sort == "criterion" else []


def where_clause(run_id: int, where: RunItemFilter) -> tuple[str, list[Any]]:
    """Return the WHERE condition on ``RUN_ITEMS`` and its parameters."""
    tests: list[tuple[str, Any]] = [
        ("ri.run_id = ?", run_id),
        ("(ri.failures > 0) = ?", where.has_failures),
        ("(ri.abstentions > 0) = ?", where.has_abstentions),
        ("ri.complete = ?", where.complete),
        ("ri.review = ?", where.review),
        ("ri.outcome = ?", where.outcome),
        ("ri.score >= ?", where.min_score),
        ("ri.score <= ?", where.max_score),
        ("i.system = ?", where.system),
        (f"EXISTS (SELECT 1 FROM {TAGS} WHERE value = ?)", where.tag),
        ("i.split = ?", where.split),
    ]
    if where.item_ids is not None:
        tests.append(("ri.item_id IN (SELECT value FROM json_each(?))", json.dumps(where.item_ids)))
    if where.but:
        tests.append(("ri.item_id NOT IN (SELECT value FROM json_each(?))", json.dumps(where.but)))
    parts = [test for test, value in tests if value is not None]
    values = [value for _, value in tests if value is not None]
    if where.search:
        parts.append(FOUND)
        values += search_values(where.search)
    for sign, name in where.signs:
        parts.append(_SIGNS[sign] % ("1" if name is None else "c.criterion = ?"))
        values += [] if name is None else [name]
    if where.criterion is not None:
        verdict = "c.abstained = 1" if where.option is None else "c.abstained = 0 AND c.option = ?"
        parts.append(
            "EXISTS (SELECT 1 FROM cell c WHERE c.run_id = ri.run_id AND c.item_id = ri.item_id "
            f"AND c.criterion = ? AND {verdict})"
        )
        values += [where.criterion] if where.option is None else [where.criterion, where.option]
    return " AND ".join(parts), values


def read_ballots(db: sqlite3.Connection, run_id: int, item_ids: Sequence[str]) -> list[ItemBallots]:
    """Return all votes and open failures of these items, in the order given.

    An item's ballots are sorted by criterion, judge and replicate; an item without votes has none.
    """
    values = (run_id, json.dumps(list(item_ids)))
    ballots: defaultdict[str, list[BallotRow]] = defaultdict(list)
    for *key, abstained, chances in db.execute(
        "SELECT item_id, criterion, judge, replicate, option, abstained, probabilities FROM vote "
        "WHERE run_id = ? AND item_id IN (SELECT value FROM json_each(?)) "
        "ORDER BY item_id, criterion, judge, replicate",
        values,
    ):
        ballots[key[0]].append(BallotRow._make((*key, bool(abstained), read_chances(chances))))
    failures: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for item_id, criterion in db.execute(
        "SELECT item_id, criterion FROM failure "
        "WHERE run_id = ? AND item_id IN (SELECT value FROM json_each(?)) AND open = 1",
        values,
    ):
        failures[item_id][criterion] += 1
    return [
        ItemBallots(item_id, tuple(ballots[item_id]), dict(failures[item_id]))
        for item_id in item_ids
    ]


def read_chances(text: str | None) -> tuple[float, ...] | None:
    """Return the stored probabilities of a vote's options, or ``None``."""
    return None if text is None else tuple(json.loads(text))


# Verdicts and scores, derived from votes and cached for pages.
#
# None of them is a fact. ``put`` replaces them; ``rebuild`` derives them all from the votes.

_EVERYTHING = RunItemFilter()
_ROW = """
    ri.run_id, ri.position, ri.item_id, coalesce(i.preview, ''), coalesce(i.system, ''), i.split,
    ri.planned, ri.votes, ri.abstentions, ri.failures, ri.score, ri.raw, ri.low, ri.high,
    ri.complete, ri.fail, ri.review, ri.agreement, ri.outcome, ri.trace ->> '$.coverage',
    ri.trace ->> '$.assessed_points', ri.trace ->> '$.assessed_of'
"""


class Results(CellVerdicts):
    """Available as ``store.results``."""

    def items(
        self,
        run_id: int,
        where: RunItemFilter = _EVERYTHING,
        *,
        sort: RunItemSort = "position",
        descending: bool = False,
        sort_key: str = "",
        offset: int = 0,
        limit: int = 50,
    ) -> list[RunItemRow]:
        """Return a page of the run's items without traces; missing values sort last.

        ``sort_key`` names the criterion whose verdict to sort by.
        """
        condition, values = where_clause(run_id, where)
        terms, more = order_terms(sort, descending, sort_key)
        rows = self._files.tuples(
            f"SELECT {_ROW} FROM {RUN_ITEMS} WHERE {condition} ORDER BY {terms} LIMIT ? OFFSET ?",
            (*values, *more, limit, offset),
        )
        return [_item_row(row) for row in rows]

    def ids(
        self,
        run_id: int,
        where: RunItemFilter = _EVERYTHING,
        *,
        sort: RunItemSort = "position",
        descending: bool = False,
        sort_key: str = "",
    ) -> list[str]:
        """Return the ids of all items that ``items`` would return, in the same order."""
        condition, values = where_clause(run_id, where)
        terms, more = order_terms(sort, descending, sort_key)
        rows = self._files.tuples(
            f"SELECT ri.item_id FROM {RUN_ITEMS} WHERE {condition} ORDER BY {terms}",
            (*values, *more),
        )
        return [item_id for (item_id,) in rows]

    def count(self, run_id: int, where: RunItemFilter) -> int:
        """Return the number of items that pass the filter."""
        (number,) = self.counts(run_id, [where])
        return number

    def counts(self, run_id: int, filters: Sequence[RunItemFilter]) -> list[int]:
        """Return the number of items that pass each filter."""
        clauses = [where_clause(run_id, where) for where in filters]
        (numbers,) = self._files.tuples(
            f"SELECT {', '.join(f'total({clause})' for clause, _ in clauses)} FROM {RUN_ITEMS} "
            "WHERE ri.run_id = ?",
            (*(value for _, values in clauses for value in values), run_id),
        )
        return [int(number) for number in numbers]

    def item(self, run_id: int, item_id: str) -> RunItemRow:
        """Return an item of the run with the trace of its score."""
        rows = self._files.tuples(
            f"SELECT {_ROW}, ri.trace FROM {RUN_ITEMS} WHERE ri.run_id = ? AND ri.item_id = ?",
            (run_id, item_id),
        )
        if not rows:
            raise NotFound(f"There is no item {item_id!r} in run {run_id}.")
        *row, trace = rows[0]
        return _item_row(row, None if trace is None else json.loads(trace))

    def systems(self, run_id: int) -> list[str]:
        """Return the systems among the run's items, sorted."""
        rows = self._files.tuples(
            f"SELECT DISTINCT i.system FROM {RUN_ITEMS} "
            "WHERE ri.run_id = ? AND i.system <> '' ORDER BY 1",
            (run_id,),
        )
        return [system for (system,) in rows]

    def scores(self, run_id: int) -> dict[str, float | None]:
        """Return the score of every item of the run, by its id."""
        return dict(
            self._files.tuples("SELECT item_id, score FROM run_item WHERE run_id = ?", (run_id,))
        )

    def scored(self, run_id: int) -> list[tuple[float | None, str | None, int, int, int]]:
        """Return score, outcome, completeness, review flag and votes of each item, in order."""
        return self._files.tuples(
            "SELECT score, outcome, complete, review, votes FROM run_item WHERE run_id = ? "
            "ORDER BY position",
            (run_id,),
        )

    def means(self, run_id: int) -> tuple[float | None, float | None, int]:
        """Return the mean score and the mean agreement of the run's items, and the number of
        ungraded ones: with votes, but no score.
        """
        ((score, agreement, ungraded),) = self._files.tuples(
            "SELECT (SELECT avg(score) FROM run_item WHERE run_id = ?), "
            "(SELECT avg(agreement) FROM run_item WHERE run_id = ?), "
            "(SELECT count(*) FROM run_item WHERE run_id = ? AND score IS NULL AND votes > 0)",
            (run_id, run_id, run_id),
        )
        return score, agreement, ungraded

    def outcomes(self, run_id: int) -> dict[str, int]:
        """Return the number of items that pass, fail and need a person.

        Items that pass may need a person, too. Outcomes without items are absent.
        """
        return dict(
            self._files.tuples(
                "SELECT outcome, count(*) FROM run_item "
                "WHERE run_id = ? AND outcome IN ('pass', 'fail') GROUP BY 1 UNION ALL "
                "SELECT 'review', count(*) FROM run_item WHERE run_id = ? AND review = 1 "
                "HAVING count(*) > 0",
                (run_id, run_id),
            )
        )

    def score_bins(self, run_id: int, bins: int = 20) -> list[tuple[float, float, int]]:
        """Return the distribution of scores, in equal bins from 0 to 1 or a wider range: from, to,
        and the number of items.

        The list is empty if no item has a score.
        """
        ((least, most),) = self._files.tuples(
            "SELECT min(score), max(score) FROM run_item WHERE run_id = ?", (run_id,)
        )
        if least is None:
            return []
        low, high = min(0.0, least), max(1.0, most)
        width = (high - low) / bins
        counts = dict(
            self._files.tuples(
                # Rounding must not put a score on a bin's lower edge into the bin below.
                "SELECT min(?, CAST((score - ?) / ? + 1e-9 AS INTEGER)), count(*) FROM run_item "
                "WHERE run_id = ? AND score IS NOT NULL GROUP BY 1",
                (bins - 1, low, width, run_id),
            )
        )
        return [(low + i * width, low + (i + 1) * width, counts.get(i, 0)) for i in range(bins)]

    def cells(self, run_id: int, item_id: str) -> list[Verdict]:
        """Return an item's verdicts by criterion name. Cells without votes have no row."""
        return [verdict for _, verdict in self._verdicts("item_id = ?", run_id, item_id)]

    def verdicts(self, run_id: int, criterion: str | None = None) -> list[tuple[str, Verdict]]:
        """Return a run's verdicts (of a criterion, or all) with item ids, by item."""
        return self._verdicts("(? IS NULL OR criterion = ?)", run_id, criterion, criterion)

    def verdicts_of(self, run_id: int, item_ids: Sequence[str]) -> list[tuple[str, Verdict]]:
        """Return the verdicts of these items with their ids."""
        ids = json.dumps(list(item_ids))
        return self._verdicts("item_id IN (SELECT value FROM json_each(?))", run_id, ids)

    def _verdicts(self, where: str, run_id: int, *values: object) -> list[tuple[str, Verdict]]:
        rows = self._files.tuples(
            f"SELECT item_id, {', '.join(Verdict._fields)} FROM cell "
            f"WHERE run_id = ? AND {where} ORDER BY item_id, criterion",
            (run_id, *values),
        )
        return [(item, _verdict_from(columns)) for item, *columns in rows]

    def put(self, run_id: int, results: Sequence[ItemResult]) -> None:
        """Replace the results of these items; all or nothing."""
        with self._files.write() as db:
            put_results(db, run_id, results)

    def forget(self, run_id: int, item_id: str) -> None:
        """Clear the score and cells of an item without votes."""
        with self._files.write() as db:
            db.execute(
                "UPDATE run_item SET score = NULL, raw = NULL, low = NULL, high = NULL, "
                "complete = 0, fail = 0, review = 0, agreement = NULL, outcome = NULL, "
                "trace = NULL WHERE run_id = ? AND item_id = ?",
                (run_id, item_id),
            )
            db.execute("DELETE FROM cell WHERE run_id = ? AND item_id = ?", (run_id, item_id))
            db.execute(DERIVED, (run_id,))

    def rebuild(self, run_id: int, derive: Derive, *, batch: int = 500) -> int:
        """Derive every item of the run again from its votes; return the number of items.

        Each batch is a separate transaction, so an active run can continue in between.
        """
        rows = self._files.tuples(
            "SELECT item_id FROM run_item WHERE run_id = ? ORDER BY position", (run_id,)
        )
        ids = [item_id for (item_id,) in rows]
        for start in range(0, len(ids), batch):
            with self._files.write() as db:
                ballots = read_ballots(db, run_id, ids[start : start + batch])
                put_results(db, run_id, derive(ballots))
        return len(ids)


_COLUMNS_OF_CELL = ("run_id", "item_id", *Verdict._fields)
ADD_CELL = (
    f"INSERT INTO cell ({', '.join(_COLUMNS_OF_CELL)}) "
    f"VALUES ({', '.join('?' * len(_COLUMNS_OF_CELL))})"
)
_FLAGS = [Verdict._fields.index(name) for name in ("abstained", "tie")]
#: Invalidates the caches of a run's verdicts, which carry an older number.
DERIVED = "UPDATE run SET derived = derived + 1 WHERE id = ?"


#: The columns of an item's result; ``result_values`` gives their values in order.
RESULT = (
    "score = ?, raw = ?, low = ?, high = ?, complete = ?, fail = ?, review = ?, agreement = ?, "
    "outcome = ?, trace = ?"
)


def result_values(r: ItemResult, trace: str) -> tuple[object, ...]:
    """Return the values of ``RESULT``; ``trace`` is the result's trace as JSON text."""
    numbers = (r.score, r.raw, r.low, r.high, r.complete, r.fail, r.review, r.agreement)
    return (*numbers, r.outcome, trace)


def put_results(db: sqlite3.Connection, run_id: int, results: Sequence[ItemResult]) -> None:
    """Run ``Results.put`` within an open transaction."""
    db.executemany(
        f"UPDATE run_item SET {RESULT} WHERE run_id = ? AND item_id = ?",
        ((*result_values(r, to_json(r.trace)), run_id, r.item_id) for r in results),
    )
    db.executemany(
        "DELETE FROM cell WHERE run_id = ? AND item_id = ?", ((run_id, r.item_id) for r in results)
    )
    db.executemany(
        ADD_CELL,
        ((run_id, result.item_id, *cell) for result in results for cell in result.cells),
    )
    db.execute(DERIVED, (run_id,))


def _item_row(row: Sequence[Any], trace: dict[str, Any] | None = None) -> RunItemRow:
    values = [*row[:14], *map(bool, row[14:17]), *row[17:22], trace]
    return RunItemRow(*values)


def _verdict_from(row: list[Any]) -> Verdict:
    for at in _FLAGS:
        row[at] = bool(row[at])
    return Verdict._make(row)
