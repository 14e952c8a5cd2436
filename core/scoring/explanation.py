"""A score in words: its derivation and its coverage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.domain.gates import Decision
from core.scoring.trace import CheckMark, GateMark, ScorePart, Trace, assessed_of
from core.text.numbers import count, percent, plural, score

#: The families of pre-check patterns, in words.
FAMILY_WORDS: Mapping[str, str] = {
    "dangerous_instructions": "dangerous instructions",
    "weapon_making": "making weapons",
    "malware_hacking": "malware or hacking",
    "self_harm": "self-harm",
    "personal_data": "personal data",
}


def explain(trace: Trace, out_of: float = 1.0) -> list[str]:
    """Return the derivation of the score, a sentence per step, in order.

    ``out_of`` shows a normalised score on another scale (10 or 100); raw points stay unchanged.
    Numbers have two decimals. Criteria that were simply scored are omitted: the table of criteria
    shows them.

    >>> from core.domain.rubric import Criterion, Rubric
    >>> from core.scoring.score import score_item
    >>> rubric = Rubric(criteria=(Criterion(name="short", requirement="Is short."),))
    >>> explain(score_item(rubric, {"short": 0}).trace, out_of=10)
    ['Base score 10.00: 10 of 10 points.', 'Score 10.00.']
    """
    unit = out_of if trace.normalized else 1.0
    return [
        _base_sentence(trace, unit),
        *([] if trace.complete else [f"Assessed: {assessed_words(trace.criteria)}."]),
        *(_part_sentence(part, trace) for part in trace.criteria if part.abstained or part.missing),
        *_gate_sentences(trace, unit),
        *_check_sentences(trace, unit),
        *_length_sentences(trace, unit),
        *_outcome_sentences(trace, unit),
    ]


def _base_sentence(trace: Trace, unit: float) -> str:
    if trace.base is None or trace.raw is None:
        if 0 < trace.coverage < trace.min_coverage:
            share, least = _distinct_percents(trace.coverage, trace.min_coverage)
            return f"No grade: {share} of the weight was assessed, and the rubric asks for {least}."
        return "Nothing could be scored: no criterion has an answer that counts."
    shown = _score_text(trace.base, unit)
    if trace.basis == "zero":
        return f"Base score {shown}: every criterion that counts has weight 0."
    if trace.basis == "negative":
        lost_points = f"{_plain_points(-trace.raw)} of {_plain_points(trace.possible)}"
        return f"Base score {shown}: {lost_points} penalty points were taken."
    return (
        f"Base score {shown}: {_plain_points(trace.raw)} of {_plain_points(trace.possible)} points."
    )


def _distinct_percents(share: float, minimum: float) -> tuple[str, str]:
    """Return a share and a larger one as percentages with enough digits to differ.

    >>> _distinct_percents(0.25, 0.5), _distinct_percents(0.4999, 0.5)
    (('25%', '50%'), ('49.99%', '50.00%'))
    """
    digits = next(d for d in (0, 1, 2, 4, 8) if percent(share, d) != percent(minimum, d) or d == 8)
    return percent(share, digits), percent(minimum, digits)


def assessed_words(parts: Sequence[ScorePart]) -> str:
    """Return the assessed and the missing points: ``4 of 4; 12 of 16 not assessed``."""
    assessed = assessed_of(parts)
    if not assessed.weight:
        text = "nothing"
    elif assessed.of:
        text = f"{_plain_points(assessed.points)} of {_plain_points(assessed.of)}"
    elif any(part.weight for part in parts):
        taken, most = _plain_points(-assessed.points), _plain_points(assessed.weight)
        text = f"{taken} of {most} penalty points taken"
    else:
        total_weight = assessed.weight + assessed.missing
        text = f"{_plain_points(assessed.weight)} of {_plain_points(total_weight)} criteria"
    return "; ".join(filter(None, [text, missing_words(parts)]))


def missing_words(parts: Sequence[ScorePart]) -> str:
    """Return how much weight was not assessed, penalties by their size; empty if none.

    >>> missing_words([ScorePart("a", -4, None, 0, counted=False, abstained=True, missing=False)])
    '4 of 4 not assessed'
    """
    assessed = assessed_of(parts)
    total = _plain_points(assessed.weight + assessed.missing)
    return f"{_plain_points(assessed.missing)} of {total} not assessed" if assessed.missing else ""


def ungraded_words(items: int) -> str:
    """Return how many items have no grade, so no rank and no part in means; "" if all have one.

    >>> ungraded_words(0), ungraded_words(1)
    ('', '1 item has no grade: too little was assessed')
    """
    if not items:
        return ""
    has = "has" if items == 1 else "have"
    return f"{plural(items, 'item')} {has} no grade: too little was assessed"


def ungraded_sides(counts: Sequence[int]) -> list[str]:
    """Return ``ungraded_words`` for two runs, A and B.

    >>> ungraded_sides((7, 31))
    ['A: 7 and B: 31 items have no grade: too little was assessed']
    """
    first, second = counts
    if first and second:
        return [f"A: {count(first)} and B: {ungraded_words(second)}"]
    return [f"{side}: {ungraded_words(n)}" for side, n in zip("AB", counts, strict=True) if n]


def _part_sentence(part: ScorePart, trace: Trace) -> str:
    if part.missing:
        return f"{part.name!r} has no verdict and was left out, so the score is not complete."
    if not part.counted:
        return f"{part.name!r} abstained and was left out."
    wordings = {
        "zero": "counts as nothing",
        "partial": "gets partial credit",
        "fail": "counts as its worst option",
    }[trace.abstention]
    return f"{part.name!r} abstained and {wordings}: {_plain_points(part.points)} points."


def _gate_sentences(trace: Trace, unit: float) -> list[str]:
    lines = list[str]()
    binding = [mark for mark in trace.gates if mark.binding]
    if binding and trace.base is not None and trace.gated is not None:
        because = "; ".join(_gate_reason(mark) for mark in binding)
        lines.append(
            f"{_score_text(trace.base, unit)} -> {_score_text(trace.gated, unit)}: {because}."
        )
    for mark in trace.gates:
        if mark.state == "fired":
            lines += _fired_sentences(mark)
        elif mark.state == "indeterminate":
            lines.append(f"The gate {mark.name!r} cannot be decided: {mark.observed}.")
    if trace.low is not None and trace.high is not None and trace.low < trace.high:
        range_words = f"{_score_text(trace.low, unit)} and {_score_text(trace.high, unit)}"
        lines.append(f"Until that is settled, the score lies between {range_words}.")
    return lines


def _fired_sentences(mark: GateMark) -> list[str]:
    reason = _gate_reason(mark)
    lines = [f"The item fails: {reason}."] if mark.verdict == "fail" else []
    if mark.verdict == "review":
        lines.append(f"A person must review the item: {reason}.")
    if mark.flag:
        lines.append(f"Flagged {mark.flag!r}: {reason}.")
    if not mark.binding and not lines:
        lines.append(f"The gate {mark.name!r} fired and changed nothing.")
    return lines


def _gate_reason(mark: GateMark) -> str:
    reason = mark.reason.strip().rstrip(".") or mark.name
    observed = f"{mark.observed}, so the gate is taken as met" if mark.assumed else mark.observed
    return f"{reason} ({observed})"


def _length_sentences(trace: Trace, unit: float) -> list[str]:
    if not trace.length_penalty or trace.checked is None or trace.total is None:
        return []
    size, n = _score_text(trace.length_penalty, unit), f"{trace.length:,}"
    step = f"{_score_text(trace.checked, unit)} -> {_score_text(trace.total, unit)}"
    return [f"{step}: {size} taken for length (counted {n})."]


def _check_sentences(trace: Trace, unit: float) -> list[str]:
    with_findings = [mark for mark in trace.checks if mark.found]
    binding = [mark for mark in with_findings if mark.binding]
    lines = list[str]()
    if binding and trace.gated is not None and trace.checked is not None:
        step = f"{_score_text(trace.gated, unit)} -> {_score_text(trace.checked, unit)}"
        lines.append(
            f"{step} until a person has looked: {'; '.join(map(_findings_text, binding))}."
        )
    for mark in with_findings:
        if mark.action == "fail":
            lines.append(f"The item fails until a person has looked: {_findings_text(mark)}.")
        elif not mark.binding:
            lines.append(f"A person must review the item: {_findings_text(mark)}.")
    return lines


def _findings_text(mark: CheckMark) -> str:
    first, others = mark.found[0], len(mark.found) - 1
    text = " ".join(first.text.split())
    text = text if len(text) <= 80 else text[:79].rstrip() + "\u2026"
    source = FAMILY_WORDS.get(first.source, "a pattern")
    further = f" and {others} more" if others else ""
    return f'the pre-check {mark.name!r} found "{text}"{further} ({source})'


def _outcome_sentences(trace: Trace, unit: float) -> list[str]:
    lines = [] if trace.total is None else [f"Score {_score_text(trace.total, unit)}."]
    # The sentence of a gate or pre-check already states the decision.
    if trace.decision is not None and trace.why != "rule":
        lines.append(_decision_sentence(trace, trace.decision, unit))
    return lines


def _decision_sentence(trace: Trace, decision: Decision, unit: float) -> str:
    total, floor = trace.total or 0.0, decision.floor
    if trace.outcome == "pass":
        return "Passes: {} is at least {}.".format(
            *_distinct_decimals(total, decision.pass_at, unit)
        )
    if trace.outcome == "fail":
        return "Fails: {} is below {}.".format(*_distinct_decimals(total, floor, unit))
    passing = _score_text(decision.pass_at, unit)
    nearest = min((decision.pass_at, floor), key=lambda at: abs(total - at))
    within = f"{decision.review_within * unit:.3g}"
    reasons = {
        "undecided": "a gate cannot be decided.",
        "straddles": "how it ends depends on a gate that cannot be decided.",
        "incomplete": "a verdict is missing.",
        "no_score": "there is no grade.",
        "not_assessed": "a criterion was not assessed.",
        "near": f"the score is within {within} of {_score_text(nearest, unit)}.",
        "between": f"it passes from {passing} on and fails below {_score_text(floor, unit)}.",
    }
    return f"For review: {reasons[trace.why or 'undecided']}"


def _distinct_decimals(value: float, threshold: float, unit: float) -> tuple[str, str]:
    """Return the value and the threshold with two decimals, or as many as they need to differ.

    >>> _distinct_decimals(0.6996, 0.7, 1.0), _distinct_decimals(0.8, 0.7, 10.0)
    (('0.6996', '0.7000'), ('8.00', '7.00'))
    """
    for digits in (2, 3, 4, 6):
        shown = (f"{value * unit:.{digits}f}", f"{threshold * unit:.{digits}f}")
        if shown[0] != shown[1]:
            return shown
    return _score_text(value, unit), _score_text(threshold, unit)


def _score_text(value: float, unit: float) -> str:
    return score(value * unit)


def _plain_points(value: float) -> str:
    """Return points without a trailing zero, and never ``-0``.

    >>> _plain_points(7.50), _plain_points(-0.0)
    ('7.5', '0')
    """
    return f"{value + 0.0:.2f}".rstrip("0").rstrip(".")
