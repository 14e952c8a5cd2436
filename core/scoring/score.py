"""``score_item``: from the settled options of one item to its score and its decision."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from core.domain.gates import Decision, LengthPenalty
from core.domain.rubric import Rubric
from core.scoring.gates import (
    NOTHING,
    GateEffect,
    evaluate_gates,
    joint_effect,
    mark_binding_gates,
    screen_text,
)
from core.scoring.points import (
    ScoreRange,
    ScoreSums,
    Texts,
    base_of,
    gate_scale,
    length_of,
    parts_of,
    penalty_for,
)
from core.scoring.trace import (
    CheckMark,
    GateMark,
    Outcome,
    ScorePart,
    Trace,
    Why,
    assessed_of,
)

EPSILON = 1e-9


class BeforeDecision(NamedTuple):
    """The state before thresholds apply. Scores are in units of the score.

    ``complete``: every criterion has a verdict. ``fail`` and ``review`` are the decisions of gates
    and pre-checks; ``undecided``: a gate could not be decided, so the score lies between ``low``
    and ``high``. ``skipped``: an abstention was left out of the score.
    """

    total: float | None
    low: float | None
    high: float | None
    complete: bool
    fail: bool
    review: bool
    undecided: bool
    skipped: bool = False


def decide_outcome(
    decision: Decision | None, state: BeforeDecision
) -> tuple[Outcome | None, Why | None]:
    """Return the outcome and its reason.

    A gate or pre-check outranks every threshold, and fail outranks review. Every uncertainty goes
    to a person: an undecided gate, a missing verdict, no score, a skipped criterion. Only then do
    the thresholds apply; a score equal to a threshold has reached it.

    >>> known = BeforeDecision(0.82, 0.82, 0.82, True, False, False, False)
    >>> decide_outcome(Decision(pass_at=0.7), known)
    ('pass', 'score')
    """
    if state.fail:
        return "fail", "rule"
    if state.review:
        return "review", "rule"
    if state.undecided:
        return "review", "straddles" if decision and _straddles_threshold(
            decision, state
        ) else "undecided"
    if decision is None:
        return None, None
    if not state.complete:
        return "review", "incomplete"
    if state.total is None:
        return "review", "no_score"
    if state.skipped:
        return "review", "not_assessed"
    return _outcome_by_score(decision, state.total)


def _outcome_by_score(decision: Decision, total: float) -> tuple[Outcome, Why]:
    within = decision.review_within
    distance = min(abs(total - decision.pass_at), abs(total - decision.floor))
    if within and distance <= within + EPSILON:
        return "review", "near"
    if total >= decision.pass_at - EPSILON:
        return "pass", "score"
    return ("fail", "score") if total < decision.floor - EPSILON else ("review", "between")


def _straddles_threshold(decision: Decision, state: BeforeDecision) -> bool:
    if state.low is None or state.high is None:
        return False
    return _outcome_by_score(decision, state.low)[0] != _outcome_by_score(decision, state.high)[0]


def decision_with_floor(decision: Decision | None) -> Decision | None:
    """Return the decision with the score below which items fail, for the trace."""
    if decision is None or decision.fail_below is not None:
        return decision
    return decision.model_copy(update={"fail_below": decision.floor})


# ``score_item``: from the settled options of an item to its score and trace.


class ItemScore(NamedTuple):
    """``score`` under the rubric's policy and the plain weighted sum ``raw``.

    ``score`` is gated and penalised, ``raw`` is not. Both are ``None`` without a grade.
    """

    score: float | None
    raw: float | None
    trace: Trace


class MeasuredTexts(NamedTuple):
    """The input for scoring from an item's texts: their length, and the pre-checks' marks."""

    length: int = 0
    checks: tuple[CheckMark, ...] = ()


def needs_texts(rubric: Rubric) -> bool:
    """Return whether scores under this rubric need the texts."""
    return bool(rubric.prechecks) or rubric.scoring.length_penalty is not None


def measured_texts(rubric: Rubric, texts: Texts) -> MeasuredTexts:
    """Return the reusable input of ``score_item`` for these texts."""
    policy = rubric.scoring.length_penalty
    return MeasuredTexts(
        length_of(policy, texts) if policy else 0,
        screen_text(rubric.prechecks, texts.pre_check_text) if rubric.prechecks else (),
    )


def score_item(
    rubric: Rubric,
    answers: Mapping[str, int | None],
    *,
    texts: Texts | MeasuredTexts | int | None = None,
    settled: Collection[str] = (),
) -> ItemScore:
    """Return the score of one item from its settled options.

    Args:
        rubric: the rubric that applies to this item.
        answers: criterion name to an index into its ``choices``, or ``None`` for an abstention
            outside ``choices``. An absent criterion has no verdict: every strategy leaves it out
            of numerator and denominator. Anything not assessed makes the trace incomplete and asks
            for review; below the rubric's ``min_coverage`` there is no score.
        texts: only needed for a length penalty and for pre-checks (``needs_texts``). May be the
            result of ``measured_texts``, or an ``int``: their length, without findings.
        settled: the criteria that people settled; those that they could not assess need no
            further review.

    Raises:
        ValueError: the rubric needs the texts and they are missing.

    >>> from core.domain.rubric import Criterion
    >>> rubric = Rubric(criteria=(
    ...     Criterion(name="right", requirement="Is right.", weight=3),
    ...     Criterion(name="short", requirement="Is short.", weight=1),
    ... ))
    >>> score_item(rubric, {"right": 0, "short": 1}).score
    0.75
    """
    policy = rubric.scoring
    parts = parts_of(rubric, answers)
    complete = all(part.value is not None for part in parts)
    covered = assessed_of(parts)
    graded = covered.coverage >= policy.min_coverage - EPSILON
    base = base_of(parts if graded else (), policy.normalize)
    span = gate_scale(base, policy.normalize)
    measured = _measured_texts(rubric, texts)
    penalty = _length_penalty(policy.length_penalty, measured)
    gates, effect, gated, gated_low = _apply_gates(rubric, answers, base, span)
    checks, checked, checked_low = _apply_prechecks(measured.checks, gated, gated_low, span)
    total = _score_minus_penalty(checked, penalty, policy.normalize)
    low = _score_minus_penalty(checked_low, penalty, policy.normalize)
    before = state_before_decision(gates, checks, (total, low), parts)
    reviewed = all(part.value is not None or part.name in settled for part in parts)
    outcome, reason = decide_outcome(rubric.decision, before)
    fired = [mark for mark in gates if mark.state == "fired"]
    trace = Trace(
        criteria=parts,
        normalized=policy.normalize,
        abstention=policy.abstention,
        basis=base.basis,
        raw=base.raw,
        possible=base.possible,
        base=base.score,
        gates=gates,
        factor=effect.factor,
        cap=effect.cap,
        gated=gated,
        length=None if policy.length_penalty is None else measured.length,
        length_penalty=penalty,
        total=total,
        low=low,
        high=total,
        fail=outcome == "fail",
        review=before.review or before.undecided or outcome == "review" or not reviewed,
        flags=tuple(sorted({mark.flag for mark in fired if mark.flag})),
        complete=complete,
        checks=checks,
        checked=checked,
        decision=decision_with_floor(rubric.decision),
        outcome=outcome,
        why=reason,
        coverage=covered.coverage,
        min_coverage=policy.min_coverage,
        assessed_points=covered.points,
        assessed_of=covered.of,
    )
    return ItemScore(total, base.raw, trace)


def _apply_gates(
    rubric: Rubric, answers: Mapping[str, int | None], base: ScoreSums, span: ScoreRange
) -> tuple[tuple[GateMark, ...], GateEffect, float | None, float | None]:
    """Return the gates' marks, their joint effect, and the score without and with indeterminate
    gates.
    """
    if not rubric.gates:
        return (), NOTHING, base.score, base.score
    marks = evaluate_gates(rubric, answers)
    effect = joint_effect(marks, ("fired",))
    if base.score is None:
        return marks, effect, None, None
    low = joint_effect(marks, ("fired", "indeterminate")).of(base.score, span)
    binding = mark_binding_gates(marks, effect, base.score, span)
    return binding, effect, effect.of(base.score, span), low


def _apply_prechecks(
    marks: tuple[CheckMark, ...], gated: float | None, low: float | None, span: ScoreRange
) -> tuple[tuple[CheckMark, ...], float | None, float | None]:
    """Return the marks, and both scores after the strictest cap of the pre-checks with findings."""
    caps = [mark.cap for mark in marks if mark.found and mark.cap is not None]
    if not caps or gated is None or low is None:
        return marks, gated, low
    effect = GateEffect(1.0, min(caps))
    high = effect.of(gated, span)
    binding = high < gated
    limiting = tuple(
        mark._replace(binding=binding and bool(mark.found) and mark.cap == effect.cap)
        for mark in marks
    )
    return limiting, high, effect.of(low, span)


def state_before_decision(
    gates: Sequence[GateMark],
    checks: Sequence[CheckMark],
    ends: tuple[float | None, float | None],
    parts: Sequence[ScorePart],
) -> BeforeDecision:
    """Return the state before thresholds; ``ends`` are the total and its low."""
    verdicts = {mark.verdict for mark in gates if mark.state == "fired"}
    actions = {mark.action for mark in checks if mark.found}
    total, low = ends
    return BeforeDecision(
        total=total,
        low=low,
        high=total,
        complete=not any(part.missing for part in parts),
        fail="fail" in verdicts or "fail" in actions,
        # Every match of a pre-check needs a reviewer.
        review="review" in verdicts or bool(actions),
        undecided=any(mark.state == "indeterminate" for mark in gates),
        skipped=any(part.abstained and not part.counted for part in parts),
    )


def _measured_texts(rubric: Rubric, texts: Texts | MeasuredTexts | int | None) -> MeasuredTexts:
    if not needs_texts(rubric):
        return MeasuredTexts()
    if texts is None:
        feature = "length penalty" if rubric.scoring.length_penalty else "pre-check"
        raise ValueError(f"This rubric has a {feature}: score_item needs the texts.")
    if isinstance(texts, MeasuredTexts):
        return texts
    return MeasuredTexts(texts) if isinstance(texts, int) else measured_texts(rubric, texts)


def _length_penalty(policy: LengthPenalty | None, measured: MeasuredTexts) -> float:
    return 0.0 if policy is None else penalty_for(policy, measured.length)


def _score_minus_penalty(score: float | None, penalty: float, normalize: bool) -> float | None:
    if score is None or not penalty:
        return score
    return max(0.0, score - penalty) if normalize else score - penalty
