"""What lies before a person in the arena: two answers without names, or names after the vote.

Every act is guarded: a refusal is shown and loses nothing. A key can arrive after the screen
moved on; an act says for which contest it was meant, and is ignored for any other.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from core.errors import RubricStudioError
from core.services import contest_arena, contest_people
from core.services.contest_arena import Blind, Revealed
from core.services.contest_questions import Choice
from pages.ui import state
from pages.ui.resources import store

ARENA = "arena"
ARENA_ACT = "arena_act"


@dataclass
class Desk:
    """``blind`` is the contest that lies open (``None``: all are done), ``told`` what the vote
    revealed. ``given`` are this tab's votes, the last one last.
    """

    arena: int
    person: str
    blind: Blind | None = None
    told: Revealed | None = None
    chosen: Choice | None = None
    number: int = 0
    began: float = 0.0
    given: list[tuple[str, str]] = field(default_factory=list)
    said: str = ""
    refused: str = ""


def desk(run_id: int, person: str) -> Desk | None:
    """The desk of this tab; ``None`` before somebody sat down."""
    found = state.get(_key(run_id))
    return found if isinstance(found, Desk) and found.person == person else None


def sit_down(run_id: int, person: str) -> None:
    """Begin, or go on where this person stopped."""
    at = Desk(contest_arena.start(store(), run_id, person), person)
    state.put(_key(run_id), at)
    lay_next(at)


def get_up(run_id: int) -> None:
    """Leave; every vote is kept."""
    state.drop(ARENA, run_id)


def lay_next(at: Desk) -> None:
    """Put the next contest without this person's vote on the desk."""
    at.blind = contest_arena.next_blind(store(), at.arena)
    at.told, at.chosen, at.said = None, None, ""
    at.number += 1
    at.began = time.monotonic()


def go_on(at: Desk, number: int) -> None:
    """The key after a vote."""
    if at.number == number and at.told is not None:
        at.refused = ""
        lay_next(at)


def vote(at: Desk, number: int, choice: Choice) -> None:
    """The person's answer; names are known from now on."""
    if at.blind is None or at.told is not None or at.number != number:
        return
    at.refused = at.said = ""
    ms = round(1000 * (time.monotonic() - at.began))
    try:
        at.told = contest_arena.vote(
            store(), at.arena, at.blind.item, at.blind.question, choice, ms=ms
        )
    except RubricStudioError as error:
        # Most likely this person has voted in another window meanwhile.
        at.refused = str(error)
        lay_next(at)
        return
    at.chosen = choice
    at.given.append((at.blind.item, at.blind.question))


def undo(at: Desk) -> None:
    """Take the last vote of this tab back."""
    if not at.given:
        at.refused = "There is nothing of this visit to take back."
        return
    at.refused = ""
    item, question = at.given.pop()
    contest_people.withdraw(store(), at.arena, item, question)
    if at.told is not None:
        lay_next(at)
    at.said = (
        "Your last vote is taken back. It is kept and counts no more; the contest does not come "
        "again, because you have seen the names."
    )


def _key(run_id: int) -> str:
    return state.key(ARENA, run_id)
