"""Answers as matrices: whoever rated ends up as a column of levels over the same items.

Judges, people, gold labels and the panel are alike here. A level is the position of an option
among those that are not ``na``, from 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from core.domain.dataset import Item
from core.domain.rubric import Criterion, Rubric, Scale
from core.metrics.agreement.ratings import State, majority
from core.services.results.verdicts import RubricOf, rubric_lookup

Levels = npt.NDArray[np.int64]
#: Kinds of raters that a panel is made of, the first that is there counts.
JUDGE_KINDS = ("llm", "offline")
#: Coded levels of those that are missing (``RatedCriterion.coded``).
NOT_ASKED, ABSTAINED, FAILED = -1, -2, -3
#: The level of a majority that does not exist because two levels are equally common.
TIED = -4


class Rater(NamedTuple):
    """A column of ratings. ``kind``: human, llm or offline."""

    name: str
    kind: str


class RatedAnswer(NamedTuple):
    """One answer as it comes from a run or a file. ``option`` indexes ``Criterion.choices``."""

    item: str
    criterion: str
    rater: Rater
    option: int | None
    state: State


class Column(NamedTuple):
    """What a rater answered to a criterion, item by item.

    An option that is ``None``, or that is no answer (na), is an abstention.
    """

    criterion: str
    rater: Rater
    items: Sequence[str]
    options: Sequence[int | None]


@dataclass(frozen=True)
class RatedCriterion:
    """What everybody answered to one criterion; rows are all items of the source.

    ``levels`` and ``states`` have shape (items, raters); ``gold`` and ``verdicts`` (items,). A
    level of -1 is none. ``verdicts`` is ``None`` where no panel settled anything; a verdict that
    is an abstention is ``ABSTAINED``. ``source`` is the criterion's name in its rubric, ``options``
    each level's place among its choices.
    """

    name: str
    scale: Scale
    labels: tuple[str, ...]
    raters: tuple[Rater, ...]
    levels: Levels
    states: Levels
    gold: Levels
    gold_states: Levels
    verdicts: Levels | None
    source: str = ""
    options: tuple[int, ...] = ()

    @property
    def coded(self) -> Levels:
        """``levels`` with what is missing told apart: -2 abstained, -3 failed, -1 not asked."""
        return np.where(self.levels >= 0, self.levels, -1 - np.maximum(self.states, 0))

    @property
    def coded_gold(self) -> Levels:
        """``gold`` likewise."""
        return np.where(self.gold >= 0, self.gold, -1 - np.maximum(self.gold_states, 0))

    @property
    def ordered(self) -> bool:
        """Whether levels have an order. MET and UNMET count as two of them."""
        return self.scale != "nominal"

    def of_kind(self, *kinds: str) -> list[int]:
        """The columns of raters of these kinds."""
        return [i for i, rater in enumerate(self.raters) if rater.kind in kinds]


@dataclass(frozen=True)
class Rated:
    """A source: its items, criteria in the rubric's order, and the answers per item and rater.

    ``answers[rater][item]`` maps criteria to options as ``core.scoring`` takes them; ``settled``
    the same for the panel.
    """

    items: tuple[Item, ...]
    rubric_of: RubricOf
    criteria: tuple[RatedCriterion, ...]
    raters: tuple[Rater, ...]
    answers: Mapping[Rater, Mapping[str, Mapping[str, int | None]]]
    settled: Mapping[str, Mapping[str, int | None]]


def gather(
    rubric: Rubric,
    items: Sequence[Item],
    answers: Iterable[RatedAnswer],
    settled: Mapping[str, Mapping[str, int | None]],
    columns: Iterable[Column] = (),
) -> Rated:
    """The answers as matrices, one per criterion.

    Answers come one by one, or as whole columns, which is several times as fast. Where items have
    rubrics of their own, criteria with the same name, scale and labels are one criterion; one that
    differs gets a name with a number.
    """
    rubric_of = rubric_lookup(rubric, items)
    place = {item.id: row for row, item in enumerate(items)}
    sheets = _Sheets(rubric, items, rubric_of)
    by_rater: dict[Rater, dict[str, dict[str, int | None]]] = {}
    for column in columns:
        sheets.fill(column, place)
        theirs = by_rater.setdefault(column.rater, {})
        for item_id, option in zip(column.items, column.options, strict=True):
            theirs.setdefault(item_id, {})[column.criterion] = option
    for item_id, criterion_name, rater, option, state in answers:
        sheets.of(item_id)[criterion_name].add(place[item_id], rater, option, state)
        given = by_rater.setdefault(rater, {}).setdefault(item_id, {})
        if state is not State.FAILED:
            given[criterion_name] = option
    for row, item in enumerate(items):
        there, verdicts = sheets.of(item.id), settled.get(item.id, {})
        for criterion in rubric_of(item.id).criteria:
            there[criterion.name].settle(row, item, criterion, verdicts)
    return Rated(
        items=tuple(items),
        rubric_of=rubric_of,
        criteria=tuple(sheet.done(len(items), bool(settled)) for sheet in sheets.all),
        raters=tuple(by_rater),
        answers=by_rater,
        settled=settled,
    )


class _Sheet:
    """Collects one criterion's answers as lists of coordinates."""

    def __init__(self, name: str, criterion: Criterion) -> None:
        self._name, self._criterion = name, criterion
        # No option is at no level.
        self._level: dict[int | None, int] = {o: at for at, o in enumerate(criterion.scored)}
        self._columns: dict[Rater, int] = {}
        self._entries: list[tuple[int, int, int, int]] = []
        self._filled: list[tuple[list[int], int, list[int], list[State]]] = []
        self._gold: dict[int, int] = {}
        self._verdicts: dict[int, int] = {}

    def add(self, row: int, rater: Rater, option: int | None, state: State) -> None:
        column = self._columns.setdefault(rater, len(self._columns))
        self._entries.append((row, column, self._level.get(option, -1), state))

    def fill(self, rows: list[int], rater: Rater, options: Iterable[int | None]) -> None:
        column = self._columns.setdefault(rater, len(self._columns))
        levels = [self._level.get(option, -1) for option in options]
        states = [State.ABSTAINED if level < 0 else State.ANSWERED for level in levels]
        self._filled.append((rows, column, levels, states))

    def settle(
        self, row: int, item: Item, criterion: Criterion, settled: Mapping[str, int | None]
    ) -> None:
        """Notes the item's label and the panel's verdict."""
        if criterion.name in item.labels:
            truth = item.truth(criterion)
            self._gold[row] = self._level.get(truth, -1)
        if criterion.name in settled:
            self._verdicts[row] = self._level.get(settled[criterion.name], ABSTAINED)

    def done(self, items: int, has_panel: bool) -> RatedCriterion:
        shape = (items, len(self._columns))
        levels, states = np.full(shape, -1), np.full(shape, int(State.NOT_ASKED))
        for at, one, given, said in self._filled:
            levels[at, one], states[at, one] = given, said
        if self._entries:
            rows, columns, level, state = np.array(self._entries).T
            levels[rows, columns], states[rows, columns] = level, state
        gold, gold_states = np.full(items, -1), np.full(items, int(State.NOT_ASKED))
        verdicts = np.full(items, -1)
        for row, level in self._gold.items():
            gold[row] = level
            gold_states[row] = State.ABSTAINED if level < 0 else State.ANSWERED
        for row, level in self._verdicts.items():
            verdicts[row] = level
        criterion = self._criterion
        return RatedCriterion(
            name=self._name,
            scale=criterion.scale,
            labels=tuple(criterion.choices[i].label for i in criterion.scored),
            raters=tuple(self._columns),
            levels=levels,
            states=states,
            gold=gold,
            gold_states=gold_states,
            verdicts=verdicts if has_panel else None,
            source=criterion.name,
            options=criterion.scored,
        )


class _Sheets:
    """The sheet of every item's every criterion; criteria come in the rubric's order."""

    def __init__(self, rubric: Rubric, items: Sequence[Item], rubric_of: RubricOf) -> None:
        self._known: dict[tuple[str, Scale, tuple[str, ...]], _Sheet] = {}
        self._names: dict[str, int] = {}
        common = any(item.rubric is None for item in items)
        self._common = {c.name: self._sheet(c) for c in rubric.criteria} if common else {}
        self._own = {
            item.id: {c.name: self._sheet(c) for c in rubric_of(item.id).criteria}
            for item in items
            if item.rubric is not None
        }

    @property
    def all(self) -> Iterable[_Sheet]:
        return self._known.values()

    def of(self, item_id: str) -> Mapping[str, _Sheet]:
        """The sheets of an item's criteria, by name."""
        return self._own.get(item_id, self._common)

    def fill(self, column: Column, place: Mapping[str, int]) -> None:
        """Write a column down; where items have rubrics of their own, on the sheet of each."""
        if not self._own:
            at = [place[item_id] for item_id in column.items]
            self._common[column.criterion].fill(at, column.rater, column.options)
            return
        rows: dict[_Sheet, list[int]] = {}
        options: dict[_Sheet, list[int | None]] = {}
        for item_id, option in zip(column.items, column.options, strict=True):
            sheet = self.of(item_id)[column.criterion]
            rows.setdefault(sheet, []).append(place[item_id])
            options.setdefault(sheet, []).append(option)
        for sheet, there in rows.items():
            sheet.fill(there, column.rater, options[sheet])

    def _sheet(self, criterion: Criterion) -> _Sheet:
        labels = tuple(criterion.choices[i].label for i in criterion.scored)
        key = (criterion.name, criterion.scale, labels)
        if key not in self._known:
            number = self._names[criterion.name] = self._names.get(criterion.name, 0) + 1
            name = criterion.name if number == 1 else f"{criterion.name} ({number})"
            self._known[key] = _Sheet(name, criterion)
        return self._known[key]


def majority_column(ratings: Levels, k: int) -> Levels:
    """The unique mode of several raters' answers per item.

    ``TIED`` where two levels are equally common, ``ABSTAINED`` where all who were asked abstained.

    >>> majority_column(np.array([[0, 0], [0, 1], [-2, -1], [-1, -1]]), 2).tolist()
    [0, -4, -2, -1]
    """
    if not ratings.shape[1]:
        return np.full(len(ratings), NOT_ASKED)
    mode = majority(ratings, k)
    answered = (ratings >= 0).any(axis=1)
    silent = ~answered & (ratings == ABSTAINED).any(axis=1)
    tied = np.where(answered & (mode < 0), TIED, mode)
    return np.where(silent, ABSTAINED, tied)


def panel_column(judges: Mapping[str, Levels], settled: Levels | None, k: int) -> Levels:
    """What the panel says: its verdicts, as the votes gave them; the only place that defines it.

    ``settled`` is ``None`` where nobody here chose rules (a folder, imported votes): then it is the
    majority of the judges, models if there are any, else offline ones, ``TIED`` where they tie.
    ``judges`` has their coded levels by kind. People are no judges: whoever has only people has
    their majority and no panel (docs/decisions). A cell whose calls all failed is ``FAILED``.
    """
    if settled is None:
        coded = next((judges[kind] for kind in JUDGE_KINDS if kind in judges), None)
        if coded is None:
            return np.full(len(next(iter(judges.values()))) if judges else 0, NOT_ASKED)
        settled, asked = majority_column(coded, k), (coded != NOT_ASKED).any(axis=1)
    else:
        asked = np.zeros(len(settled), np.bool_)
        for coded in judges.values():
            asked |= (coded != NOT_ASKED).any(axis=1)
    return np.where((settled == NOT_ASKED) & asked, FAILED, settled)


def panel_levels(criterion: RatedCriterion, tied: int = FAILED) -> Levels:
    """``panel_column`` of one criterion of ratings that are at hand, ties coded as ``tied``."""
    coded, members = criterion.coded, {}
    for kind in (*JUDGE_KINDS, "human"):
        if columns := criterion.of_kind(kind):
            members[kind] = coded[:, columns]
    if not members and criterion.verdicts is None:
        return np.full(len(coded), NOT_ASKED)
    found = panel_column(members, criterion.verdicts, len(criterion.labels))
    return np.where(found == TIED, tied, found)


def panel_answers(rated: Rated) -> Mapping[str, Mapping[str, int | None]]:
    """The panel's answers per item, as ``core.scoring`` takes them."""
    if rated.settled:
        return rated.settled
    found: dict[str, dict[str, int | None]] = {}
    for criterion in rated.criteria:
        options = dict(enumerate(criterion.options))
        for item, level in zip(rated.items, panel_levels(criterion).tolist(), strict=True):
            if level >= 0 or level == ABSTAINED:
                found.setdefault(item.id, {})[criterion.source] = options.get(level)
    return found
