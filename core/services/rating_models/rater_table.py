"""Ratings for models: levels by item and rater, of criteria with ordered levels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from core.identity import seeded_random
from core.metrics.measure import Ratings


class RatedQuestion(NamedTuple):
    """A criterion: its levels' values, and levels of shape (items, raters), negative if missing."""

    name: str
    values: tuple[float, ...]
    levels: Ratings


class RaterTable(NamedTuple):
    """The ratings of the same items by the same raters on all criteria.

    A rater with several answers has several columns: ``NAME|NUMBER``, or ``NAME|ORDER`` for the
    order of options.
    """

    items: tuple[str, ...]
    raters: tuple[str, ...]
    questions: tuple[RatedQuestion, ...]

    def of(self, criterion: str) -> RaterTable:
        """Return the table of one criterion, or of all for an empty name."""
        return self._replace(
            questions=tuple(q for q in self.questions if criterion in ("", q.name))
        )

    def drawn_items(self, most: int, reason: str) -> RaterTable:
        """Return at most ``most`` items, drawn by a seed that ``reason`` determines."""
        if len(self.items) <= most:
            return self
        rows = sorted(seeded_random(reason).sample(range(len(self.items)), most))
        return self._replace(
            items=tuple(self.items[at] for at in rows),
            questions=tuple(q._replace(levels=q.levels[rows]) for q in self.questions),
        )


def column_judges(raters: Sequence[str]) -> list[tuple[str, str]]:
    """Return the judge of each column, and the order in which options were shown.

    >>> column_judges(["A|0", "A|1", "B|as is", "C"])
    [('A', ''), ('A', ''), ('B', 'as is'), ('C', '')]
    """
    result = []
    for name in raters:
        judge, *marks = name.split("|")
        result.append((judge, next((m for m in marks if not m.isdigit()), "")))
    return result


def ascending_levels(question: RatedQuestion) -> Ratings:
    """Return the levels from worst to best, whatever order the criterion lists them in."""
    values = question.values
    if values[0] <= values[-1]:
        return question.levels
    return np.where(question.levels >= 0, len(values) - 1 - question.levels, question.levels)
