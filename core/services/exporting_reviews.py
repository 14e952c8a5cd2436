"""What reviewing adds to the rows of an export: how cells were drawn, and how they were decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.domain.review import Settled
from core.domain.review_records import EventRow, QueuedCell, VerdictRow
from core.domain.rubric import Criterion
from core.services.consensus import label_of
from core.store.store import Store

Row = dict[str, str | int | float | bool | None]


@dataclass(frozen=True)
class Reviews:
    """The queues' cells, the newest queue first, people's verdicts by queue, and their events."""

    cells: Mapping[tuple[str, str], QueuedCell]
    verdicts: Mapping[tuple[int, str, str], tuple[VerdictRow, ...]]
    events: Mapping[int, EventRow]

    def drawn(self, item_id: str, criterion: str) -> Row:
        """Why a cell was queued, and the chance it had; nothing for one that was not."""
        cell = self.cells.get((item_id, criterion))
        if cell is None:
            return {}
        return {"stratum": cell.stratum, "inclusion_prob": cell.chance}

    def decided(self, one: Settled, criterion: Criterion | None) -> Row:
        """How a cell came to be settled: first verdicts, what was seen when, time, evidence.

        Of several people who agreed: their first verdicts in the order of names, the time of all,
        when the last of them saw the votes.
        """
        event = self.events[one.event_id]
        row: Row = {"created_at": event.ts, "round": 2 if one.provenance == "adjudicated" else 1}
        if event.queue_id is None:
            return row
        place = (event.queue_id, one.item_id, one.criterion)
        mine = [v for v in self.verdicts.get(place, ()) if _counts(v, one)]
        if not mine or criterion is None:
            return row
        times = [self.events[v.first_event].ms_active for v in mine]
        told = [ms for ms in times if ms is not None]
        seen = [v.revealed for v in mine if v.revealed]
        firsts = [label_of(criterion, v.first) or "Cannot assess" for v in mine]
        row |= {
            "first_vote": ", ".join(firsts),
            "revealed": max(seen) if seen else None,
            "ms_active": sum(told) if told else None,
        }
        spans = mine[0].final.evidence if mine[0].final else ()
        if spans:
            start, end, quote = spans[0]
            row |= {"evidence_quote": quote, "evidence_start": start, "evidence_end": end}
        return row


def _counts(verdict: VerdictRow, one: Settled) -> bool:
    """Whether the cell was settled by this verdict."""
    part = "resolve" if one.provenance == "adjudicated" else "review"
    return verdict.part == part and verdict.reviewer in one.people and verdict.final is not None


def reviews_of(store: Store, run_id: int) -> Reviews:
    """What people did about the cells of a run, read once."""
    queues = store.queues.list(run_id) + store.queues.list(run_id, archived=True)
    cells: dict[tuple[str, str], QueuedCell] = {}
    verdicts: dict[tuple[int, str, str], tuple[VerdictRow, ...]] = {}
    for queue in sorted(queues, key=lambda q: q.id):
        for cell in store.queues.cells(queue.id):
            cells[cell.item_id, cell.criterion] = cell
        for verdict in store.verdicts.of_queue(queue.id):
            place = (queue.id, verdict.item_id, verdict.criterion)
            verdicts[place] = (*verdicts.get(place, ()), verdict)
    return Reviews(cells, verdicts, {e.id: e for e in store.events.of_run(run_id)})
