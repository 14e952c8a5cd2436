"""Settled cells, and the reviewers' verdicts behind them."""

from __future__ import annotations

import builtins
import json
from collections.abc import Sequence
from typing import Any

from core.domain.dataset import Label
from core.domain.review import ReviewerAnswer, SettledCell, Span
from core.domain.review_records import VerdictRow
from core.store.database.connection import Connections
from core.store.database.content import clean, to_json


def answer_data(verdict: ReviewerAnswer) -> dict[str, Any]:
    """Return a verdict as plain JSON data without empty fields.

    >>> answer_data(ReviewerAnswer(1))
    {'option': 1}
    """
    data: dict[str, Any] = {"option": verdict.option}
    if verdict.why:
        data["why"] = verdict.why
    if verdict.note:
        data["note"] = clean(verdict.note)
    if verdict.evidence:
        data["evidence"] = [[s.start, s.end, clean(s.quote)] for s in verdict.evidence]
    return data


def answer_from_data(data: dict[str, Any]) -> ReviewerAnswer:
    """Return the verdict from the data of ``answer_data``.

    >>> answer_from_data({"option": None, "why": "missing_info"})
    ReviewerAnswer(option=None, why='missing_info', note='', evidence=())
    """
    spans = tuple(Span(*span) for span in data.get("evidence", ()))
    return ReviewerAnswer(data["option"], data.get("why"), data.get("note", ""), spans)


def answer_text(verdict: ReviewerAnswer | None) -> str | None:
    """Return a verdict as JSON text, or ``None``."""
    return None if verdict is None else to_json(answer_data(verdict))


def answer_from_text(text: str | None) -> ReviewerAnswer | None:
    """Return the verdict from the text of ``answer_text``."""
    return None if text is None else answer_from_data(json.loads(text))


def settled_data(settled: SettledCell) -> dict[str, Any]:
    """Return a settled decision as plain JSON data, without its event."""
    return {
        "option": settled.option,
        "label": settled.label,
        "why": settled.why,
        "provenance": settled.provenance,
        "people": list(settled.people),
        "note": settled.note,
        "state": settled.state,
    }


def settled_from(item_id: str, criterion: str, data: dict[str, Any], event_id: int) -> SettledCell:
    """Return the decision from the data of ``settled_data``, with its event."""
    return SettledCell(
        item_id,
        criterion,
        data["option"],
        data["label"],
        data["why"],
        data["provenance"],
        tuple(data["people"]),
        data["note"],
        event_id,
        data["state"],
    )


_SETTLED = "item_id, criterion, option, label, why, provenance, people, note, event_id, state"
_VERDICT = (
    "item_id, criterion, part, reviewer, mode, first, first_event, revealed, final, final_event"
)
_SAYS = "('settle', 'unsettle', 'mark')"


class SettledCells:
    """Available as ``store.settled``: derived from events; only ``active`` cells count."""

    def __init__(self, files: Connections) -> None:
        self._files = files

    def of_items(self, run_id: int, item_ids: Sequence[str]) -> dict[str, dict[str, SettledCell]]:
        """Return active decisions on these items of a run, by item id and criterion."""
        settled: dict[str, dict[str, SettledCell]] = {}
        for row in self._files.tuples(
            f"SELECT {_SETTLED} FROM settled WHERE run_id = ? AND state = 'active' "
            "AND item_id IN (SELECT value FROM json_each(?))",
            (run_id, json.dumps(list(item_ids))),
        ):
            settled.setdefault(row[0], {})[row[1]] = _settled_from_row(row)
        return settled

    def of_run(self, run_id: int) -> builtins.list[SettledCell]:
        """Return all decisions of a run, in any state."""
        return [
            _settled_from_row(row)
            for row in self._files.tuples(
                f"SELECT {_SETTLED} FROM settled WHERE run_id = ? ORDER BY item_id, criterion",
                (run_id,),
            )
        ]

    def options(
        self, run_id: int, queue_id: int | None = None
    ) -> builtins.list[tuple[str, str, int | None]]:
        """Return the active decisions of a run (or on a queue's cells), by item and criterion.

        Each is (item id, criterion, option).
        """
        in_use = (
            "AND EXISTS (SELECT 1 FROM queue_cell c WHERE c.queue_id = ? "
            "AND c.item_id = settled.item_id AND c.criterion = settled.criterion)"
        )
        return self._files.tuples(
            "SELECT item_id, criterion, option FROM settled WHERE run_id = ? AND state = 'active' "
            f"{'' if queue_id is None else in_use} ORDER BY item_id, criterion",
            (run_id,) if queue_id is None else (run_id, queue_id),
        )

    def get(self, run_id: int, item_id: str, criterion: str) -> SettledCell | None:
        """Return the decision on a cell in any state, or ``None``."""
        rows = self._files.tuples(
            f"SELECT {_SETTLED} FROM settled WHERE run_id = ? AND item_id = ? AND criterion = ?",
            (run_id, item_id, criterion),
        )
        return _settled_from_row(rows[0]) if rows else None

    def put(self, run_id: int, settled: SettledCell) -> None:
        """Replace the decision on a cell."""
        with self._files.write() as db:
            db.execute(
                f"INSERT OR REPLACE INTO settled (run_id, {_SETTLED}) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(run_id, settled.item_id, settled.criterion, settled.option, settled.label),
                    *(settled.why, settled.provenance, json.dumps(list(settled.people))),
                    *(clean(settled.note), settled.event_id, settled.state),
                ),
            )

    def remove(self, run_id: int, item_id: str, criterion: str) -> None:
        """Remove the decision on a cell."""
        with self._files.write() as db:
            db.execute(
                "DELETE FROM settled WHERE run_id = ? AND item_id = ? AND criterion = ?",
                (run_id, item_id, criterion),
            )

    def hits(self, run_id: int, criterion: str, scored: Sequence[int]) -> tuple[int, int]:
        """Return how many settled cells agree with a voted option, and how many have one.

        ``scored`` are the options other than abstentions.
        """
        options = json.dumps(list(scored))
        ((agreeing, total),) = self._files.tuples(
            "SELECT coalesce(sum(c.voted = s.option), 0), count(*) FROM settled s "
            "JOIN cell c ON c.run_id = s.run_id AND c.item_id = s.item_id "
            "AND c.criterion = s.criterion WHERE s.run_id = ? AND s.criterion = ? "
            "AND s.state = 'active' AND s.option IN (SELECT value FROM json_each(?)) "
            "AND c.voted IN (SELECT value FROM json_each(?))",
            (run_id, criterion, options, options),
        )
        return int(agreeing), int(total)

    def active_at(self, run_id: int, timestamp: str) -> set[tuple[str, str]]:
        """Return the cells that were settled at a time, by item and criterion."""
        return {
            (item_id, criterion)
            for item_id, criterion, state, _ in self._files.tuples(
                # SQLite takes the other columns from the row with the maximum.
                "SELECT item_id, criterion, json_extract(after, '$.state'), max(id) "
                f"FROM review_event WHERE run_id = ? AND action IN {_SAYS} AND ts <= ? "
                "GROUP BY item_id, criterion",
                (run_id, timestamp),
            )
            if state == "active"
        }

    def last_event(self) -> int:
        """Return the id of the newest event, or 0."""
        ((last,),) = self._files.tuples("SELECT coalesce(max(id), 0) FROM review_event")
        return int(last)

    def truth(
        self,
        dataset_version: int,
        *,
        upto: int | None = None,
        item_ids: Sequence[str] | None = None,
    ) -> dict[str, dict[str, Label | None]]:
        """Return settled labels of a dataset version, by item id and criterion.

        If several runs settled a cell, the newest decision counts. ``None`` means that reviewers
        found that it cannot be assessed. ``upto`` is the last event to consider. Without it the
        result is the current state, optionally of ``item_ids`` only.
        """
        if upto == 0:
            return {}
        rows = (
            self._current_decisions(dataset_version, item_ids)
            if upto is None
            else self._decisions_as_of(dataset_version, upto)
        )
        labels: dict[str, dict[str, Label | None]] = {}
        for settled in sorted(rows, key=lambda row: row.event_id):
            label = None
            if settled.label is not None:
                label = Label(label=settled.label, reason=settled.note)
            labels.setdefault(settled.item_id, {})[settled.criterion] = label
        return labels

    def _current_decisions(
        self, dataset_version: int, item_ids: Sequence[str] | None
    ) -> builtins.list[SettledCell]:
        only = "" if item_ids is None else "AND item_id IN (SELECT value FROM json_each(?))"
        values = () if item_ids is None else (json.dumps(list(item_ids)),)
        return [
            _settled_from_row(row)
            for row in self._files.tuples(
                f"SELECT {_SETTLED} FROM settled WHERE state = 'active' "
                f"AND run_id IN (SELECT id FROM run WHERE dataset_version_id = ?) {only}",
                (dataset_version, *values),
            )
        ]

    def _decisions_as_of(self, dataset_version: int, upto: int) -> builtins.list[SettledCell]:
        """Return the decisions as of the event ``upto``, rebuilt from events."""
        in_force: dict[tuple[Any, ...], SettledCell | None] = {}
        for event_id, run_id, item_id, criterion, after in self._files.tuples(
            "SELECT id, run_id, item_id, criterion, after FROM review_event "
            "WHERE run_id IN (SELECT id FROM run WHERE dataset_version_id = ?) "
            f"AND action IN {_SAYS} AND id <= ? ORDER BY id",
            (dataset_version, upto),
        ):
            data = json.loads(after)
            in_force[run_id, item_id, criterion] = (
                None if data is None else settled_from(item_id, criterion, data, event_id)
            )
        return [
            decision for decision in in_force.values() if decision and decision.state == "active"
        ]


class Verdicts:
    """Available as ``store.verdicts``: each reviewer's verdicts on the cells of a queue."""

    def __init__(self, files: Connections) -> None:
        self._files = files

    def of_item(self, queue_id: int, item_id: str) -> builtins.list[VerdictRow]:
        """Return the verdicts on an item's cells, in the order given."""
        return self._verdict_rows("queue_id = ? AND item_id = ?", (queue_id, item_id))

    def of_queue(self, queue_id: int) -> builtins.list[VerdictRow]:
        """Return all verdicts of a queue, in the order given."""
        return self._verdict_rows("queue_id = ?", (queue_id,))

    def verdicts_needed(self, queue_id: int) -> int:
        """Return the number of verdicts that the open cells of a queue still need."""
        ((count,),) = self._files.tuples(
            "WITH given AS (SELECT item_id, criterion, count(*) AS times FROM review_verdict "
            "WHERE queue_id = ? AND final IS NOT NULL AND part = 'review' GROUP BY 1, 2) "
            "SELECT total(max(1, i.required - coalesce(g.times, 0))) FROM queue_cell c "
            "JOIN queue_item i ON i.queue_id = c.queue_id AND i.item_id = c.item_id "
            "LEFT JOIN given g ON g.item_id = c.item_id AND g.criterion = c.criterion "
            "WHERE c.queue_id = ? AND c.state <> 'resolved'",
            (queue_id, queue_id),
        )
        return int(count)

    def decided(self, queue_id: int, reviewer: str) -> set[str]:
        """Return the items of a queue with a final verdict of this person."""
        rows = self._files.tuples(
            "SELECT DISTINCT item_id FROM review_verdict "
            "WHERE queue_id = ? AND reviewer = ? AND final IS NOT NULL",
            (queue_id, reviewer),
        )
        return {item_id for (item_id,) in rows}

    def put(self, queue_id: int, verdict: VerdictRow) -> None:
        """Replace a reviewer's verdict on a cell."""
        with self._files.write() as db:
            db.execute(
                f"INSERT OR REPLACE INTO review_verdict (queue_id, {_VERDICT}) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(queue_id, verdict.item_id, verdict.criterion, verdict.part),
                    *(verdict.reviewer, verdict.mode, answer_text(verdict.first)),
                    *(verdict.first_event, verdict.revealed, answer_text(verdict.final)),
                    verdict.final_event,
                ),
            )

    def remove(self, queue_id: int, verdict: VerdictRow) -> None:
        """Delete a reviewer's verdict on a cell."""
        with self._files.write() as db:
            db.execute(
                "DELETE FROM review_verdict WHERE queue_id = ? AND item_id = ? AND criterion = ? "
                "AND part = ? AND reviewer = ?",
                (queue_id, verdict.item_id, verdict.criterion, verdict.part, verdict.reviewer),
            )

    def _verdict_rows(self, where: str, values: Sequence[Any]) -> builtins.list[VerdictRow]:
        rows = self._files.rows(
            f"SELECT {_VERDICT} FROM review_verdict WHERE {where} ORDER BY first_event", values
        )
        verdicts = []
        for row in rows:
            fields = dict(row)
            first, final = (
                answer_from_text(fields.pop("first")),
                answer_from_text(fields.pop("final")),
            )
            assert first is not None, "the column is NOT NULL"
            verdicts.append(VerdictRow(first=first, final=final, **fields))
        return verdicts


def _settled_from_row(row: Sequence[Any]) -> SettledCell:
    item_id, criterion, option, label, reason, provenance, people, note, event_id, state = row
    names = tuple(json.loads(people))
    return SettledCell(
        item_id, criterion, option, label, reason, provenance, names, note, event_id, state
    )
