"""Regrade requests: notes from outside that ask for another review of an item.

A request is an event on each of its cells. It changes nothing: settled cells stay in force until
people decide again, in a queue of regrades. They judge blind first; the note is shown with the
votes (docs/decisions/0034).
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
from core.formats.source.csv_writer import csv_text
from core.formats.tables.table import read_table
from core.services.access.allowing import allowed
from core.services.results.scored_items import resolved_items, rubric_in_force, scored_rubric
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
#: The rule of a regrade queue.
RULE = QueueRule.only(requested=True)
NAME = "Regrade requests"
#: The longest note and the longest name, in characters.
LONGEST_NOTE, LONGEST_NAME = 5_000, 200


class RegradeRequest(NamedTuple):
    """A person's request to regrade an item; an empty ``criterion`` means all criteria."""

    item_id: str
    criterion: str
    note: str
    by: str


@dataclass(frozen=True)
class Regrade:
    """A request on one cell, and its result.

    ``before`` is the label in force when the request came, ``now`` the label since its answer
    (``None``: no label, or not assessable). ``queue`` is the queue where it waits or was answered.
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
def request(store: Store, seat: Seat, run_id: int, wishes: Sequence[RegradeRequest]) -> int:
    """Record requests, all or none; return the number of cells.

    A repeated request by the same person on the same cell, in the same words, counts once while it
    is open.

    Raises:
        InputError: lists every problem of the requests.
    """
    run = store.runs.get(run_id)
    ids = set(store.runs.item_ids(run_id))
    item_ids = list(dict.fromkeys(wish.item_id for wish in wishes if wish.item_id in ids))
    shared = scored_rubric(store, run)
    items = resolved_items(store, run.dataset_version_id, item_ids, upto=0)
    rubrics = {item.id: rubric_in_force(item, shared) for item in items}
    problems = [
        p for index, wish in enumerate(wishes, 1) for p in _problems_of(wish, rubrics, index)
    ]
    if problems or not wishes:
        raise InputError("These requests cannot be kept.", tuple(problems[:20]))
    with store.write():
        return _store_requests(store, seat, run, wishes, rubrics)


def _problems_of(wish: RegradeRequest, rubrics: dict[str, Rubric], row: int) -> Iterable[Problem]:
    path = (f"request {row}",)
    if wish.item_id not in rubrics:
        yield Problem(f"is about {wish.item_id!r}, which is not an item of this run.", "", path)
    elif wish.criterion and wish.criterion not in [c.name for c in rubrics[wish.item_id].criteria]:
        yield Problem(
            f"is about {wish.criterion!r}, which is not a criterion of this run.", "", path
        )
    if not wish.note.strip():
        yield Problem("says nothing.", "Write why a regrade is asked for.", path)
    if not wish.by.strip():
        yield Problem("does not say from whom it is.", "Name the person.", path)
    if len(wish.note) > LONGEST_NOTE or len(wish.by) > LONGEST_NAME:
        advice = f"At most {LONGEST_NOTE:,} characters of note and {LONGEST_NAME} of name."
        yield Problem("is too long.", advice, path)


def _store_requests(
    store: Store, seat: Seat, run: Run, wishes: Sequence[RegradeRequest], rubrics: dict[str, Rubric]
) -> int:
    open_requests = {
        (wish.item_id, wish.criterion, wish.by, wish.note)
        for wish in requests_of(store, run.id)
        if wish.status == "open"
    }
    now, step, count = clock.now(), 0, 0
    for wish in wishes:
        rubric = rubrics[wish.item_id]
        act = Act(store, seat, run, wish.item_id, None, now, step)
        verdicts = _labels_in_force(store, run.id, wish.item_id, rubric)
        for name in [wish.criterion] if wish.criterion else [c.name for c in rubric.criteria]:
            key = (wish.item_id, name, wish.by.strip(), wish.note.strip())
            if key not in open_requests:
                before = {"label": verdicts.get(name)}
                act.record("request", name, before=before, after={"by": key[2]}, reason=key[3])
                open_requests.add(key)
                count += 1
        step = act.step
    return count


def _labels_in_force(store: Store, run_id: int, item_id: str, rubric: Rubric) -> dict[str, str]:
    """Return the labels in force of an item's cells, by criterion."""
    criteria = {c.name: c for c in rubric.criteria}
    return {
        cell.criterion: criteria[cell.criterion].choices[cell.option].label
        for cell in store.results.cells(run_id, item_id)
        if cell.option is not None and not cell.abstained and cell.criterion in criteria
    }


def requests_of(store: Store, run_id: int) -> list[Regrade]:
    """Return all requests of a run with their results, newest first.

    Raises ``NotFound`` for an unknown run.
    """
    store.runs.row(run_id)
    queued, withdrawn = store.events.regrade_queues(run_id), store.events.withdrawn(run_id)
    settled = {(s.item_id, s.criterion): s.label for s in store.settled.of_run(run_id)}
    regrades = []
    for event in reversed(store.events.requests(run_id)):
        place = (event.item_id, event.criterion)
        queue, ended = queued.get(place, (None, 0))
        regrade = _regrade_from(event, queue, ended, settled.get(place))
        if event.id in withdrawn:
            regrade = replace(regrade, status="withdrawn", now=None, queue=None)
        regrades.append(regrade)
    return regrades


def _regrade_from(
    event: EventRow, queue: int | None, ended: int | None, label: str | None
) -> Regrade:
    before = event.before["label"]
    status: Status = "open"
    if ended is not None and ended > event.id:
        status = "answered" if before is None else "kept" if label == before else "changed"
    elif ended is not None:
        queue = None  # The cell was decided in this queue before the regrade was requested.
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
    """Withdraw a mistaken request, so that it does not queue its cell.

    The log keeps it, with the person who withdrew it, when, and why.

    Raises:
        InputError: the request is unknown, was answered or withdrawn, or waits in a queue.
    """
    with store.write():
        regrade = next((r for r in requests_of(store, run_id) if r.event_id == event_id), None)
        if regrade is None:
            raise InputError(f"Run {run_id} has no request {event_id}.")
        if regrade.status != "open":
            raise InputError(f"Request {event_id} is {regrade.status} already.")
        if regrade.queue is not None:
            raise InputError(
                f"Request {event_id} waits in queue {regrade.queue}. Archive that queue to take it "
                "back, or let reviewers answer it."
            )
        act = Act(store, seat, store.runs.get(run_id), regrade.item_id, None, clock.now(), 0)
        act.record(
            "withdraw", regrade.criterion, after={"request": event_id}, reason=reason.strip()
        )


@allowed("organise")
def queue_open(
    store: Store, seat: Seat, run_id: int, settings: QueueSettings | None = None
) -> QueueRow:
    """Put the cells of regrade requests that wait for a queue into one; return that queue.

    The cells go into the newest active regrade queue. If that queue already has one of them, for an
    earlier request, a new queue is created.

    Raises:
        InputError: no request waits.
        NotFound: unknown run.
    """
    store.runs.row(run_id)
    waiting = store.events.unqueued_requests(run_id)
    if not waiting:
        raise InputError("No request waits to be queued.")
    for row in queues.queues_of_run(store, run_id):
        if row.rule == RULE:
            queued = {(cell.item_id, cell.criterion) for cell in store.queues.cells(row.id)}
            if not queued & waiting:
                queues.refresh(store, seat, row.id)
                return row
            break
    chosen = settings or QueueSettings()
    return queues.make_queue(store, seat, run_id, NAME, RULE, chosen, order="dataset")


#: The columns of a table of requests, with their accepted names.
_COLUMNS = {
    "item_id": ("item", "item_id", "id"),
    "criterion": ("criterion", "criterion_id"),
    "note": ("note", "reason", "request"),
    "by": ("from", "by", "who", "name"),
}


def read_requests(data: bytes, name: str) -> list[RegradeRequest]:
    """Read requests from a table: item, note, from and, optionally, criterion.

    Raises:
        InputError: the file is not a table, or lacks a column.
    """
    table = read_table(data, name)
    column_names = {head.strip().casefold(): head for head in table.columns}
    columns_found = {
        field: next((column_names[word] for word in headings if word in column_names), None)
        for field, headings in _COLUMNS.items()
    }
    missing = [
        _COLUMNS[field][0] for field in ("item_id", "note", "by") if columns_found[field] is None
    ]
    if missing:
        columns = ", ".join(missing)
        raise InputError(f"has no column {columns}; needed: item, note, from.", (), name)
    return [
        RegradeRequest(
            *(str(row.get(columns_found[field] or "", "") or "").strip() for field in _COLUMNS)
        )
        for row in table.rows
    ]


HEADS = (
    *("request", "item", "criterion", "from", "note", "entered", "entered_by"),
    *("before", "now", "status", "queue"),
)


def requests_as_csv(store: Store, run_id: int) -> str:
    """Return all requests of a run with their results, as CSV without formulas.

    Raises:
        NotFound: unknown run.
    """
    store.runs.row(run_id)
    return csv_text(
        HEADS,
        [
            (
                *(
                    regrade.event_id,
                    regrade.item_id,
                    regrade.criterion,
                    regrade.by,
                    regrade.note,
                    regrade.entered,
                    regrade.entered_by,
                ),
                *(regrade.before, regrade.now, regrade.status, regrade.queue),
            )
            for regrade in reversed(requests_of(store, run_id))
        ],
    )
