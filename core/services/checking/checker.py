"""The rubric check: what can be said of a rubric before a judge is asked.

Instant and offline. Wording is read where it is English (``unread`` names the criteria where it is
not); options, weights and gates are always looked at. ``check`` is a pure function of the rubric;
what an author dismissed stays with the rubric, under ``checks_off`` in the ``meta`` of the
criterion or of the rubric. Precision comes before recall: it is silent on the rubrics that come
with the program.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from core.domain.rubric import Criterion, Rubric
from core.services.checking import (
    abstaining,
    barrels,
    gating,
    lengths,
    levels,
    lookalikes,
    overlap,
    polarity,
    weighing,
    wording,
)
from core.services.checking.finding import (
    CriterionCheck,
    Finding,
    RubricCheck,
    below,
)
from core.services.checking.language import READ
from core.services.checking.rules import RULES, Rule
from core.services.checking.tongue import english

#: The key in ``meta`` that lists the rules an author dismissed.
OFF = "checks_off"

#: What reads English words; of a criterion in another language it would tell nonsense.
WORDING_CHECKS: tuple[CriterionCheck, ...] = (
    barrels.double_barrelled,
    wording.circular,
    wording.vague,
    wording.undefined_threshold,
    wording.inner_state,
    wording.relative,
    wording.asks_for_number,
    wording.hedged,
    wording.open_list,
    wording.wordy,
    polarity.double_negative,
    polarity.reversed_sign,
    polarity.reversed_values,
    levels.adverb_levels,
    lengths.needs_counting,
    lengths.rewards_length,
    abstaining.no_not_applicable,
)
CRITERION_CHECKS: tuple[CriterionCheck, ...] = (
    wording.unfinished,
    levels.unanchored,
    levels.indistinct,
    levels.ranges,
    levels.same_values,
    lookalikes.lookalike_labels,
    abstaining.scored_abstention,
    abstaining.forced_choice,
)
RUBRIC_CHECKS: tuple[RubricCheck, ...] = (
    overlap.overlapping,
    lookalikes.lookalike_names,
    weighing.drowning,
    weighing.no_effect,
    weighing.no_penalty,
    lengths.counted_twice,
    gating.inert,
    gating.shadowed,
)


def check(rubric: Rubric, *, with_dismissed: bool = False) -> tuple[Finding, ...]:
    """What to mend in a rubric: the rubric as a whole first, then gates, then each criterion.

    A criterion's findings come serious ones first. What its author dismissed is left out, unless
    ``with_dismissed``.
    """
    found = [
        finding for finding in _all(rubric) if with_dismissed or not dismissed(rubric, finding)
    ]
    return ordered(found)


def ordered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The rubric as a whole first, then gates, then each criterion; the serious ones first."""
    return tuple(sorted(findings, key=_place))


def _all(rubric: Rubric) -> Iterator[Finding]:
    for at, (criterion, reads) in enumerate(
        zip(rubric.criteria, english(rubric.criteria), strict=True)
    ):
        yield from check_criterion(criterion, at, reads=reads)
    for look in RUBRIC_CHECKS:
        yield from look(rubric)


def check_criterion(criterion: Criterion, at: int, *, reads: bool) -> Iterator[Finding]:
    """What one criterion's own words and options say, where it is number ``at`` of its rubric.

    ``reads``: its wording is English and is looked at, too.
    """
    head = criterion
    if len(criterion.requirement) > READ:
        head = criterion.model_copy(update={"requirement": criterion.requirement[:READ]})
    for look in (*(WORDING_CHECKS if reads else ()), *CRITERION_CHECKS):
        for finding in look(criterion if look is wording.wordy else head):
            yield below(finding, at)


def _place(finding: Finding) -> tuple[int, int, bool]:
    criterion, gate = finding.criterion, finding.gate
    kind = 2 if criterion is not None else 1 if gate is not None else 0
    return kind, criterion or gate or 0, rule_of(finding).severity != "serious"


def rule_of(finding: Finding) -> Rule:
    """The rule behind a finding: title, severity, why it matters, source."""
    return RULES[finding.rule]


def dismissed(rubric: Rubric, finding: Finding) -> bool:
    """Whether the rubric's author dismissed this finding: its rule, for that criterion."""
    at = finding.criterion
    return finding.rule in off(rubric.meta if at is None else rubric.criteria[at].meta)


def off(meta: Mapping[str, Any]) -> list[str]:
    """The rules that ``meta`` lists as dismissed; anything but a list of words lists none.

    >>> off({"checks_off": ["vague", 3]}), off({"checks_off": "vague"})
    (['vague'], [])
    """
    listed = meta.get(OFF)
    return [one for one in listed if isinstance(one, str)] if isinstance(listed, list) else []
