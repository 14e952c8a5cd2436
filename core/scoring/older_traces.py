"""Add coverage to traces of earlier versions, without their votes."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from core.scoring.score import EPSILON, decide_outcome, state_before_decision
from core.scoring.trace import Trace, assessed_of


def with_coverage(old: Trace, min_coverage: float, settled: Collection[str] = ()) -> Trace:
    """Return the trace that the current ``score_item`` returns for the input of ``old``.

    ``settled`` names the criteria that people settled as impossible to assess.
    """
    parts = old.criteria
    complete = all(part.value is not None for part in parts)
    covered = assessed_of(parts)
    trace = replace(
        old,
        complete=complete,
        coverage=covered.coverage,
        min_coverage=min_coverage,
        assessed_points=covered.points,
        assessed_of=covered.of,
    )
    if covered.coverage < min_coverage - EPSILON:
        trace = _without_grade(trace)
    flags = state_before_decision(trace.gates, trace.checks, (trace.total, trace.low), parts)
    outcome, reason = decide_outcome(old.decision, flags)
    looked = all(part.value is not None or part.name in settled for part in parts)
    review = flags.review or flags.undecided or outcome == "review" or not looked
    return replace(trace, outcome=outcome, why=reason, fail=outcome == "fail", review=review)


def _without_grade(trace: Trace) -> Trace:
    return replace(
        trace,
        basis="none",
        possible=0.0,
        gates=tuple(mark._replace(binding=False) for mark in trace.gates),
        checks=tuple(mark._replace(binding=False) for mark in trace.checks),
        raw=None,
        base=None,
        gated=None,
        checked=None,
        total=None,
        low=None,
        high=None,
    )
