"""Review an item: commit a verdict blind, see the votes, confirm. One transaction each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from core import clock
from core.domain.review import WHYS, Mode, ReviewerAnswer
from core.domain.review_records import QueuedCell, VerdictRow
from core.domain.rubric import Criterion
from core.domain.votes import ADJUDICATED
from core.errors import Conflict, InputError, NotFound, Problem
from core.services.access.allowing import allowed
from core.services.review.adjudication import Act, update_derived
from core.services.review.audit_trail import DecisionEffect
from core.services.review.blind_view import (
    BlindCell,
    BlindItem,
    RevealedCell,
    blind_item,
    drafts_of,
    item_mode,
    may_decide_flagged,
    my_verdicts,
    needs_verdict,
    require_held,
    revealed_votes,
    save_drafts,
    unanimous_options,
)
from core.services.review.claims import Ticket, renewed_ticket
from core.services.review.reviewers import now_seated
from core.store.review.settled import answer_data
from core.store.store import Store

__all__ = [
    "ActResult",
    "BlindCell",
    "BlindItem",
    "RevealedCell",
    "blind_item",
    "commit",
    "drafts_of",
    "finish",
    "reveal",
    "save_draft",
]


def normalised_verdicts(
    act: Act, answers: Mapping[str, ReviewerAnswer]
) -> dict[str, ReviewerAnswer]:
    """Return the verdicts with abstention options normalised; raise one ``InputError`` for all
    problems.
    """
    problems = list[Problem]()
    plain = {}
    for name, verdict in answers.items():
        criterion = act.rubric.criterion(name)
        plain[name] = _plain_answer(criterion, verdict)
        problems += _answer_problems(criterion, plain[name])
    if problems:
        raise InputError("Not every verdict can be recorded.", tuple(problems))
    return plain


def _plain_answer(criterion: Criterion, answer: ReviewerAnswer) -> ReviewerAnswer:
    added = answer.option is not None and answer.option >= len(criterion.options)
    if added and answer.option is not None and answer.option < len(criterion.choices):
        return replace(answer, option=None)
    return answer


def _answer_problems(criterion: Criterion, answer: ReviewerAnswer) -> list[Problem]:
    path = (criterion.name,)
    if answer.option is not None and not 0 <= answer.option < len(criterion.options):
        return [Problem("has no such option.", "Choose one of those shown.", path)]
    if answer.option is None and answer.why not in WHYS:
        return [Problem("cannot be assessed, but why not?", "Say why.", path)]
    if answer.option is not None and answer.why is not None:
        return [Problem("has an option and a reason why it has none.", "Choose one.", path)]
    return []


NOTE_NEEDED = "A note is needed."


def require_notes(
    act: Act,
    ticket: Ticket,
    answers: Mapping[str, ReviewerAnswer],
    own_verdicts: Mapping[str, VerdictRow],
    *,
    votes_seen: bool,
) -> None:
    """Raise ``InputError`` for verdicts that lack a required note."""
    agreed = unanimous_options(act.store, act.run.id, act.item_id)
    problems = []
    for name, verdict in answers.items():
        before = own_verdicts.get(name)
        knows = votes_seen or (before is not None and before.revealed is not None)
        against = knows and name in agreed and verdict.option not in (agreed[name], None)
        changed = knows and before is not None and before.first.option != verdict.option
        resolves = ticket.part == "resolve"
        if not verdict.note.strip() and (against or changed or resolves):
            reason = "changes your verdict after you saw the votes"
            reason = "decides against judges who all agree" if against else reason
            reason = "resolves a disagreement" if resolves else reason
            problems.append(Problem(f"{reason}.", "Add a note that says why.", (name,)))
    if problems:
        raise InputError(NOTE_NEEDED, tuple(problems))


# Review an item: commit, reveal, confirm. Each verb is one transaction.


@dataclass(frozen=True)
class ActResult:
    """The result of an act. ``step`` undoes it; ``ticket`` replaces the previous one.

    ``confirm`` names the cells waiting for confirmation, ``same`` those confirmed automatically.
    ``effect`` is ``None`` if nothing could have changed yet.
    """

    step: int
    ticket: Ticket
    confirm: tuple[str, ...]
    effect: DecisionEffect | None
    same: tuple[str, ...] = ()


@allowed("review")
def save_draft(store: Store, ticket: Ticket, answers: Mapping[str, ReviewerAnswer]) -> None:
    """Save drafts on the item, so that closing the tab loses nothing."""
    save_drafts(store, ticket, answers, now=clock.now())


@allowed("review")
def commit(
    store: Store,
    ticket: Ticket,
    answers: Mapping[str, ReviewerAnswer],
    *,
    ms_active: Mapping[str, int] | None = None,
    at_once: bool = False,
) -> ActResult:
    """Commit verdicts on these cells. In blind and assisted items they are final at once.

    With automatic confirmation, independent verdicts that match the panel's are final too; with
    ``at_once`` all of them, except those that contradict judges who agree. ``ms_active`` is the
    time spent on each cell, in milliseconds.

    Raises:
        InputError: a verdict does not fit the criterion, or lacks a reason or a note.
        Conflict: this person may no longer decide the item or a cell; says who was faster.
    """
    with store.write():
        act, ticket = begin(store, ticket)
        assert act.queue is not None, "tickets belong to queues"
        mode = item_mode(
            act.queue, store.queues.item(act.queue.id, act.item_id).assisted, ticket.part
        )
        cells = _cells_to_decide(act, ticket, answers)
        verdicts = normalised_verdicts(act, answers)
        if mode == "assisted":
            require_notes(act, ticket, verdicts, {}, votes_seen=True)
        for name, verdict in verdicts.items():
            if any(v.criterion == name for v in my_verdicts(store, ticket)):
                raise Conflict(f"You have committed a verdict on {name!r} already.")
            _commit_first(act, ticket, cells[name], verdict, mode, (ms_active or {}).get(name))
        _forget_drafts(store, ticket, verdicts)
        effect, same = None, list[str]()
        if mode != "until_commit":
            for name, verdict in verdicts.items():
                _commit_final(act, ticket, name, verdict)
            effect = update_derived(act, list(verdicts))
            effect = effect.blinded() if mode == "blind" else effect
        elif act.queue.settings.confirm_same and ticket.part == "review":
            agreed = unanimous_options(store, act.run.id, act.item_id)
            same = _same_as_panel(act, verdicts, agreed)
            # At once all verdicts are final, except those that contradict unanimous judges.
            chosen = verdicts if at_once else {}
            split = (n for n, verdict in chosen.items() if agreed.get(n) in (None, verdict.option))
            if itself := list(dict.fromkeys((*same, *split))):
                for name in itself:
                    _commit_final(act, ticket, name, verdicts[name], itself=name in same or AT_ONCE)
                    # The reviewer now knows whether the judges agree, so is no longer blind here.
                    act.record("reveal", name, part=ticket.part, revealed_at=act.now)
                effect = update_derived(act, itself)
        return replace(act_result(act, ticket, effect), same=tuple(same))


def _same_as_panel(
    act: Act, answers: Mapping[str, ReviewerAnswer], agreed: Mapping[str, int]
) -> list[str]:
    """Return the cells whose verdict is confirmed automatically, since it is the panel's option.

    It excludes cells on which all judges chose another option (``agreed``) than their rule did; a
    person should see those.
    """
    same = []
    for cell in act.store.results.cells(act.run.id, act.item_id):
        settled = cell.rule == ADJUDICATED
        option = cell.voted if settled else None if cell.abstained else cell.option
        verdict = answers.get(cell.criterion)
        if verdict is None or option is None or verdict.option != option:
            continue
        if agreed.get(cell.criterion, option) == option and not cell.failures:
            same.append(cell.criterion)
    return same


@allowed("review")
def reveal(store: Store, ticket: Ticket) -> tuple[RevealedCell, ...]:
    """Return the votes on committed cells, or on all of an assisted item, and record the reveal.

    Raises:
        Conflict: nothing is committed yet, or the queue never shows votes.
    """
    with store.write():
        act, ticket = begin(store, ticket)
        assert act.queue is not None, "tickets belong to queues"
        if act.queue.settings.mode == "blind" and ticket.part == "review":
            raise Conflict("This queue is blind: what judges said is never shown.")
        shown = revealed_votes(store, ticket)
        if not shown:
            raise Conflict("Commit a verdict first; what judges said is shown afterwards.")
        own_verdicts = {v.criterion: v for v in my_verdicts(store, ticket)}
        for cell in shown:
            name = cell.view.criterion.name
            verdict = own_verdicts.get(name)
            # The verdict was confirmed before the votes were shown, so the votes did not influence
            # it.
            confirmed = verdict is not None and verdict.final is not None
            if verdict is not None and verdict.revealed is None and not confirmed:
                store.verdicts.put(act.queue.id, replace(verdict, revealed=act.now))
            if store.events.seen(act.queue.id, act.item_id, name, ticket.seat.name) is None:
                act.record("reveal", name, part=ticket.part, revealed_at=act.now)
        return shown


@allowed("review")
def finish(store: Store, ticket: Ticket, answers: Mapping[str, ReviewerAnswer]) -> ActResult:
    """Confirm or amend committed verdicts; they count from now on.

    A note is needed to decide against unanimous judges, to change a verdict after seeing the
    votes, or to resolve a disagreement.

    Raises:
        InputError: as in ``commit``, or a note is missing.
        Conflict: as in ``commit``, or nothing was committed.
    """
    with store.write():
        act, ticket = begin(store, ticket)
        _cells_to_decide(act, ticket, answers)
        own_verdicts = {v.criterion: v for v in my_verdicts(store, ticket) if v.final is None}
        for name in answers:
            if name not in own_verdicts:
                raise Conflict(f"You gave no verdict on {name!r} to confirm.")
        verdicts = normalised_verdicts(act, answers)
        require_notes(act, ticket, verdicts, own_verdicts, votes_seen=False)
        for name, verdict in verdicts.items():
            _commit_final(act, ticket, name, verdict)
        return act_result(act, ticket, update_derived(act, list(verdicts)))


@allowed("review")
def begin(store: Store, ticket: Ticket) -> tuple[Act, Ticket]:
    """Return an act with the person's current role, and the ticket for it; extend the lease.

    Raises:
        Conflict: another person has the item, or the queue is archived.
    """
    queue = store.queues.get(ticket.queue_id)
    if queue.archived is not None:
        raise Conflict("This queue is archived. A lead can restore it.")
    ticket = replace(ticket, seat=now_seated(store, ticket.seat))
    if ticket.part == "resolve" and not ticket.seat.resolves:
        raise Conflict("Only an adjudicator or a lead may resolve a disagreement.")
    require_held(store, ticket)
    until = clock.seconds_now() + queue.settings.lease_seconds
    store.turns.extend_lease(queue.id, ticket.item_id, ticket.seat, until)
    run = store.runs.get(queue.run_id)
    act = Act(store, ticket.seat, run, ticket.item_id, queue, clock.now())
    return act, replace(ticket, until=until)


def _cells_to_decide(
    act: Act, ticket: Ticket, answers: Mapping[str, ReviewerAnswer]
) -> dict[str, QueuedCell]:
    """Return these cells; raise ``Conflict`` if one changed or this person may not decide it."""
    cells = {cell.criterion: cell for cell in act.store.queues.cells(ticket.queue_id, act.item_id)}
    for name in answers:
        if name not in cells:
            raise NotFound(f"{name!r} of item {ticket.number} is not in this queue.")
        cell = cells[name]
        if cell.version != ticket.versions.get(name) or not needs_verdict(cell, ticket):
            raise Conflict(_who_was_faster(act, name))
        if not may_decide_flagged(cell.flagged, ticket.seat.role):
            raise Conflict(f"{name!r} is flagged for a {cell.flagged}.")
    return cells


def _who_was_faster(act: Act, criterion: str) -> str:
    events = act.store.events.of_cell(act.run.id, act.item_id, criterion)
    changes = act.store.scored.changes(act.run.id)
    if changes and (not events or events[-1].ts < changes[0].ts):
        return (
            f"{criterion!r} asks something else since version {changes[0].to_number} of the rubric "
            f"({changes[0].actor}, {changes[0].ts[11:16]} UTC). Your verdict was not recorded and "
            "is still here; read the question again."
        )
    last = events[-1]
    reviewer = "you, in another window" if last.actor == act.seat.name else last.actor
    verb = {
        "settle": "settled",
        "unsettle": "opened again",
        "undo": "opened again",
        "send_back": "sent back",
        "flag": "flagged",
        "unflag": "changed",
        "mark": "changed",
        "request": "sent for a regrade",
        "withdraw": "changed",
    }.get(last.action, "decided")
    return (
        f"{criterion!r} was {verb} by {reviewer} at {last.ts[11:16]} UTC. Your verdict was not "
        "recorded and is still here; look at the item again."
    )


def _commit_first(
    act: Act,
    ticket: Ticket,
    cell: QueuedCell,
    answer: ReviewerAnswer,
    mode: Mode,
    ms: int | None,
) -> None:
    assert act.queue is not None, "tickets belong to queues"
    revealed_at = act.store.events.seen(act.queue.id, act.item_id, cell.criterion, ticket.seat.name)
    # A reviewer who saw the votes and withdrew the verdict is no longer blind.
    mode_given: Mode = "assisted" if revealed_at is not None else mode
    event_id = act.record(
        "verdict",
        cell.criterion,
        part=ticket.part,
        after=answer_data(answer),
        reason=answer.note,
        mode=mode_given,
        ms_active=ms,
        revealed_at=revealed_at,
        evidence=[list(span) for span in answer.evidence],
    )
    verdict = VerdictRow(
        *(act.item_id, cell.criterion, ticket.part, ticket.seat.name, mode_given, answer, event_id),
        *(revealed_at, None, None),
    )
    act.store.verdicts.put(act.queue.id, verdict)


#: The reason, as stored in events, for confirming a verdict automatically although it differs from
#: the panel's.
AT_ONCE = "at once"


def _commit_final(
    act: Act, ticket: Ticket, criterion: str, answer: ReviewerAnswer, *, itself: bool | str = False
) -> None:
    assert act.queue is not None, "tickets belong to queues"
    (verdict,) = [v for v in my_verdicts(act.store, ticket) if v.criterion == criterion]
    event_id = act.record(
        "final",
        criterion,
        part=ticket.part,
        before=answer_data(verdict.first),
        after={**answer_data(answer), **({"itself": itself} if itself else {})},
        reason=answer.note,
        mode=verdict.mode,
        revealed_at=verdict.revealed,
        evidence=[list(span) for span in answer.evidence],
    )
    act.store.verdicts.put(act.queue.id, replace(verdict, final=answer, final_event=event_id))


def _forget_drafts(store: Store, ticket: Ticket, answers: Mapping[str, Any]) -> None:
    remaining = {name: g for name, g in drafts_of(store, ticket).items() if name not in answers}
    save_drafts(store, ticket, remaining, now=clock.now())


def act_result(act: Act, ticket: Ticket, effect: DecisionEffect | None) -> ActResult:
    """Return the result of an act, with the ticket to continue with."""
    waiting = [v.criterion for v in my_verdicts(act.store, ticket) if v.final is None]
    return ActResult(act.step, renewed_ticket(act.store, ticket), tuple(waiting), effect)
