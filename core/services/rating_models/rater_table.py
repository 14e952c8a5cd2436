"""Ratings as models take them: levels by item and rater of criteria whose levels have an order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from core.identity import seeded
from core.metrics.measure import Ratings


class RatedQuestion(NamedTuple):
    """A criterion: what its levels are worth, and levels of shape (items, raters), negative where
    there is none.
    """

    name: str
    values: tuple[float, ...]
    levels: Ratings


class RaterTable(NamedTuple):
    """The ratings of all criteria by the same raters on the same items.

    A rater who answered several times is several: ``NAME|NUMBER``, or ``NAME|ORDER`` by the order
    in which options were shown.
    """

    items: tuple[str, ...]
    raters: tuple[str, ...]
    questions: tuple[RatedQuestion, ...]

    def of(self, criterion: str) -> RaterTable:
        """With one criterion alone; all for the empty string."""
        return self._replace(
            questions=tuple(q for q in self.questions if criterion in ("", q.name))
        )

    def some(self, most: int, why: str) -> RaterTable:
        """With at most so many items, drawn by a seed that hangs on ``why`` alone."""
        if len(self.items) <= most:
            return self
        rows = sorted(seeded(why).sample(range(len(self.items)), most))
        return self._replace(
            items=tuple(self.items[at] for at in rows),
            questions=tuple(q._replace(levels=q.levels[rows]) for q in self.questions),
        )


class Answerer(NamedTuple):
    """Who a rater's column is of, and the order of options it was answered in."""

    judge: str
    order: str


def answerers(raters: Sequence[str]) -> list[Answerer]:
    """The judge and the order of each column.

    >>> [tuple(one) for one in answerers(["A|0", "A|1", "B|as is", "C"])]
    [('A', ''), ('A', ''), ('B', 'as is'), ('C', '')]
    """
    result = []
    for name in raters:
        judge, *marks = name.split("|")
        result.append(Answerer(judge, next((m for m in marks if not m.isdigit()), "")))
    return result


def ascending(question: RatedQuestion) -> Ratings:
    """The levels from worst to best, whichever way round the criterion lists them."""
    values = question.values
    if values[0] <= values[-1]:
        return question.levels
    return np.where(question.levels >= 0, len(values) - 1 - question.levels, question.levels)
