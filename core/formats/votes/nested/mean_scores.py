"""Scores that a program computed as the mean of the others beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

#: Means are written with at least two decimals.
_NEAR = 0.0051
#: The fewest judgements that show a mean.
_FEWEST = 8


def mean_criteria(records: Iterable[Iterable[tuple[str, str, Any]]]) -> list[str]:
    """Return the criteria whose score is the mean of the others in every judgement.

    ``records`` have (rater, criterion, score). A mean has fractions, or it could be a rating.

    >>> marks = [(n % 5 + 1, n % 4 + 1) for n in range(9)]
    >>> mean_criteria([[("ann", "tone", a), ("ann", "wit", b)] for a, b in marks])
    []
    >>> with_mean = [(("tone", a), ("wit", b), ("all", (a + b) / 2)) for a, b in marks]
    >>> mean_criteria([[("ann", *scored) for scored in record] for record in with_mean])
    ['all']
    """
    judgements = list[dict[str, float]]()
    for record in records:
        by_rater: dict[str, dict[str, float]] = {}
        for rater, criterion, score in record:
            if isinstance(score, int | float):
                by_rater.setdefault(rater, {})[criterion] = score
        judgements += by_rater.values()
    names = dict.fromkeys(name for of in judgements for name in of)
    return [name for name in names if _is_mean([of for of in judgements if name in of], name)]


def _is_mean(judgements: Sequence[Mapping[str, float]], name: str) -> bool:
    goals = [of[name] for of in judgements]
    others = [[score for other, score in of.items() if other != name] for of in judgements]
    if len(goals) < _FEWEST or not any(goal % 1 for goal in goals) or min(map(len, others)) < 2:
        return False
    return all(
        abs(goal - fmean(scores)) < _NEAR for goal, scores in zip(goals, others, strict=True)
    )
