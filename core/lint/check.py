"""The rubric check: runs every rule on a rubric, offline."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from core.domain.rubric import Criterion, Rubric
from core.lint import criteria, options, overlap, weights_and_gates, wording
from core.lint.language import READ, are_english
from core.lint.rules import (
    RULES,
    CriterionCheck,
    LintFinding,
    LintRule,
    RubricCheck,
    moved_to_criterion,
)

#: The key in ``meta`` that lists the rules an author dismissed.
OFF = "checks_off"

#: Checks that need English wording; in another language their findings would be wrong.
WORDING_CHECKS: tuple[CriterionCheck, ...] = (
    criteria.double_barrelled,
    wording.circular_requirements,
    wording.vague_words,
    wording.undefined_threshold,
    wording.inner_state,
    wording.comparisons_with_others,
    wording.asks_for_number,
    wording.hedging_words,
    wording.open_list,
    wording.wordy_requirements,
    weights_and_gates.double_negative,
    weights_and_gates.reversed_sign,
    weights_and_gates.reversed_values,
    options.adverb_levels,
    criteria.needs_counting,
    criteria.rewards_length,
    options.no_not_applicable,
)
CRITERION_CHECKS: tuple[CriterionCheck, ...] = (
    wording.placeholder_text,
    options.unanchored_levels,
    options.indistinct_options,
    options.overlapping_ranges,
    options.same_values,
    criteria.lookalike_labels,
    options.scored_abstention,
    options.forced_choice,
)
RUBRIC_CHECKS: tuple[RubricCheck, ...] = (
    overlap.overlapping_criteria,
    criteria.lookalike_names,
    weights_and_gates.overwhelming_weight,
    weights_and_gates.no_effect,
    weights_and_gates.no_penalty,
    criteria.length_counted_twice,
    weights_and_gates.ineffective_gates,
    weights_and_gates.redundant_gates,
)


def check(rubric: Rubric, *, with_dismissed: bool = False) -> tuple[LintFinding, ...]:
    """Return the findings of a rubric: whole rubric, then gates, then criteria.

    A criterion's serious findings come first. Findings that the author dismissed are left out,
    unless ``with_dismissed``.
    """
    findings = [
        finding
        for finding in _all_findings(rubric)
        if with_dismissed or not is_dismissed(rubric, finding)
    ]
    return sorted_findings(findings)


def sorted_findings(findings: Iterable[LintFinding]) -> tuple[LintFinding, ...]:
    """Sort findings: whole rubric, gates, criteria; within each, serious findings first."""
    return tuple(sorted(findings, key=_sort_key))


def _all_findings(rubric: Rubric) -> Iterator[LintFinding]:
    for at, (criterion, reads) in enumerate(
        zip(rubric.criteria, are_english(rubric.criteria), strict=True)
    ):
        yield from check_criterion(criterion, at, reads=reads)
    for look in RUBRIC_CHECKS:
        yield from look(rubric)


def check_criterion(criterion: Criterion, at: int, *, reads: bool) -> Iterator[LintFinding]:
    """Yield the findings of one criterion, number ``at`` of its rubric.

    ``reads``: its wording is English and is checked, too.
    """
    head = criterion
    if len(criterion.requirement) > READ:
        head = criterion.model_copy(update={"requirement": criterion.requirement[:READ]})
    for look in (*(WORDING_CHECKS if reads else ()), *CRITERION_CHECKS):
        for finding in look(criterion if look is wording.wordy_requirements else head):
            yield moved_to_criterion(finding, at)


def _sort_key(finding: LintFinding) -> tuple[int, int, bool]:
    criterion, gate = finding.criterion, finding.gate
    kind = 2 if criterion is not None else 1 if gate is not None else 0
    return kind, criterion or gate or 0, rule_of(finding).severity != "serious"


def rule_of(finding: LintFinding) -> LintRule:
    """Return the rule of a finding: title, severity, reason and source."""
    return RULES[finding.rule]


def is_dismissed(rubric: Rubric, finding: LintFinding) -> bool:
    """Return whether the rubric's author dismissed this rule for that criterion."""
    at = finding.criterion
    return finding.rule in dismissed_rules(rubric.meta if at is None else rubric.criteria[at].meta)


def dismissed_rules(meta: Mapping[str, Any]) -> list[str]:
    """Return the rules that ``meta`` lists as dismissed.

    Anything but a list of strings counts as empty.

    >>> dismissed_rules({"checks_off": ["vague", 3]}), dismissed_rules({"checks_off": "vague"})
    (['vague'], [])
    """
    listed = meta.get(OFF)
    return [rule for rule in listed if isinstance(rule, str)] if isinstance(listed, list) else []
