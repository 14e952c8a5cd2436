"""How two raters' answers fall beside each other, and the items behind every count."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.services.agreement.rating_sheet import Sheet, sides
from core.services.agreement.ratings import (
    ABSTAINED,
    LABELS,
    MADE,
    PANEL,
    CriterionRatings,
    Levels,
)

ABSTAINED_WORD = "abstained"


@dataclass(frozen=True)
class Confusion:
    """Counts of items: rows are the reference's answers, columns the rater's.

    The last column is "abstained" where the rater abstained at all, so that no item is lost.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


def confusion(sheet: Sheet, criterion: str, reference: str, rater: str) -> Confusion:
    """How the rater's answers to a criterion fall beside the reference's."""
    asked = sheet.criterion(criterion)
    k = len(asked.labels)
    true, given = _sides(sheet, asked, reference, rater)
    both = (true >= 0) & (given >= 0)
    counts = np.bincount(true[both] * (k + 1) + given[both], minlength=k * (k + 1))
    table = counts.reshape(k, k + 1)
    columns = asked.labels
    if table[:, k].any():
        columns = (*columns, ABSTAINED_WORD)
    else:
        table = table[:, :k]
    return Confusion(asked.labels, columns, tuple(tuple(row) for row in table.tolist()))


def items_in(
    sheet: Sheet, criterion: str, reference: str, rater: str, row: int, column: int
) -> tuple[str, ...]:
    """The items behind one count of ``confusion``, in the run's order."""
    true, given = _sides(sheet, sheet.criterion(criterion), reference, rater)
    inside = (true == row) & (given == column) & (true >= 0) & (given >= 0)
    return tuple(sheet.items[at] for at in np.flatnonzero(inside))


def items_apart(
    sheet: Sheet, reference: str, rater: str, criterion: str | None = None
) -> tuple[str, ...]:
    """The items on which the rater's answer is not the reference's, in the run's order.

    On a criterion or, without one, on any. An abstention of the rater is another answer.
    """
    apart = np.zeros(len(sheet.items), dtype=np.bool_)
    for asked in sheet.criteria:
        if criterion in (None, asked.name):
            true, given = _sides(sheet, asked, reference, rater)
            apart |= (true >= 0) & (given >= 0) & (true != given)
    return tuple(sheet.items[at] for at in np.flatnonzero(apart))


def _sides(
    sheet: Sheet, asked: CriterionRatings, reference: str, rater: str
) -> tuple[Levels, Levels]:
    """Both columns; an abstention of the rater is one level more."""
    true, given = sides(sheet, asked, reference, rater)
    return true, np.where(given == ABSTAINED, len(asked.labels), given)


Spread = dict[str, tuple[tuple[int, ...], int]]


def spread(sheet: Sheet, criterion: str) -> Spread:
    """Per column that answered: how often each level was given, and how often it abstained."""
    asked = sheet.criterion(criterion)
    counted = {
        name: _counted(levels, len(asked.labels))
        for name, levels in asked.columns.items()
        if name not in MADE
    }
    return {name: one for name, one in counted.items() if any(one[0]) or one[1]}


def spread_of_groups(sheet: Sheet, criterion: str) -> Spread:
    """The same with all answers of each kind of rater put together: labels, panel, people, judges.

    Kinds are ``human``, ``llm``, ``offline`` and ``reviewer``.
    """
    asked = sheet.criterion(criterion)
    found: dict[str, tuple[tuple[int, ...], int]] = {}
    for name, one in spread(sheet, criterion).items():
        group = name if name in (LABELS, PANEL) else sheet.kind(name)
        counts, away = found.get(group, ((0,) * len(asked.labels), 0))
        summed = tuple(a + b for a, b in zip(counts, one[0], strict=True))
        found[group] = (summed, away + one[1])
    return found


def _counted(levels: Levels, k: int) -> tuple[tuple[int, ...], int]:
    counts = np.bincount(levels[levels >= 0], minlength=k)
    return tuple(counts.tolist()), int((levels == ABSTAINED).sum())
