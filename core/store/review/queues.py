"""Review queues: rules, items, cells, and the vote statistics that select cells."""

from __future__ import annotations

import builtins
import json
import sqlite3
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from core.domain.review import (
    CellState,
    Order,
    QueueRule,
    QueueSettings,
    Reason,
    Role,
)
from core.domain.review_records import QueuedCell, QueuedItem, QueueRow
from core.domain.rubric import Rubric
from core.errors import NotFound
from core.store.database.connection import Connections, new_id
from core.store.database.content import clean, dump, to_json
from core.store.library.datasets import HAS_RUBRIC
from core.text.names import STORED

_QUEUE = 'id, run_id, name, rule, settings, ordering AS "order", seed, author, created, archived'
_ITEM = "item_id, position, draw, assisted, required, assigned"
_CELL = (
    "item_id, criterion, reasons, chance, failed, flip, change, entropy, margin, spread, "
    "state, flagged, version"
)


class Queues:
    """Available as ``store.queues``."""

    def __init__(self, files: Connections) -> None:
        self._files = files

    def create(
        self,
        run_id: int,
        name: str,
        rule: QueueRule,
        settings: QueueSettings,
        *,
        order: Order,
        seed: int,
        author: str,
        now: str,
    ) -> QueueRow:
        """Add an empty queue."""
        with self._files.write() as db:
            cursor = db.execute(
                "INSERT INTO review_queue "
                "(run_id, name, rule, settings, ordering, seed, author, created) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(run_id, clean(name), to_json(dump(rule)), to_json(dump(settings)), order),
                    *(seed, clean(author), now),
                ),
            )
            return self.get(new_id(cursor))

    def change(
        self, queue_id: int, *, name: str, order: Order, settings: QueueSettings
    ) -> QueueRow:
        """Change a queue's name, order or mode; raises ``NotFound``."""
        with self._files.write() as db:
            db.execute(
                "UPDATE review_queue SET name = ?, ordering = ?, settings = ? WHERE id = ?",
                (clean(name), order, to_json(dump(settings)), queue_id),
            )
            return self.get(queue_id)

    def archive(self, queue_id: int, *, now: str | None) -> None:
        """Archive a queue, or restore it with ``None``."""
        with self._files.write() as db:
            db.execute("UPDATE review_queue SET archived = ? WHERE id = ?", (now, queue_id))

    def get(self, queue_id: int) -> QueueRow:
        """Return a queue; raises ``NotFound``."""
        rows = self._files.rows(f"SELECT {_QUEUE} FROM review_queue WHERE id = ?", (queue_id,))
        if not rows:
            raise NotFound(f"There is no review queue {queue_id}.")
        return _queue_row(rows[0])

    def list(self, run_id: int | None = None, *, archived: bool = False) -> builtins.list[QueueRow]:
        """Return current or archived queues of a run, or of all runs, newest first."""
        rows = self._files.rows(
            f"SELECT {_QUEUE} FROM review_queue WHERE (? IS NULL OR run_id = ?) "
            "AND (archived IS NOT NULL) = ? ORDER BY id DESC",
            (run_id, run_id, archived),
        )
        return [_queue_row(row) for row in rows]

    def all_of_run(self, run_id: int) -> builtins.list[QueueRow]:
        """Return all queues of a run, including archived ones, in the order of creation."""
        rows = self._files.rows(
            f"SELECT {_QUEUE} FROM review_queue WHERE run_id = ? ORDER BY id", (run_id,)
        )
        return [_queue_row(row) for row in rows]

    def add(self, queue_id: int, items: Sequence[QueuedItem], cells: Sequence[QueuedCell]) -> int:
        """Add the items and cells that the queue lacks; return the number of cells added."""
        with self._files.write() as db:
            db.executemany(
                f"INSERT INTO queue_item (queue_id, {_ITEM}) VALUES (?, ?, ?, ?, ?, ?, ?) "
                "ON CONFLICT DO NOTHING",
                (
                    (
                        *(queue_id, i.item_id, i.position, i.draw, i.assisted, i.required),
                        json.dumps(list(i.assigned)),
                    )
                    for i in items
                ),
            )
            ((before,),) = db.execute(_COUNT, (queue_id,))
            db.executemany(
                f"INSERT INTO queue_cell (queue_id, {_CELL}) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                (
                    (
                        *(queue_id, c.item_id, c.criterion, json.dumps(c.reasons), c.chance),
                        *(c.failed, c.flip, c.change, c.entropy, c.margin, c.spread),
                        *(c.state, c.flagged, c.version),
                    )
                    for c in cells
                ),
            )
            ((after,),) = db.execute(_COUNT, (queue_id,))
        return int(after - before)

    def items(self, queue_id: int, ids: Iterable[str] | None = None) -> builtins.list[QueuedItem]:
        """Return the items of a queue (or those with these ids), in the run's order."""
        only = "" if ids is None else "AND item_id IN (SELECT value FROM json_each(?)) "
        rows = self._files.tuples(
            f"SELECT {_ITEM} FROM queue_item WHERE queue_id = ? {only}ORDER BY position",
            (queue_id, *(() if ids is None else (json.dumps(sorted(ids)),))),
        )
        return [_item_from(row) for row in rows]

    def assigned(self, queue_id: int) -> dict[str, tuple[str, ...]]:
        """Return a queue's assigned items with the names of their reviewers."""
        return {
            item_id: tuple(json.loads(names))
            for item_id, names in self._files.tuples(
                "SELECT item_id, assigned FROM queue_item WHERE queue_id = ? AND assigned <> '[]'",
                (queue_id,),
            )
        }

    def assisted(self, queue_id: int) -> set[str]:
        """Return a queue's items whose votes are visible from the start."""
        sql = "SELECT item_id FROM queue_item WHERE queue_id = ? AND assisted"
        return {item_id for (item_id,) in self._files.tuples(sql, (queue_id,))}

    def item(self, queue_id: int, item_id: str) -> QueuedItem:
        """Return an item of a queue; raises ``NotFound``."""
        rows = self._files.tuples(
            f"SELECT {_ITEM} FROM queue_item WHERE queue_id = ? AND item_id = ?",
            (queue_id, item_id),
        )
        if not rows:
            raise NotFound(f"There is no item {item_id!r} in review queue {queue_id}.")
        return _item_from(rows[0])

    def set_item(self, queue_id: int, item: QueuedItem) -> None:
        """Change the number of reviewers that an item needs, and their names."""
        with self._files.write() as db:
            db.execute(
                "UPDATE queue_item SET assisted = ?, required = ?, assigned = ? "
                "WHERE queue_id = ? AND item_id = ?",
                (
                    *(item.assisted, item.required, json.dumps(list(item.assigned))),
                    *(queue_id, item.item_id),
                ),
            )

    def cells(self, queue_id: int, item_id: str | None = None) -> builtins.list[QueuedCell]:
        """Return the cells of a queue, or of one of its items."""
        only = "" if item_id is None else "AND item_id = ? "
        rows = self._files.tuples(
            f"SELECT {_CELL} FROM queue_cell WHERE queue_id = ? {only}ORDER BY item_id, criterion",
            (queue_id,) if item_id is None else (queue_id, item_id),
        )
        return [
            QueuedCell(row[0], row[1], _reasons_in(row[2]), row[3], bool(row[4]), *row[5:])
            for row in rows
        ]

    def size(self, queue_id: int) -> int:
        """Return the number of cells of a queue."""
        ((count,),) = self._files.tuples(_COUNT, (queue_id,))
        return int(count)

    def chances(self, queue_id: int) -> builtins.list[tuple[str, str, str, float]]:
        """Return a queue's cells with their reasons (as stored JSON) and draw probabilities."""
        return self._files.tuples(
            "SELECT item_id, criterion, reasons, chance FROM queue_cell WHERE queue_id = ?",
            (queue_id,),
        )

    def drawn(self, queue_id: int, *draws: Reason) -> int:
        """Return the number of a queue's cells that only these draws selected."""
        marks = ", ".join("?" * len(draws))
        reasons = (json.dumps([draw]) for draw in draws)
        ((drawn,),) = self._files.tuples(f"{_COUNT} AND reasons IN ({marks})", (queue_id, *reasons))
        return int(drawn)

    def set_state(
        self, queue_id: int, item_id: str, criterion: str, state: CellState, *, raised: bool
    ) -> None:
        """Change a cell's state; ``raised``: open views of it must be refreshed."""
        with self._files.write() as db:
            db.execute(
                "UPDATE queue_cell SET state = ?, version = version + ? "
                "WHERE queue_id = ? AND item_id = ? AND criterion = ?",
                (state, raised, queue_id, item_id, criterion),
            )

    def reweigh(self, queue_id: int, cells: Sequence[QueuedCell]) -> None:
        """Update only the numbers that order these cells."""
        with self._files.write() as db:
            db.executemany(
                "UPDATE queue_cell SET flip = ?, change = ?, entropy = ?, margin = ?, spread = ? "
                "WHERE queue_id = ? AND item_id = ? AND criterion = ?",
                (
                    (
                        *(c.flip, c.change, c.entropy, c.margin, c.spread),
                        *(queue_id, c.item_id, c.criterion),
                    )
                    for c in cells
                ),
            )

    def set_flag(self, queue_id: int, item_id: str, criterion: str, role: Role | None) -> None:
        """Route a cell to a role, or with ``None`` back to everyone."""
        with self._files.write() as db:
            db.execute(
                "UPDATE queue_cell SET flagged = ?, version = version + 1 "
                "WHERE queue_id = ? AND item_id = ? AND criterion = ?",
                (role, queue_id, item_id, criterion),
            )

    def holding(self, run_id: int, item_id: str, criterion: str) -> builtins.list[int]:
        """Return the queues of a run that contain a cell."""
        rows = self._files.tuples(
            "SELECT c.queue_id FROM queue_cell c JOIN review_queue q ON q.id = c.queue_id "
            "WHERE q.run_id = ? AND c.item_id = ? AND c.criterion = ? ORDER BY 1",
            (run_id, item_id, criterion),
        )
        return [queue_id for (queue_id,) in rows]

    def states(self, queue_id: int) -> dict[CellState, tuple[int, float, float]]:
        """Return per state the number of cells, and the sums of ``flip`` and ``change``."""
        return {
            state: (count, flip, change)
            for state, count, flip, change in self._files.tuples(
                "SELECT state, count(*), sum(flip), sum(change) FROM queue_cell "
                "WHERE queue_id = ? GROUP BY 1",
                (queue_id,),
            )
        }

    def runs_over(self, dataset_id: int) -> builtins.list[int]:
        """Return the runs over any version of a dataset that have a current queue."""
        rows = self._files.tuples(
            "SELECT DISTINCT q.run_id FROM review_queue q JOIN run r ON r.id = q.run_id "
            "JOIN dataset_version v ON v.id = r.dataset_version_id "
            "WHERE v.dataset_id = ? AND q.archived IS NULL ORDER BY q.run_id",
            (dataset_id,),
        )
        return [run_id for (run_id,) in rows]

    def undecided(self, run_id: int, reviewer: str) -> int:
        """Return the number of a run's open cells that this reviewer may still decide."""
        ((count,),) = self._files.tuples(
            """
            SELECT count(*) FROM review_queue q
            JOIN queue_item i ON i.queue_id = q.id
            JOIN queue_cell c ON c.queue_id = i.queue_id AND c.item_id = i.item_id
            WHERE q.run_id = ? AND q.archived IS NULL AND c.state <> 'resolved'
                AND (i.assigned = '[]'
                    OR EXISTS (SELECT 1 FROM json_each(i.assigned) WHERE value = ?))
                AND NOT EXISTS (
                    SELECT 1 FROM review_verdict v WHERE v.queue_id = c.queue_id
                    AND v.item_id = c.item_id AND v.criterion = c.criterion AND v.reviewer = ?
                )
            """,
            (run_id, reviewer, reviewer),
        )
        return int(count)


_COUNT = "SELECT count(*) FROM queue_cell WHERE queue_id = ?"


def _queue_row(row: sqlite3.Row) -> QueueRow:
    fields = dict(row)
    rule = QueueRule.model_validate_json(fields.pop("rule"))
    settings = QueueSettings.model_validate_json(fields.pop("settings"))
    return QueueRow(rule=rule, settings=settings, **fields)


def _item_from(row: Sequence[Any]) -> QueuedItem:
    item_id, position, draw, assisted, required, assigned = row
    people = tuple(json.loads(assigned))
    return QueuedItem(item_id, position, draw, bool(assisted), required, people)


@lru_cache(maxsize=4096)
def _reasons_in(text: str) -> tuple[Reason, ...]:
    """Return the reasons in JSON text, cached since many cells share the same list."""
    return tuple(json.loads(text))


class RunVoteStatistics:
    """Available as ``store.vote_statistics``."""

    def __init__(self, files: Connections) -> None:
        self._files = files

    def answers(self, run_id: int) -> dict[str, dict[str, int | None]]:
        """Return the verdicts of cells with a vote or a decision, by item and criterion.

        An abstention is ``None``.
        """
        answers: dict[str, dict[str, int | None]] = {}
        for item_id, criterion, option in self._files.tuples(
            "SELECT c.item_id, c.criterion, c.option FROM cell c WHERE c.run_id = ? "
            "AND (c.votes > 0 OR c.abstentions > 0 OR EXISTS (SELECT 1 FROM settled s "
            "WHERE s.run_id = c.run_id AND s.item_id = c.item_id AND s.criterion = c.criterion))",
            (run_id,),
        ):
            answers.setdefault(item_id, {})[criterion] = option
        return answers

    def unsettled_splits(self, run_id: int, item_id: str | None = None) -> int:
        """Return the number of a run's (or an item's) cells with split votes and no decision."""
        ((count,),) = self._files.tuples(
            "SELECT count(*) FROM cell c WHERE c.run_id = ? AND c.entropy > 0 "
            "AND (? IS NULL OR c.item_id = ?) AND NOT EXISTS (SELECT 1 FROM settled s "
            "WHERE s.run_id = c.run_id AND s.item_id = c.item_id AND s.criterion = c.criterion "
            "AND s.state = 'active')",
            (run_id, item_id, item_id),
        )
        return int(count)

    def scores(self, run_id: int) -> list[tuple[str, int, float | None]]:
        """Return the items of a run in order: id, position and score."""
        return self._files.tuples(
            "SELECT item_id, position, score FROM run_item WHERE run_id = ? ORDER BY position",
            (run_id,),
        )

    def own_rubrics(self, run_id: int) -> dict[str, Rubric]:
        """Return the rubrics of items that have their own, by item id."""
        return {
            item_id: Rubric.model_validate_json(text, context=STORED)
            for item_id, text in self._files.tuples(
                "SELECT i.item_id, json_extract(i.content, '$.rubric') FROM item i "
                "JOIN run r ON r.dataset_version_id = i.version_id "
                f"WHERE r.id = ? AND {HAS_RUBRIC}",
                (run_id,),
            )
        }
