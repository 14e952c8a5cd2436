"""Regrade requests: notes from outside that send items back to be looked at again.

A request is an event on each cell that it is about. It changes nothing: what was settled stays in
force until people decide anew, in a queue of regrades. They judge blind first; the note is shown
with the votes (docs/decisions/0034).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from core import clock
from core.domain.review import QueueRule, QueueSettings, Seat
from core.domain.review_records import EventRow, QueueRow
from core.domain.rubric import Rubric
from core.domain.runs import Run
from core.errors import InputError, Problem
from core.formats.datasets.table import read_table
from core.formats.source.csv_writer import csv_text
from core.services.access.allowing import allowed
from core.services.results.scored_items import effective, resolved_items, scored_rubric
from core.services.review import queues
from core.services.review.adjudication import Act
from core.store.store import Store

Status = Literal["open", "answered", "kept", "changed", "withdrawn"]
STATUSES: dict[Status, str] = {
    "open": "open",
    "answered": "answered; there was no verdict before",
    "kept": "kept",
    "changed": "changed",
    "withdrawn": "withdrawn",
}
#: The rule of a queue of regrades.
RULE = QueueRule.only(requested=True)
NAME = "Regrade requests"
#: Longest note and name, in characters.
LONGEST_NOTE, LONGEST_NAME = 5_000, 200


class RegradeRequest(NamedTuple):
    """Who asks for a regrade of an item and why; ``criterion`` empty: of all its criteria."""

    item_id: str
    criterion: str
    note: str
    by: str


@dataclass(frozen=True)
class Regrade:
    """A request on one cell, and what became of it.

    ``before`` is the label that was in force when it came, ``now`` the one that is since it was
    answered (``None``: none, or nobody can say); ``queue`` is where it waits or was answered.
    """

    event_id: int
    item_id: str
    criterion: str
    by: str
    note: str
    entered: str
    entered_by: str
    before: str | None
    now: str | None
    status: Status
    queue: int | None


@allowed("organise")
def request(store: Store, seat: Seat, run_id: int, wanted: Sequence[RegradeRequest]) -> int:
    """Keep requests, all of them or none; returns on how many cells.

    What the same person asks of the same cell in the same words, and is open, is kept once.

    Raises:
        InputError: with everything that is wrong with them.
    """
    run = store.runs.get(run_id)
    ids = set(store.runs.item_ids(run_id))
    known = list(dict.fromkeys(one.item_id for one in wanted if one.item_id in ids))
    whole = scored_rubric(store, run)
    items = resolved_items(store, run.dataset_version_id, known, upto=0)
    rubrics = {item.id: effective(item, whole) for item in items}
    problems = [p for at, one in enumerate(wanted, 1) for p in _problems(one, rubrics, at)]
    if problems or not wanted:
        raise InputError("These requests cannot be kept.", tuple(problems[:20]))
    with store.write():
        return _keep(store, seat, run, wanted, rubrics)


def _problems(one: RegradeRequest, rubrics: dict[str, Rubric], at: int) -> Iterable[Problem]:
    path = (f"request {at}",)
    if one.item_id not in rubrics:
        yield Problem(f"is about {one.item_id!r}, which is no item of this run.", "", path)
    elif one.criterion and one.criterion not in [c.name for c in rubrics[one.item_id].criteria]:
        yield Problem(f"is about {one.criterion!r}, which is no criterion of it.", "", path)
    if not one.note.strip():
        yield Problem("says nothing.", "Write why a regrade is asked for.", path)
    if not one.by.strip():
        yield Problem("does not say from whom it is.", "Name the person.", path)
    if len(one.note) > LONGEST_NOTE or len(one.by) > LONGEST_NAME:
        mend = f"At most {LONGEST_NOTE:,} characters of note and {LONGEST_NAME} of name."
        yield Problem("is too long.", mend, path)


def _keep(
    store: Store, seat: Seat, run: Run, wanted: Sequence[RegradeRequest], rubrics: dict[str, Rubric]
) -> int:
    there = {
        (one.item_id, one.criterion, one.by, one.note)
        for one in listed(store, run.id)
        if one.status == "open"
    }
    now, step, kept = clock.now(), 0, 0
    for one in wanted:
        rubric = rubrics[one.item_id]
        act = Act(store, seat, run, one.item_id, None, now, step)
        verdicts = _labels(store, run.id, one.item_id, rubric)
        for name in [one.criterion] if one.criterion else [c.name for c in rubric.criteria]:
            said = (one.item_id, name, one.by.strip(), one.note.strip())
            if said not in there:
                before = {"label": verdicts.get(name)}
                act.record("request", name, before=before, after={"by": said[2]}, reason=said[3])
                there.add(said)
                kept += 1
        step = act.step
    return kept


def _labels(store: Store, run_id: int, item_id: str, rubric: Rubric) -> dict[str, str]:
    """The labels in force of an item's cells, by criterion."""
    criteria = {c.name: c for c in rubric.criteria}
    return {
        cell.criterion: criteria[cell.criterion].choices[cell.option].label
        for cell in store.results.cells(run_id, item_id)
        if cell.option is not None and not cell.abstained and cell.criterion in criteria
    }


def listed(store: Store, run_id: int) -> list[Regrade]:
    """All requests of a run, the newest first, with what became of each.

    Raises ``NotFound`` for an unknown run.
    """
    store.runs.row(run_id)
    queued, withdrawn = store.events.regrade_queues(run_id), store.events.withdrawn(run_id)
    settled = {(s.item_id, s.criterion): s.label for s in store.settled.of_run(run_id)}
    found = []
    for event in reversed(store.events.requests(run_id)):
        place = (event.item_id, event.criterion)
        queue, ended = queued.get(place, (None, 0))
        one = _regrade(event, queue, ended, settled.get(place))
        if event.id in withdrawn:
            one = replace(one, status="withdrawn", now=None, queue=None)
        found.append(one)
    return found


def _regrade(event: EventRow, queue: int | None, ended: int | None, label: str | None) -> Regrade:
    before = event.before["label"]
    status: Status = "open"
    if ended is not None and ended > event.id:
        status = "answered" if before is None else "kept" if label == before else "changed"
    elif ended is not None:
        queue = None  # What it was answered in before does not hold it.
    return Regrade(
        event_id=event.id,
        item_id=event.item_id,
        criterion=event.criterion,
        by=str(event.after["by"]),
        note=event.reason,
        entered=event.ts,
        entered_by=event.actor,
        before=before,
        now=None if status == "open" else label,
        status=status,
        queue=queue,
    )


@allowed("organise")
def withdraw(store: Store, seat: Seat, run_id: int, event_id: int, reason: str = "") -> None:
    """Take a request back that was a mistake: it brings its cell into no queue any more.

    It stays in the record, and so does who took it back, when, and why.

    Raises:
        InputError: there is no such request, it was answered or taken back, or waits in a queue.
    """
    with store.write():
        one = next((r for r in listed(store, run_id) if r.event_id == event_id), None)
        if one is None:
            raise InputError(f"Run {run_id} has no request {event_id}.")
        if one.status != "open":
            raise InputError(f"Request {event_id} is {one.status} already.")
        if one.queue is not None:
            raise InputError(
                f"Request {event_id} waits in queue {one.queue}. Archive that queue to take it "
                "back, or let reviewers answer it."
            )
        act = Act(store, seat, store.runs.get(run_id), one.item_id, None, clock.now(), 0)
        act.record("withdraw", one.criterion, after={"request": event_id}, reason=reason.strip())


@allowed("organise")
def queue_open(
    store: Store, seat: Seat, run_id: int, settings: QueueSettings | None = None
) -> QueueRow:
    """Put the cells of requests that wait in no queue into one; returns it.

    It is the newest queue of regrades that is in use, or a new one where that holds such a cell
    from an earlier request.

    Raises:
        InputError: none waits.
        NotFound: there is no such run.
    """
    store.runs.row(run_id)
    waiting = store.events.unqueued_requests(run_id)
    if not waiting:
        raise InputError("No request waits to be queued.")
    for row in queues.queues(store, run_id):
        if row.rule == RULE:
            inside = {(cell.item_id, cell.criterion) for cell in store.queues.cells(row.id)}
            if not inside & waiting:
                queues.refresh(store, seat, row.id)
                return row
            break
    chosen = settings or QueueSettings()
    return queues.make_queue(store, seat, run_id, NAME, RULE, chosen, order="dataset")


#: The columns of a table of requests, by what they may be called.
_COLUMNS = {
    "item_id": ("item", "item_id", "id"),
    "criterion": ("criterion", "criterion_id"),
    "note": ("note", "reason", "request"),
    "by": ("from", "by", "who", "name"),
}


def read(data: bytes, name: str) -> list[RegradeRequest]:
    """The requests in a table: item, note, from, and criterion where it is about one.

    Raises:
        InputError: it is no table, or has no such columns.
    """
    table = read_table(data, name)
    heads = {head.strip().casefold(): head for head in table.columns}
    found = {
        field: next((heads[word] for word in words if word in heads), None)
        for field, words in _COLUMNS.items()
    }
    missing = [_COLUMNS[field][0] for field in ("item_id", "note", "by") if found[field] is None]
    if missing:
        columns = ", ".join(missing)
        raise InputError(f"has no column {columns}; needed: item, note, from.", (), name)
    return [
        RegradeRequest(*(str(row.get(found[field] or "", "") or "").strip() for field in _COLUMNS))
        for row in table.rows
    ]


HEADS = (
    *("request", "item", "criterion", "from", "note", "entered", "entered_by"),
    *("before", "now", "status", "queue"),
)


def as_csv(store: Store, run_id: int) -> str:
    """All requests of a run with what became of them, as CSV that no spreadsheet works out.

    Raises:
        NotFound: there is no such run.
    """
    store.runs.row(run_id)
    return csv_text(
        HEADS,
        [
            (
                *(
                    one.event_id,
                    one.item_id,
                    one.criterion,
                    one.by,
                    one.note,
                    one.entered,
                    one.entered_by,
                ),
                *(one.before, one.now, one.status, one.queue),
            )
            for one in reversed(listed(store, run_id))
        ],
    )
