"""From a score and what gates and pre-checks said to pass, fail or review."""

from __future__ import annotations

from typing import NamedTuple

from core.domain.decision import Decision
from core.scoring.trace import DecisionMark, Outcome, Why

EPSILON = 1e-9


class BeforeDecision(NamedTuple):
    """What is known before thresholds are looked at. Scores are in units of the score.

    ``fail`` and ``review`` are what gates and pre-checks said; ``undecided``: a gate could not be
    decided, so that the score lies between ``low`` and ``high``.
    """

    total: float | None
    low: float | None
    high: float | None
    complete: bool
    fail: bool
    review: bool
    undecided: bool


def decide(decision: Decision | None, known: BeforeDecision) -> tuple[Outcome | None, Why | None]:
    """The outcome and its reason.

    What a gate or a pre-check says wins over every threshold, and fail wins over review. Whatever
    is not known goes to a person: an undecided gate, a missing verdict, no score. Only then do the
    thresholds speak; a score on a threshold counts as having reached it.

    >>> known = BeforeDecision(0.82, 0.82, 0.82, True, False, False, False)
    >>> decide(Decision(pass_at=0.7), known)
    ('pass', 'score')
    """
    if known.fail:
        return "fail", "rule"
    if known.review:
        return "review", "rule"
    if known.undecided:
        return "review", "straddles" if decision and _straddles(decision, known) else "undecided"
    if decision is None:
        return None, None
    if not known.complete:
        return "review", "incomplete"
    if known.total is None:
        return "review", "no_score"
    return _by_score(decision, known.total)


def _by_score(decision: Decision, total: float) -> tuple[Outcome, Why]:
    within = decision.review_within
    distance = min(abs(total - decision.pass_at), abs(total - decision.floor))
    if within and distance <= within + EPSILON:
        return "review", "near"
    if total >= decision.pass_at - EPSILON:
        return "pass", "score"
    return ("fail", "score") if total < decision.floor - EPSILON else ("review", "between")


def _straddles(decision: Decision, known: BeforeDecision) -> bool:
    if known.low is None or known.high is None:
        return False
    return _by_score(decision, known.low)[0] != _by_score(decision, known.high)[0]


def mark_of(decision: Decision | None) -> DecisionMark | None:
    """The thresholds as the trace keeps them."""
    if decision is None:
        return None
    return DecisionMark(decision.pass_at, decision.floor, decision.review_within)
