"""A reviewer's acts on the open item; each calls one function of the services."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace

from core.domain.review import Given, Role, Span, Why
from core.errors import Conflict, InputError
from core.services.review import claims, commit_reveal, other_acts, reviewers
from core.services.review.audit_trail import DecisionEffect
from core.services.review.other_acts import HasMet
from pages.review_item.opened import (
    OpenItem,
    choose_active,
    give_back,
    look_again,
    name,
    open_item,
    open_next,
    show_votes,
)
from pages.ui.resources import store

#: A pause longer than this many seconds does not count as time spent on a cell.
IDLE = 60.0
#: Most items that the arrow keys step through.
AHEAD = 500
AGAINST_ALL = "All judges say something else. Say why, then Ctrl+Enter; or Esc, and choose again."


def _clock(at: OpenItem) -> None:
    """Add the time since the last act to the active cell."""
    now = time.monotonic()
    at.spent[at.active] = at.spent.get(at.active, 0.0) + min(now - at.touched, IDLE)
    at.touched = now


def say(at: OpenItem, criterion: str, given: Given) -> None:
    """Draft a verdict on a cell."""
    _clock(at)
    at.said[criterion] = given
    at.mode = "options"
    assert at.ticket is not None, "only an open item is judged"
    commit_reveal.save_draft(store(), at.ticket, at.said)


def choose(at: OpenItem, criterion: str, option: int) -> None:
    """Draft an option, and move to the next cell without a verdict."""
    before = at.said.get(criterion, Given(None))
    say(at, criterion, replace(before, option=option, why=None))
    if not at.confirming:
        _go_on(at, criterion)


def give_up(at: OpenItem, criterion: str, why: Why) -> None:
    """Draft that a cell cannot be assessed, and why."""
    before = at.said.get(criterion, Given(None))
    say(at, criterion, replace(before, option=None, why=why))
    if not at.confirming:
        _go_on(at, criterion)


def note(at: OpenItem, criterion: str, text: str) -> None:
    """Store a note with the drafted verdict."""
    say(at, criterion, replace(at.said.get(criterion, Given(None)), note=text))


def rest_on(at: OpenItem, criterion: str, spans: tuple[Span, ...]) -> None:
    """Store the passages that support a verdict."""
    say(at, criterion, replace(at.said.get(criterion, Given(None)), evidence=spans))


def _go_on(at: OpenItem, criterion: str) -> None:
    order = [name(c) for c in at.mine]
    place = order.index(criterion)
    later = [n for n in order[place + 1 :] + order[:place] if n in at.missing]
    if later:
        at.active = later[0]


def move(at: OpenItem, by: int) -> None:
    """Activate the cell before or after the active one."""
    _clock(at)
    order = [name(c) for c in at.mine]
    if at.active in order:
        at.active = order[(order.index(at.active) + by) % len(order)]
    at.mode = "options"


def commit(at: OpenItem) -> None:
    """Commit or confirm the verdicts; then show the votes, or the next item."""
    assert at.ticket is not None, "only an open item is judged"
    _clock(at)
    at_once = reviewers.commits_at_once(store(), at.seat)
    given = {n: g for n, g in at.said.items() if n in {name(c) for c in at.mine}}
    if at.confirming:
        outcome = commit_reveal.finish(store(), at.ticket, given)
    else:
        spent = {n: round(1000 * at.spent.get(n, 0.0)) for n in given}
        outcome = commit_reveal.commit(store(), at.ticket, given, ms_active=spent, at_once=at_once)
    at.ticket, at.undone, at.same = outcome.ticket, (), outcome.same
    if not outcome.confirm:
        at.effect = _told(at, outcome.effect) or at.effect
        go_on(at)
        return
    at.effect, at.active = None, ""
    at.item = commit_reveal.blind_item(store(), at.ticket)
    show_votes(at)
    choose_active(at)
    if at_once:
        at.told, at.unexplained, at.note = AGAINST_ALL, outcome.confirm, at.note + 1


def _told(at: OpenItem, effect: DecisionEffect | None) -> DecisionEffect | None:
    """Return the part of an effect that may be shown while other cells of the item are open."""
    if effect is None or at.item is None:
        return effect
    decided = {cell.criterion for cell in effect.cells}
    blind = any(cell.mine and name(cell) not in decided for cell in at.item.cells)
    return effect.of_cells() if blind else effect


def go_on(at: OpenItem) -> None:
    """Close the open item and take the next one; the last decision's effect stays shown."""
    effect, undone = at.effect, at.undone
    give_back(at)
    open_next(at)
    at.effect, at.undone = effect, undone


def skip(at: OpenItem) -> None:
    """Move the item to the end of my queue, without a verdict. The note is the reason."""
    assert at.ticket is not None, "only an open item is skipped"
    other_acts.skip(store(), at.ticket, at.said.get(at.active, Given(None)).note)
    at.effect, at.same = None, ()
    open_next(at)


def flag(at: OpenItem, role: Role) -> None:
    """Flag the active cell for another role; the rest of the item stays mine."""
    assert at.ticket is not None, "only an open item is flagged"
    reason = at.said.get(at.active, Given(None)).note
    outcome = other_acts.flag(store(), at.ticket, at.active, role, reason)
    _cell_changed(at, outcome.ticket)


def unflag(at: OpenItem) -> None:
    """Remove the active cell's flag, so that everyone can decide it again."""
    assert at.ticket is not None, "only an open item is unflagged"
    reason = at.said.get(at.active, Given(None)).note
    _cell_changed(at, other_acts.unflag(store(), at.ticket, at.active, reason).ticket)


def send_back(at: OpenItem) -> None:
    """Send the active cell back to its reviewers; their verdicts no longer count."""
    assert at.ticket is not None, "only an open item is sent back"
    reason = at.said.get(at.active, Given(None)).note
    if not reason.strip():
        raise InputError("First say why in the note (N), for the next reviewer.")
    cell = (at.ticket.item_id, at.active)
    other_acts.send_back(store(), at.seat, at.queue_id, [cell], reason)
    _cell_changed(at, at.ticket)


def _cell_changed(at: OpenItem, ticket: claims.Ticket) -> None:
    at.ticket, at.mode = ticket, "options"
    look_again(at)
    if not at.mine:
        go_on(at)


def flag_met(at: OpenItem, met: HasMet, reason: str) -> None:
    """Ask a lead about my verdicts that were compared with another reviewer's."""
    other_acts.flag_met(store(), at.seat, at.queue_id, met.item_id, met.criteria, reason)
    at.effect, at.undone, at.same = None, (), ()
    at.told = "Flagged for a lead. U takes the flag away again."


def undo(at: OpenItem, before: int | None = None) -> bool:
    """Undo my last act in this queue (before a step) and open its item; `False` if none."""
    undone = other_acts.undo_last(store(), at.seat, at.queue_id, before=before)
    if undone is None:
        return False
    # An item that is no longer mine to review stays closed; the act is undone anyway.
    with suppress(Conflict):
        open_item(at, undone.item_id)
    at.effect = _told(at, undone.effects[-1] if undone.effects else None)
    at.undone, at.same = undone.acts, ()
    return True


def step(at: OpenItem, by: int) -> None:
    """Show my next or previous available item, without deciding this one."""
    ahead = claims.ahead(store(), at.seat, at.queue_id, at.where, limit=AHEAD)
    ids = [turn.item_id for turn in ahead]
    item_id = at.ticket.item_id if at.ticket else ""
    if len(ids) < 2 or item_id not in ids:
        raise Conflict("There is no other item for you now.")
    open_item(at, ids[(ids.index(item_id) + by) % len(ids)])
    at.effect, at.undone, at.same = None, (), ()
