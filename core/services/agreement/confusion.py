"""The joint distribution of two raters' answers, and the items behind every count."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.services.agreement.rating_sheet import Sheet, name_of, sides
from core.services.agreement.ratings import (
    ABSTAINED,
    LABELS,
    MADE,
    PANEL,
    PEOPLE,
    CriterionRatings,
    Levels,
)
from core.text.numbers import plural

ABSTAINED_WORD = "abstained"


@dataclass(frozen=True)
class Confusion:
    """Counts of items: rows are the reference's answers, columns the rater's.

    If the rater ever abstained, the last column is "abstained", so that no item is lost.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


def confusion(sheet: Sheet, criterion: str, reference: str, rater: str) -> Confusion:
    """Return the rater's answers to a criterion against the reference's."""
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


#: Columns as the subject of a sentence, with their verbs.
_SUBJECTS = {
    LABELS: ("the labels", "say", "call"),
    PANEL: ("the panel", "says", "calls"),
    PEOPLE: ("the majority of people", "says", "calls"),
}


def in_words(found: Confusion, reference: str, rater: str) -> str:
    """Return how often both give the same answer, and the most common difference, in a sentence.

    >>> table = Confusion(("MET", "UNMET"), ("MET", "UNMET"), ((38, 2), (12, 28)))
    >>> in_words(table, LABELS, "judge:gpt")
    'gpt says MET on 12 of 40 items that the labels call UNMET; both agree on 66 of 80.'
    """
    who, says, _ = _SUBJECTS.get(rater, (name_of(rater), "says", ""))
    other, _, calls = _SUBJECTS.get(reference, (name_of(reference), "", "calls"))
    items = sum(map(sum, found.counts))
    agreed = sum(row[index] for index, row in enumerate(found.counts))
    apart = [
        (count, row, column)
        for row, counts in enumerate(found.counts)
        for column, count in enumerate(counts)
        if column != row and count
    ]
    first = f"{who[0].upper()}{who[1:]}" if rater in _SUBJECTS else who
    if not apart:
        return f"{first} and {other} agree on all {plural(items, 'item')}."
    count, row, column = max(apart, key=lambda cell: cell[0])
    answer = found.columns[column]
    act = "abstains" if column == len(found.rows) else f"{says} {answer}"
    same = [cell for cell in apart if cell[0] == count]
    tie = "" if len(same) == 1 else f" ({plural(len(same), 'difference')} are as common)"
    return (
        f"{first} {act} on {count} of {plural(sum(found.counts[row]), 'item')} that {other} "
        f"{calls} {found.rows[row]}{tie}; both agree on {agreed} of {items}."
    )


def items_in(
    sheet: Sheet, criterion: str, reference: str, rater: str, row: int, column: int
) -> tuple[str, ...]:
    """Return the items behind a count of ``confusion``, in the run's order."""
    true, given = _sides(sheet, sheet.criterion(criterion), reference, rater)
    inside = (true == row) & (given == column) & (true >= 0) & (given >= 0)
    return tuple(sheet.items[index] for index in np.flatnonzero(inside))


def items_apart(
    sheet: Sheet, reference: str, rater: str, criterion: str | None = None
) -> tuple[str, ...]:
    """Return the items on which the rater's answer differs from the reference's, in the run's
    order.

    On a criterion or, without one, on any. The rater's abstention is a different answer.
    """
    apart = np.zeros(len(sheet.items), dtype=np.bool_)
    for asked in sheet.criteria:
        if criterion in (None, asked.name):
            true, given = _sides(sheet, asked, reference, rater)
            apart |= (true >= 0) & (given >= 0) & (true != given)
    return tuple(sheet.items[index] for index in np.flatnonzero(apart))


def _sides(
    sheet: Sheet, asked: CriterionRatings, reference: str, rater: str
) -> tuple[Levels, Levels]:
    """Return both columns; the rater's abstention is an additional level."""
    true, given = sides(sheet, asked, reference, rater)
    return true, np.where(given == ABSTAINED, len(asked.labels), given)


Spread = dict[str, tuple[tuple[int, ...], int]]


def spread(sheet: Sheet, criterion: str) -> Spread:
    """Return, by column with answers: how often it gave each level, and how often it abstained."""
    asked = sheet.criterion(criterion)
    counted = {
        name: _counted(levels, len(asked.labels))
        for name, levels in asked.columns.items()
        if name not in MADE
    }
    return {name: given for name, given in counted.items() if any(given[0]) or given[1]}


def spread_of_groups(sheet: Sheet, criterion: str) -> Spread:
    """``spread`` with the answers of each kind of rater merged: labels, panel, people, judges.

    Kinds are ``human``, ``llm``, ``offline`` and ``reviewer``.
    """
    asked = sheet.criterion(criterion)
    merged: dict[str, tuple[tuple[int, ...], int]] = {}
    for name, given in spread(sheet, criterion).items():
        group = name if name in (LABELS, PANEL) else sheet.kind(name)
        counts, away = merged.get(group, ((0,) * len(asked.labels), 0))
        summed = tuple(a + b for a, b in zip(counts, given[0], strict=True))
        merged[group] = (summed, away + given[1])
    return merged


def _counted(levels: Levels, k: int) -> tuple[tuple[int, ...], int]:
    counts = np.bincount(levels[levels >= 0], minlength=k)
    return tuple(counts.tolist()), int((levels == ABSTAINED).sum())
