"""A reviewer's acts on the open item; each calls one function of the services."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace

from core.domain.review import ReviewerAnswer, Role, Span, Why
from core.errors import Conflict, InputError
from core.services.review import claims, commit_reveal, other_acts, reviewers
from core.services.review.audit_trail import DecisionEffect
from core.services.review.other_acts import VerdictsCompared
from pages.review_item.opened import (
    OpenItem,
    choose_active,
    criterion_name,
    open_item,
    open_next,
    release_item,
    reload_item,
    show_votes,
)
from pages.ui.resources import store

#: A pause longer than this many seconds does not count as time spent on a cell.
IDLE = 60.0
#: The most items that the arrow keys step through.
AHEAD = 500
AGAINST_ALL = (
    "All judges chose another option. Say why and press Ctrl+Enter, or press Esc and choose again."
)


def _clock_time(review: OpenItem) -> None:
    """Add the time since the last act to the active cell."""
    now = time.monotonic()
    review.spent[review.active] = review.spent.get(review.active, 0.0) + min(
        now - review.touched, IDLE
    )
    review.touched = now


def draft_verdict(review: OpenItem, criterion: str, answer: ReviewerAnswer) -> None:
    """Draft a verdict on a cell."""
    _clock_time(review)
    review.said[criterion] = answer
    review.mode = "options"
    assert review.ticket is not None, "only an open item is judged"
    commit_reveal.save_draft(store(), review.ticket, review.said)


def choose_option(review: OpenItem, criterion: str, option: int) -> None:
    """Draft an option, and move to the next cell without a verdict."""
    before = review.said.get(criterion, ReviewerAnswer(None))
    draft_verdict(review, criterion, replace(before, option=option, why=None))
    if not review.confirming:
        _to_next_cell(review, criterion)


def give_up(review: OpenItem, criterion: str, reason: Why) -> None:
    """Draft that a cell cannot be assessed, with the reason."""
    before = review.said.get(criterion, ReviewerAnswer(None))
    draft_verdict(review, criterion, replace(before, option=None, why=reason))
    if not review.confirming:
        _to_next_cell(review, criterion)


def store_note(review: OpenItem, criterion: str, text: str) -> None:
    """Store a note with the drafted verdict."""
    draft_verdict(
        review, criterion, replace(review.said.get(criterion, ReviewerAnswer(None)), note=text)
    )


def store_evidence(review: OpenItem, criterion: str, spans: tuple[Span, ...]) -> None:
    """Store the passages that support a verdict."""
    draft_verdict(
        review, criterion, replace(review.said.get(criterion, ReviewerAnswer(None)), evidence=spans)
    )


def _to_next_cell(review: OpenItem, criterion: str) -> None:
    order = [criterion_name(c) for c in review.cells_to_decide]
    place = order.index(criterion)
    later = [n for n in order[place + 1 :] + order[:place] if n in review.missing]
    if later:
        review.active = later[0]


def move_active(review: OpenItem, step: int) -> None:
    """Activate the cell before or after the active one."""
    _clock_time(review)
    order = [criterion_name(c) for c in review.cells_to_decide]
    if review.active in order:
        review.active = order[(order.index(review.active) + step) % len(order)]
    review.mode = "options"


def commit_verdicts(review: OpenItem) -> None:
    """Commit or confirm the verdicts; then show the votes, or the next item."""
    assert review.ticket is not None, "only an open item can be judged"
    _clock_time(review)
    at_once = reviewers.commits_at_once(store(), review.seat)
    verdicts = {
        n: g
        for n, g in review.said.items()
        if n in {criterion_name(c) for c in review.cells_to_decide}
    }
    if review.confirming:
        outcome = commit_reveal.finish(store(), review.ticket, verdicts)
    else:
        spent = {n: round(1000 * review.spent.get(n, 0.0)) for n in verdicts}
        outcome = commit_reveal.commit(
            store(), review.ticket, verdicts, ms_active=spent, at_once=at_once
        )
    review.ticket, review.undone, review.same = outcome.ticket, (), outcome.same
    if not outcome.confirm:
        review.effect = _visible_effect(review, outcome.effect) or review.effect
        take_next(review)
        return
    review.effect, review.active = None, ""
    review.item = commit_reveal.blind_item(store(), review.ticket)
    show_votes(review)
    choose_active(review)
    if at_once:
        review.told, review.unexplained, review.note = AGAINST_ALL, outcome.confirm, review.note + 1


def _visible_effect(review: OpenItem, effect: DecisionEffect | None) -> DecisionEffect | None:
    """Return the part of an effect that may be shown while other cells of the item are open."""
    if effect is None or review.item is None:
        return effect
    decided = {cell.criterion for cell in effect.cells}
    blind = any(cell.mine and criterion_name(cell) not in decided for cell in review.item.cells)
    return effect.of_cells() if blind else effect


def take_next(review: OpenItem) -> None:
    """Close the open item and take the next one; the last decision's effect stays visible."""
    effect, undone = review.effect, review.undone
    release_item(review)
    open_next(review)
    review.effect, review.undone = effect, undone


def skip_item(review: OpenItem) -> None:
    """Move the item to the end of my queue, without a verdict. The note is the reason."""
    assert review.ticket is not None, "only an open item can be skipped"
    other_acts.skip(
        store(), review.ticket, review.said.get(review.active, ReviewerAnswer(None)).note
    )
    review.effect, review.same = None, ()
    open_next(review)


def flag_cell(review: OpenItem, role: Role) -> None:
    """Flag the active cell for another role; the rest of the item stays mine."""
    assert review.ticket is not None, "only an open item can be flagged"
    reason = review.said.get(review.active, ReviewerAnswer(None)).note
    outcome = other_acts.flag(store(), review.ticket, review.active, role, reason)
    _cell_changed(review, outcome.ticket)


def unflag_cell(review: OpenItem) -> None:
    """Remove the active cell's flag, so that everyone can decide it again."""
    assert review.ticket is not None, "only an open item can be unflagged"
    reason = review.said.get(review.active, ReviewerAnswer(None)).note
    _cell_changed(review, other_acts.unflag(store(), review.ticket, review.active, reason).ticket)


def send_back(review: OpenItem) -> None:
    """Send the active cell back to its reviewers; their verdicts no longer count."""
    assert review.ticket is not None, "only an open item can be sent back"
    reason = review.said.get(review.active, ReviewerAnswer(None)).note
    if not reason.strip():
        raise InputError("First give the reason in the note (N), for the next reviewer.")
    cell = (review.ticket.item_id, review.active)
    other_acts.send_back(store(), review.seat, review.queue_id, [cell], reason)
    _cell_changed(review, review.ticket)


def _cell_changed(review: OpenItem, ticket: claims.Ticket) -> None:
    review.ticket, review.mode = ticket, "options"
    reload_item(review)
    if not review.cells_to_decide:
        take_next(review)


def flag_met_verdicts(review: OpenItem, compared: VerdictsCompared, reason: str) -> None:
    """Ask a lead about my verdicts that were compared with another reviewer's."""
    other_acts.flag_met(
        store(), review.seat, review.queue_id, compared.item_id, compared.criteria, reason
    )
    review.effect, review.undone, review.same = None, (), ()
    review.told = "Flagged for a lead. U removes the flag."


def undo_act(review: OpenItem, before: int | None = None) -> bool:
    """Undo my last act in this queue (before a step) and open its item; `False` if none."""
    undone = other_acts.undo_last(store(), review.seat, review.queue_id, before=before)
    if undone is None:
        return False
    # An item that I may no longer review stays closed, but the act is undone anyway.
    with suppress(Conflict):
        open_item(review, undone.item_id)
    review.effect = _visible_effect(review, undone.effects[-1] if undone.effects else None)
    review.undone, review.same = undone.acts, ()
    return True


def step_items(review: OpenItem, step: int) -> None:
    """Show my next or previous available item, without deciding this one."""
    ahead = claims.next_items(store(), review.seat, review.queue_id, review.where, limit=AHEAD)
    ids = [turn.item_id for turn in ahead]
    item_id = review.ticket.item_id if review.ticket else ""
    if len(ids) < 2 or item_id not in ids:
        raise Conflict("No other item is available to you now.")
    open_item(review, ids[(ids.index(item_id) + step) % len(ids)])
    review.effect, review.undone, review.same = None, (), ()
