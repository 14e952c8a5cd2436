"""Votes, failures and calls of runs: recorded through one door, read in several sizes."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence

from core.domain.runs import Brought, Derive, Lease
from core.domain.votes import (
    LEAST_ON_OPTIONS,
    AskedOutcome,
    BallotRow,
    CallRow,
    Cell,
    FailureCount,
    FailureRow,
    ItemBallots,
    JudgeColumn,
    OrderCount,
    Recorded,
    VoteRow,
)
from core.store.database.connection import Connections
from core.store.runs.bringing import bring
from core.store.runs.leases import require_lease
from core.store.runs.recording import read_call, record
from core.store.runs.results import read_ballots, read_chances

_CELL = "item_id, criterion, judge, replicate"


class Votes:
    """Reached as ``store.votes``. Votes and calls are only ever added."""

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
    ) -> Recorded:
        """Keep what judges answered, and the results ``derive`` makes of the touched items.

        ``out`` calls went out besides, and their outcomes are still to come.

        One transaction: afterwards all of it is on the disk, or nothing. A vote that is there
        already is not doubled; a vote closes the failures of its cell.

        Raises:
            Fenced: ``owner`` does not hold the run under ``fence`` any more.
        """
        with self._files.write() as db:
            require_lease(db, run_id, owner, fence)
            db.execute("UPDATE run SET out = ? WHERE id = ?", (out, run_id))
            return record(db, run_id, outcomes, now, derive)

    def begun(self, run_id: int) -> tuple[set[str], set[Cell]]:
        """What is not to be asked: items of which nothing is left, and the cells of the others.

        A cell is done that has its vote, or an open failure. In a long run nearly all items are
        done with, so that their cells are not read.
        """
        left = "FROM run_item i WHERE i.run_id = :run AND i.votes + i.failures <> i.planned"
        whole = self._files.tuples(
            "SELECT item_id FROM run_item WHERE run_id = :run AND votes + failures = planned",
            {"run": run_id},
        )
        cells = self._files.tuples(
            f"SELECT {_CELL} FROM vote WHERE run_id = :run AND item_id IN (SELECT item_id {left}) "
            f"UNION ALL SELECT {_CELL} FROM failure WHERE run_id = :run AND open = 1 "
            f"AND item_id IN (SELECT item_id {left})",
            {"run": run_id},
        )
        return {item for (item,) in whole}, set(map(Cell._make, cells))

    def bring(self, lease: Lease, brought: Brought, *, now: str) -> None:
        """Keep votes, failures and results of items of which nothing is kept so far.

        It leaves what ``record`` leaves of them.

        Raises:
            Fenced: the lease does not hold any more.
        """
        with self._files.write() as db:
            require_lease(db, lease.run_id, lease.owner, lease.fence)
            bring(db, lease.run_id, brought, now)

    def present(self, run_id: int) -> set[Cell]:
        """The cells that have their vote."""
        return set(
            map(
                Cell._make,
                self._files.tuples(f"SELECT {_CELL} FROM vote WHERE run_id = ?", (run_id,)),
            )
        )

    def failed(self, run_id: int) -> set[Cell]:
        """The cells whose last attempt failed and is not to be asked again by itself."""
        return set(
            map(
                Cell._make,
                self._files.tuples(
                    f"SELECT {_CELL} FROM failure WHERE run_id = ? AND open = 1", (run_id,)
                ),
            )
        )

    def confidences(self, run_id: int) -> dict[tuple[str, str, str], list[float]]:
        """How sure votes say they are, by (item id, criterion, judge): their confidence, else the
        chance of their option.

        A vote that has none because its model meant none of the options is 0 here: no threshold
        may take it for sure.
        """
        found: dict[tuple[str, str, str], list[float]] = {}
        for *cell, confidence in self._files.tuples(
            "SELECT item_id, criterion, judge, coalesce(confidence, "
            "json_extract(probabilities, '$[' || option || ']'), 0.0) FROM vote "
            "WHERE run_id = ? AND NOT abstained AND (confidence IS NOT NULL "
            "OR probabilities IS NOT NULL OR json_extract(detail, '$.other_chance') > ?)",
            (run_id, 1 - LEAST_ON_OPTIONS),
        ):
            found.setdefault((cell[0], cell[1], cell[2]), []).append(confidence)
        return found

    def spent(self, run_id: int) -> dict[str, tuple[int, float | None]]:
        """Per judge how many votes a run has, and what all its calls cost, kept answers as they
        cost then; ``None`` where the cost of a call is unknown.
        """
        found = self._files.tuples(
            """
            SELECT v.judge, v.votes, c.cost FROM
                (SELECT judge, count(*) AS votes FROM vote WHERE run_id = ? GROUP BY judge) v
                LEFT JOIN (SELECT judge, iif(sum(coalesce(first_cost, cost) IS NULL), NULL,
                    sum(coalesce(cost, 0) + coalesce(first_cost, 0))) AS cost
                    FROM call WHERE run_id = ? GROUP BY judge) c USING (judge)
            """,
            (run_id, run_id),
        )
        return {judge: (votes, cost) for judge, votes, cost in found}

    def models(self, run_id: int) -> dict[str, tuple[str, ...]]:
        """The models that providers say answered each judge's calls, by judge."""
        found: dict[str, list[str]] = {}
        for judge, model in self._files.tuples(
            "SELECT DISTINCT judge, model FROM call WHERE run_id = ? AND model <> '' ORDER BY 1, 2",
            (run_id,),
        ):
            found.setdefault(judge, []).append(model)
        return {judge: tuple(models) for judge, models in found.items()}

    def sure(
        self, run_id: int, below: int, criterion: str | None = None
    ) -> list[tuple[Cell, float | None, tuple[float, ...] | None]]:
        """How sure the votes of replicates 0 to ``below`` - 1 are: confidence, and chances.

        Votes that say neither, and abstentions, are left out.
        """
        found = self._files.tuples(
            f"SELECT {_CELL}, confidence, probabilities FROM vote WHERE run_id = ? "
            "AND (? IS NULL OR criterion = ?) AND replicate < ? AND NOT abstained "
            "AND (confidence IS NOT NULL OR probabilities IS NOT NULL)",
            (run_id, criterion, criterion, below),
        )
        return [
            (Cell._make(key), confidence, read_chances(chances))
            for *key, confidence, chances in found
        ]

    def say_how_sure(self, run_id: int) -> tuple[bool, bool]:
        """Whether any vote states a confidence; whether any says how likely each option was."""
        ((sure, chances),) = self._files.tuples(
            "SELECT count(confidence) > 0, count(probabilities) > 0 FROM vote WHERE run_id = ?",
            (run_id,),
        )
        return bool(sure), bool(chances)

    def places(self, run_id: int, judge: str) -> list[tuple[str, int, int]]:
        """How often a judge chose the option at each shown place: (criterion, place from 0, times).

        Only votes that saw an order and chose an option that is not an abstention.
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

    def cells_after(self, run_id: int, when: str) -> set[tuple[str, str]]:
        """The cells of a run, by item and criterion, that got a vote after a time."""
        return set(
            self._files.tuples(
                "SELECT DISTINCT item_id, criterion FROM vote WHERE run_id = ? AND created > ?",
                (run_id, when),
            )
        )

    def orders_shown(self, run_id: int, below: int) -> list[OrderCount]:
        """How often each judge was shown which order and chose what, replicates 0 to ``below`` - 1.

        Only votes that saw an order and chose an option that is not an abstention.
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
        """The open failures, newest first."""
        rows = self._files.rows(
            "SELECT * FROM failure WHERE run_id = ? AND open = 1 ORDER BY id DESC", (run_id,)
        )
        return [_failure(row) for row in rows]

    def failures_of(self, run_id: int, item_id: str) -> list[FailureRow]:
        """Every failed attempt of one item, open or not, in the order they happened."""
        rows = self._files.rows(
            "SELECT * FROM failure WHERE run_id = ? AND item_id = ? ORDER BY id", (run_id, item_id)
        )
        return [_failure(row) for row in rows]

    def failed_cells(self, run_id: int, item_ids: Sequence[str]) -> dict[tuple[str, str], int]:
        """How many open failures each cell of these items has, by item id and criterion."""
        found = self._files.tuples(
            "SELECT item_id, criterion, count(*) FROM failure WHERE run_id = ? AND open = 1 "
            "AND item_id IN (SELECT value FROM json_each(?)) GROUP BY 1, 2",
            (run_id, json.dumps(list(item_ids))),
        )
        return {(item, criterion): count for item, criterion, count in found}

    def failure_kinds(self, run_id: int, *, open_only: bool = True) -> list[FailureCount]:
        """How often each kind of failure happened, the most frequent first."""
        # With a single max(), SQLite takes the other columns from the row that holds it.
        found = self._files.tuples(
            "SELECT kind, count(*), json_group_array(DISTINCT judge), message, max(id) "
            f"FROM failure WHERE run_id = ? {'AND open = 1' if open_only else ''} "
            "GROUP BY kind ORDER BY 2 DESC, 1",
            (run_id,),
        )
        return [
            FailureCount(kind, times, tuple(sorted(json.loads(judges))), message)
            for kind, times, judges, message, _ in found
        ]

    def for_item(self, run_id: int, item_id: str) -> list[VoteRow]:
        """Every vote of one item, by criterion, judge and replicate."""
        rows = self._files.rows(
            "SELECT * FROM vote WHERE run_id = ? AND item_id = ? "
            "ORDER BY criterion, judge, replicate",
            (run_id, item_id),
        )
        return [_vote(row) for row in rows]

    def call(self, call_id: int) -> CallRow:
        """One call with its whole prompt."""
        return read_call(self._files, call_id)

    def ballots(self, run_id: int, item_ids: Sequence[str] | None = None) -> list[ItemBallots]:
        """The ballots of these items, or of all items of the run in its order."""
        if item_ids is None:
            found = self._files.tuples(
                "SELECT item_id FROM run_item WHERE run_id = ? ORDER BY position", (run_id,)
            )
            item_ids = [item_id for (item_id,) in found]
        with self._files.in_words():
            return read_ballots(self._files.mine, run_id, item_ids)

    def all_ballots(
        self, run_id: int, criterion: str | None = None, *, chances: bool = False
    ) -> list[BallotRow]:
        """All ballots (of one criterion, or of all) from one index, for metrics.

        Without ``chances`` that index is all that is read.
        """
        where, values = (
            ("", (run_id,)) if criterion is None else (" AND criterion = ?", (run_id, criterion))
        )
        found = self._files.tuples(
            f"SELECT {_CELL}, option, abstained, {'probabilities' if chances else 'NULL'} "
            f"FROM vote WHERE run_id = ?{where} ORDER BY criterion, judge, item_id, replicate",
            values,
        )
        return [
            BallotRow._make((*key, bool(abstained), read_chances(likely)))
            for *key, abstained, likely in found
        ]

    def columns(self, run_id: int, below: int | None = None) -> Iterator[JudgeColumn]:
        """The votes (of replicates 0 to ``below`` - 1) by criterion, judge and replicate.

        What ``all_ballots`` gives, several times as fast; one column at a time is in memory.
        """
        rows = self._files.tuples(
            "SELECT criterion, judge, replicate, json_group_array(item_id), "
            "json_group_array(option) FROM vote WHERE run_id = ? AND (? IS NULL OR replicate < ?) "
            "GROUP BY criterion, judge, replicate",
            (run_id, below, below),
        )
        for criterion, judge, replicate, *lists in rows:
            yield JudgeColumn(criterion, judge, replicate, *map(json.loads, lists))


def _cell(fields: dict[str, object]) -> Cell:
    return Cell._make(fields.pop(name) for name in ("item_id", "criterion", "judge", "replicate"))


def _vote(row: sqlite3.Row) -> VoteRow:
    fields = dict(row)
    probabilities = fields.pop("probabilities")
    return VoteRow(
        cell=_cell(fields),
        abstained=bool(fields.pop("abstained")),
        evidence=tuple(json.loads(fields.pop("evidence"))),
        order=_order(fields.pop("ord")),
        probabilities=read_chances(probabilities),
        detail=json.loads(fields.pop("detail")),
        **fields,
    )


def _failure(row: sqlite3.Row) -> FailureRow:
    fields = dict(row)
    return FailureRow(
        cell=_cell(fields),
        order=_order(fields.pop("ord")),
        open=bool(fields.pop("open")),
        **fields,
    )


def _order(text: str | None) -> tuple[int, ...] | None:
    return None if text is None else tuple(json.loads(text))
