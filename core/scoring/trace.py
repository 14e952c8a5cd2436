"""The trace of a score: plain data that explains it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from math import fsum
from typing import Any, Literal, NamedTuple

from pydantic import ValidationError

from core.domain.gates import Abstention, CheckAction, Decision

#: The denominator of the base: positive weights, |negative weights|, or neither.
Basis = Literal["positive", "negative", "zero", "none"]
GateState = Literal["fired", "clear", "indeterminate"]
Outcome = Literal["pass", "fail", "review"]
#: The reason of the outcome: a gate, a pre-check, something unknown, or the score.
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
    """A criterion's part of the score.

    ``value`` is the chosen option's value, ``None`` if it has none (abstained, missing). ``points``
    is the contribution to the raw sum. ``counted`` says whether its weight is in the denominator; a
    ``missing`` criterion has no verdict and is never counted.
    """

    name: str
    weight: float
    value: float | None
    points: float
    counted: bool
    abstained: bool
    missing: bool


class Assessed(NamedTuple):
    """The part of an item that its score covers.

    ``points`` were earned of the ``of`` points of the assessed criteria; penalties deduct points
    but are not in ``of``. ``weight`` is the weight, with penalties by their size, of the assessed
    criteria, ``missing`` that of the others. If no criterion has a weight, each counts as 1 in
    these two.
    """

    points: float
    of: float
    weight: float
    missing: float

    @property
    def coverage(self) -> float:
        """Return the assessed share of the weight."""
        return self.weight / (self.weight + self.missing)


def assessed_of(parts: Sequence[ScorePart]) -> Assessed:
    """Return the assessed part of an item: the criteria whose option has a value."""
    assessed = [part for part in parts if part.value is not None]
    unweighted = not any(part.weight for part in parts)
    weights = [(1.0 if unweighted else abs(part.weight), part.value is not None) for part in parts]
    return Assessed(
        fsum(part.points for part in assessed),
        fsum(part.weight for part in assessed if part.weight > 0),
        fsum(weight for weight, is_assessed in weights if is_assessed),
        fsum(weight for weight, is_assessed in weights if not is_assessed),
    )


class GateMark(NamedTuple):
    """The result of a gate.

    ``assumed``: it could not be decided, so ``on_missing`` decided. ``binding``: it fired and
    changed the score. ``observed`` says in words what its condition saw; empty if the condition
    does not hold. ``cap`` and ``multiply`` are in units of the normalised score.
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


class PrecheckFinding(NamedTuple):
    """A finding of a pre-check. ``source`` is the family or the author's own pattern.

    ``start`` and ``end`` count characters of the checked text, ``text`` is the text between them.
    """

    source: str
    start: int
    end: int
    text: str


class CheckMark(NamedTuple):
    """The result of a pre-check; without ``found`` it is clear.

    ``cap`` is in units of the normalised score; ``binding``: it changed the score. ``excused``
    counts the matches with an excuse nearby.
    """

    name: str
    action: CheckAction
    cap: float | None
    binding: bool
    found: tuple[PrecheckFinding, ...]
    excused: int


@dataclass(frozen=True, slots=True)
class Trace:
    """The derivation of a score. Scores are in the units of the policy: [0, 1], or raw points.

    ``base`` is the score before anything else, ``gated`` after the gates, ``checked`` after the
    pre-checks, and ``total``, after the length penalty, the score. ``raw`` is the plain weighted
    sum and ``possible`` the denominator: the positive weights that count, or the sum of |w| if only
    penalties count. ``factor`` and ``cap`` are the effective ones of all fired gates, in units of
    the normalised score; ``cap`` is ``None`` if none fired. ``low`` is the total if all
    indeterminate gates held, ``high`` if none did; ``total`` is ``high``: a gate takes no points
    until it is known to hold. All scores are ``None`` without a grade: no criterion counts, or
    ``coverage`` is below ``min_coverage``. ``length`` is the length that ``length_penalty`` is
    based on.

    ``coverage`` is the assessed share of the weight, ``assessed_points`` the points earned of the
    ``assessed_of`` points of these criteria; ``complete``: all criteria were assessed.

    ``outcome`` is ``None`` if the rubric has no decision and no gate or pre-check decided; ``why``
    is its reason. ``fail``: the outcome is fail. ``review``: a person must look, whatever the
    outcome is until then.
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
    decision: Decision | None = None
    outcome: Outcome | None = None
    why: Why | None = None
    coverage: float = 1.0
    min_coverage: float = 0.0
    assessed_points: float = 0.0
    assessed_of: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready plain data, which ``Trace.from_dict`` reads."""
        data: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self)}
        data["criteria"] = [part._asdict() for part in self.criteria]
        data["gates"] = [mark._asdict() for mark in self.gates]
        data["flags"] = list(self.flags)
        data["checks"] = [
            {**mark._asdict(), "found": [match._asdict() for match in mark.found]}
            for mark in self.checks
        ]
        data["decision"] = None if self.decision is None else self.decision.model_dump()
        return data

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Trace:
        """Return the trace written by ``to_dict``, also by versions without pre-checks or coverage.

        Raises ``TypeError`` for anything else.
        """
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
                "decision": _decision(data.get("decision")),
            }
        )


def _decision(data: dict[str, Any] | None) -> Decision | None:
    try:
        return None if data is None else Decision(**data)
    except ValidationError as error:
        raise TypeError(f"This is not a decision: {error}") from error


def _check_mark(data: dict[str, Any]) -> CheckMark:
    return CheckMark(**{**data, "found": tuple(PrecheckFinding(**mark) for mark in data["found"])})


def coverage_of(trace: Mapping[str, Any]) -> dict[str, Any]:
    """Return the coverage part of a trace in plain data; empty if the trace has no such part."""
    return {name: trace.get(name) for name in ("coverage", "assessed_points", "assessed_of")}
