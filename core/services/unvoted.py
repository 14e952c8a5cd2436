"""Verdicts that no vote chose: a mean between options, shown as the nearest one."""

from __future__ import annotations

from core.domain.rubric import Criterion
from core.domain.runs import ADJUDICATED, CellResult
from core.services.numbers import score

__all__ = ["CellResult", "between", "unvoted"]

_NEAR = 1e-9


def unvoted(verdict: CellResult) -> bool:
    """Whether votes made this verdict although none of them is for it."""
    made_of_votes = verdict.rule != ADJUDICATED and verdict.votes > 0
    chosen = verdict.option is not None and not verdict.abstained
    return made_of_votes and chosen and verdict.agreement == 0.0


def between(criterion: Criterion, verdict: CellResult | None) -> str:
    """What such a verdict is instead of chosen, e.g. "between Some and Deep: mean .65, nearest
    Some"; the empty string where a vote chose it.
    """
    if verdict is None or verdict.option is None or not unvoted(verdict):
        return ""
    shown, mean = criterion.choices[verdict.option].label, verdict.continuous
    if mean is None:
        return f"{shown} is what the votes meant on labelled items; no vote says so"
    rule = verdict.rule.replace("_", " ")
    values = sorted(
        (criterion.values[i] or 0.0, criterion.choices[i].label) for i in criterion.scored
    )
    if any(abs(value - mean) <= _NEAR for value, _ in values):
        return f"{rule} {score(mean)}, which is {shown}; no vote is for it"
    below = [label for value, label in values if value < mean]
    above = [label for value, label in values if value > mean]
    nearest = "as near to either, the worse counts" if verdict.tie else f"nearest {shown}"
    return f"between {below[-1]} and {above[0]}: {rule} {score(mean)}, {nearest}"
