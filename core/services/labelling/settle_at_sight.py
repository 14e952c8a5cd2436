"""Cells settled in the grid of a run, with their votes visible.

Such verdicts are not blind. They belong to their own queue, whose votes are always shown, so that
the record, the figures on reviewers and undo treat them accordingly. They never count as random
labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from core import clock
from core.domain.review import QueueRule, QueueSettings, ReviewerAnswer, Seat
from core.domain.review_records import QueuedCell, QueuedItem, QueueRow
from core.domain.runs import Run
from core.errors import InputError, Problem
from core.services.access import blindness
from core.services.access.allowing import allowed
from core.services.queueing.queue_cells import QueueCandidate
from core.services.queueing.queue_order import weigh_cells
from core.services.results.scored_items import resolved_items, rubric_in_force, scored_rubric
from core.services.review import claims, commit_reveal, other_acts, queues
from core.store.store import Store

NAME = "Settled in the grid"
#: The queue of cells that were settled in groups of similar answers, and the queue of members that
#: are judged singly, without the group's verdict.
BY_GROUPS, SINGLY = "Settled by groups", "Members of groups, singly"
#: The rule selects no cell: reviewers add each one.
RULE = QueueRule.only(everything=True, items=())
SETTINGS = QueueSettings(mode="assisted", assisted_share=1.0)
#: The most cells settled at once; a page of the grid has fewer cells of a criterion.
MOST = 200


@allowed("adjudicate")
def settle(
    store: Store,
    seat: Seat,
    run_id: int,
    cells: Sequence[tuple[str, str]],
    answer: ReviewerAnswer | None,
    *,
    name: str = NAME,
) -> tuple[int, ...]:
    """Settle cells (item, criterion) of a run, all or none, replacing the person's own verdicts.

    Return the steps to undo, one of each cell, last first.
    ``answer`` is the answer for all of them; ``None`` accepts each cell's verdict. ``name`` is the
    name of their queue.

    Raises:
        InputError: no or too many cells, a cell without a verdict to accept, an option that a
            criterion lacks, or a verdict against judges who agree that lacks a note.
        Conflict: another person settled one of them here.
        NotAllowed: this person still reviews the run blind.
    """
    blindness.require_open(store, run_id)
    if not 0 < len(cells) <= MOST:
        raise InputError(f"Choose between one cell and {MOST} cells.")
    run = store.runs.get(run_id)
    by_item: dict[str, list[str]] = {}
    for item_id, criterion in dict.fromkeys(cells):
        by_item.setdefault(item_id, []).append(criterion)
    with store.write():
        queue = _settling_queue(store, seat, run, name, SETTINGS)
        _withdraw_verdicts(store, seat, queue, by_item)
        _add_cells(store, run, queue, _candidates(store, run, by_item))
        steps = []
        for item_id, names in by_item.items():
            answers = _answers_to_settle(store, run_id, item_id, names, answer)
            ticket = claims.claim(store, seat, queue.id, item_id, take_over=True)
            for criterion in names:
                result = commit_reveal.commit(store, ticket, {criterion: answers[criterion]})
                ticket = result.ticket
                steps.append(result.step)
            claims.release(store, ticket)
    return tuple(reversed(steps))


@allowed("adjudicate")
def undo(store: Store, seat: Seat, steps: Sequence[int]) -> int:
    """Undo what ``settle`` did, all or none; return the number of cells.

    Raises:
        Conflict: a later decision builds on one of them.
    """
    with store.write():
        for step in steps:
            other_acts.undo(store, seat, step)
    return len(steps)


@allowed("organise")
def check_singly(store: Store, seat: Seat, run_id: int, criterion: str, number: int) -> QueueRow:
    """Queue random members of settled groups, to be judged singly and blind.

    Raises:
        InputError: no member of a group is left to draw.
    """
    run = store.runs.get(run_id)
    of_groups = _existing_queue(store, run_id, BY_GROUPS)
    members = (
        []
        if of_groups is None
        else [
            cell.item_id for cell in store.queues.cells(of_groups.id) if cell.criterion == criterion
        ]
    )
    singly = _existing_queue(store, run_id, SINGLY)
    drawn = (
        set()
        if singly is None
        else {cell.item_id for cell in store.queues.cells(singly.id) if cell.criterion == criterion}
    )
    remaining = sorted(set(members) - drawn)
    if not remaining:
        raise InputError("No answer of a group is left to be looked at singly.")
    chosen = Random(clock.draw_seed()).sample(remaining, min(number, len(remaining)))
    with store.write():
        queue = _settling_queue(store, seat, run, SINGLY, QueueSettings(mode="blind"))
        cells = _candidates(store, run, {item_id: [criterion] for item_id in chosen})
        _add_cells(store, run, queue, cells, assisted=False)
    return queue


def _existing_queue(store: Store, run_id: int, name: str) -> QueueRow | None:
    rows = queues.queues_of_run(store, run_id)
    return next((row for row in rows if row.rule == RULE and row.name == name), None)


def _settling_queue(
    store: Store, seat: Seat, run: Run, name: str, settings: QueueSettings
) -> QueueRow:
    return _existing_queue(store, run.id, name) or store.queues.create(
        *(run.id, name, RULE, settings),
        order="dataset",
        seed=clock.draw_seed(),
        author=seat.name,
        now=clock.now(),
    )


def _add_cells(
    store: Store,
    run: Run,
    queue: QueueRow,
    cells: Sequence[QueueCandidate],
    *,
    assisted: bool = True,
) -> None:
    """Add cells to the queue; ``assisted``: votes on their items are shown at once.

    Such cells are settled at once, so the effect of settling them is not computed.
    """
    places = dict.fromkeys((cell.item_id, cell.position) for cell in cells)
    items = [QueuedItem(item_id, at, 0.0, assisted, 1, ()) for item_id, at in places]
    queued = list(map(_unweighted_cell, cells)) if assisted else weigh_cells(store, run, cells)
    store.queues.add(queue.id, items, queued)


def _unweighted_cell(cell: QueueCandidate) -> QueuedCell:
    return QueuedCell(
        *(cell.item_id, cell.criterion.name, cell.reasons, cell.chance),
        failed=False,
        flip=0.0,
        change=0.0,
        entropy=None,
        margin=None,
        spread=None,
    )


def _candidates(store: Store, run: Run, by_item: dict[str, list[str]]) -> list[QueueCandidate]:
    items = {item.id: item for item in resolved_items(store, run.dataset_version_id, list(by_item))}
    rubric, candidates, problems = (
        scored_rubric(store, run),
        list[QueueCandidate](),
        list[Problem](),
    )
    places = {name: index for index, name in enumerate(store.runs.item_ids(run.id))}
    for item_id, names in by_item.items():
        questions = (
            {}
            if item_id not in places
            else {item.name: item for item in rubric_in_force(items[item_id], rubric).criteria}
        )
        for name in names:
            if name not in questions:
                problems.append(Problem("is not a cell of this run.", "", (item_id, name)))
                continue
            candidates.append(
                QueueCandidate(item_id, places[item_id], questions[name], ("chosen",), 1.0)
            )
    if problems:
        raise InputError("Not every cell can be settled.", tuple(problems[:20]))
    return candidates


def _answers_to_settle(
    store: Store, run_id: int, item_id: str, names: Sequence[str], answer: ReviewerAnswer | None
) -> dict[str, ReviewerAnswer]:
    if answer is not None:
        return dict.fromkeys(names, answer)
    stand = {cell.criterion: cell.option for cell in store.results.cells(run_id, item_id)}
    bare = [
        Problem("has no verdict to accept.", "Choose an option.", (item_id, name))
        for name in names
        if stand.get(name) is None
    ]
    if bare:
        raise InputError("Not every cell has a verdict.", tuple(bare[:20]))
    return {name: ReviewerAnswer(stand[name]) for name in names}


def _withdraw_verdicts(
    store: Store, seat: Seat, queue: QueueRow, by_item: dict[str, list[str]]
) -> None:
    """Withdraw the verdicts of this queue on these cells, if allowed, before storing new ones."""
    for item_id, names in by_item.items():
        for name in names:
            verdicts = [
                event
                for event in store.events.of_cell(queue.run_id, item_id, name)
                if (event.queue_id, event.action) == (queue.id, "verdict")
            ]
            withdrawn_events = store.events.undone([event.id for event in verdicts])
            for event in verdicts:
                if event.id not in withdrawn_events:
                    other_acts.undo(store, seat, event.step)
