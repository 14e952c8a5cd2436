"""Answers gathered into columns of levels, criterion by criterion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from core.domain.dataset import Item
from core.domain.rubric import Criterion, Rubric
from core.metrics.agreement.ratings import State
from core.services.agreement.ratings import (
    ABSTAINED,
    FAILED,
    LABELS,
    NOT_ASKED,
    PANEL,
    PEOPLE,
    Column,
    CriterionRatings,
    Levels,
    Options,
    Rated,
    RatedAnswer,
    RatedItems,
    Rater,
    columns_of,
    majority_column,
    panel_column,
    rated_items,
)

#: What stands for an answer that chose no option, by what became of the question.
_CODES = {State.ABSTAINED: ABSTAINED, State.FAILED: FAILED}


def gather(
    rubric: Rubric,
    items: Sequence[Item],
    answers: Sequence[RatedAnswer],
    settled: Mapping[str, Mapping[str, int | None]],
    columns: Sequence[Column] = (),
) -> Rated:
    """The ratings of items that are at hand; see ``gathered``."""
    at_hand = rated_items(rubric, items)
    verdicts = column_by_criterion(
        at_hand,
        ((item, name, option) for item, there in settled.items() for name, option in there.items()),
    )
    return gathered(at_hand, columns, answers, labels_of(at_hand, items), verdicts)


def gathered(
    items: RatedItems,
    columns: Sequence[Column],
    answers: Sequence[RatedAnswer],
    labels: Options,
    settled: Options,
) -> Rated:
    """The answers as columns of levels, criterion by criterion.

    Answers come as whole columns, or one by one, which takes several times as long. Where items
    have rubrics of their own, criteria with the same name, scale and labels are one criterion; one
    that differs gets a name with a number. ``settled`` is empty where no panel settled anything.
    """
    given = _Given(items)
    for column in columns:
        given.fill(column)
    for answer in answers:
        given.add(answer)
    raters = tuple(dict.fromkeys([*(c.rater for c in columns), *(a.rater for a in answers)]))
    names = columns_of(raters)
    return Rated(
        of=items,
        criteria=tuple(
            _ratings(
                table, given.by_criterion.get(table.criterion.name, {}), names, labels, settled
            )
            for table in _tables(items)
        ),
        raters=raters,
        given={
            rater: {
                name: theirs[rater]
                for name, theirs in given.by_criterion.items()
                if rater in theirs
            }
            for rater in raters
        },
        labelled=labels,
        settled=settled,
    )


def labels_of(items: RatedItems, whole: Iterable[Item]) -> dict[str, Levels]:
    """The labels of items that are at hand; those that are no option stand for no answer."""
    return column_by_criterion(
        items,
        (
            (item.id, criterion.name, item.truth(criterion))
            for item in whole
            for criterion in items.rubric_of(item.id).criteria
            if criterion.name in item.labels
        ),
    )


def column_by_criterion(
    items: RatedItems, cells: Iterable[tuple[str, str, int | None]]
) -> dict[str, Levels]:
    """Options by criterion from single cells: (item id, criterion, option or ``None``)."""
    found: dict[str, Levels] = {}
    for item_id, name, option in cells:
        row = items.place.get(item_id)
        if row is not None:
            column = found.get(name)
            if column is None:
                column = found[name] = nothing(items)
            column[row] = ABSTAINED if option is None else option
    return found


def rows_of(items: RatedItems, ids: Sequence[str]) -> Levels:
    """The rows of items by their ids."""
    return np.fromiter(map(items.place.__getitem__, ids), np.int64, len(ids))


def nothing(items: RatedItems) -> Levels:
    """A column in which nobody was asked."""
    return np.full(len(items.ids), NOT_ASKED)


def as_options(options: Sequence[int | None]) -> Levels:
    """Options as whole numbers, an abstention where there is none.

    >>> as_options([2, None, 0]).tolist()
    [2, -2, 0]
    """
    numbers = np.array(options, np.float64)
    return np.where(np.isnan(numbers), ABSTAINED, numbers).astype(np.int64)


def as_levels(options: Levels, scored: Sequence[int]) -> Levels:
    """Options as levels: places among the ``scored`` ones; others are an abstention, codes stay.

    >>> as_levels(np.array([2, 1, 0, NOT_ASKED]), (0, 2)).tolist()
    [1, -2, 0, -1]
    """
    level = np.full(max(*scored, options.max(initial=0)) + 1, ABSTAINED)
    level[list(scored)] = range(len(scored))
    return np.where(options >= 0, level[np.maximum(options, 0)], options)


class _Given:
    """Collects what each rater answered to each criterion, in the order in which they come."""

    def __init__(self, items: RatedItems) -> None:
        self._items = items
        self.by_criterion: dict[str, dict[Rater, Levels]] = {}

    def _of(self, criterion: str, rater: Rater) -> Levels:
        theirs = self.by_criterion.setdefault(criterion, {})
        if rater not in theirs:
            theirs[rater] = nothing(self._items)
        return theirs[rater]

    def fill(self, column: Column) -> None:
        self._of(column.criterion, column.rater)[column.rows] = column.options

    def add(self, answer: RatedAnswer) -> None:
        code = _CODES.get(answer.state, NOT_ASKED) if answer.option is None else answer.option
        self._of(answer.criterion, answer.rater)[self._items.place[answer.item]] = code


class _Table:
    """A criterion as it stands in some rubrics, and the rows of the items that ask it."""

    def __init__(self, name: str, criterion: Criterion, nothing: Levels) -> None:
        self.name, self.criterion, self.nothing = name, criterion, nothing
        self.rows = list[int]()

    def levels(self, options: Levels) -> Levels:
        """The levels of these options, ``NOT_ASKED`` where another criterion is asked."""
        found = as_levels(options, self.criterion.scored)
        if len(self.rows) == len(options):
            return found
        there = self.nothing.copy()
        there[self.rows] = found[self.rows]
        return there


def _tables(items: RatedItems) -> Iterable[_Table]:
    """The tables of all criteria: those of the shared rubric, then as items bring more."""
    known: dict[tuple[object, ...], _Table] = {}
    names: dict[str, int] = {}
    nobody = nothing(items)

    def ask(criteria: Iterable[Criterion], rows: Sequence[int]) -> None:
        for criterion in criteria:
            labels = tuple(criterion.choices[i].label for i in criterion.scored)
            key = (criterion.name, criterion.scale, labels)
            if key not in known:
                number = names[criterion.name] = names.get(criterion.name, 0) + 1
                name = criterion.name if number == 1 else f"{criterion.name} ({number})"
                known[key] = _Table(name, criterion, nobody)
            known[key].rows.extend(rows)

    shared = [row for row, item_id in enumerate(items.ids) if item_id not in items.own]
    if shared:
        ask(items.rubric.criteria, shared)
    for item_id, rubric in items.own.items():
        ask(rubric.criteria, [items.place[item_id]])
    return known.values()


def _ratings(
    table: _Table,
    given: Mapping[Rater, Levels],
    names: Mapping[Rater, str],
    labels: Options,
    settled: Options,
) -> CriterionRatings:
    criterion, k = table.criterion, len(table.criterion.scored)
    raters: dict[Rater, Levels] = {}
    for rater, options in given.items():
        levels = table.levels(options)
        if (levels != NOT_ASKED).any():
            raters[rater] = levels
    columns = {names[rater]: levels for rater, levels in raters.items()}
    by_kind: dict[str, list[Levels]] = {}
    for rater, levels in raters.items():
        by_kind.setdefault(rater.kind, []).append(levels)
    kinds = {kind: np.column_stack(theirs) for kind, theirs in by_kind.items()}
    columns[LABELS] = table.levels(labels.get(criterion.name, table.nothing))
    verdicts = table.levels(settled.get(criterion.name, table.nothing))
    columns[PANEL] = panel_column(
        kinds or {"": table.nothing[:, None]}, verdicts if settled else None, k
    )
    if "human" in kinds:
        columns[PEOPLE] = majority_column(kinds["human"], k)
    return CriterionRatings(
        name=table.name,
        scale=criterion.scale,
        labels=tuple(criterion.choices[i].label for i in criterion.scored),
        columns=columns,
        source=criterion.name,
        options=criterion.scored,
        raters=tuple(raters),
        values=tuple(criterion.values[i] or 0.0 for i in criterion.scored),
    )
