"""What more random labels of a run would buy: how sure its figures get, in what time, at what cost.

How far people will be off from the votes is expected from how much the votes agree, and corrected
by how far they were where people have looked at random.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from core.domain.review import DrawKind, QueueRule, QueueSettings
from core.domain.rubric import Criterion
from core.domain.runs import Run
from core.errors import InputError
from core.metrics.intervals.planning import (
    POWER,
    Drawn,
    Expected,
    drawn,
    error,
    found_from,
    outcome,
    power,
    reach,
    task_error,
)
from core.services.pairwise import system_answers
from core.services.queueing import queue_cap
from core.services.queueing.draw_chances import DrawnFrom, chances, stratum_of
from core.services.results import scored_items
from core.services.review import random_labels
from core.services.review.random_labels import DrawnLabels, Place, counted, place
from core.store.store import Store

DRAWS: dict[DrawKind, str] = {
    "even": "every cell alike",
    "strata": "as many of each verdict",
    "doubt": "doubtful ones more often",
}
#: Numbers of labels that are looked at beside the one asked for.
STEPS = (25, 50, 100, 200, 400, 800)
#: So many labels' worth the expectation from votes is believed beside what labels show.
BELIEVED = 10.0
#: From so many random labels on, how far people are off is said to be measured.
MEASURED = 10


class Bought(NamedTuple):
    """What so many more labels buy. ``None`` where they would be too few to say anything.

    ``width`` is half the 95% interval of the mean, by draw; ``power`` the chance to find the gap
    between the two systems, ``finds`` the gap found with a chance of 80%; ``minutes`` and
    ``money`` what people's time comes to.
    """

    labels: int
    width: Mapping[DrawKind, float | None]
    power: float | None
    finds: float | None
    minutes: float | None
    money: float | None


@dataclass(frozen=True)
class LabelPlan:
    """What labels of a criterion (empty: of all, by weight) would buy.

    ``left`` cells have a verdict and no label, ``known`` have a random one. ``off`` is how far
    people are expected to be off from the votes (root mean square); ``measured`` says whether
    labels have shown it. ``gap`` is the one between the two systems that is to be found, and
    ``most_power`` what all labels together would give: more takes more tasks.
    """

    criterion: str
    left: int
    known: int
    off: float
    measured: bool
    steps: tuple[Bought, ...]
    pair: tuple[str, str] | None = None
    gap: float | None = None
    most_power: float | None = None
    needed: int | None = None
    reason: str = ""


class _Cell(NamedTuple):
    """A cell with a verdict: what it counts, and what people are expected to say."""

    place: Place
    about: DrawnFrom
    part: float
    said: float
    mean: float
    variance: float
    left: bool


def label_plan(
    store: Store,
    run_id: int,
    *,
    criterion: str = "",
    labels: int = 100,
    pair: tuple[str, str] | None = None,
    gap: float | None = None,
    hourly: float | None = None,
) -> LabelPlan:
    """What more random labels would buy.

    Args:
        store: the data file.
        run_id: the run.
        criterion: the one that is asked about; all together, by weight, where empty.
        labels: how many more, beside the usual numbers.
        pair: two systems of the run that are to be told apart.
        gap: how far they are apart, in the units of the score; what is known of it if ``None``.
        hourly: what an hour of a reviewer costs.

    Raises:
        InputError: no such criterion or system, or ``labels`` below 1.
        NotFound: there is no such run.
    """
    run = store.runs.get(run_id)
    _check(store, run, criterion, labels, pair)
    known = random_labels.of_run(store, run_id, criterion)
    cells, seen = _cells(store, run, criterion, known)
    left = sum(cell.left for cell in cells)
    squares = [(cell.mean - cell.said) ** 2 + cell.variance for cell in cells]
    off = float(np.sqrt(np.mean(squares))) if squares else 0.0
    found = LabelPlan(criterion, left, seen, off, seen >= MEASURED, (), pair)
    if not left:
        return replace(found, reason="Every cell with a verdict has a label.")
    apart = None if pair is None else _apart(store, run, cells, pair, gap)
    numbers = sorted({*(n for n in STEPS if n < left), min(labels, left)})
    found = replace(
        found, steps=tuple(_bought(store, run_id, cells, n, apart, hourly) for n in numbers)
    )
    if apart is None or apart.reason:
        return replace(found, reason=apart.reason if apart else "")
    return replace(
        found, gap=apart.gap, most_power=apart.power(left, left), needed=apart.needed(left)
    )


def queue_rule(plan: LabelPlan, labels: int, draw: DrawKind) -> QueueRule:
    """The rule of a queue that draws about so many of the cells that have no label."""
    return QueueRule(
        split=False,
        abstention=False,
        failure=False,
        flip=False,
        stale=False,
        criteria=(plan.criterion,) if plan.criterion else None,
        audit_share=min(1.0, labels / plan.left),
        draw=draw,
    )


def queue_name(plan: LabelPlan, labels: int) -> str:
    """What the queue of a plan is called."""
    return f"{labels} random labels{f' of {plan.criterion}' if plan.criterion else ''}"[:100]


def _check(
    store: Store, run: Run, criterion: str, labels: int, pair: tuple[str, str] | None
) -> None:
    names = [c.name for c in scored_items.scored_rubric(store, run).criteria]
    if criterion and criterion not in names:
        raise InputError(f"Run {run.id} has no criterion {criterion!r}. It has {', '.join(names)}.")
    if labels < 1:
        raise InputError("Ask about at least one label.")
    systems = store.results.systems(run.id)
    for name in pair or ():
        if name not in systems:
            some = ", ".join(systems) or "none"
            raise InputError(f"Run {run.id} has no system {name!r}. Its systems are: {some}.")


def _cells(store: Store, run: Run, criterion: str, known: DrawnLabels) -> tuple[list[_Cell], int]:
    """The cells that labels may speak for, and how many random labels there are."""
    rubric = scored_items.scored_rubric(store, run)
    own = store.signs.own_rubrics(run.id)
    signs = store.signs.of_cells(run.id)
    drawn_ones = set() if known.reason else {place(c) for c in known.cells if c.drawn}
    rows = list[_Row]()
    for row in store.results.all_cells(run.id, criterion or None):
        at = (row.item_id, row.criterion)
        asked = own.get(row.item_id, rubric).criterion(row.criterion)
        sign = signs.get(at)
        if sign is None or row.judged not in asked.scored:
            continue
        settled = sign.settled == "active"
        if not settled or at in drawn_ones:
            about = DrawnFrom(row.criterion, row.judged, sign.margin)
            rows.append(_Row(at, asked, about, _wrong(asked, sign.votes, sign.margin), not settled))
    ratio, seen = _measured(known, {row.place: row.wrong for row in rows})
    reached = sum(row.weight(criterion) for row in rows if row.weight(criterion) > 0) or 1.0
    return [row.cell(row.weight(criterion) / reached, ratio) for row in rows], seen


class _Row(NamedTuple):
    """A cell with the chance that people say something else than the votes."""

    place: Place
    criterion: Criterion
    about: DrawnFrom
    wrong: float
    left: bool

    def weight(self, alone: str) -> float:
        return 1.0 if alone else self.criterion.weight

    def cell(self, part: float, ratio: float) -> _Cell:
        """With people as much oftener of another mind as labels show."""
        scored = self.criterion.scored
        values = [self.criterion.values[i] or 0.0 for i in scored]
        voted = scored.index(self.about.option or 0)
        mean, variance = outcome(values, voted, min(1.0, self.wrong * ratio))
        return _Cell(self.place, self.about, part, values[voted], mean, variance, self.left)


def _wrong(criterion: Criterion, votes: int, margin: float | None) -> float:
    """The chance of another answer, from how many votes agree (as in a queue's order)."""
    top = (1 + (1.0 if margin is None else margin)) / 2
    return 1 - (votes * top + 1 / len(criterion.scored)) / (votes + 1)


def _measured(known: DrawnLabels, wrong: Mapping[Place, float]) -> tuple[float, int]:
    """How much oftener people say something else than expected, by how many random labels."""
    if known.reason:
        return 1.0, 0
    came, due, seen = 0, 0.0, 0
    for cell, value in zip(known.cells, counted(known.cells), strict=True):
        if cell.drawn and value is not None and place(cell) in wrong:
            came += cell.option != cell.voted
            due += wrong[place(cell)]
            seen += 1
    usual = BELIEVED * (sum(wrong.values()) / len(wrong) if wrong else 0.0)
    return ((came + usual) / (due + usual) if due + usual else 1.0), seen


def _expected(cells: Sequence[_Cell]) -> Expected:
    columns = (
        np.array([getattr(cell, name) for cell in cells])
        for name in ("part", "said", "mean", "variance", "left")
    )
    return Expected(*columns)


def _groups(
    cells: Sequence[_Cell], draw: DrawKind, labels: float, sides: Sequence[int] = ()
) -> list[Drawn]:
    """The cells by how they would be drawn, and on which side of a gap they are."""
    left = sum(cell.left for cell in cells)
    strata = [stratum_of(draw, cell.about) for cell in cells]
    free = [one for one, cell in zip(strata, cells, strict=True) if cell.left]
    chance = chances(draw, min(1.0, labels / left), free) if left else {}
    kinds = list(zip(strata, sides or [0] * len(cells), strict=True))
    numbers = {kind: at for at, kind in enumerate(dict.fromkeys(kinds))}
    return drawn(
        _expected(cells),
        [numbers[kind] for kind in kinds],
        [chance.get(one, 0.0) for one in strata],
    )


class _Apart(NamedTuple):
    """Two systems: their cells on shared tasks, what tasks alone leave open, the gap to find."""

    cells: list[_Cell]
    sides: list[int]
    tasks: float
    gap: float
    reason: str = ""

    def spread(self, labels: float, left: int) -> float | None:
        """The standard error of the gap with so many labels of all that are ``left``."""
        among = sum(cell.left for cell in self.cells)
        found = error(_groups(self.cells, "even", labels * among / left, self.sides))
        return None if found is None else float(np.hypot(found, self.tasks))

    def power(self, labels: float, left: int) -> float | None:
        """The chance that the gap is found."""
        spread = self.spread(labels, left)
        return None if spread is None else power(self.gap, spread)

    def needed(self, left: int) -> int | None:
        """The least number of labels with which the gap is found in 80 of 100; ``None``: none."""
        for labels in (*range(10, left, max(1, left // 200)), left):
            if (self.power(labels, left) or 0.0) >= POWER:
                return int(labels)
        return None


def _apart(
    store: Store, run: Run, cells: Sequence[_Cell], pair: tuple[str, str], gap: float | None
) -> _Apart:
    shared = system_answers.shared_tasks(store, run)
    both = [task for task in shared.tasks if all(name in task.items for name in pair)]
    if len(both) < 2:
        why = shared.why or f"{pair[0]} and {pair[1]} share fewer than two tasks."
        return _Apart([], [], 0.0, 0.0, why)
    of = {
        task.items[name]: (at, side)
        for at, task in enumerate(both)
        for side, name in zip((-1, 1), pair, strict=True)
    }
    mine = [cell for cell in cells if cell.place[0] in of]
    sides = [of[cell.place[0]][1] for cell in mine]
    reached = {-1: 0.0, 1: 0.0}
    for cell, side in zip(mine, sides, strict=True):
        reached[side] += max(0.0, cell.part)
    scaled = [
        cell._replace(part=side * cell.part / (reached[side] or 1.0))
        for cell, side in zip(mine, sides, strict=True)
    ]
    tasks = task_error(_expected(scaled), [of[cell.place[0]][0] for cell in scaled])
    now = sum(cell.part * cell.mean for cell in scaled)
    return _Apart(scaled, sides, tasks, now if gap is None else gap)


def _bought(
    store: Store,
    run_id: int,
    cells: Sequence[_Cell],
    labels: int,
    apart: _Apart | None,
    hourly: float | None,
) -> Bought:
    left = sum(cell.left for cell in cells)
    width = {draw: reach(_groups(cells, draw, labels)) for draw in DRAWS}
    minutes = queue_cap.minutes(store, run_id, labels, QueueSettings())
    money = None if minutes is None or hourly is None else minutes / 60 * hourly
    if apart is None or apart.reason:
        return Bought(labels, width, None, None, minutes, money)
    spread = apart.spread(labels, left)
    finds = None if spread is None else found_from(spread)
    return Bought(labels, width, apart.power(labels, left), finds, minutes, money)
