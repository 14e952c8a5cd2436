"""The cells of a run as columns: what a rule needs to know of each, and which reasons hold where.

A cell is an item under one criterion of the rubric in force for it; cells stand in the order of
the run's items and of the criteria. A rule is asked of whole columns, so that a million votes are
as quick to count as they are to read.
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
from core.identity import seeded
from core.services.queueing.draw_chances import DrawnFrom, chances, strata
from core.services.results.run_columns import (
    NO_LABEL,
    NO_OPTION,
    CellColumn,
    cell_columns,
    items_of_run,
    label_columns,
    own_rubrics,
    places_of_items,
    score_columns,
)
from core.services.results.scored_items import scored_rubric
from core.services.runs.questions import near_gate
from core.store.store import Store

Places = Collection[tuple[str, str]]
Flags = npt.NDArray[np.bool_]
Numbers = npt.NDArray[Any]


class CellTable:
    """The cells of a run. ``item`` is the place of each cell's item in the run, ``criterion`` that
    of its criterion in the item's rubric.
    """

    def __init__(self, store: Store, run: Run) -> None:
        self._store, self._run = store, run
        self.ids = items_of_run(store, run).ids
        self._shared = scored_rubric(store, run)
        own = own_rubrics(store, run)
        self.own = {at: own[one] for at, one in enumerate(self.ids) if one in own} if own else {}
        sizes = np.full(len(self.ids), len(self._shared.criteria))
        for at, rubric in self.own.items():
            sizes[at] = len(rubric.criteria)
        self._starts = np.cumsum(sizes) - sizes
        self.item: Numbers = np.repeat(np.arange(len(self.ids)), sizes)
        self.criterion: Numbers = np.arange(len(self.item)) - self._starts[self.item]

    @property
    def scores(self) -> list[float]:
        """The items' scores, NaN where there is none."""
        found: list[float] = score_columns(self._store, self._run).score.tolist()
        return found

    def __len__(self) -> int:
        return len(self.item)

    def rubric_of(self, item: int) -> Rubric:
        """The rubric in force for an item."""
        return self.own.get(item, self._shared)

    def criterion_of(self, cell: int) -> Criterion:
        """The criterion of a cell."""
        return self.rubric_of(int(self.item[cell])).criteria[int(self.criterion[cell])]

    def name_of(self, cell: int) -> tuple[str, str]:
        """A cell by its item and criterion."""
        return self.ids[int(self.item[cell])], self.criterion_of(cell).name

    @cached_property
    def questions(self) -> tuple[Criterion, ...]:
        """The criteria of the run, and those of items that have a rubric of their own."""
        return tuple(c for one in (self._shared, *self.own.values()) for c in one.criteria)

    @cached_property
    def question(self) -> Numbers:
        """Which of the questions each cell is of."""
        found, first = self.criterion.copy(), len(self._shared.criteria)
        for at, rubric in self.own.items():
            cells = slice(self._starts[at], self._starts[at] + len(rubric.criteria))
            found[cells] += first
            first += len(rubric.criteria)
        return found

    def by_option(self, of: Callable[[Criterion], Sequence[float | None]]) -> Numbers:
        """What each option of each question has, NaN for nothing, as for the last, which is none:
        ``found[question, maximum(option, -1)]``.
        """
        rows = [of(question) for question in self.questions]
        found = np.full((len(rows), max(map(len, rows), default=0) + 1), np.nan)
        for at, row in enumerate(rows):
            found[at, : len(row)] = [np.nan if one is None else one for one in row]
        return found

    def drawn_from(self, cells: Numbers, option: Numbers) -> DrawnFrom:
        """What a draw among some cells knows of them; ``option`` is that of the votes."""
        names = {name: at for at, name in enumerate(dict.fromkeys(c.name for c in self.questions))}
        of = np.array([names[c.name] for c in self.questions], np.int64)
        return DrawnFrom(
            list(names), of[self.question[cells]], option, self.verdicts("margin")[cells]
        )

    def verdicts(self, field: str, nothing: float = np.nan) -> Numbers:
        """One field of all verdicts (``CellColumn``), ``nothing`` where there is no verdict."""
        found = np.full(len(self), nothing)
        for column in self._columns:
            cells, kept = self.cells_of(column.criterion, column.rows)
            found[cells] = getattr(column, field)[kept]
        return found

    @cached_property
    def there(self) -> Flags:
        """On which cells there is a verdict, be it an abstention."""
        return self.verdicts("votes", -1) >= 0

    @cached_property
    def _columns(self) -> list[CellColumn]:
        return cell_columns(self._store, self._run)

    @cached_property
    def judged(self) -> Numbers:
        """The option that the votes gave, whoever settled another one; negative without one."""
        return self.verdicts("judged", NO_OPTION).astype(np.int64)

    @cached_property
    def decided(self) -> Numbers:
        """The option that people settled and that counts; ``NO_OPTION`` where nobody can say,
        ``NO_LABEL`` where nobody said.
        """
        settled = self._store.settled.options(self._run.id)
        options = [NO_OPTION if one is None else one for *_, one in settled]
        return self.spread(((item, name) for item, name, _ in settled), options, NO_LABEL)

    @cached_property
    def _place(self) -> dict[str, int]:
        return places_of_items(self._store, self._run)

    @cached_property
    def _follow(self) -> Flags:
        """Which items follow the rubric of the run."""
        found = np.ones(len(self.ids), np.bool_)
        found[list(self.own)] = False
        return found

    def cells_of(self, name: str, items: Numbers) -> tuple[Numbers, Numbers]:
        """The cells of a criterion by its name on these items, and which of the items have one."""
        named = [at for at, c in enumerate(self._shared.criteria) if c.name == name]
        there = self._follow[items] if named else np.zeros(len(items), np.bool_)
        cells = np.where(there, self._starts[items] + (named[0] if named else 0), -1)
        for at in np.flatnonzero(~self._follow[items]).tolist() if self.own else ():
            item = int(items[at])
            for number, criterion in enumerate(self.own[item].criteria):
                if criterion.name == name:
                    cells[at] = self._starts[item] + number
        kept = np.flatnonzero(cells >= 0)
        return cells[kept], kept

    def among(self, places: Iterable[tuple[str, str]]) -> Flags:
        """Which cells are among some that are named."""
        return self.spread(places, True, False)

    def spread(self, places: Iterable[tuple[str, str]], values: Any, nothing: float) -> Numbers:
        """These values, or the one, on the cells that are named, and ``nothing`` on all others."""
        found, cells = np.full(len(self), nothing), self.cells_at(places)
        there = cells >= 0
        found[cells[there]] = np.broadcast_to(values, cells.shape)[there]
        return found

    def of(self, criterion: str) -> Flags:
        """Which cells are of a criterion, by its name."""
        named = np.array([one.name == criterion for one in self.questions], np.bool_)
        return named[self.question]

    @cached_property
    def weight(self) -> Numbers:
        """What each cell counts in a score."""
        return np.array([one.weight for one in self.questions])[self.question]

    def cells_at(self, places: Iterable[tuple[str, str]]) -> Numbers:
        """The cells that are named, -1 for one that is none of the run."""
        by_name: dict[str, tuple[list[int], list[int]]] = {}
        at = -1
        for at, (item_id, name) in enumerate(places):
            if item_id in self._place:
                where, items = by_name.setdefault(name, ([], []))
                where.append(at)
                items.append(self._place[item_id])
        found = np.full(at + 1, -1)
        for name, (where, items) in by_name.items():
            cells, kept = self.cells_of(name, np.array(items, np.int64))
            found[np.array(where)[kept]] = cells
        return found

    def chances(self, seed: int) -> Numbers:
        """The number that the audit draws for every cell there is, whatever the rule."""
        draw = seeded("audit", seed).random
        return np.fromiter((draw() for _ in range(len(self))), np.float64, len(self))

    def asked_about(self, rule: QueueRule) -> Flags:
        """Which cells are among those that a rule is narrowed to."""
        found = np.ones(len(self), np.bool_)
        if rule.items is not None:
            wanted = [at for item_id in rule.items if (at := self._place.get(item_id)) is not None]
            found &= np.isin(self.item, wanted)
        if rule.criteria is not None:
            named, everyone = np.zeros(len(self), np.bool_), np.arange(len(self.ids))
            for name in rule.criteria:
                named[self.cells_of(name, everyone)[0]] = True
            found &= named
        return found

    @cached_property
    def signs(self) -> CellSigns:
        """What the votes on the cells look like."""
        found = CellSigns.nothing(len(self))
        for column in self._columns:
            cells, kept = self.cells_of(column.criterion, column.rows)
            found.there[cells] = True
            for name in ("option", "abstained", "entropy", "margin", "abstentions"):
                getattr(found, name)[cells] = getattr(column, name)[kept]
        for settled in self._store.settled.of_run(self._run.id):
            if settled.item_id in self._place:
                item = np.array([self._place[settled.item_id]])
                cells, _ = self.cells_of(settled.criterion, item)
                state = found.active if settled.state == "active" else found.stale
                state[cells] = found.there[cells]
        failures = self._store.votes.failed(self._run.id)
        found.failed[:] = self.among({(cell.item, cell.criterion) for cell in failures})
        found.there[found.failed] = True
        return found

    def labelled(self) -> Flags:
        """The cells that the dataset itself labels with one of their options."""
        found = np.zeros(len(self), np.bool_)
        for name, options in label_columns(self._store, self._run, settled=False).items():
            found[self.cells_of(name, np.flatnonzero(options >= 0))[0]] = True
        return found


@dataclass(frozen=True)
class CellSigns:
    """What the votes on cells look like, a column for each. ``there``: there are votes or failures;
    ``option`` is the verdict now, ``active`` and ``stale`` say what people settled.
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
    def nothing(cls, cells: int) -> CellSigns:
        """Nobody has said anything."""
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


class Named(NamedTuple):
    """Cells that are named one by one: those whose order matters, whose question has changed, on
    which only judges abstained that were switched off, and of which a regrade was asked for.
    """

    apart: Places
    stale: Places
    unasked: Places
    requested: Places


def gold_numbers(table: CellTable, seed: int, among: Flags) -> Numbers:
    """The number that the draw among labelled cells gives to each of some cells; 1 to others."""
    numbers = np.ones(len(table))
    for cell in np.flatnonzero(among).tolist():
        numbers[cell] = seeded("gold", seed, *table.name_of(cell)).random()
    return numbers


def shares(table: CellTable, rule: QueueRule, among: Flags) -> Numbers:
    """With what chance the audit draws each cell, of those among which it draws."""
    found = np.full(len(table), rule.audit_share)
    if rule.draw == "even":
        return found
    cells = np.flatnonzero(among)
    at, kinds = strata(rule.draw, table.drawn_from(cells, table.signs.option[cells]))
    sizes = dict(zip(kinds, np.bincount(at, minlength=len(kinds)).tolist(), strict=True))
    chance = chances(rule.draw, rule.audit_share, sizes)
    found[cells] = np.array([chance[kind] for kind in kinds])[at]
    return found


def reasons(table: CellTable, rule: QueueRule, named: Named) -> dict[Reason, Flags]:
    """Where each reason of a rule holds, in the order in which reasons are given."""
    signs, there = table.signs, table.signs.there
    found: dict[Reason, Flags] = {}
    if rule.failure:
        found["failure"] = signs.failed
    if rule.split:
        # Not the agreement: a verdict may be an option that no vote is for.
        found["split"] = np.nan_to_num(signs.entropy) != 0
    if rule.abstention:
        found["abstention"] = (signs.abstentions > 0) & ~table.among(named.unasked)
    if rule.margin is not None:
        found["margin"] = np.nan_to_num(signs.margin, nan=np.inf) < rule.margin
    found["flip"] = table.among(named.apart)
    if rule.stale:
        found["stale"] = table.among(named.stale) | signs.stale
    if rule.near_gate:
        found["near_gate"] = there & _at_gates(table)
    if rule.near_mark is not None:
        found["near_mark"] = there & _at_marks(table, rule.near_mark)
    if rule.everything:
        found["chosen"] = np.ones(len(table), np.bool_)
    found["regrade"] = table.among(named.requested)
    return found


def _at_gates(table: CellTable) -> Flags:
    """The cells of which another option could change what a gate says."""
    signs = table.signs
    known = (signs.option >= 0) & (signs.abstained == 0)
    found = np.zeros(len(table), np.bool_)
    for rubric, cells in _by_rubric(table):
        if not rubric.gates:
            continue
        for number, criterion in enumerate(rubric.criteria):
            mine = cells[(table.criterion[cells] == number) & known[cells]]
            for option in np.unique(signs.option[mine]).tolist():
                if near_gate(rubric, criterion, int(option)):
                    found[mine[signs.option[mine] == option]] = True
    return found


def _at_marks(table: CellTable, near: float) -> Flags:
    """The cells that can move their item over a mark of the decision that its score is near."""
    distance = np.array(
        [_distance(table.rubric_of(at), score) for at, score in enumerate(table.scores)]
    )
    found = np.zeros(len(table), np.bool_)
    for rubric, cells in _by_rubric(table):
        reach = np.array([_reach(rubric, criterion) for criterion in rubric.criteria])
        away = distance[table.item[cells]]
        found[cells] = (away <= near) & (away <= reach[table.criterion[cells]])
    return found


def _by_rubric(table: CellTable) -> Iterator[tuple[Rubric, Numbers]]:
    """The cells of each rubric."""
    alone = np.zeros(len(table.ids), np.bool_)
    alone[list(table.own)] = True
    shared = np.flatnonzero(~alone[table.item])
    if len(shared):
        yield table.rubric_of(int(table.item[shared[0]])), shared
    for at, rubric in table.own.items():
        yield rubric, np.flatnonzero(table.item == at)


def _distance(rubric: Rubric, score: float) -> float:
    """How far a score is from the nearest mark of the decision; infinitely where there is none."""
    if rubric.decision is None or isnan(score):
        return np.inf
    return min(abs(score - rubric.decision.pass_at), abs(score - rubric.decision.floor))


def _reach(rubric: Rubric, criterion: Criterion) -> float:
    """How far one criterion can move the score at most, without gates."""
    if not rubric.scoring.normalize:
        return abs(criterion.weight)
    rewards = sum(c.weight for c in rubric.criteria if c.weight > 0)
    possible = rewards or sum(abs(c.weight) for c in rubric.criteria)
    return abs(criterion.weight) / possible if possible else 0.0
