"""Scores beside nested judgements: means that a program computed, and grades of the whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from core.formats.columns.headings import (
    is_quantity,
    is_sum,
    names_a_criterion,
    names_a_rater,
)
from core.formats.source.csv_writer import number_of
from core.formats.tables.table import Table

Record = Iterable[tuple[str, str, Any]]
#: Means are written with at least two decimals.
_NEAR = 0.0051
#: The fewest judgements that show a mean.
_FEWEST = 8


def grades_beside(table: Table, columns: Sequence[str], records: Sequence[Record]) -> list[str]:
    """Return the columns with a grade of what each of the records judges, by heading and values.

    ``columns`` have the records. Means of their scores are no grades.
    """
    free = [c for c in table.columns if c not in columns and names_a_criterion(c)]
    free = [c for c in free if not (is_sum(c) or is_quantity(c) or names_a_rater(c))]
    grades = {c: [row.get(c) for row in table.rows] for c in free}
    grades = {c: of for c, of in grades.items() if _are_grades(of)}
    with_grade = {
        c: [[*record, ("", c, grade)] for record, grade in zip(records, of, strict=True)]
        for c, of in grades.items()
    }
    return [c for c, of in with_grade.items() if c not in mean_criteria(of)]


def _are_grades(cells: Sequence[Any]) -> bool:
    """Return whether cells are whole and half numbers, of which some repeat, or nothing."""
    numbers = [number_of(str(cell)) for cell in cells if cell not in (None, "")]
    halves = all(n is not None and (2 * n).is_integer() and 0 <= n <= 100 for n in numbers)
    return halves and 1 < len({*numbers}) < len(numbers)


def mean_criteria(records: Iterable[Record]) -> list[str]:
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
            if (number := number_of(str(score))) is not None:
                by_rater.setdefault(rater, {})[criterion] = number
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
