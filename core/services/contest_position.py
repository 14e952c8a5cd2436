"""Does the place of an answer matter? Per judge, over the answers given in both orders."""

from __future__ import annotations

from typing import NamedTuple

from core.metrics.wilson import wilson
from core.services.contest_questions import Choice
from core.services.contest_votes import Contests, Held, winner_of


class Position(NamedTuple):
    """How a judge answered when the same two answers were exchanged.

    ``pairs``: two answers to one contest in both orders, abstentions apart; ``agree`` of them named
    the same winner (or none), ``first`` took the answer shown first in both orders and ``last`` the
    one shown last. ``rate`` = agree / pairs. ``shown_first`` is the share of all choices of a
    winner that went to A; where answers stand first and second equally often, and place does not
    matter, it is a half. Intervals are Wilson's (95 %); ``None`` without data.
    """

    judge: str
    pairs: int
    agree: int
    first: int
    last: int
    rate: float | None
    rate_low: float | None
    rate_high: float | None
    choices: int
    shown_first: float | None
    first_low: float | None
    first_high: float | None

    @property
    def biased(self) -> bool:
        """Whether the share that went to A cannot be a half."""
        if self.first_low is None or self.first_high is None:
            return False
        return not self.first_low <= 0.5 <= self.first_high


def positions(contests: Contests, question: str | None = None) -> list[Position]:
    """The position figures of every judge, in the panel's order."""
    chosen: dict[str, list[dict[bool, Choice]]] = {j.name: [] for j in contests.judges}
    for held in contests.held:
        if question is None or held.question == question:
            for (judge, _), answers in _answers(contests, held).items():
                chosen.setdefault(judge, []).append(answers)
    return [_position(judge, answers) for judge, answers in chosen.items()]


def _answers(contests: Contests, held: Held) -> dict[tuple[str, int], dict[bool, Choice]]:
    """Every judge's (and replicate's) choice by whether the answers were exchanged."""
    found: dict[tuple[str, int], dict[bool, Choice]] = {}
    for shown in held.shown:
        for row in shown.rows:
            choice = contests.choice(held, row)
            if choice != "none":
                found.setdefault((row.judge, row.replicate), {})[shown.swapped] = choice
    return found


def _position(judge: str, answers: list[dict[bool, Choice]]) -> Position:
    both = [a for a in answers if len(a) == 2]
    winners = [(winner_of(a[False], False).points, winner_of(a[True], True).points) for a in both]
    agree = sum(one == two for one, two in winners)
    first = sum(a[False] == a[True] == "A" for a in both)
    last = sum(a[False] == a[True] == "B" for a in both)
    # Only pairs: there both answers stood first equally often, whatever they are worth.
    named = [c for a in both for c in a.values() if c in ("A", "B")]
    to_first = named.count("A")
    none: tuple[float | None, float | None] = (None, None)
    rate_low, rate_high = wilson(agree, len(both)) if both else none
    first_low, first_high = wilson(to_first, len(named)) if named else none
    return Position(
        judge,
        len(both),
        agree,
        first,
        last,
        agree / len(both) if both else None,
        rate_low,
        rate_high,
        len(named),
        to_first / len(named) if named else None,
        first_low,
        first_high,
    )
