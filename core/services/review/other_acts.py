"""Other acts of a reviewer: skip, flag, send back, unmask, and undo."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core import clock
from core.domain.review import ROLES, Role, Seat
from core.domain.review_records import EventRow, QueuedCell, VerdictRow
from core.errors import Conflict, InputError, NotFound
from core.services.access.allowing import allowed
from core.services.review.adjudication import Act, update_derived
from core.services.review.audit_trail import DecisionEffect
from core.services.review.blind_view import may_decide_flagged
from core.services.review.claims import Ticket, release
from core.services.review.commit_reveal import ActResult, act_result, begin
from core.services.review.reviewers import now_seated
from core.store.review.settled import answer_data, answer_from_data
from core.store.store import Store

_VERDICTS = ("verdict", "final", "send_back")
#: The acts that can be undone; for each, the later acts on the same cell that must be undone first.
_BEFORE: dict[str, tuple[str, ...]] = {
    "verdict": _VERDICTS,
    "final": _VERDICTS,
    "send_back": _VERDICTS,
    "flag": ("flag", "unflag"),
    "unflag": ("flag", "unflag"),
    "skip": (),
}


@dataclass(frozen=True)
class UndoneActs:
    """The undone acts, their item, and the effects."""

    step: int
    item_id: str
    acts: tuple[str, ...]
    effects: tuple[DecisionEffect, ...]


class ActStands(Conflict):
    """Raised if the act ``step`` cannot be undone; earlier acts may be."""

    def __init__(self, message: str, step: int) -> None:
        super().__init__(message)
        self.step = step


class VerdictsCompared(ActStands):
    """Raised if the reviewer's verdicts on ``criteria`` were compared with others' and so are
    final.
    """

    def __init__(self, step: int, item_id: str, criteria: tuple[str, ...]) -> None:
        names = " and ".join(repr(name) for name in criteria)
        super().__init__(
            f"Your verdict on {names} has met another reviewer's, and what came of the two was "
            "told, so it stands. Flag it for a lead, who can send the cell back: then everybody "
            "reviews it again.",
            step,
        )
        self.item_id, self.criteria = item_id, criteria


@allowed("review")
def skip(store: Store, ticket: Ticket, reason: str = "") -> int:
    """Move the item to the end of this reviewer's queue; return the step.

    Committed verdicts stay and wait for confirmation.
    """
    with store.write():
        act, ticket = begin(store, ticket)
        event_id = act.record("skip", part=ticket.part, reason=reason)
        store.turns.skip(ticket.queue_id, ticket.item_id, ticket.seat, event_id)
        release(store, ticket)
        return act.step


@allowed("review")
def flag(store: Store, ticket: Ticket, criterion: str, role: Role, reason: str) -> ActResult:
    """Flag a cell for a role: only reviewers with that or a higher role can decide it.

    Raises:
        InputError: the reason is missing, or the role is unknown.
        Conflict: as in ``commit``.
    """
    if role not in ROLES:
        raise InputError(f"{role!r} is not a role. Use one of {', '.join(ROLES)}.")
    _require_note(reason)
    return _set_flag(store, ticket, criterion, role, reason)


def _require_note(reason: str) -> None:
    if not reason.strip():
        raise InputError("Say what is wrong, so that the next reviewer knows what to look for.")


@allowed("review")
def flag_met(
    store: Store, seat: Seat, queue_id: int, item_id: str, criteria: Sequence[str], reason: str
) -> None:
    """Flag cells for a lead after this reviewer's verdict was compared with another's.

    Raises:
        InputError: the reason is missing.
        Conflict: such a verdict does not exist, or the cell is flagged already.
    """
    _require_note(reason)
    with store.write():
        seat = now_seated(store, seat)
        queue = store.queues.get(queue_id)
        act = Act(store, seat, store.runs.get(queue.run_id), item_id, queue, clock.now(), 0)
        for criterion in criteria:
            cell = _queued_cell(store, queue_id, item_id, criterion)
            if seat.name not in _compared_reviewers(store, queue_id, item_id, criterion):
                raise Conflict(f"You gave no verdict on {criterion!r} that met another's.")
            if cell.flagged == "lead":
                raise Conflict(f"{criterion!r} is flagged for a lead already.")
            act.record("flag", criterion, before=cell.flagged, after="lead", reason=reason)
            store.queues.set_flag(queue_id, item_id, criterion, "lead")


def flagged_decisions(store: Store, queue_id: int) -> list[EventRow]:
    """Return the last flag of each resolved cell of a queue that a reviewer flagged for a lead."""
    queue, decisions = store.queues.get(queue_id), []
    for cell in store.queues.cells(queue_id):
        if cell.flagged is None or cell.state != "resolved":
            continue
        flags = [
            event
            for event in store.events.of_cell(queue.run_id, cell.item_id, cell.criterion)
            if event.action == "flag" and event.queue_id == queue_id
        ]
        decisions.append(flags[-1])
    return decisions


@allowed("review")
def unflag(store: Store, ticket: Ticket, criterion: str, reason: str = "") -> ActResult:
    """Remove a cell's flag, so that every reviewer can decide it again."""
    return _set_flag(store, ticket, criterion, None, reason)


def _set_flag(
    store: Store, ticket: Ticket, criterion: str, role: Role | None, reason: str
) -> ActResult:
    with store.write():
        act, ticket = begin(store, ticket)
        cell = _queued_cell(store, ticket.queue_id, act.item_id, criterion)
        if cell.version != ticket.versions.get(criterion) or cell.state == "resolved":
            raise Conflict(f"{criterion!r} has changed since you opened it. Look at it again.")
        if not may_decide_flagged(cell.flagged, ticket.seat.role):
            raise Conflict(f"{criterion!r} is flagged for a {cell.flagged}.")
        action = "unflag" if role is None else "flag"
        act.record(action, criterion, before=cell.flagged, after=role, reason=reason)
        store.queues.set_flag(ticket.queue_id, act.item_id, criterion, role)
        return act_result(act, ticket, None)


@allowed("adjudicate")
def send_back(
    store: Store, seat: Seat, queue_id: int, cells: Iterable[tuple[str, str]], reason: str
) -> list[DecisionEffect]:
    """Send cells back for another review. Their verdicts stay in the log but no longer count.

    Raises:
        InputError: the reason is missing.
        Conflict: this person is neither adjudicator nor lead.
    """
    if not reason.strip():
        raise InputError("Say why, so that the next reviewer knows.")
    with store.write():
        seat = now_seated(store, seat)
        if not seat.resolves:
            raise Conflict("Only an adjudicator or a lead may send cells back.")
        queue = store.queues.get(queue_id)
        run, now, step, effects = store.runs.get(queue.run_id), clock.now(), 0, []
        for item_id, criterion in cells:
            cell = _queued_cell(store, queue_id, item_id, criterion)
            act = Act(store, seat, run, item_id, queue, now, step)
            verdicts = _verdict_rows(store, queue_id, item_id, criterion)
            before = [_verdict_data(verdict) for verdict in verdicts]
            act.record("send_back", criterion, before=before, reason=reason)
            if cell.flagged is not None:
                act.record("unflag", criterion, before=cell.flagged, after=None, reason=reason)
                store.queues.set_flag(queue_id, item_id, criterion, None)
            for verdict in verdicts:
                store.verdicts.remove(queue_id, verdict)
            effects.append(update_derived(act, [criterion], raised=True))
            step = act.step
        return effects


@allowed("adjudicate")
def unmask(store: Store, ticket: Ticket, reason: str) -> str:
    """Return the name of the system that made the submission, and record the unmasking.

    Raises:
        Conflict: this person is neither adjudicator nor lead.
        InputError: the reason is missing.
    """
    if not reason.strip():
        raise InputError("Say why you need to know.")
    with store.write():
        act, ticket = begin(store, ticket)
        if not ticket.seat.resolves:
            raise Conflict("Only an adjudicator or a lead may see who made a submission.")
        act.record("unmask", part=ticket.part, reason=reason)
        return act.item.system


@allowed("review")
def undo_last(
    store: Store, seat: Seat, queue_id: int, *, before: int | None = None
) -> UndoneActs | None:
    """Undo this person's last act in a queue; return ``None`` if there is none.

    With ``before``, undo the last act before that step, and skip acts that cannot be undone.
    """
    with store.write():
        while True:
            step = store.events.last_act(queue_id, seat.name, before)
            if step is None:
                return None
            try:
                return undo(store, seat, step)
            except ActStands:
                if before is None:
                    raise
                before = step


@allowed("review")
def undo(store: Store, seat: Seat, step: int, reason: str = "") -> UndoneActs:
    """Undo an act by recording the opposite; the log keeps both.

    Everyone can undo their own acts, and a lead can undo others' acts. A verdict that was compared
    with another reviewer's stays: the outcome is known, so a second verdict would not be
    independent.

    Raises:
        Conflict: the act is another person's, is undone already, has later acts built on it, or is
            a verdict that was compared with another reviewer's.
        InputError: the act has nothing that can be undone.
    """
    with store.write():
        seat = now_seated(store, seat)
        events = [e for e in store.events.of_step(step) if e.action in _BEFORE]
        undone = store.events.undone([event.id for event in events])
        if not events:
            raise InputError("Nothing in this step can be undone.")
        in_force = [event for event in events if event.id not in undone]
        if not in_force:
            raise Conflict("It has been taken back already.")
        _require_may_undo(store, seat, in_force)
        return _undo_events(store, seat, in_force, reason)


def _require_may_undo(store: Store, seat: Seat, events: Sequence[EventRow]) -> None:
    for event in events:
        if event.actor != seat.name and seat.role != "lead":
            raise Conflict(f"{event.actor} did this. They can take it back, and so can a lead.")
    later = [store.events.later_act(event, _BEFORE[event.action]) for event in events]
    by_others = [act for act in later if act is not None and act.actor != seat.name]
    compared = [event for event in events if seat.name in _compared_by_event(store, event)]
    if compared and not by_others:
        criteria = tuple(dict.fromkeys(event.criterion for event in compared))
        raise VerdictsCompared(compared[0].step, compared[0].item_id, criteria)
    first = next((act for act in [*by_others, *later] if act is not None), None)
    if first is not None:
        raise ActStands(
            f"{first.actor} has acted on {first.criterion!r} since, at {first.ts[11:16]} UTC. Undo "
            "that first.",
            events[0].step,
        )


def _compared_by_event(store: Store, event: EventRow) -> set[str]:
    """Return the reviewers whose verdicts were compared, if the event is such a verdict."""
    if event.action not in ("verdict", "final") or event.part != "review":
        return set()
    assert event.queue_id is not None, "verdicts are given in queues"
    return _compared_reviewers(store, event.queue_id, event.item_id, event.criterion)


def _compared_reviewers(store: Store, queue_id: int, item_id: str, criterion: str) -> set[str]:
    """Return the reviewers whose verdicts on a cell were compared; empty until all verdicts are
    in.
    """
    required = store.queues.item(queue_id, item_id).required
    spoken = {
        verdict.reviewer
        for verdict in _verdict_rows(store, queue_id, item_id, criterion)
        if verdict.final is not None and verdict.part == "review"
    }
    return spoken if len(spoken) >= max(2, required) else set()


def _undo_events(store: Store, seat: Seat, events: Sequence[EventRow], reason: str) -> UndoneActs:
    run, now, step, effects = (
        store.runs.get(events[0].run_id),
        clock.now(),
        0,
        list[DecisionEffect](),
    )
    by_item: dict[str, list[EventRow]] = {}
    for event in events:
        by_item.setdefault(event.item_id, []).append(event)
    for item_id, item_events in by_item.items():
        assert item_events[0].queue_id is not None, "what can be taken back happened in a queue"
        queue = store.queues.get(item_events[0].queue_id)
        act = Act(store, seat, run, item_id, queue, now, step)
        for event in reversed(item_events):
            act.record(
                "undo",
                event.criterion,
                part=event.part,
                before=event.after,
                after=event.before,
                reason=reason,
                undo_of=event.id,
            )
            _undo_event(store, queue.id, event)
        names = list(dict.fromkeys(e.criterion for e in item_events if e.action in _VERDICTS))
        if names:
            effect = update_derived(act, names, raised=True)
            hidden = queue.settings.mode == "blind" and all(e.part == "review" for e in item_events)
            effects.append(effect.blinded() if hidden else effect)
        step = act.step
    acts = tuple(dict.fromkeys(event.action for event in events))
    return UndoneActs(step, events[0].item_id, acts, tuple(effects))


def _undo_event(store: Store, queue_id: int, event: EventRow) -> None:
    if event.action == "skip":
        seat = Seat(event.actor, "reviewer", event.session)
        store.turns.skip(queue_id, event.item_id, seat, None)
    elif event.action in ("flag", "unflag"):
        store.queues.set_flag(queue_id, event.item_id, event.criterion, event.before)
    elif event.action == "send_back":
        for data in event.before:
            store.verdicts.put(queue_id, _verdict_from(event, data))
    else:
        for verdict in _verdict_rows(store, queue_id, event.item_id, event.criterion):
            if event.id == verdict.final_event:
                store.verdicts.put(queue_id, replace(verdict, final=None, final_event=None))
            elif event.id == verdict.first_event:
                store.verdicts.remove(queue_id, verdict)


def _queued_cell(store: Store, queue_id: int, item_id: str, criterion: str) -> QueuedCell:
    for cell in store.queues.cells(queue_id, item_id):
        if cell.criterion == criterion:
            return cell
    raise NotFound(f"{criterion!r} of item {item_id!r} is not in review queue {queue_id}.")


def _verdict_rows(store: Store, queue_id: int, item_id: str, criterion: str) -> list[VerdictRow]:
    verdicts = store.verdicts.of_item(queue_id, item_id)
    return [verdict for verdict in verdicts if verdict.criterion == criterion]


def _verdict_data(verdict: VerdictRow) -> dict[str, Any]:
    return {
        "part": verdict.part,
        "reviewer": verdict.reviewer,
        "mode": verdict.mode,
        "first": answer_data(verdict.first),
        "first_event": verdict.first_event,
        "revealed": verdict.revealed,
        "final": None if verdict.final is None else answer_data(verdict.final),
        "final_event": verdict.final_event,
    }


def _verdict_from(event: EventRow, data: dict[str, Any]) -> VerdictRow:
    fields = dict(data)
    first, final = fields.pop("first"), fields.pop("final")
    return VerdictRow(
        item_id=event.item_id,
        criterion=event.criterion,
        first=answer_from_data(first),
        final=None if final is None else answer_from_data(final),
        **fields,
    )
