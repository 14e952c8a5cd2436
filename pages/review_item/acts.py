"""What a reviewer does with the open item; every act is one verb of the services."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace

from core.domain.review import Given, Role, Span, Why
from core.errors import Conflict, InputError
from core.services.review import claims, commit_reveal, other_acts
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

#: A pause longer than this many seconds is not time spent on a cell.
IDLE = 60.0
#: So many items can be stepped through with the arrow keys.
AHEAD = 500


def _clock(at: OpenItem) -> None:
    """Book the time since the last act on the cell that is active."""
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
    """Draft an option, and go on to the next cell that nothing was said of."""
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
    """Keep a note with the verdict that is drafted."""
    say(at, criterion, replace(at.said.get(criterion, Given(None)), note=text))


def rest_on(at: OpenItem, criterion: str, spans: tuple[Span, ...]) -> None:
    """Keep the passages that a verdict rests on."""
    say(at, criterion, replace(at.said.get(criterion, Given(None)), evidence=spans))


def _go_on(at: OpenItem, criterion: str) -> None:
    order = [name(c) for c in at.mine]
    place = order.index(criterion)
    later = [n for n in order[place + 1 :] + order[:place] if n in at.missing]
    if later:
        at.active = later[0]


def move(at: OpenItem, by: int) -> None:
    """Make the cell before or after the active one active."""
    _clock(at)
    order = [name(c) for c in at.mine]
    if at.active in order:
        at.active = order[(order.index(at.active) + by) % len(order)]
    at.mode = "options"


def commit(at: OpenItem) -> None:
    """Commit or confirm what was said; goes on to the votes, or to the next item."""
    assert at.ticket is not None, "only an open item is judged"
    _clock(at)
    given = {n: g for n, g in at.said.items() if n in {name(c) for c in at.mine}}
    if at.confirming:
        done = commit_reveal.finish(store(), at.ticket, given)
    else:
        spent = {n: round(1000 * at.spent.get(n, 0.0)) for n in given}
        done = commit_reveal.commit(store(), at.ticket, given, ms_active=spent)
    at.ticket, at.undone, at.same = done.ticket, (), done.same
    if not done.confirm:
        at.effect = _told(at, done.effect) or at.effect
        go_on(at)
        return
    at.effect, at.active = None, ""
    at.item = commit_reveal.blind_item(store(), at.ticket)
    show_votes(at)
    choose_active(at)


def _told(at: OpenItem, effect: DecisionEffect | None) -> DecisionEffect | None:
    """What may be said of a decision while other cells of its item are still to be judged."""
    if effect is None or at.item is None:
        return effect
    decided = {cell.criterion for cell in effect.cells}
    blind = any(cell.mine and name(cell) not in decided for cell in at.item.cells)
    return effect.of_cells() if blind else effect


def go_on(at: OpenItem) -> None:
    """Put the open item away and take the next one; what the last decision changed stays said."""
    effect, undone = at.effect, at.undone
    give_back(at)
    open_next(at)
    at.effect, at.undone = effect, undone


def skip(at: OpenItem) -> None:
    """Put the item at the end of my queue; it counts as nothing. What the note says is why."""
    assert at.ticket is not None, "only an open item is skipped"
    other_acts.skip(store(), at.ticket, at.said.get(at.active, Given(None)).note)
    at.effect, at.same = None, ()
    open_next(at)


def flag(at: OpenItem, role: Role) -> None:
    """Hand the active cell to another role; the rest of the item stays mine."""
    assert at.ticket is not None, "only an open item is flagged"
    reason = at.said.get(at.active, Given(None)).note
    done = other_acts.flag(store(), at.ticket, at.active, role, reason)
    _cell_changed(at, done.ticket)


def unflag(at: OpenItem) -> None:
    """Let everybody go on with the active cell again."""
    assert at.ticket is not None, "only an open item is unflagged"
    reason = at.said.get(at.active, Given(None)).note
    _cell_changed(at, other_acts.unflag(store(), at.ticket, at.active, reason).ticket)


def send_back(at: OpenItem) -> None:
    """Have the reviewers look at the active cell again; their verdicts count no more."""
    assert at.ticket is not None, "only an open item is sent back"
    reason = at.said.get(at.active, Given(None)).note
    if not reason.strip():
        raise InputError("Say why in the note first (N), so that whoever reviews it again knows.")
    cell = (at.ticket.item_id, at.active)
    other_acts.send_back(store(), at.seat, at.queue_id, [cell], reason)
    _cell_changed(at, at.ticket)


def _cell_changed(at: OpenItem, ticket: claims.Ticket) -> None:
    at.ticket, at.mode = ticket, "options"
    look_again(at)
    if not at.mine:
        go_on(at)


def flag_met(at: OpenItem, met: HasMet, reason: str) -> None:
    """Ask a lead about verdicts of mine that have met another reviewer's."""
    other_acts.flag_met(store(), at.seat, at.queue_id, met.item_id, met.criteria, reason)
    at.effect, at.undone, at.same = None, (), ()
    at.told = "Flagged for a lead. U takes the flag away again."


def undo(at: OpenItem, before: int | None = None) -> bool:
    """Take my last act in this queue (before a step) back and open its item; `False`: none."""
    undone = other_acts.undo_last(store(), at.seat, at.queue_id, before=before)
    if undone is None:
        return False
    # An item that is not mine to review now stays closed; the act is taken back all the same.
    with suppress(Conflict):
        open_item(at, undone.item_id)
    at.effect = _told(at, undone.effects[-1] if undone.effects else None)
    at.undone, at.same = undone.acts, ()
    return True


def step(at: OpenItem, by: int) -> None:
    """Look at the next or the previous item that is there for me, without deciding this one."""
    ahead = claims.ahead(store(), at.seat, at.queue_id, at.where, limit=AHEAD)
    ids = [turn.item_id for turn in ahead]
    here = at.ticket.item_id if at.ticket else ""
    if len(ids) < 2 or here not in ids:
        raise Conflict("There is no other item for you now.")
    open_item(at, ids[(ids.index(here) + by) % len(ids)])
    at.effect, at.undone, at.same = None, (), ()
