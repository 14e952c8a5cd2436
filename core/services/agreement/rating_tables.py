"""Collect answers into columns of levels, criterion by criterion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import NamedTuple

import numpy as np

from core.domain.dataset import Item
from core.domain.panel import Rules
from core.domain.rubric import Criterion, Rubric
from core.metrics.agreement.ratings import State, patterns
from core.scoring.verdict import Ballot, settle
from core.services.agreement.ratings import (
    ABSTAINED,
    FAILED,
    JUDGE_KINDS,
    LABELS,
    MAJORITY,
    NOT_ASKED,
    OWN_LABELS,
    PANEL,
    PEOPLE,
    SETTLED,
    Column,
    CriterionRatings,
    Levels,
    Options,
    Rated,
    RatedAnswer,
    RatedItems,
    Rater,
    SureVote,
    columns_of,
    items_to_rate,
    majority_column,
)

#: The code of an answer without an option, by the answer's state.
_CODES = {State.ABSTAINED: ABSTAINED, State.FAILED: FAILED}


class PanelVotes(NamedTuple):
    """The raters whose votes count, and the verdicts of these votes, by criterion.

    Without ``verdicts`` no rules were chosen: each criterion's own rule settles it, else the
    default rule. Without ``members`` all judges count, and people only if they are the only raters.
    ``weights`` of raters default to 1; ``sure`` has votes' probabilities, for ``soft_mean``.
    ``own_labels`` are the labels without those from this run's review, ``settled`` what people
    settled in it.
    """

    verdicts: Options | None = None
    members: frozenset[Rater] | None = None
    weights: Mapping[str, float] = {}
    sure: Sequence[SureVote] = ()
    own_labels: Options | None = None
    settled: Options | None = None


#: All judges count, and the default rules settle verdicts.
DEFAULT_RULES = PanelVotes()


def gather_ratings(
    rubric: Rubric,
    items: Sequence[Item],
    answers: Sequence[RatedAnswer],
    panel: PanelVotes = DEFAULT_RULES,
    columns: Sequence[Column] = (),
) -> Rated:
    """Return the ratings of these items; see ``ratings_by_criterion``."""
    at_hand = items_to_rate(rubric, items)
    return ratings_by_criterion(at_hand, columns, answers, labels_of(at_hand, items), panel)


def ratings_by_criterion(
    items: RatedItems,
    columns: Sequence[Column],
    answers: Sequence[RatedAnswer],
    labels: Options,
    panel: PanelVotes = DEFAULT_RULES,
) -> Rated:
    """Return the answers as columns of levels, criterion by criterion.

    Answers are whole columns, or single ones, which take several times as long. If items have their
    own rubrics, criteria of the same name, scale and labels are merged; a different criterion of
    the same name gets a number.
    """
    collected = _Given(items)
    for column in columns:
        collected.fill(column)
    for answer in answers:
        collected.add(answer)
    raters = tuple(dict.fromkeys([*(c.rater for c in columns), *(a.rater for a in answers)]))
    if panel.members is None:
        panel = panel._replace(members=_counting_raters(raters))
    members = panel.members or frozenset()
    gathered = _Criteria(items, columns_of(raters), labels, panel._replace(members=members))
    return Rated(
        of=items,
        criteria=tuple(
            gathered.ratings(table, collected.by_criterion.get(table.criterion.name, {}))
            for table in _criterion_tables(items)
        ),
        raters=raters,
        given={
            rater: {
                name: rater_answers[rater]
                for name, rater_answers in collected.by_criterion.items()
                if rater in rater_answers
            }
            for rater in raters
        },
        labelled=labels,
        members=members,
    )


def _counting_raters(raters: Sequence[Rater]) -> frozenset[Rater]:
    """Return all judges; people only if they are the only raters, as imports count them."""
    judges = frozenset(rater for rater in raters if rater.kind in JUDGE_KINDS)
    return judges or frozenset(raters)


def labels_of(items: RatedItems, loaded: Iterable[Item]) -> dict[str, Levels]:
    """Return the labels of these items; a label that is not an option counts as missing."""
    return column_by_criterion(
        items,
        (
            (item.id, criterion.name, item.truth(criterion))
            for item in loaded
            for criterion in items.rubric_of(item.id).criteria
            if criterion.name in item.labels
        ),
    )


def column_by_criterion(
    items: RatedItems, cells: Iterable[tuple[str, str, int | None]]
) -> dict[str, Levels]:
    """Return options by criterion from single cells: (item id, criterion, option or ``None``)."""
    columns: dict[str, Levels] = {}
    for item_id, name, option in cells:
        row = items.place.get(item_id)
        if row is not None:
            column = columns.get(name)
            if column is None:
                column = columns[name] = empty_column(items)
            column[row] = ABSTAINED if option is None else option
    return columns


def rows_of(items: RatedItems, ids: Sequence[str]) -> Levels:
    """Return the rows of items with these ids."""
    return np.fromiter(map(items.place.__getitem__, ids), np.int64, len(ids))


def empty_column(items: RatedItems) -> Levels:
    """Return a column without any answers."""
    return np.full(len(items.ids), NOT_ASKED)


def as_levels(options: Levels, scored: Sequence[int]) -> Levels:
    """Return options as levels: their index in ``scored``, an abstention for others; codes stay.

    >>> as_levels(np.array([2, 1, 0, NOT_ASKED]), (0, 2)).tolist()
    [1, -2, 0, -1]
    """
    level = np.full(max(*scored, options.max(initial=0)) + 1, ABSTAINED)
    level[list(scored)] = range(len(scored))
    return np.where(options >= 0, level[np.maximum(options, 0)], options)


class _Given:
    """Collects each rater's answers to each criterion, in order of arrival."""

    def __init__(self, items: RatedItems) -> None:
        self._items = items
        self.by_criterion: dict[str, dict[Rater, Levels]] = {}

    def _of(self, criterion: str, rater: Rater) -> Levels:
        criterion_answers = self.by_criterion.setdefault(criterion, {})
        if rater not in criterion_answers:
            criterion_answers[rater] = empty_column(self._items)
        return criterion_answers[rater]

    def fill(self, column: Column) -> None:
        self._of(column.criterion, column.rater)[column.rows] = column.options

    def add(self, answer: RatedAnswer) -> None:
        code = _CODES.get(answer.state, NOT_ASKED) if answer.option is None else answer.option
        self._of(answer.criterion, answer.rater)[self._items.place[answer.item]] = code


class _Table:
    """A criterion of one or several rubrics, and the rows of the items that have it."""

    def __init__(self, name: str, criterion: Criterion, empty_levels: Levels) -> None:
        self.name, self.criterion, self.nothing = name, criterion, empty_levels
        self.rows = list[int]()

    def levels(self, options: Levels) -> Levels:
        """Return the level of each item's option, ``NOT_ASKED`` for items without this criterion.

        ``options``: indices of the options as votes store them.
        """
        coded = as_levels(options, self.criterion.scored)
        if len(self.rows) == len(options):
            return coded
        result = self.nothing.copy()
        result[self.rows] = coded[self.rows]
        return result


def _criterion_tables(items: RatedItems) -> Iterable[_Table]:
    """Yield the tables of all criteria: first the shared rubric's, then the items' own rubrics'."""
    tables: dict[tuple[object, ...], _Table] = {}
    names: dict[str, int] = {}
    nobody = empty_column(items)

    def mark_as_asked(criteria: Iterable[Criterion], rows: Sequence[int]) -> None:
        for criterion in criteria:
            labels = tuple(criterion.choices[i].label for i in criterion.scored)
            key = (criterion.name, criterion.scale, labels)
            if key not in tables:
                number = names[criterion.name] = names.get(criterion.name, 0) + 1
                name = criterion.name if number == 1 else f"{criterion.name} ({number})"
                tables[key] = _Table(name, criterion, nobody)
            tables[key].rows.extend(rows)

    shared = [row for row, item_id in enumerate(items.ids) if item_id not in items.own]
    if shared:
        mark_as_asked(items.rubric.criteria, shared)
    for item_id, rubric in items.own.items():
        mark_as_asked(rubric.criteria, [items.place[item_id]])
    return tables.values()


@dataclass(frozen=True)
class _Criteria:
    """Builds the ratings of the criteria one after another."""

    items: RatedItems
    names: Mapping[Rater, str]
    labels: Options
    panel: PanelVotes

    def ratings(self, table: _Table, answers: Mapping[Rater, Levels]) -> CriterionRatings:
        criterion, k = table.criterion, len(table.criterion.scored)
        raters: dict[Rater, Levels] = {}
        for rater, options in answers.items():
            levels = table.levels(options)
            if (levels != NOT_ASKED).any():
                raters[rater] = levels
        columns = {self.names[rater]: levels for rater, levels in raters.items()}
        columns[LABELS] = self._labels(table, self.labels)
        counted = {r: levels for r, levels in raters.items() if r in (self.panel.members or ())}
        verdicts = columns[PANEL] = self._verdicts(table, counted)
        if len(counted) > 1:
            most = majority_column(np.column_stack([*counted.values()]), k)
            if not np.array_equal(np.maximum(most, -1), np.maximum(verdicts, -1)):
                columns[MAJORITY] = most
        people = [levels for rater, levels in raters.items() if rater.kind == "human"]
        if people:
            columns[PEOPLE] = majority_column(np.column_stack(people), k)
        for name, settled_options in (
            (OWN_LABELS, self.panel.own_labels),
            (SETTLED, self.panel.settled),
        ):
            if settled_options is not None:
                columns[name] = self._labels(table, settled_options)
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

    def _labels(self, table: _Table, labels: Options) -> Levels:
        return table.levels(labels.get(table.criterion.name, table.nothing))

    def _verdicts(self, table: _Table, counted: Mapping[Rater, Levels]) -> Levels:
        """Return the verdicts before review; ``FAILED`` if votes were requested but no vote
        arrived.
        """
        options = self.panel.verdicts
        requested = np.zeros(len(table.nothing), np.bool_)
        for levels in counted.values():
            requested |= levels != NOT_ASKED
        if options is not None:
            verdicts = table.levels(options.get(table.criterion.name, table.nothing))
        elif counted:
            verdicts = self._settled(table.criterion, counted)
        else:
            verdicts = table.nothing
        return np.where((verdicts == NOT_ASKED) & requested, FAILED, verdicts)

    def _settled(self, criterion: Criterion, counted: Mapping[Rater, Levels]) -> Levels:
        """Return the verdicts by the criterion's own rule, else the default rule.

        Cells with equal votes are settled once, unless the rule uses each vote's probabilities.
        """
        if criterion.aggregation == "soft_mean":
            chances = {
                (vote.item, vote.rater): vote.chances
                for vote in self.panel.sure
                if vote.criterion == criterion.name
            }
            rows = zip(self.items.ids, np.column_stack([*counted.values()]), strict=True)
            return np.array(
                [
                    self._settle_row(
                        criterion, counted, row, [chances.get((i, r)) for r in counted]
                    )
                    for i, row in rows
                ],
                np.int64,
            )
        distinct = patterns(np.column_stack([*counted.values()]))
        verdicts = [self._settle_row(criterion, counted, row, ()) for row in distinct.rows]
        return np.array(verdicts, np.int64)[distinct.of_item]

    def _settle_row(
        self,
        criterion: Criterion,
        raters: Iterable[Rater],
        levels: Levels,
        chances: Sequence[tuple[float, ...] | None],
    ) -> int:
        ballots = [
            Ballot(
                None if level < 0 else criterion.scored[level],
                level < 0,
                self.panel.weights.get(rater.name, 1.0),
                rater.name,
                spread,
            )
            for rater, level, spread in zip_longest(raters, levels.tolist(), chances)
            if level >= 0 or level == ABSTAINED
        ]
        verdict = settle(criterion, ballots, Rules())
        if verdict is None:
            return NOT_ASKED
        if verdict.abstained or verdict.option is None:
            return ABSTAINED
        return criterion.scored.index(verdict.option)
