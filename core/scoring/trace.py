"""The trace of a score: plain data from which it can be explained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from math import fsum
from typing import Any, Literal, NamedTuple

from core.domain.gates import Abstention, CheckAction

#: Which sum the base was divided by: positive weights, |negative weights|, or neither.
Basis = Literal["positive", "negative", "zero", "none"]
GateState = Literal["fired", "clear", "indeterminate"]
Outcome = Literal["pass", "fail", "review"]
#: Why the outcome is what it is: what a gate or a pre-check said, what is not known, or the score.
Why = Literal[
    "rule",
    "undecided",
    "incomplete",
    "no_score",
    "not_assessed",
    "straddles",
    "near",
    "between",
    "score",
]


class ScorePart(NamedTuple):
    """What one criterion gave.

    ``value`` is the chosen option's value, or ``None`` where there is none (abstained, missing).
    ``points`` is what it added to the raw sum. ``counted`` says whether its weight is in the
    denominator; a ``missing`` criterion has no verdict and is never counted.
    """

    name: str
    weight: float
    value: float | None
    points: float
    counted: bool
    abstained: bool
    missing: bool


class Assessed(NamedTuple):
    """What the score of an item covers.

    ``points`` were earned of the ``of`` points of the criteria that were assessed; penalties take
    points and are not in ``of``. ``weight`` is the weight, penalties by their size, of the criteria
    that were assessed, ``missing`` that of all others. Where no criterion has a weight, each counts
    as 1 in these two.
    """

    points: float
    of: float
    weight: float
    missing: float

    @property
    def coverage(self) -> float:
        """The share of the weight that was assessed."""
        return self.weight / (self.weight + self.missing)


def assessed_of(parts: Sequence[ScorePart]) -> Assessed:
    """What was assessed of an item: the criteria whose option has a value."""
    known = [part for part in parts if part.value is not None]
    alike = not any(part.weight for part in parts)
    weights = [(1.0 if alike else abs(part.weight), part.value is not None) for part in parts]
    return Assessed(
        fsum(part.points for part in known),
        fsum(part.weight for part in known if part.weight > 0),
        fsum(weight for weight, there in weights if there),
        fsum(weight for weight, there in weights if not there),
    )


class GateMark(NamedTuple):
    """What became of one gate.

    ``assumed``: it could not be decided and ``on_missing`` decided instead. ``binding``: it fired
    and moved the score. ``observed`` is what it saw, in words; empty where it stayed clear.
    ``cap`` and ``multiply`` are in units of the normalised score.
    """

    name: str
    state: GateState
    assumed: bool
    binding: bool
    observed: str
    cap: float | None
    multiply: float | None
    verdict: str | None
    flag: str | None
    reason: str


class Found(NamedTuple):
    """What a pre-check found. ``source`` is the family or the author's own pattern.

    ``start`` and ``end`` count characters of the text that was checked, ``text`` is what stands
    there.
    """

    source: str
    start: int
    end: int
    text: str


class CheckMark(NamedTuple):
    """What became of one pre-check; nothing ``found``: it is clear.

    ``cap`` is in units of the normalised score; ``binding``: it moved the score. ``excused`` counts
    the matches that something close to them excused.
    """

    name: str
    action: CheckAction
    cap: float | None
    binding: bool
    found: tuple[Found, ...]
    excused: int


class DecisionMark(NamedTuple):
    """The thresholds of the decision, in units of the score."""

    pass_at: float
    fail_below: float
    review_within: float


@dataclass(frozen=True, slots=True)
class Trace:
    """How a score came about. Scores are in the units of the policy: [0, 1], or raw points.

    ``base`` is the score before anything else, ``gated`` the one after the gates, ``checked`` after
    the pre-checks, and ``total``, after the length penalty, the score. ``raw`` is the plain
    weighted sum and ``possible`` the denominator: the positive weights that count, or the sum of
    |w| where only penalties do. ``factor`` and ``cap`` are the effective ones of all fired gates,
    in units of the normalised score; ``cap`` is ``None`` where none fired. ``low`` is the total if
    every indeterminate gate held, ``high`` if none did; ``total`` is ``high``: no gate takes points
    before it is known to hold. All scores are ``None`` where there is no grade: nothing was left to
    score, or ``coverage`` is below ``min_coverage``. ``length`` is the count that
    ``length_penalty`` came from.

    ``coverage`` is the share of the weight that was assessed, ``assessed_points`` what was earned
    of the ``assessed_of`` points of these criteria; ``complete``: all criteria were assessed.

    ``outcome`` is ``None`` where the rubric has no decision and no gate or pre-check said anything;
    ``why`` is its reason. ``fail``: the outcome is fail. ``review``: a person must look, whatever
    the outcome is until then.
    """

    criteria: tuple[ScorePart, ...]
    normalized: bool
    abstention: Abstention
    basis: Basis
    raw: float | None
    possible: float
    base: float | None
    gates: tuple[GateMark, ...]
    factor: float
    cap: float | None
    gated: float | None
    length: int | None
    length_penalty: float
    total: float | None
    low: float | None
    high: float | None
    fail: bool
    review: bool
    flags: tuple[str, ...]
    complete: bool
    checks: tuple[CheckMark, ...] = ()
    checked: float | None = None
    decision: DecisionMark | None = None
    outcome: Outcome | None = None
    why: Why | None = None
    coverage: float = 1.0
    min_coverage: float = 0.0
    assessed_points: float = 0.0
    assessed_of: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready plain data; ``Trace.from_dict`` reads it back, also after JSON."""
        data: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self)}
        data["criteria"] = [part._asdict() for part in self.criteria]
        data["gates"] = [mark._asdict() for mark in self.gates]
        data["flags"] = list(self.flags)
        data["checks"] = [
            {**mark._asdict(), "found": [found._asdict() for found in mark.found]}
            for mark in self.checks
        ]
        data["decision"] = None if self.decision is None else self.decision._asdict()
        return data

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Trace:
        """The trace that ``to_dict`` wrote, also before it had pre-checks, a decision, a coverage.

        Raises ``TypeError`` for anything else.
        """
        decision = data.get("decision")
        parts = tuple(ScorePart(**part) for part in data["criteria"])
        covered = assessed_of(parts)
        return cls(
            **{
                "checked": data["gated"],
                "coverage": covered.coverage,
                "assessed_points": covered.points,
                "assessed_of": covered.of,
                **data,
                "criteria": parts,
                "gates": tuple(GateMark(**mark) for mark in data["gates"]),
                "flags": tuple(data["flags"]),
                "checks": tuple(_check_mark(mark) for mark in data.get("checks", ())),
                "decision": None if decision is None else DecisionMark(**decision),
            }
        )


def _check_mark(data: dict[str, Any]) -> CheckMark:
    return CheckMark(**{**data, "found": tuple(Found(**found) for found in data["found"])})


def coverage_of(trace: Mapping[str, Any]) -> dict[str, Any]:
    """What a score covers, from a trace as plain data (empty where there is none)."""
    return {name: trace.get(name) for name in ("coverage", "assessed_points", "assessed_of")}
