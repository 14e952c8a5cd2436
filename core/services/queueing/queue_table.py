"""A run's cells as columns: the facts that rules need, and the cells to which each reason applies.

A cell is an item with one criterion of its rubric. Cells are ordered by the run's items and by
criteria. Rules work on whole columns, so that counting a million votes is as fast as reading them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from core.domain.review import QueueRule, Reason
from core.domain.rubric import Criterion, Rubric
from core.domain.runs import Run
from core.identity import seeded_random
from core.services.queueing.draw_chances import DrawableCells, chances_by_stratum, strata
from core.services.results.run_columns import (
    NO_LABEL,
    NO_OPTION,
    CellColumn,
    cell_columns,
    ids_of_run,
    label_columns,
    own_rubrics,
    places_of_items,
    score_columns,
)
from core.services.results.scored_items import scored_rubric
from core.services.runs.questions import changes_gate_state
from core.store.store import Store

Places = Collection[tuple[str, str]]
Flags = npt.NDArray[np.bool_]
Numbers = npt.NDArray[Any]


class CellTable:
    """The cells of a run: the indices of each cell's ``item`` and, in its rubric, ``criterion``."""

    def __init__(self, store: Store, run: Run) -> None:
        self._store, self._run = store, run
        self.ids = ids_of_run(store, run)
        self._shared = scored_rubric(store, run)
        own = own_rubrics(store, run)
        self.own = {index: own[item_id] for index, item_id in enumerate(self.ids) if item_id in own}
        sizes = np.full(len(self.ids), len(self._shared.criteria))
        for index, rubric in self.own.items():
            sizes[index] = len(rubric.criteria)
        self._starts = np.cumsum(sizes) - sizes
        self.item: Numbers = np.repeat(np.arange(len(self.ids)), sizes)
        self.criterion: Numbers = np.arange(len(self.item)) - self._starts[self.item]

    @property
    def scores(self) -> list[float]:
        """Return the items' scores, NaN if missing."""
        scores: list[float] = score_columns(self._store, self._run).score.tolist()
        return scores

    def __len__(self) -> int:
        return len(self.item)

    def rubric_of(self, item: int) -> Rubric:
        """Return the rubric of an item."""
        return self.own.get(item, self._shared)

    def criterion_of(self, cell: int) -> Criterion:
        """Return the criterion of a cell."""
        return self.rubric_of(int(self.item[cell])).criteria[int(self.criterion[cell])]

    def name_of(self, cell: int) -> tuple[str, str]:
        """Return a cell's item id and criterion."""
        return self.ids[int(self.item[cell])], self.criterion_of(cell).name

    @cached_property
    def questions(self) -> tuple[Criterion, ...]:
        """Return the criteria of the run, and the criteria of items with their own rubric."""
        return tuple(c for rubric in (self._shared, *self.own.values()) for c in rubric.criteria)

    @cached_property
    def question(self) -> Numbers:
        """Return the index of each cell's question."""
        index, first = self.criterion.copy(), len(self._shared.criteria)
        for at, rubric in self.own.items():
            cells = slice(self._starts[at], self._starts[at] + len(rubric.criteria))
            index[cells] += first
            first += len(rubric.criteria)
        return index

    def by_option(self, values_of: Callable[[Criterion], Sequence[float | None]]) -> Numbers:
        """Return a table of values by question and option, NaN if missing, also in the last column:
        ``table[question, maximum(option, -1)]``.
        """
        rows = [values_of(question) for question in self.questions]
        table = np.full((len(rows), max(map(len, rows), default=0) + 1), np.nan)
        for index, row in enumerate(rows):
            table[index, : len(row)] = [np.nan if value is None else value for value in row]
        return table

    def drawn_from(self, cells: Numbers, option: Numbers) -> DrawableCells:
        """Return the facts that a draw needs about these cells; ``option`` is the votes' option."""
        distinct = dict.fromkeys(c.name for c in self.questions)
        names = {name: index for index, name in enumerate(distinct)}
        of = np.array([names[c.name] for c in self.questions], np.int64)
        return DrawableCells(
            list(names), of[self.question[cells]], option, self.verdicts("margin")[cells]
        )

    def verdicts(self, field: str, missing: float = np.nan) -> Numbers:
        """Return one field of all verdicts (``CellColumn``); ``missing`` without a verdict."""
        values = np.full(len(self), missing)
        for column in self._cell_columns:
            cells, rows = self.cells_of(column.criterion, column.rows)
            values[cells] = getattr(column, field)[rows]
        return values

    @cached_property
    def has_verdict(self) -> Flags:
        """Return which cells have a verdict, including abstentions."""
        return self.verdicts("votes", -1) >= 0

    @cached_property
    def _cell_columns(self) -> list[CellColumn]:
        return cell_columns(self._store, self._run)

    @cached_property
    def judged(self) -> Numbers:
        """Return the votes' option, even if another is settled; negative without one."""
        return self.verdicts("judged", NO_OPTION).astype(np.int64)

    @cached_property
    def decided(self) -> Numbers:
        """Return the active settled option: ``NO_OPTION`` for "cannot assess", ``NO_LABEL`` if the
        cell is not settled.
        """
        settled = self._store.settled.options(self._run.id)
        options = [NO_OPTION if option is None else option for *_, option in settled]
        return self.values_on_cells(((item, name) for item, name, _ in settled), options, NO_LABEL)

    @cached_property
    def _item_places(self) -> dict[str, int]:
        return places_of_items(self._store, self._run)

    @cached_property
    def _follows_rubric(self) -> Flags:
        """Return which items use the run's rubric."""
        flags = np.ones(len(self.ids), np.bool_)
        flags[list(self.own)] = False
        return flags

    def cells_of(self, name: str, items: Numbers) -> tuple[Numbers, Numbers]:
        """Return the cells of a criterion on these items, and the items that have such a cell."""
        named = [index for index, c in enumerate(self._shared.criteria) if c.name == name]
        shared = self._follows_rubric[items] if named else np.zeros(len(items), np.bool_)
        cells = np.where(shared, self._starts[items] + (named[0] if named else 0), -1)
        for index in np.flatnonzero(~self._follows_rubric[items]).tolist() if self.own else ():
            item = int(items[index])
            for number, criterion in enumerate(self.own[item].criteria):
                if criterion.name == name:
                    cells[index] = self._starts[item] + number
        rows = np.flatnonzero(cells >= 0)
        return cells[rows], rows

    def among(self, places: Iterable[tuple[str, str]]) -> Flags:
        """Return which cells are among the named cells."""
        return self.values_on_cells(places, True, False)

    def values_on_cells(
        self, places: Iterable[tuple[str, str]], values: Any, missing: float
    ) -> Numbers:
        """Return the values (or one value) on the named cells, ``missing`` on the others."""
        column, cells = np.full(len(self), missing), self.cells_at(places)
        present = cells >= 0
        column[cells[present]] = np.broadcast_to(values, cells.shape)[present]
        return column

    def of(self, criterion: str) -> Flags:
        """Return which cells belong to a criterion."""
        named = np.array([question.name == criterion for question in self.questions], np.bool_)
        return named[self.question]

    @cached_property
    def weight(self) -> Numbers:
        """Return each cell's weight in a score."""
        return np.array([question.weight for question in self.questions])[self.question]

    def cells_at(self, places: Iterable[tuple[str, str]]) -> Numbers:
        """Return the indexes of named cells, -1 for unknown cells."""
        by_name: dict[str, tuple[list[int], list[int]]] = {}
        index = -1
        for index, (item_id, name) in enumerate(places):
            if item_id in self._item_places:
                where, items = by_name.setdefault(name, ([], []))
                where.append(index)
                items.append(self._item_places[item_id])
        indexes = np.full(index + 1, -1)
        for name, (where, items) in by_name.items():
            cells, rows = self.cells_of(name, np.array(items, np.int64))
            indexes[np.array(where)[rows]] = cells
        return indexes

    def chances(self, seed: int) -> Numbers:
        """Return the audit's random number for every cell, equal for all rules."""
        draw = seeded_random("audit", seed).random
        return np.fromiter((draw() for _ in range(len(self))), np.float64, len(self))

    def asked_about(self, rule: QueueRule) -> Flags:
        """Return which cells a rule considers."""
        flags = np.ones(len(self), np.bool_)
        if rule.items is not None:
            places = [
                at for item_id in rule.items if (at := self._item_places.get(item_id)) is not None
            ]
            flags &= np.isin(self.item, places)
        if rule.criteria is not None:
            named, everyone = np.zeros(len(self), np.bool_), np.arange(len(self.ids))
            for name in rule.criteria:
                named[self.cells_of(name, everyone)[0]] = True
            flags &= named
        return flags

    @cached_property
    def statistics(self) -> CellStatistics:
        """Return what the votes say about each cell."""
        result = CellStatistics.nothing(len(self))
        for column in self._cell_columns:
            cells, rows = self.cells_of(column.criterion, column.rows)
            result.there[cells] = True
            for name in ("option", "abstained", "entropy", "margin", "abstentions"):
                getattr(result, name)[cells] = getattr(column, name)[rows]
        for settled in self._store.settled.of_run(self._run.id):
            if settled.item_id in self._item_places:
                item = np.array([self._item_places[settled.item_id]])
                cells, _ = self.cells_of(settled.criterion, item)
                state = result.active if settled.state == "active" else result.stale
                state[cells] = result.there[cells]
        failures = self._store.votes.failed(self._run.id)
        result.failed[:] = self.among({(cell.item, cell.criterion) for cell in failures})
        result.there[result.failed] = True
        return result

    def labelled(self) -> Flags:
        """Return the cells that the dataset itself labels with one of their options."""
        flags = np.zeros(len(self), np.bool_)
        for name, options in label_columns(self._store, self._run, settled=False).items():
            flags[self.cells_of(name, np.flatnonzero(options >= 0))[0]] = True
        return flags


@dataclass(frozen=True)
class CellStatistics:
    """What the votes say about each cell, an array per figure. ``there``: it has votes or failures.
    ``option``: its verdict. ``active``, ``stale``: people settled it; it is in force, or no longer.
    """

    there: Flags
    option: Numbers
    abstained: Numbers
    entropy: Numbers
    margin: Numbers
    abstentions: Numbers
    failed: Flags
    active: Flags
    stale: Flags

    @classmethod
    def nothing(cls, cells: int) -> CellStatistics:
        """Return the statistics of cells without votes."""
        return cls(
            there=np.zeros(cells, np.bool_),
            option=np.full(cells, NO_OPTION),
            abstained=np.zeros(cells),
            entropy=np.full(cells, np.nan),
            margin=np.full(cells, np.nan),
            abstentions=np.zeros(cells),
            failed=np.zeros(cells, np.bool_),
            active=np.zeros(cells, np.bool_),
            stale=np.zeros(cells, np.bool_),
        )


class NamedCells(NamedTuple):
    """Cells known individually instead of by a statistic. ``apart``: answers depend on the order of
    options. ``stale``: the question has changed. ``unasked``: only switched-off judges abstained.
    ``requested``: a regrade was requested.
    """

    apart: Places
    stale: Places
    unasked: Places
    requested: Places


def gold_numbers(table: CellTable, seed: int, candidates: Flags) -> Numbers:
    """Return a random number for every labelled cell in ``candidates``, and 1 for other cells."""
    numbers = np.ones(len(table))
    for cell in np.flatnonzero(candidates).tolist():
        numbers[cell] = seeded_random("gold", seed, *table.name_of(cell)).random()
    return numbers


def audit_chances(table: CellTable, rule: QueueRule, candidates: Flags) -> Numbers:
    """Return each cell's chance to be drawn by an audit of the cells in ``candidates``."""
    by_cell = np.full(len(table), rule.audit_share)
    if rule.draw == "even":
        return by_cell
    cells = np.flatnonzero(candidates)
    stratum, kinds = strata(rule.draw, table.drawn_from(cells, table.statistics.option[cells]))
    sizes = dict(zip(kinds, np.bincount(stratum, minlength=len(kinds)).tolist(), strict=True))
    chance = chances_by_stratum(rule.draw, rule.audit_share, sizes)
    by_cell[cells] = np.array([chance[kind] for kind in kinds])[stratum]
    return by_cell


def reason_flags(table: CellTable, rule: QueueRule, named: NamedCells) -> dict[Reason, Flags]:
    """Return the cells to which each reason of a rule applies, in the order of listed reasons."""
    statistics, voted = table.statistics, table.statistics.there
    flags: dict[Reason, Flags] = {}
    if rule.failure or rule.undecided:
        decided = (statistics.option >= 0) & (statistics.abstained == 0)
        flags["failure"] = statistics.failed & rule.failure | ~decided & rule.undecided
    if rule.split:
        # The votes' entropy decides, as the verdict may be an option without votes.
        flags["split"] = np.nan_to_num(statistics.entropy) != 0
    if rule.abstention:
        flags["abstention"] = (statistics.abstentions > 0) & ~table.among(named.unasked)
    if rule.margin is not None:
        flags["margin"] = np.nan_to_num(statistics.margin, nan=np.inf) < rule.margin
    flags["flip"] = table.among(named.apart)
    if rule.stale:
        flags["stale"] = table.among(named.stale) | statistics.stale
    if rule.near_gate:
        flags["near_gate"] = voted & _near_gates(table)
    if rule.near_mark is not None:
        flags["near_mark"] = voted & _near_thresholds(table, rule.near_mark)
    if rule.everything:
        flags["chosen"] = np.ones(len(table), np.bool_)
    flags["regrade"] = table.among(named.requested)
    return flags


def _near_gates(table: CellTable) -> Flags:
    """Return the cells on which another option could change a gate's state."""
    statistics = table.statistics
    decided = (statistics.option >= 0) & (statistics.abstained == 0)
    flags = np.zeros(len(table), np.bool_)
    for rubric, cells in _by_rubric(table):
        if not rubric.gates:
            continue
        for number, criterion in enumerate(rubric.criteria):
            own_cells = cells[(table.criterion[cells] == number) & decided[cells]]
            for option in np.unique(statistics.option[own_cells]).tolist():
                if changes_gate_state(rubric, criterion, int(option)):
                    flags[own_cells[statistics.option[own_cells] == option]] = True
    return flags


def _near_thresholds(table: CellTable, margin: float) -> Flags:
    """Return the cells that can move their item across a threshold near its score."""
    distance = np.array(
        [_mark_distance(table.rubric_of(index), score) for index, score in enumerate(table.scores)]
    )
    flags = np.zeros(len(table), np.bool_)
    for rubric, cells in _by_rubric(table):
        moves = np.array([_largest_move(rubric, criterion) for criterion in rubric.criteria])
        distances = distance[table.item[cells]]
        flags[cells] = (distances <= margin) & (distances <= moves[table.criterion[cells]])
    return flags


def _by_rubric(table: CellTable) -> Iterator[tuple[Rubric, Numbers]]:
    """Yield the cells of each rubric."""
    with_own_rubric = np.zeros(len(table.ids), np.bool_)
    with_own_rubric[list(table.own)] = True
    shared = np.flatnonzero(~with_own_rubric[table.item])
    if len(shared):
        yield table.rubric_of(int(table.item[shared[0]])), shared
    for item, rubric in table.own.items():
        yield rubric, np.flatnonzero(table.item == item)


def _mark_distance(rubric: Rubric, score: float) -> float:
    """Return the distance of a score to the nearest threshold; infinite without one."""
    if rubric.decision is None or isnan(score):
        return np.inf
    return min(abs(score - rubric.decision.pass_at), abs(score - rubric.decision.floor))


def _largest_move(rubric: Rubric, criterion: Criterion) -> float:
    """Return how far one criterion can move the score at most, ignoring gates."""
    if not rubric.scoring.normalize:
        return abs(criterion.weight)
    rewards = sum(c.weight for c in rubric.criteria if c.weight > 0)
    possible = rewards or sum(abs(c.weight) for c in rubric.criteria)
    return abs(criterion.weight) / possible if possible else 0.0
