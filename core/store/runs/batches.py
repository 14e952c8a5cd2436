"""Batches at providers: their requests, each request's question, and their results.

A batch is stored before its file is uploaded, and its file name before it is paid for. So after a
kill the next owner finds it at the provider, and pays for nothing twice.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from core.domain.runs import Lease
from core.domain.votes import BatchRow, Cell
from core.store.database.connection import Connections, new_id
from core.store.database.content import clean
from core.store.runs.leases import require_lease

_COLUMNS = (
    "id, run_id, judge, token, status, lines, guess, file, batch, said, done, failed, stopped, "
    "message, created, sent, looked, due"
)
_OF_RUN = "batch_id IN (SELECT id FROM batch WHERE run_id = ? AND judge = ?)"


class Batches:
    """Available as ``store.batches``. Only the owner of a run's lease writes its results."""

    def __init__(self, files: Connections) -> None:
        self._files = files

    def plan(
        self,
        lease: Lease,
        judge: str,
        token: str,
        lines: Sequence[tuple[str, Cell]],
        *,
        guess: float,
        now: str,
    ) -> int:
        """Record a batch before it is sent, with each request's id and question; return its id.

        Raises:
            Fenced: another owner holds the run; nothing was written.
        """
        with self._files.write() as db:
            require_lease(db, lease)
            cursor = db.execute(
                "INSERT INTO batch (run_id, judge, token, status, lines, guess, created) "
                "VALUES (?, ?, ?, 'planned', ?, ?, ?)",
                (lease.run_id, judge, token, len(lines), guess, now),
            )
            batch = new_id(cursor)
            db.executemany(
                "INSERT INTO batch_line (batch_id, key, item_id, criterion, replicate) "
                "VALUES (?, ?, ?, ?, ?)",
                ((batch, key, cell.item, cell.criterion, cell.replicate) for key, cell in lines),
            )
        return batch

    def update(self, lease: Lease, batch_id: int, **facts: str | float | None) -> None:
        """Update fields of ``BatchRow``. Raises ``LeaseLost``."""
        named = ", ".join(f"{name} = ?" for name in facts)
        values = (clean(value) if isinstance(value, str) else value for value in facts.values())
        with self._files.write() as db:
            require_lease(db, lease)
            db.execute(f"UPDATE batch SET {named} WHERE id = ?", (*values, batch_id))

    def drop(self, lease: Lease, batch: int) -> None:
        """Delete a batch that was never paid for. Raises ``LeaseLost``."""
        with self._files.write() as db:
            require_lease(db, lease)
            db.execute("DELETE FROM batch_line WHERE batch_id = ?", (batch,))
            db.execute("DELETE FROM batch WHERE id = ? AND batch = ''", (batch,))

    def take(self, lease: Lease, batch: int, answers: Collection[tuple[str, str]]) -> None:
        """Mark a batch as recorded and store ``answers`` (by request id) for later.

        These belong to questions that take several requests. Raises ``LeaseLost``.
        """
        with self._files.write() as db:
            require_lease(db, lease)
            db.executemany(
                "UPDATE batch_line SET answer = ? WHERE batch_id = ? AND key = ?",
                ((clean(answer), batch, key) for key, answer in answers),
            )
            db.execute("DELETE FROM batch_line WHERE batch_id = ? AND answer IS NULL", (batch,))
            db.execute("UPDATE batch SET status = 'taken', due = NULL WHERE id = ?", (batch,))

    def forget(self, lease: Lease, judge: str, cells: Collection[Cell]) -> None:
        """Delete stored answers to these questions. Raises ``LeaseLost``."""
        if not cells:
            return
        with self._files.write() as db:
            require_lease(db, lease)
            db.executemany(
                f"DELETE FROM batch_line WHERE {_OF_RUN} AND answer IS NOT NULL "
                "AND item_id = ? AND criterion = ? AND replicate = ?",
                (
                    (lease.run_id, judge, cell.item, cell.criterion, cell.replicate)
                    for cell in cells
                ),
            )

    def of_run(self, run_id: int) -> list[BatchRow]:
        """Return all batches of a run, in the order of creation."""
        rows = self._files.rows(
            f"SELECT {_COLUMNS} FROM batch WHERE run_id = ? ORDER BY id", (run_id,)
        )
        return [BatchRow(**{**dict(row), "stopped": bool(row["stopped"])}) for row in rows]

    def lines(self, batch: BatchRow) -> dict[str, Cell]:
        """Return the question of each request of a batch that is itself not yet recorded."""
        return {
            key: Cell(item, criterion, batch.judge, replicate)
            for key, item, criterion, replicate in self._files.tuples(
                "SELECT key, item_id, criterion, replicate FROM batch_line WHERE batch_id = ?",
                (batch.id,),
            )
        }

    def answers(self, run_id: int, judge: str) -> dict[str, tuple[Cell, str]]:
        """Return stored answers to questions of several requests, with their question."""
        return {
            key: (Cell(item, criterion, judge, replicate), answer)
            for key, item, criterion, replicate, answer in self._files.tuples(
                "SELECT key, item_id, criterion, replicate, answer FROM batch_line "
                f"WHERE {_OF_RUN} AND answer IS NOT NULL",
                (run_id, judge),
            )
        }

    def cells(self, run_id: int, judge: str) -> set[Cell]:
        """Return the questions in unfinished batches."""
        rows = self._files.tuples(
            "SELECT item_id, criterion, replicate FROM batch_line "
            "WHERE batch_id IN (SELECT id FROM batch WHERE run_id = ? AND judge = ? "
            "AND status <> 'taken')",
            (run_id, judge),
        )
        return {Cell(item, criterion, judge, replicate) for item, criterion, replicate in rows}
