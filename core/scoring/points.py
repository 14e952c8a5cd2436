"""The parts of a score: the base from all criteria, minus the length penalty."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import fsum
from typing import NamedTuple

from core.domain.gates import LengthPenalty, ScoringPolicy
from core.domain.rubric import Criterion, Rubric
from core.scoring.trace import Basis, ScorePart


class ScoreSums(NamedTuple):
    """The sums over the criteria. ``raw`` and ``score`` are ``None`` if nothing counts."""

    raw: float | None
    score: float | None
    possible: float
    basis: Basis


#: The position of the normalised units on the scale of the score, ``zero + size * unit``: zero and
#: size. A normalised score is its own unit. Raw points run from 0 to the sum of positive weights;
#: if only penalties count, from minus their sum to 0.
ScoreRange = tuple[float, float]


def parts_of(rubric: Rubric, answers: Mapping[str, int | None]) -> tuple[ScorePart, ...]:
    """Return a part per criterion, in the rubric's order. ``answers`` is as in ``score_item``."""
    policy = rubric.scoring
    return tuple(
        _score_part_of_answer(criterion, answers[criterion.name], policy)
        if criterion.name in answers
        else ScorePart(criterion.name, criterion.weight, None, 0.0, False, False, True)
        for criterion in rubric.criteria
    )


def _score_part_of_answer(
    criterion: Criterion, answer: int | None, policy: ScoringPolicy
) -> ScorePart:
    value = None if answer is None else criterion.values[answer]
    weight = criterion.weight
    if value is not None:
        return ScorePart(criterion.name, weight, value, weight * value, True, False, False)
    points = _points_of_abstention(criterion, policy)
    counted = policy.abstention != "skip"
    return ScorePart(criterion.name, weight, None, points, counted, True, False)


def _points_of_abstention(criterion: Criterion, policy: ScoringPolicy) -> float:
    """Return the points of an abstention under the policy's strategy (DESIGN section 4)."""
    if policy.abstention == "partial" and criterion.weight > 0:
        return policy.partial_credit * criterion.weight
    if policy.abstention == "fail":
        worst = criterion.values[criterion.worst_of(criterion.scored)]
        return criterion.weight * (worst or 0.0)
    return 0.0


def base_of(parts: Sequence[ScorePart], normalize: bool) -> ScoreSums:
    """Return the raw sum and the score before gates.

    Normalised is clamp(raw / sum of positive w, 0, 1); if only penalties count,
    clamp(1 + raw / sum of |w|, 0, 1); if only zero weights count, 0. Sums are exactly rounded
    (``fsum``), so the order of the criteria cannot change a score.

    >>> base_of([ScorePart("a", 10.0, 1.0, 10.0, True, False, False)], normalize=True)
    ScoreSums(raw=10.0, score=1.0, possible=10.0, basis='positive')
    """
    counted = [part for part in parts if part.counted]
    if not counted:
        return ScoreSums(None, None, 0.0, "none")
    raw = fsum(part.points for part in counted)
    possible = fsum(part.weight for part in counted if part.weight > 0)
    basis: Basis = "positive"
    if possible == 0:
        possible = fsum(-part.weight for part in counted)
        basis = "negative" if possible > 0 else "zero"
    if not normalize:
        return ScoreSums(raw, raw, possible, basis)
    unit = raw / possible if basis != "zero" else 0.0
    if basis == "negative":
        unit += 1.0
    return ScoreSums(raw, min(1.0, max(0.0, unit)), possible, basis)


def gate_scale(base: ScoreSums, normalize: bool) -> ScoreRange:
    """Return the scale on which gates act: the normalised score, or points."""
    if normalize:
        return 0.0, 1.0
    return -base.possible if base.basis == "negative" else 0.0, base.possible


_TOKEN = re.compile(r"\w+|[^\w\s]")


class Texts(NamedTuple):
    """The two sections of a submission. ``thinking`` may be empty.

    ``own`` is the text for pre-checks if that is not the whole output: for a conversation, the
    judged party's turns.
    """

    output: str
    thinking: str = ""
    own: str | None = None

    @property
    def pre_check_text(self) -> str:
        """Return the text for pre-checks."""
        return self.output if self.own is None else self.own


def length_of(policy: LengthPenalty, texts: Texts) -> int:
    """Return the length of a text in the unit of ``policy``.

    ``words`` are separated by white space. ``tokens`` are counted without a model: each run of
    letters, digits and underscores is one, and so is every other mark; providers' tokenizers count
    more for long words. ``all`` is the thinking and the output as one text.

    >>> length_of(LengthPenalty(count="tokens"), Texts("It's 3.5 kg."))
    8
    """
    if policy.of == "output":
        chosen = [texts.output]
    elif policy.of == "thinking":
        chosen = [texts.thinking]
    else:
        chosen = [texts.thinking, texts.output]
    if policy.count == "words":
        return sum(len(text.split()) for text in chosen)
    return sum(sum(1 for _ in _TOKEN.finditer(text)) for text in chosen)


def penalty_for(policy: LengthPenalty, n: int) -> float:
    """Return the penalty for ``n`` words or tokens: 0 up to the budget, full from the cap.

    Between them ``penalty_at_cap * ((n - free) / (max - free)) ** exponent`` (DESIGN section 4).

    >>> penalty_for(LengthPenalty(free_budget=10, max_cap=20, exponent=1.0), 15)
    0.25
    """
    if n <= policy.free_budget:
        return 0.0
    if n >= policy.max_cap:
        return policy.penalty_at_cap
    share = (n - policy.free_budget) / (policy.max_cap - policy.free_budget)
    return float(policy.penalty_at_cap * share**policy.exponent)
