"""The trace of a score: plain data from which it can be explained, and the explanation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, NamedTuple

from core.domain.gates import CheckAction
from core.domain.rubric import Abstention
from core.text.numbers import score

#: Which sum the base was divided by: positive weights, |negative weights|, or neither.
Basis = Literal["positive", "negative", "zero", "none"]
GateState = Literal["fired", "clear", "indeterminate"]
Outcome = Literal["pass", "fail", "review"]
#: Why the outcome is what it is: what a gate or a pre-check said, what is not known, or the score.
Why = Literal[
    "rule", "undecided", "incomplete", "no_score", "straddles", "near", "between", "score"
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
    before it is known to hold. All scores are ``None`` where nothing was left to score. ``length``
    is the count that ``length_penalty`` came from.

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
        """The trace that ``to_dict`` wrote, also before there were pre-checks and decisions.

        Raises ``TypeError`` for anything else.
        """
        decision = data.get("decision")
        return cls(
            **{
                "checked": data["gated"],
                **data,
                "criteria": tuple(ScorePart(**part) for part in data["criteria"]),
                "gates": tuple(GateMark(**mark) for mark in data["gates"]),
                "flags": tuple(data["flags"]),
                "checks": tuple(_check_mark(mark) for mark in data.get("checks", ())),
                "decision": None if decision is None else DecisionMark(**decision),
            }
        )


def _check_mark(data: dict[str, Any]) -> CheckMark:
    return CheckMark(**{**data, "found": tuple(Found(**found) for found in data["found"])})


#: The families of pre-check patterns, in words.
FAMILY_WORDS: Mapping[str, str] = {
    "dangerous_instructions": "dangerous instructions",
    "weapon_making": "making weapons",
    "malware_hacking": "malware or hacking",
    "self_harm": "self-harm",
    "personal_data": "personal data",
}


def explain(trace: Trace, out_of: float = 1.0) -> list[str]:
    """How the score came about, one sentence each, in the order of the steps.

    ``out_of`` shows a normalised score on another scale (10 or 100); raw points stay as they are.
    Numbers have two decimals. A criterion that was simply scored is not mentioned: the table of
    the criteria shows it.

    >>> from core.domain.rubric import Criterion, Rubric
    >>> from core.scoring.score import score_item
    >>> rubric = Rubric(criteria=(Criterion(name="short", requirement="Is short."),))
    >>> explain(score_item(rubric, {"short": 0}).trace, out_of=10)
    ['Base score 10.00: 10 of 10 points.', 'Score 10.00.']
    """
    unit = out_of if trace.normalized else 1.0
    return [
        _base(trace, unit),
        *(_part(part, trace) for part in trace.criteria if part.abstained or part.missing),
        *_gates(trace, unit),
        *_checks(trace, unit),
        *_length(trace, unit),
        *_outcome(trace, unit),
    ]


def _base(trace: Trace, unit: float) -> str:
    if trace.base is None or trace.raw is None:
        return "Nothing could be scored: no criterion has an answer that counts."
    shown = _score(trace.base, unit)
    if trace.basis == "zero":
        return f"Base score {shown}: every criterion that counts has weight 0."
    if trace.basis == "negative":
        lost = f"{_points(-trace.raw)} of {_points(trace.possible)}"
        return f"Base score {shown}: {lost} penalty points were taken."
    return f"Base score {shown}: {_points(trace.raw)} of {_points(trace.possible)} points."


def _part(part: ScorePart, trace: Trace) -> str:
    if part.missing:
        return f"{part.name!r} has no verdict and was left out, so the score is not complete."
    if not part.counted:
        return f"{part.name!r} abstained and was left out."
    how = {
        "zero": "counts as nothing",
        "partial": "gets partial credit",
        "fail": "counts as its worst option",
    }[trace.abstention]
    return f"{part.name!r} abstained and {how}: {_points(part.points)} points."


def _gates(trace: Trace, unit: float) -> list[str]:
    lines = list[str]()
    binding = [mark for mark in trace.gates if mark.binding]
    if binding and trace.base is not None and trace.gated is not None:
        because = "; ".join(_why(mark) for mark in binding)
        lines.append(f"{_score(trace.base, unit)} -> {_score(trace.gated, unit)}: {because}.")
    for mark in trace.gates:
        if mark.state == "fired":
            lines += _fired(mark)
        elif mark.state == "indeterminate":
            lines.append(f"The gate {mark.name!r} cannot be decided: {mark.observed}.")
    if trace.low is not None and trace.high is not None and trace.low < trace.high:
        between = f"{_score(trace.low, unit)} and {_score(trace.high, unit)}"
        lines.append(f"Until that is settled, the score lies between {between}.")
    return lines


def _fired(mark: GateMark) -> list[str]:
    why = _why(mark)
    lines = [f"The item fails: {why}."] if mark.verdict == "fail" else []
    if mark.verdict == "review":
        lines.append(f"A person must review the item: {why}.")
    if mark.flag:
        lines.append(f"Flagged {mark.flag!r}: {why}.")
    if not mark.binding and not lines:
        lines.append(f"The gate {mark.name!r} fired and changed nothing.")
    return lines


def _why(mark: GateMark) -> str:
    reason = mark.reason.strip().rstrip(".") or mark.name
    seen = f"{mark.observed}, so the gate is taken as met" if mark.assumed else mark.observed
    return f"{reason} ({seen})"


def _length(trace: Trace, unit: float) -> list[str]:
    if not trace.length_penalty or trace.checked is None or trace.total is None:
        return []
    size, n = _score(trace.length_penalty, unit), f"{trace.length:,}"
    step = f"{_score(trace.checked, unit)} -> {_score(trace.total, unit)}"
    return [f"{step}: {size} taken for length (counted {n})."]


def _checks(trace: Trace, unit: float) -> list[str]:
    found = [mark for mark in trace.checks if mark.found]
    binding = [mark for mark in found if mark.binding]
    lines = list[str]()
    if binding and trace.gated is not None and trace.checked is not None:
        step = f"{_score(trace.gated, unit)} -> {_score(trace.checked, unit)}"
        lines.append(f"{step} until a person has looked: {'; '.join(map(_seen, binding))}.")
    for mark in found:
        if mark.action == "fail":
            lines.append(f"The item fails until a person has looked: {_seen(mark)}.")
        elif not mark.binding:
            lines.append(f"A person must review the item: {_seen(mark)}.")
    return lines


def _seen(mark: CheckMark) -> str:
    first, more = mark.found[0], len(mark.found) - 1
    text = " ".join(first.text.split())
    text = text if len(text) <= 80 else text[:79].rstrip() + "\u2026"
    source = FAMILY_WORDS.get(first.source, "a pattern")
    further = f" and {more} more" if more else ""
    return f'the pre-check {mark.name!r} found "{text}"{further} ({source})'


def _outcome(trace: Trace, unit: float) -> list[str]:
    lines = [] if trace.total is None else [f"Score {_score(trace.total, unit)}."]
    # What a gate or a pre-check decided is said with it.
    if trace.decision is not None and trace.why != "rule":
        lines.append(_decided(trace, trace.decision, unit))
    return lines


def _decided(trace: Trace, mark: DecisionMark, unit: float) -> str:
    total, floor = trace.total or 0.0, mark.fail_below
    if trace.outcome == "pass":
        return "Passes: {} is at least {}.".format(*_apart(total, mark.pass_at, unit))
    if trace.outcome == "fail":
        return "Fails: {} is below {}.".format(*_apart(total, floor, unit))
    passing = _score(mark.pass_at, unit)
    nearest = min((mark.pass_at, floor), key=lambda at: abs(total - at))
    within = f"{mark.review_within * unit:.3g}"
    said = {
        "undecided": "a gate cannot be decided.",
        "straddles": "how it ends depends on a gate that cannot be decided.",
        "incomplete": "a verdict is missing.",
        "no_score": "there is no score.",
        "near": f"the score is within {within} of {_score(nearest, unit)}.",
        "between": f"it passes from {passing} on and fails below {_score(floor, unit)}.",
    }
    return f"For review: {said[trace.why or 'undecided']}"


def _apart(value: float, threshold: float, unit: float) -> tuple[str, str]:
    """Both with two decimals, or with as many as it takes to tell them apart.

    >>> _apart(0.6996, 0.7, 1.0), _apart(0.8, 0.7, 10.0)
    (('0.6996', '0.7000'), ('8.00', '7.00'))
    """
    for digits in (2, 3, 4, 6):
        shown = (f"{value * unit:.{digits}f}", f"{threshold * unit:.{digits}f}")
        if shown[0] != shown[1]:
            return shown
    return _score(value, unit), _score(threshold, unit)


def _score(value: float, unit: float) -> str:
    return score(value * unit)


def _points(value: float) -> str:
    """Points without a trailing zero, and never ``-0``.

    >>> _points(7.50), _points(-0.0)
    ('7.5', '0')
    """
    return f"{value + 0.0:.2f}".rstrip("0").rstrip(".")
