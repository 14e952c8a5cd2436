"""Derive settled cells from reviewers' verdicts, and update scores and queues."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from core import clock
from core.domain.dataset import Item
from core.domain.review import (
    CellState,
    Policy,
    Provenance,
    ReviewerAnswer,
    Seat,
    SettledCell,
    SettledState,
)
from core.domain.review_records import EventRow, QueueRow, VerdictRow
from core.domain.rubric import Criterion, Rubric
from core.domain.runs import Run
from core.errors import Conflict, InputError
from core.services.access.allowing import allowed
from core.services.results.scored_items import (
    derivation_for,
    fitted_of,
    resolved_items,
    rubric_in_force,
    scored_rubric,
    settled_lookup,
)
from core.services.review.audit_trail import DecisionEffect, snapshot_difference, snapshot_of
from core.services.review.reviewers import now_seated
from core.store.review.settled import settled_data, settled_from
from core.store.store import Store

#: A cell's settled verdict, where it comes from, and the reviewers who gave it.
AgreedVerdict = tuple[ReviewerAnswer, Provenance, list[str]]


def cell_status(
    verdicts: Sequence[VerdictRow], required: int, policy: Policy
) -> tuple[CellState, AgreedVerdict | None]:
    """Return a cell's state after these verdicts, and its settled verdict if it is resolved. Only
    confirmed verdicts count.

    Two reviewers agree if they chose the same option, or both could not assess the cell. An
    adjudicator's verdict is final. Without one, nothing is settled before ``required`` reviewers
    have confirmed. ``majority`` is more than half of three or more.
    """
    final = [v for v in verdicts if v.final is not None]
    ended = [v for v in final if v.part == "resolve"]
    if ended:
        last = max(ended, key=lambda v: v.final_event or 0)
        return "resolved", _agreed_verdict(last, "adjudicated", [last])
    if len(final) < required:
        return "needs_others" if final else "needs_review", None
    if policy == "adjudicator":
        return "disagreement", None
    counts = Counter(v.final_option for v in final)
    top, most = counts.most_common(1)[0]
    same_verdicts = [v for v in final if v.final_option == top]
    majority = policy == "majority" and len(final) >= 3 and 2 * most > len(final)
    if most < len(final) and not majority:
        return "disagreement", None
    provenance: Provenance = "human_single" if len(final) == 1 else "human_consensus"
    return "resolved", _agreed_verdict(same_verdicts[0], provenance, same_verdicts)


def label_of(criterion: Criterion, answer: ReviewerAnswer) -> str | None:
    """Return the label of the chosen option; ``None`` if the cell cannot be assessed."""
    return None if answer.option is None else criterion.choices[answer.option].label


def _agreed_verdict(
    verdict: VerdictRow, provenance: Provenance, agreeing: Sequence[VerdictRow]
) -> AgreedVerdict:
    assert verdict.final is not None, "only confirmed verdicts settle a cell"
    return verdict.final, provenance, [v.reviewer for v in agreeing]


# The consequences of reviewers' verdicts: settled cells, the item's score, the queues' states.
#
# Everything here runs inside the transaction of the act that caused it.


@dataclass
class Act:
    """One act of a person on an item. Its events share a step.

    ``queue`` is ``None`` for an act on the run itself. Use it inside ``with store.write()``.
    """

    store: Store
    seat: Seat
    run: Run
    item_id: str
    queue: QueueRow | None
    now: str
    step: int = 0

    @cached_property
    def item(self) -> Item:
        """Return the item, with the dataset's own labels."""
        version = self.run.dataset_version_id
        return resolved_items(self.store, version, [self.item_id], upto=0)[0]

    @cached_property
    def rubric(self) -> Rubric:
        """Return the rubric that applies to the item."""
        shared = scored_rubric(self.store, self.run)
        return rubric_in_force(self.item, shared)

    def record(self, action: Any, criterion: str = "", **fields: Any) -> int:
        """Record an event of this act; return its id."""
        event = EventRow(
            ts=self.now,
            actor=self.seat.name,
            role=self.seat.role,
            session=self.seat.session,
            run_id=self.run.id,
            rubric_version_id=self.run.scored_version_id,
            action=action,
            queue_id=None if self.queue is None else self.queue.id,
            item_id=self.item_id,
            criterion=criterion,
            step=self.step,
            **fields,
        )
        event_id = self.store.events.add(event)
        self.step = self.step or event_id
        return event_id


def update_derived(act: Act, criteria: Sequence[str], *, raised: bool = False) -> DecisionEffect:
    """Update everything derived from the verdicts on these cells; return what changed.

    ``raised``: reviewers with one of the cells open must look again, whatever its state.
    """
    before = snapshot_of(act.store, act.run.id, act.item_id, act.rubric, criteria)
    states = {name: _settle_cell(act, name, raised) for name in criteria}
    derive_item(act.store, act.run, act.item_id)
    after = snapshot_of(act.store, act.run.id, act.item_id, act.rubric, criteria)
    return snapshot_difference(before, after, states)


def derive_item(store: Store, run: Run, item_id: str) -> None:
    """Derive the verdicts and the score of one item again."""
    rubric = scored_rubric(store, run)
    items = resolved_items(store, run.dataset_version_id, [item_id], upto=0)
    ballots = store.votes.ballots(run.id, [item_id])
    answered = ballots[0].ballots or store.votes.failures_of(run.id, item_id)
    if not answered and not store.settled.of_items(run.id, [item_id]):
        store.results.forget(run.id, item_id)
        return
    derive = derivation_for(run.plan, rubric, items, settled_lookup(store, run.id), fitted_of(run))
    store.results.put(run.id, derive(ballots))


def _settle_cell(act: Act, criterion: str, raised: bool) -> CellState:
    store, queue = act.store, act.queue
    assert queue is not None, "verdicts belong to a queue"
    state, agreed = _current_status(store, queue, act.item_id, criterion)
    current = store.settled.get(act.run.id, act.item_id, criterion)
    target = _settled_values(act, criterion, agreed, current)
    if target != (None if current is None else settled_data(current)):
        _put_settlement(act, criterion, current, target)
        raised = True
    _restate_everywhere(act, criterion, raised)
    return state


def _current_status(
    store: Store, queue: QueueRow, item_id: str, criterion: str
) -> tuple[CellState, AgreedVerdict | None]:
    item = store.queues.item(queue.id, item_id)
    verdicts = [v for v in store.verdicts.of_item(queue.id, item_id) if v.criterion == criterion]
    return cell_status(verdicts, item.required, queue.settings.policy)


def _settled_values(
    act: Act, criterion: str, agreed: AgreedVerdict | None, current: SettledCell | None
) -> dict[str, Any] | None:
    """Return the cell's settled values: by this queue's verdict, or by another settlement."""
    if agreed is None:
        return _former_data(act, criterion, current)
    given, provenance, people = agreed
    return {
        "option": given.option,
        "label": label_of(act.rubric.criterion(criterion), given),
        "why": given.why,
        "provenance": provenance,
        "people": people,
        "note": given.note,
        "state": "active",
    }


def _former_data(act: Act, criterion: str, current: SettledCell | None) -> dict[str, Any] | None:
    if current is None:
        return None
    queue_id = None if act.queue is None else act.queue.id
    events = [
        event
        for event in act.store.events.of_cell(act.run.id, act.item_id, criterion)
        if event.action in ("settle", "unsettle", "mark")
    ]
    if events[-1].queue_id != queue_id:
        return settled_data(current)
    outside = [event for event in events if event.queue_id != queue_id]
    last: dict[str, Any] | None = outside[-1].after if outside else None
    return last


def _put_settlement(
    act: Act, criterion: str, current: SettledCell | None, target: dict[str, Any] | None
) -> None:
    before = None if current is None else settled_data(current)
    action = "unsettle" if target is None else "settle"
    event_id = act.record(action, criterion, before=before, after=target)
    if target is None:
        act.store.settled.remove(act.run.id, act.item_id, criterion)
    else:
        settled = settled_from(act.item_id, criterion, target, event_id)
        act.store.settled.put(act.run.id, settled)


def _restate_everywhere(act: Act, criterion: str, raised: bool) -> None:
    """Update the cell's state in every queue of the run that includes it."""
    store = act.store
    for queue_id in store.queues.holding(act.run.id, act.item_id, criterion):
        restate_cell(store, store.queues.get(queue_id), act.item_id, criterion, raised=raised)


def restate_cell(
    store: Store, queue: QueueRow, item_id: str, criterion: str, *, raised: bool
) -> None:
    """Update a cell's state in a queue; ``raised``: reviewers with it open must look again."""
    settled = store.settled.get(queue.run_id, item_id, criterion)
    state, _ = _current_status(store, queue, item_id, criterion)
    if (
        settled is not None
        and settled.state == "active"
        and not _regrade_asked_since(store, queue, settled)
    ):
        state = "resolved"
    store.queues.set_state(queue.id, item_id, criterion, state, raised=raised)


def _regrade_asked_since(store: Store, queue: QueueRow, settled: SettledCell) -> bool:
    """Return whether a regrade of the cell was requested after it was settled, in such a queue.

    The settled verdict stays in force until the queue's reviewers decide.
    """
    if not queue.rule.requested:
        return False
    request = store.events.last_request(queue.run_id, settled.item_id, settled.criterion)
    return request > settled.event_id


def bring_states_up_to_date(store: Store, seat: Seat, queue: QueueRow) -> None:
    """Apply a new policy or number of reviewers to open cells; resolved cells stay."""
    run, now = store.runs.get(queue.run_id), clock.now()
    for cell in store.queues.cells(queue.id):
        if cell.state == "resolved":
            continue
        state, agreed = _current_status(store, queue, cell.item_id, cell.criterion)
        if agreed is not None:
            update_derived(Act(store, seat, run, cell.item_id, queue, now), [cell.criterion])
        else:
            store.queues.set_state(queue.id, cell.item_id, cell.criterion, state, raised=False)


def settled_cells(store: Store, run_id: int) -> dict[tuple[str, str], SettledCell]:
    """Return a run's settled cells by item id and criterion, in any state."""
    return {(s.item_id, s.criterion): s for s in store.settled.of_run(run_id)}


@allowed("adjudicate")
def mark(
    store: Store,
    seat: Seat,
    run_id: int,
    cells: Iterable[tuple[str, str]],
    state: SettledState,
    reason: str,
) -> int:
    """Make settled cells stale, retired or active again; return how many changed.

    Only active cells override votes and count as truth.

    Raises:
        InputError: the reason is missing.
        Conflict: this person may not adjudicate.
    """
    if not reason.strip():
        raise InputError("Say why: others will read it in the cells' history.")
    with store.write():
        seat = now_seated(store, seat)
        if not seat.resolves:
            raise Conflict("Only an adjudicator or a lead may change settled cells.")
        run, now, step, changed = store.runs.get(run_id), clock.now(), 0, 0
        for item_id, names in _criteria_by_item(cells).items():
            act = Act(store, seat, run, item_id, None, now, step)
            changed += sum(_mark_cell(act, name, state, reason) for name in names)
            step = act.step
            derive_item(store, run, item_id)
    return changed


def _mark_cell(act: Act, criterion: str, state: SettledState, reason: str) -> bool:
    current = act.store.settled.get(act.run.id, act.item_id, criterion)
    if current is None or current.state == state:
        return False
    changed_cell = replace(current, state=state)
    before, after = settled_data(current), settled_data(changed_cell)
    event_id = act.record("mark", criterion, before=before, after=after, reason=reason)
    act.store.settled.put(act.run.id, replace(changed_cell, event_id=event_id))
    return True


def _criteria_by_item(cells: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    criteria: dict[str, list[str]] = {}
    for item_id, criterion in cells:
        criteria.setdefault(item_id, []).append(criterion)
    return criteria
