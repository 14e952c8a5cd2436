"""Votes, failures and calls of runs: one way to record, several to read."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence

from core.domain.runs import Derive, ImportedData, Lease
from core.domain.votes import (
    LEAST_ON_OPTIONS,
    AskedOutcome,
    BallotRow,
    CallRow,
    Cell,
    FailureCount,
    FailureRow,
    ItemBallots,
    OrderCount,
    VoteRow,
)
from core.store.database.connection import Connections
from core.store.runs.bringing import store_import
from core.store.runs.leases import require_lease
from core.store.runs.recording import read_call, record_outcomes
from core.store.runs.results import read_ballots, read_chances

_CELL = "item_id, criterion, judge, replicate"


class Votes:
    """Available as ``store.votes``. Votes and calls are only ever added."""

    def __init__(self, files: Connections) -> None:
        self._files = files

    def record(
        self,
        run_id: int,
        outcomes: Sequence[AskedOutcome],
        *,
        owner: str,
        fence: int,
        now: str,
        derive: Derive,
        out: int = 0,
    ) -> None:
        """Store judges' answers, and the results that ``derive`` computes for their items.

        ``out`` is the number of other calls in flight. All of it is one transaction. A cell that
        has a vote gets no second one. A vote closes the failures of its cell.

        Raises:
            Fenced: ``owner`` no longer holds the run under ``fence``.
        """
        with self._files.write() as db:
            require_lease(db, Lease(run_id, owner, fence, until=0.0, cancel=False))
            db.execute("UPDATE run SET out = ? WHERE id = ?", (out, run_id))
            record_outcomes(db, run_id, outcomes, now, derive)

    def begun(self, run_id: int) -> tuple[set[str], set[Cell]]:
        """Return what not to ask again: finished items, and the finished cells of other items.

        A cell with a vote or an open failure is finished. In a long run nearly all items are
        finished, so their cells are not read.
        """
        unfinished = "FROM run_item i WHERE i.run_id = :run AND i.votes + i.failures <> i.planned"
        finished_items = self._files.tuples(
            "SELECT item_id FROM run_item WHERE run_id = :run AND votes + failures = planned",
            {"run": run_id},
        )
        cells = self._files.tuples(
            f"SELECT {_CELL} FROM vote WHERE run_id = :run "
            f"AND item_id IN (SELECT item_id {unfinished}) "
            f"UNION ALL SELECT {_CELL} FROM failure WHERE run_id = :run AND open = 1 "
            f"AND item_id IN (SELECT item_id {unfinished})",
            {"run": run_id},
        )
        return {item for (item,) in finished_items}, set(map(Cell._make, cells))

    def bring(self, lease: Lease, brought: ImportedData, *, now: str) -> None:
        """Import votes, failures and results of items without votes.

        The result is the same as with ``record``.

        Raises:
            Fenced: the lease was lost.
        """
        with self._files.write() as db:
            require_lease(db, lease)
            store_import(db, lease.run_id, brought, now)

    def present(self, run_id: int) -> set[Cell]:
        """Return the cells with a vote."""
        return set(
            map(
                Cell._make,
                self._files.tuples(f"SELECT {_CELL} FROM vote WHERE run_id = ?", (run_id,)),
            )
        )

    def failed(self, run_id: int) -> set[Cell]:
        """Return the cells whose last attempt failed; they are retried only on request."""
        return set(
            map(
                Cell._make,
                self._files.tuples(
                    f"SELECT {_CELL} FROM failure WHERE run_id = ? AND open = 1", (run_id,)
                ),
            )
        )

    def confidences(self, run_id: int) -> dict[tuple[str, str, str], list[float]]:
        """Return confidences by (item id, criterion, judge): those stated, or else the chosen
        option's probability.

        A vote without a confidence, because its model meant none of the options, counts as 0 here,
        so that no threshold accepts it.
        """
        by_cell: dict[tuple[str, str, str], list[float]] = {}
        for *cell, confidence in self._files.tuples(
            "SELECT item_id, criterion, judge, coalesce(confidence, "
            "json_extract(probabilities, '$[' || option || ']'), 0.0) FROM vote "
            "WHERE run_id = ? AND NOT abstained AND (confidence IS NOT NULL "
            "OR probabilities IS NOT NULL OR json_extract(detail, '$.other_chance') > ?)",
            (run_id, 1 - LEAST_ON_OPTIONS),
        ):
            by_cell.setdefault((cell[0], cell[1], cell[2]), []).append(confidence)
        return by_cell

    def spent(self, run_id: int) -> dict[str, tuple[int, float | None]]:
        """Return the number of votes and the cost of all calls, per judge.

        Cached answers count at their original cost. The cost is ``None`` if a call's cost is
        unknown.
        """
        rows = self._files.tuples(
            """
            SELECT v.judge, v.votes, c.cost FROM
                (SELECT judge, count(*) AS votes FROM vote WHERE run_id = ? GROUP BY judge) v
                LEFT JOIN (SELECT judge, iif(sum(coalesce(first_cost, cost) IS NULL), NULL,
                    sum(coalesce(cost, 0) + coalesce(first_cost, 0))) AS cost
                    FROM call WHERE run_id = ? GROUP BY judge) c USING (judge)
            """,
            (run_id, run_id),
        )
        return {judge: (votes, cost) for judge, votes, cost in rows}

    def models(self, run_id: int) -> dict[str, tuple[str, ...]]:
        """Return the models that answered each judge's calls, as reported by providers."""
        by_judge: dict[str, list[str]] = {}
        for judge, model in self._files.tuples(
            "SELECT DISTINCT judge, model FROM call WHERE run_id = ? AND model <> '' ORDER BY 1, 2",
            (run_id,),
        ):
            by_judge.setdefault(judge, []).append(model)
        return {judge: tuple(models) for judge, models in by_judge.items()}

    def sure(
        self, run_id: int, below: int, criterion: str | None = None
    ) -> list[tuple[Cell, float | None, tuple[float, ...] | None]]:
        """Return cell, confidence and probabilities of votes with a replicate below ``below``.

        Votes with neither, and abstentions, are left out.
        """
        rows = self._files.tuples(
            f"SELECT {_CELL}, confidence, probabilities FROM vote WHERE run_id = ? "
            "AND (? IS NULL OR criterion = ?) AND replicate < ? AND NOT abstained "
            "AND (confidence IS NOT NULL OR probabilities IS NOT NULL)",
            (run_id, criterion, criterion, below),
        )
        return [
            (Cell._make(key), confidence, read_chances(chances))
            for *key, confidence, chances in rows
        ]

    def certainty_recorded(self, run_id: int) -> tuple[bool, bool]:
        """Return whether any vote has a confidence, and whether any has probabilities."""
        ((confidence, chances),) = self._files.tuples(
            "SELECT count(confidence) > 0, count(probabilities) > 0 FROM vote WHERE run_id = ?",
            (run_id,),
        )
        return bool(confidence), bool(chances)

    def places(self, run_id: int, judge: str) -> list[tuple[str, int, int]]:
        """Return how often a judge chose each shown position: (criterion, position, times).

        Only votes with a shown order and a chosen option count, abstentions excluded.
        """
        rows = self._files.tuples(
            """
            SELECT criterion, place.key, count(*)
            FROM vote JOIN json_each(vote.ord) AS place ON place.value = vote.option
            WHERE run_id = ? AND judge = ? AND ord IS NOT NULL AND NOT abstained
            GROUP BY criterion, place.key
            """,
            (run_id, judge),
        )
        return [(criterion, int(place), times) for criterion, place, times in rows]

    def cells_after(self, run_id: int, timestamp: str) -> set[tuple[str, str]]:
        """Return the cells with a vote after a time, by item and criterion."""
        return set(
            self._files.tuples(
                "SELECT DISTINCT item_id, criterion FROM vote WHERE run_id = ? AND created > ?",
                (run_id, timestamp),
            )
        )

    def orders_shown(self, run_id: int, below: int) -> list[OrderCount]:
        """Return how often each judge saw which order and chose what.

        Only replicates below ``below``, and only votes with a shown order and a chosen option,
        count; abstentions are excluded.
        """
        rows = self._files.tuples(
            "SELECT judge, criterion, option, ord, count(*) FROM vote WHERE run_id = ? "
            "AND replicate < ? AND ord IS NOT NULL AND NOT abstained "
            "GROUP BY judge, criterion, option, ord",
            (run_id, below),
        )
        return [
            OrderCount(judge, criterion, option, tuple(json.loads(order)), times)
            for judge, criterion, option, order, times in rows
        ]

    def open_failures(self, run_id: int) -> list[FailureRow]:
        """Return the open failures, newest first."""
        rows = self._files.rows(
            "SELECT * FROM failure WHERE run_id = ? AND open = 1 ORDER BY id DESC", (run_id,)
        )
        return [_failure_row(row) for row in rows]

    def failures_of(self, run_id: int, item_id: str) -> list[FailureRow]:
        """Return all failed attempts on an item, open or not, in order."""
        rows = self._files.rows(
            "SELECT * FROM failure WHERE run_id = ? AND item_id = ? ORDER BY id", (run_id, item_id)
        )
        return [_failure_row(row) for row in rows]

    def failed_cells(self, run_id: int, item_ids: Sequence[str]) -> dict[tuple[str, str], int]:
        """Return the number of open failures per cell of these items, by item id and criterion."""
        rows = self._files.tuples(
            "SELECT item_id, criterion, count(*) FROM failure WHERE run_id = ? AND open = 1 "
            "AND item_id IN (SELECT value FROM json_each(?)) GROUP BY 1, 2",
            (run_id, json.dumps(list(item_ids))),
        )
        return {(item, criterion): count for item, criterion, count in rows}

    def failure_kinds(self, run_id: int, *, open_only: bool = True) -> list[FailureCount]:
        """Return the number of failures of each kind, most frequent first."""
        # With a single max(), SQLite takes the other columns from the row that has the maximum.
        rows = self._files.tuples(
            "SELECT kind, count(*), json_group_array(DISTINCT judge), message, max(id) "
            f"FROM failure WHERE run_id = ? {'AND open = 1' if open_only else ''} "
            "GROUP BY kind ORDER BY 2 DESC, 1",
            (run_id,),
        )
        return [
            FailureCount(kind, times, tuple(sorted(json.loads(judges))), message)
            for kind, times, judges, message, _ in rows
        ]

    def for_item(self, run_id: int, item_id: str) -> list[VoteRow]:
        """Return the votes on an item, by criterion, judge and replicate."""
        rows = self._files.rows(
            "SELECT * FROM vote WHERE run_id = ? AND item_id = ? "
            "ORDER BY criterion, judge, replicate",
            (run_id, item_id),
        )
        return [_vote_row(row) for row in rows]

    def call(self, call_id: int) -> CallRow:
        """Return a call with its whole prompt."""
        return read_call(self._files, call_id)

    def ballots(self, run_id: int, item_ids: Sequence[str] | None = None) -> list[ItemBallots]:
        """Return the ballots of these items, or of all items of the run in order."""
        if item_ids is None:
            rows = self._files.tuples(
                "SELECT item_id FROM run_item WHERE run_id = ? ORDER BY position", (run_id,)
            )
            item_ids = [item_id for (item_id,) in rows]
        with self._files.in_words():
            return read_ballots(self._files.thread_connection, run_id, item_ids)

    def all_ballots(
        self, run_id: int, criterion: str | None = None, *, chances: bool = False
    ) -> list[BallotRow]:
        """Return all ballots (of a criterion, or of all) from one index, for metrics.

        Only that index is read if ``chances`` is false.
        """
        where, values = (
            ("", (run_id,)) if criterion is None else (" AND criterion = ?", (run_id, criterion))
        )
        rows = self._files.tuples(
            f"SELECT {_CELL}, option, abstained, {'probabilities' if chances else 'NULL'} "
            f"FROM vote WHERE run_id = ?{where} ORDER BY criterion, judge, item_id, replicate",
            values,
        )
        return [
            BallotRow._make((*key, bool(abstained), read_chances(probabilities)))
            for *key, abstained, probabilities in rows
        ]

    def columns(
        self, run_id: int, below: int | None = None
    ) -> Iterator[tuple[str, str, int, list[str], list[int | None]]]:
        """Yield the votes of replicates below ``below`` in columns: criterion, judge, replicate,
        item ids and options. ``None`` and ``na`` options are abstentions.

        Sorted by criterion, judge and replicate. This is the data of ``all_ballots``, several times
        as fast. One column is in memory at a time.
        """
        rows = self._files.tuples(
            "SELECT criterion, judge, replicate, json_group_array(item_id), "
            "json_group_array(option) FROM vote WHERE run_id = ? AND (? IS NULL OR replicate < ?) "
            "GROUP BY criterion, judge, replicate",
            (run_id, below, below),
        )
        for criterion, judge, replicate, items, options in rows:
            yield criterion, judge, replicate, json.loads(items), json.loads(options)


def _cell_from(fields: dict[str, object]) -> Cell:
    return Cell._make(fields.pop(name) for name in ("item_id", "criterion", "judge", "replicate"))


def _vote_row(row: sqlite3.Row) -> VoteRow:
    fields = dict(row)
    probabilities = fields.pop("probabilities")
    return VoteRow(
        cell=_cell_from(fields),
        abstained=bool(fields.pop("abstained")),
        evidence=tuple(json.loads(fields.pop("evidence"))),
        order=_option_order(fields.pop("ord")),
        probabilities=read_chances(probabilities),
        detail=json.loads(fields.pop("detail")),
        **fields,
    )


def _failure_row(row: sqlite3.Row) -> FailureRow:
    fields = dict(row)
    return FailureRow(
        cell=_cell_from(fields),
        order=_option_order(fields.pop("ord")),
        open=bool(fields.pop("open")),
        **fields,
    )


def _option_order(text: str | None) -> tuple[int, ...] | None:
    return None if text is None else tuple(json.loads(text))
