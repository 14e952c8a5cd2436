"""``score_item``: from the settled options of one item to its score, with the trace of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from core.domain.rubric import LengthPenalty, Rubric
from core.scoring.gating import NOTHING, Lowering, bound, evaluate, lowering
from core.scoring.length import Texts, length_of, penalty_for
from core.scoring.points import Base, base_of, parts_of, span_of
from core.scoring.trace import GateMark, Trace


class ItemScore(NamedTuple):
    """``score`` under the rubric's policy and the plain weighted sum ``raw``.

    ``score`` is gated and penalised; ``raw`` never is. Both are ``None`` where nothing is left to
    score.
    """

    score: float | None
    raw: float | None
    trace: Trace


def score_item(
    rubric: Rubric, answers: Mapping[str, int | None], *, texts: Texts | int | None = None
) -> ItemScore:
    """The score of one item from its settled options.

    Args:
        rubric: the one in force for this item.
        answers: criterion name to an index into its ``choices``, or ``None`` for an abstention
            outside ``choices``. A criterion that is absent has no verdict: it leaves numerator and
            denominator under every strategy and the trace is not ``complete``.
        texts: needed for a length penalty only. An ``int`` is the count made before
            (``length_of``), for callers that score the same text many times.

    Raises:
        ValueError: the rubric has a length penalty and ``texts`` is missing.

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
    base = base_of(parts, policy.normalize)
    length, penalty = _length(policy.length_penalty, texts)
    gated = _gate(rubric, answers, base) if rubric.gates else _Gated((), NOTHING, *[base.score] * 2)
    total = _less(gated.high, penalty, policy.normalize)
    fired = [mark for mark in gated.marks if mark.state == "fired"]
    undecided = any(mark.state == "indeterminate" for mark in gated.marks)
    trace = Trace(
        criteria=parts,
        normalized=policy.normalize,
        abstention=policy.abstention,
        basis=base.basis,
        raw=base.raw,
        possible=base.possible,
        base=base.score,
        gates=gated.marks,
        factor=gated.effect.factor,
        cap=gated.effect.cap,
        gated=gated.high,
        length=length,
        length_penalty=penalty,
        total=total,
        low=_less(gated.low, penalty, policy.normalize),
        high=total,
        fail=any(mark.verdict == "fail" for mark in fired),
        review=undecided or any(mark.verdict == "review" for mark in fired),
        flags=tuple(sorted({mark.flag for mark in fired if mark.flag})),
        complete=not any(part.missing for part in parts),
    )
    return ItemScore(total, base.raw, trace)


class _Gated(NamedTuple):
    """The gates' marks and joint effect; ``high`` without the indeterminate ones, ``low`` with."""

    marks: tuple[GateMark, ...]
    effect: Lowering
    high: float | None
    low: float | None


def _gate(rubric: Rubric, answers: Mapping[str, int | None], base: Base) -> _Gated:
    marks = evaluate(rubric, answers)
    effect = lowering(marks, ("fired",))
    if base.score is None:
        return _Gated(marks, effect, None, None)
    span = span_of(base, rubric.scoring.normalize)
    low = lowering(marks, ("fired", "indeterminate")).of(base.score, span)
    return _Gated(bound(marks, effect, base.score, span), effect, effect.of(base.score, span), low)


def _length(policy: LengthPenalty | None, texts: Texts | int | None) -> tuple[int | None, float]:
    if policy is None:
        return None, 0.0
    if texts is None:
        raise ValueError("This rubric has a length penalty: score_item needs the texts.")
    n = texts if isinstance(texts, int) else length_of(policy, texts)
    return n, penalty_for(policy, n)


def _less(score: float | None, penalty: float, normalize: bool) -> float | None:
    if score is None or not penalty:
        return score
    return max(0.0, score - penalty) if normalize else score - penalty
