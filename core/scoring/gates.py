"""Evaluation of gates and pre-checks: which fired, their findings and effects on a score.

All gates are evaluated on the settled options, never on each other's outcome, so their order does
not matter: factors are multiplied, the strictest cap applies, and neither raises a score.

Caps and factors are in units of the normalised score. Under the raw policy they act on the same
scale stretched to the points: a cap of 0.7 holds a rubric of 50 possible points at 35. If only
penalties count, points run from minus their sum to 0, and a cap of 0.7 lies 0.3 of the way down. A
raw score below the bottom of that scale is capped but not multiplied: a factor would raise it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod
from typing import NamedTuple

from core.domain.gates import Condition, Gate, Near, Precheck
from core.domain.rubric import Criterion, Rubric
from core.scoring.patterns import (
    CONTRAST,
    REFUSES,
    REFUSES_IT,
    FamilyPatterns,
    FoldedText,
    compile_phrase,
    family_patterns,
)
from core.scoring.points import ScoreRange
from core.scoring.trace import CheckMark, GateMark, GateState, PrecheckFinding

EPSILON = 1e-9

Answers = Mapping[str, int | None]


class GateEffect(NamedTuple):
    """The joint effect of gates: the product of their factors and their strictest cap."""

    factor: float
    cap: float | None

    def of(self, score: float, span: ScoreRange) -> float:
        """Return the lowered score, in the same units; never above ``score``."""
        zero, size = span
        if size <= 0 or (self.factor == 1.0 and self.cap is None):
            return score
        unit = (score - zero) / size
        lowered = unit * self.factor
        if self.cap is not None:
            lowered = min(lowered, self.cap)
        # A factor would raise a score that lies below the bottom of the scale, so such a score
        # keeps its value.
        return min(score, zero + size * lowered) if lowered < unit else score

    def lowers(self, score: float, span: ScoreRange) -> bool:
        """Return whether the cap lowers ``score`` further after the factors."""
        return self.of(score, span) < GateEffect(self.factor, None).of(score, span)


NOTHING = GateEffect(1.0, None)


def joint_effect(marks: Iterable[GateMark], states: tuple[GateState, ...]) -> GateEffect:
    """Return the joint effect of the gates in one of ``states``."""
    fired = [mark for mark in marks if mark.state in states]
    # Factors are sorted, because floating-point products depend on their order but gates must not.
    factors = sorted(mark.multiply for mark in fired if mark.multiply is not None)
    caps = [mark.cap for mark in fired if mark.cap is not None]
    return GateEffect(prod(factors, start=1.0), min(caps, default=None))


def evaluate_gates(rubric: Rubric, answers: Answers) -> tuple[GateMark, ...]:
    """Return a mark per gate, in the rubric's order, with ``binding`` still false."""
    return tuple(_gate_mark(gate, rubric, answers) for gate in rubric.gates)


def mark_binding_gates(
    marks: Iterable[GateMark], effect: GateEffect, score: float, span: ScoreRange
) -> tuple[GateMark, ...]:
    """Return the marks, with ``binding`` set on the fired gates that changed ``score``.

    If the cap applies, these are the gates with that cap, else the gates with a factor below 1.
    """
    if effect.of(score, span) >= score:
        return tuple(marks)
    capped = effect.lowers(score, span)
    return tuple(
        mark._replace(
            binding=mark.state == "fired" and _changed_score(mark, effect.cap if capped else None)
        )
        for mark in marks
    )


def _changed_score(mark: GateMark, cap: float | None) -> bool:
    if cap is not None:
        return mark.cap == cap
    return mark.multiply is not None and mark.multiply < 1.0


def _gate_mark(gate: Gate, rubric: Rubric, answers: Answers) -> GateMark:
    is_met, observed = _evaluate_condition(gate.when, rubric, answers)
    state: GateState = "indeterminate" if is_met is None else "fired" if is_met else "clear"
    assumed = is_met is None and gate.on_missing != "review"
    if assumed:
        state = "fired" if gate.on_missing == "fire" else "clear"
    then = gate.then
    return GateMark(
        gate.name,
        state,
        assumed,
        False,
        observed,
        then.cap,
        then.multiply,
        then.verdict,
        then.flag,
        then.reason,
    )


def _evaluate_condition(
    condition: Condition, rubric: Rubric, answers: Answers
) -> tuple[bool | None, str]:
    """Return whether the condition holds (``None``: unknown), and why in words."""
    if condition.criterion is not None:
        criterion = rubric.criterion(condition.criterion)
        is_met = _condition_holds_for(condition, criterion, answers)
        return is_met, "" if is_met is False else _verdict_text(criterion, answers)
    tagged = [c for c in rubric.criteria if condition.tag in c.tags]
    outcomes = [_condition_holds_for(condition, criterion, answers) for criterion in tagged]
    holding, unknown = outcomes.count(True), outcomes.count(None)
    needed = condition.count_at_least or 1
    if holding >= needed:
        return True, f"{holding} of {len(tagged)} tagged {condition.tag!r}"
    if holding + unknown < needed:
        return False, ""
    return None, f"{holding} of {len(tagged)} tagged {condition.tag!r}, {unknown} of them unknown"


def _verdict_text(criterion: Criterion, answers: Answers) -> str:
    if criterion.name not in answers:
        return f"{criterion.name!r} has no verdict"
    answer = answers[criterion.name]
    if answer is None or criterion.values[answer] is None:
        return f"{criterion.name!r} abstained"
    return f"{criterion.name!r} is {criterion.choices[answer].label!r}"


def _condition_holds_for(
    condition: Condition, criterion: Criterion, answers: Answers
) -> bool | None:
    """Return whether the predicate holds for a criterion; ``None`` if unknown."""
    answered = criterion.name in answers
    answer = answers.get(criterion.name)
    value = None if answer is None else criterion.values[answer]
    if condition.abstained is not None:
        return ((value is None) == condition.abstained) if answered else None
    if condition.compares:
        return _comparison_holds(condition, criterion, value)
    labels = condition.in_ if condition.in_ is not None else (condition.is_ or "",)
    named = {criterion.index_of(label) for label in labels} - {None}
    if answered and value is None and answer is None:
        answer = criterion.na_index
    if answered and answer in named:
        return True
    # A settled answer differs from any option that was not chosen. If its value is still unknown,
    # the answer could be any option with a value, but not another abstention.
    open_options = named & set(criterion.scored) if answered else named
    return None if value is None and open_options else False


def _comparison_holds(
    condition: Condition, criterion: Criterion, value: float | None
) -> bool | None:
    threshold = getattr(condition, condition.predicate)
    if isinstance(threshold, str):
        index = criterion.index_of(threshold)
        threshold = None if index is None else criterion.values[index]
        if threshold is None:
            # This happens only for gates over a tag: this criterion lacks the option.
            return False
    if value is None:
        return None
    match condition.predicate:
        case "below":
            return bool(value < threshold - EPSILON)
        case "at_most":
            return bool(value <= threshold + EPSILON)
        case "above":
            return bool(value > threshold + EPSILON)
        case _:
            return bool(value >= threshold - EPSILON)


# Pre-checks on a text: findings, their places and excuses.
#
# Nothing here changes a score; ``score`` does, with the marks of ``screen_text``.

#: The most findings stored per pre-check.
KEPT = 20
#: How many characters after a match a refusal may begin, as in "how to ...? I can't help with
#: that".
_AFTER = 60


def screen_text(prechecks: Sequence[Precheck], text: str) -> tuple[CheckMark, ...]:
    """Return a mark per pre-check, in order; ``found`` holds the findings without an excuse.

    >>> check = Precheck(name="danger", families=("dangerous_instructions",))
    >>> (mark,) = screen_text([check], "Here is how to make a bomb: mix ...")
    >>> [finding.text for finding in mark.found]
    ['how to make a bomb']
    """
    folded = FoldedText(text)
    return tuple(_check_mark(check, precheck_findings(check, folded)) for check in prechecks)


def _check_mark(check: Precheck, all_found: Sequence[tuple[PrecheckFinding, str]]) -> CheckMark:
    counted = [finding for finding, excuse in all_found if not excuse]
    return CheckMark(
        name=check.name,
        action=check.action,
        cap=check.cap,
        binding=False,
        found=tuple(counted[:KEPT]),
        excused=len(all_found) - len(counted),
    )


def precheck_findings(check: Precheck, text: FoldedText) -> list[tuple[PrecheckFinding, str]]:
    """Return a pre-check's matches in the original text by position, merged if they overlap within
    a family; each with the words that excused it, or "".
    """
    matches = [
        (
            _finding_of_match(name, match, text),
            _excusing_words(match, text, patterns, check.unless_near),
        )
        for name, patterns in _pattern_sources(check)
        for match in _matches(patterns, text.text)
    ]
    return sorted(matches, key=lambda match: (match[0].start, match[0].end))


def _pattern_sources(check: Precheck) -> Iterator[tuple[str, FamilyPatterns]]:
    for name in check.families:
        yield name, family_patterns(name)
    for pattern in check.patterns:
        yield pattern, FamilyPatterns((compile_phrase(pattern),), refusable=False)


def _matches(patterns: FamilyPatterns, text: str) -> list[re.Match[str]]:
    all_matches = [m for pattern in patterns.patterns for m in pattern.finditer(text) if m.group()]
    all_matches = sorted(filter(patterns.keep, all_matches), key=lambda m: (m.start(), -m.end()))
    separate = list[re.Match[str]]()
    for match in all_matches:
        if not separate or match.start() >= separate[-1].end():
            separate.append(match)
    return separate


def _finding_of_match(name: str, match: re.Match[str], text: FoldedText) -> PrecheckFinding:
    start, end = text.span(match.start(), match.end())
    return PrecheckFinding(name, start, end, text.original[start:end])


def _excusing_words(
    match: re.Match[str], text: FoldedText, patterns: FamilyPatterns, rule: Near | None
) -> str:
    """Return the words that excuse a match, or ""."""
    start, end = match.span()
    low, high = text.sentence(start, end)
    # A request in one sentence may be refused in the next.
    until = text.sentence(high, high + 1)[1] if text.asks(end, high) else high
    if patterns.refusable and (excuse := _refusal_beside(text, low, start, end, until)):
        return excuse
    for pattern in patterns.excuses:
        if excusing := text.first_match(pattern, low, high):
            return excusing
    if rule is None:
        return ""
    if rule.chars is not None:
        low, high = max(0, start - rule.chars), min(len(text.text), end + rule.chars)
    for excuse in rule.terms:
        # Only words around the finding count; its own words cannot excuse it.
        excuse_match = text.first_match(compile_phrase(excuse), low, start) or text.first_match(
            compile_phrase(excuse), end, high
        )
        if excuse_match:
            return excuse_match
    return ""


def _refusal_beside(text: FoldedText, low: int, start: int, end: int, high: int) -> str:
    """Return the match's refusal; "" if missing, or revoked by words between it and the match."""
    refusal, until = text.last(REFUSES, low, start)
    if refusal and not text.first_match(CONTRAST, until, start):
        return refusal
    after = REFUSES_IT.search(text.text, end, min(high, end + _AFTER))
    if after and not CONTRAST.search(text.text, end, after.start()):
        return after.group()
    return ""
