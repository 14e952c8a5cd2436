"""A score in short plain sentences, read from its trace and from nothing else."""

from __future__ import annotations

from core.scoring.trace import GateMark, Part, Trace


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


def _part(part: Part, trace: Trace) -> str:
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
    if not trace.length_penalty or trace.gated is None or trace.total is None:
        return []
    size, n = _score(trace.length_penalty, unit), f"{trace.length:,}"
    step = f"{_score(trace.gated, unit)} -> {_score(trace.total, unit)}"
    return [f"{step}: {size} taken for length (counted {n})."]


def _outcome(trace: Trace, unit: float) -> list[str]:
    return [] if trace.total is None else [f"Score {_score(trace.total, unit)}."]


def _score(value: float, unit: float) -> str:
    return f"{value * unit:.2f}"


def _points(value: float) -> str:
    """Points without a trailing zero, and never ``-0``.

    >>> _points(7.50), _points(-0.0)
    ('7.5', '0')
    """
    return f"{value + 0.0:.2f}".rstrip("0").rstrip(".")
