"""The joint distribution of two raters' answers, and the items behind every count."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.services.agreement.rating_sheet import Sheet, levels_of_sides, name_of
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
    ratings = sheet.criterion(criterion)
    k = len(ratings.labels)
    reference_levels, rated = _levels_of_sides(sheet, ratings, reference, rater)
    answered = (reference_levels >= 0) & (rated >= 0)
    counts = np.bincount(
        reference_levels[answered] * (k + 1) + rated[answered], minlength=k * (k + 1)
    )
    table = counts.reshape(k, k + 1)
    columns = ratings.labels
    if table[:, k].any():
        columns = (*columns, ABSTAINED_WORD)
    else:
        table = table[:, :k]
    return Confusion(ratings.labels, columns, tuple(tuple(row) for row in table.tolist()))


#: How a sentence names each column as its subject, and the verb that follows.
_SUBJECTS = {
    LABELS: ("the labels", "say", "call"),
    PANEL: ("the panel", "says", "calls"),
    PEOPLE: ("the majority of people", "says", "calls"),
}


def confusion_words(table: Confusion, reference: str, rater: str) -> str:
    """Return how often both answers are equal, and the commonest difference, in a sentence.

    >>> table = Confusion(("MET", "UNMET"), ("MET", "UNMET"), ((38, 2), (12, 28)))
    >>> confusion_words(table, LABELS, "judge:gpt")
    'gpt says MET on 12 of 40 items that the labels call UNMET; both agree on 66 of 80.'
    """
    name, says_verb, _ = _SUBJECTS.get(rater, (name_of(rater), "says", ""))
    other_name, _, calls = _SUBJECTS.get(reference, (name_of(reference), "", "calls"))
    items = sum(map(sum, table.counts))
    agreed = sum(row[index] for index, row in enumerate(table.counts))
    differences = [
        (count, row, column)
        for row, counts in enumerate(table.counts)
        for column, count in enumerate(counts)
        if column != row and count
    ]
    first = f"{name[0].upper()}{name[1:]}" if rater in _SUBJECTS else name
    if not differences:
        return f"{first} and {other_name} agree on all {plural(items, 'item')}."
    count, row, column = max(differences, key=lambda cell: cell[0])
    answer = table.columns[column]
    verb = "abstains" if column == len(table.rows) else f"{says_verb} {answer}"
    same = [cell for cell in differences if cell[0] == count]
    tie = "" if len(same) == 1 else f" ({plural(len(same), 'difference')} are as common)"
    return (
        f"{first} {verb} on {count} of {plural(sum(table.counts[row]), 'item')} that {other_name} "
        f"{calls} {table.rows[row]}{tie}; both agree on {agreed} of {items}."
    )


def items_in(
    sheet: Sheet, criterion: str, reference: str, rater: str, row: int, column: int
) -> tuple[str, ...]:
    """Return the items behind a count of ``confusion``, in the run's order."""
    reference_levels, rated = _levels_of_sides(sheet, sheet.criterion(criterion), reference, rater)
    in_cell = (reference_levels == row) & (rated == column) & (reference_levels >= 0) & (rated >= 0)
    return tuple(sheet.items[index] for index in np.flatnonzero(in_cell))


def items_that_differ(
    sheet: Sheet, reference: str, rater: str, criterion: str | None = None
) -> tuple[str, ...]:
    """Return the items on which the rater's answer differs from the reference's, in the run's
    order.

    ``criterion=None`` means on any criterion. The rater's abstention counts as a different answer.
    """
    differ = np.zeros(len(sheet.items), dtype=np.bool_)
    for ratings in sheet.criteria:
        if criterion in (None, ratings.name):
            reference_levels, rated = _levels_of_sides(sheet, ratings, reference, rater)
            differ |= (reference_levels >= 0) & (rated >= 0) & (reference_levels != rated)
    return tuple(sheet.items[index] for index in np.flatnonzero(differ))


def _levels_of_sides(
    sheet: Sheet, ratings: CriterionRatings, reference: str, rater: str
) -> tuple[Levels, Levels]:
    """Return both columns; the rater's abstention is an additional level."""
    reference_levels, rated = levels_of_sides(sheet, ratings, reference, rater)
    return reference_levels, np.where(rated == ABSTAINED, len(ratings.labels), rated)


Spread = dict[str, tuple[tuple[int, ...], int]]


def level_shares(sheet: Sheet, criterion: str) -> Spread:
    """Return, by column with answers, how often it gave each level, and how often it abstained."""
    ratings = sheet.criterion(criterion)
    counted = {
        name: _level_counts(levels, len(ratings.labels))
        for name, levels in ratings.columns.items()
        if name not in MADE
    }
    return {name: counts for name, counts in counted.items() if any(counts[0]) or counts[1]}


def spread_of_groups(sheet: Sheet, criterion: str) -> Spread:
    """Return ``level_shares`` with the answers of each kind of rater merged: labels, panel, people,
    judges.

    Kinds are ``human``, ``llm``, ``offline`` and ``reviewer``.
    """
    ratings = sheet.criterion(criterion)
    merged: dict[str, tuple[tuple[int, ...], int]] = {}
    for name, column_shares in level_shares(sheet, criterion).items():
        group = name if name in (LABELS, PANEL) else sheet.kind(name)
        counts, abstained = merged.get(group, ((0,) * len(ratings.labels), 0))
        summed = tuple(a + b for a, b in zip(counts, column_shares[0], strict=True))
        merged[group] = (summed, abstained + column_shares[1])
    return merged


def _level_counts(levels: Levels, k: int) -> tuple[tuple[int, ...], int]:
    counts = np.bincount(levels[levels >= 0], minlength=k)
    return tuple(counts.tolist()), int((levels == ABSTAINED).sum())
