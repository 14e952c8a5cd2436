"""What more random labels of a run would buy: precision, time and cost.

The expected difference between people and votes depends on the votes' agreement. It is corrected by
the differences on cells that people labelled at random.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from core.domain.review import DrawKind, QueueSettings
from core.domain.runs import Run
from core.errors import InputError
from core.metrics.estimate import Estimate, reversed_sign
from core.metrics.intervals.planning import (
    POWER,
    DrawGroup,
    Expected,
    detection_power,
    draw_groups,
    gap_error_if_labelled,
    half_width,
    outcome_moments,
    smallest_detectable_gap,
    sum_error,
)
from core.services.pairwise import system_answers, system_gaps
from core.services.pairwise.system_gaps import SystemsApart
from core.services.queueing import queue_cap
from core.services.queueing.draw_chances import DrawableCells, Stratum, chances_by_stratum, strata
from core.services.queueing.queue_table import CellTable
from core.services.results import run_columns, scored_items
from core.services.results.run_columns import NO_LABEL
from core.services.review import random_labels
from core.services.review.random_audit import has_verdict
from core.services.review.random_labels import DrawnLabels
from core.store.store import Store

Numbers = npt.NDArray[Any]

DRAWS: dict[DrawKind, str] = {
    "even": "every cell alike",
    "strata": "as many of each verdict",
    "doubt": "doubtful ones more often",
}
#: Other numbers of labels shown in a plan.
STEPS = (25, 50, 100, 200, 400, 800)
#: The weight of the expectation from votes, as a number of labels.
BELIEVED = 10.0
#: With at least this many random labels, the difference from people counts as measured.
MEASURED = 10
#: A group expected to get fewer labels may get fewer than the two that it needs.
THIN = 5


class LabelGain(NamedTuple):
    """What a number of further labels buys. ``None`` if they would be too few.

    ``width`` is half the 95% interval of the mean, by draw; ``power`` the chance to find the gap
    between the two systems, ``finds`` the gap found with a chance of 80%; ``minutes`` and
    ``money`` are people's time and its cost.
    """

    labels: int
    width: Mapping[DrawKind, float | None]
    power: float | None
    finds: float | None
    minutes: float | None
    money: float | None


@dataclass(frozen=True)
class LabelPlan:
    """What labels of a criterion would buy (of all criteria by weight, if it is empty).

    ``left`` cells have a verdict but no label that may represent others, ``known`` cells have one.
    ``off`` is the expected difference between people and votes (root mean square), or the measured
    difference if no cell is left; ``measured``: labels have confirmed it. The plan is to detect a
    ``gap`` between the two systems. ``voted`` is the gap by votes, used if the user gave none;
    ``shown`` is the gap by random labels, and ``told`` says whether it is more than chance.
    ``most_power`` is the power of all labels together: more needs more tasks. ``thin`` counts, by
    draw, the groups (a verdict of one of the two systems) that would get too few labels.
    """

    criterion: str
    left: int
    known: int
    off: float
    measured: bool
    steps: tuple[LabelGain, ...]
    pair: tuple[str, str] | None = None
    gap: float | None = None
    voted: float | None = None
    shown: Estimate | None = None
    told: bool = False
    most_power: float | None = None
    needed: int | None = None
    reason: str = ""
    thin: Mapping[DrawKind, int] = field(default_factory=dict)


class _Cells:
    """Cells with a verdict: their items, the figures that draws use, and the expected answers of
    people. ``side`` is -1 or 1 for the two systems of a gap.
    """

    def __init__(
        self, item: Numbers, facts: DrawableCells, expected: Expected, side: Numbers | None = None
    ) -> None:
        self.item, self.about, self.expected = item, facts, expected
        self._side = np.zeros(len(item), np.int64) if side is None else side
        self._alike = cache(self._strata)

    @property
    def unlabelled(self) -> int:
        """Return how many of the cells have no label."""
        return int(self.expected.left.sum())

    @property
    def rms(self) -> float:
        """Return the expected difference between people and votes, as a root mean square."""
        cells = self.expected
        squares = (cells.mean - cells.said) ** 2 + cells.variance
        return float(np.sqrt(squares.mean())) if len(squares) else 0.0

    def groups(self, draw: DrawKind, labels: float) -> list[DrawGroup]:
        """Return the groups of the next draw of labels, split by side for a gap."""
        sizes, groups = self._alike(draw)
        share = min(1.0, labels / self.unlabelled) if self.unlabelled else 0.0
        chance = chances_by_stratum(draw, share, sizes) if share else {}
        return [group._replace(more=group.more * chance.get(kind, 0.0)) for kind, group in groups]

    def _strata(self, draw: DrawKind) -> tuple[dict[Stratum, int], list[tuple[Stratum, DrawGroup]]]:
        """Return the open cells of each stratum, and the groups with all open cells drawn."""
        stratum, kinds = strata(draw, self.about)
        open_cells = np.bincount(stratum[self.expected.left], minlength=len(kinds)).tolist()
        pairs, group = np.unique(3 * stratum + self._side + 1, return_inverse=True)
        draws = draw_groups(self.expected, group, np.ones(len(stratum))) if len(stratum) else []
        sizes = {kind: size for kind, size in zip(kinds, open_cells, strict=True) if size}
        return sizes, list(zip([kinds[pair // 3] for pair in pairs.tolist()], draws, strict=True))


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
    """Return what more random labels would buy.

    Args:
        store: the data file.
        run_id: the run.
        criterion: the criterion to label; empty for all, by weight.
        labels: how many more, in addition to the usual numbers.
        pair: two systems of the run to tell apart.
        gap: the gap between them, in the units of the score; ``None``: as now known.
        hourly: what an hour of a reviewer costs.

    Raises:
        InputError: unknown criterion or system, or ``labels`` below 1.
        NotFound: unknown run.
    """
    run = store.runs.get(run_id)
    _check_request(store, run, criterion, labels, pair)
    random = random_labels.labels_of_run(store, run_id, criterion)
    cells, labels_seen = _cells(store, run, criterion, random)
    seen = (cells.unlabelled, labels_seen, cells.rms, labels_seen >= MEASURED)
    plan, unlabelled = LabelPlan(criterion, *seen, (), pair), cells.unlabelled
    if not unlabelled:
        reason = "Every cell with a verdict has a label."
        return replace(plan, off=_label_vote_gap(random, criterion), measured=True, reason=reason)
    if pair is not None and gap is None and plan.measured:
        plan = _with_gap_shown(plan, system_gaps.corrected_systems(store, run, criterion).gaps)
    lead = gap if plan.shown is None else plan.shown.value
    pair_gap = None if pair is None else _systems_gap(store, run, cells, pair, lead)
    numbers = sorted({*(n for n in STEPS if n < unlabelled), min(labels, unlabelled)})
    steps = tuple(_label_gain(store, run_id, cells, n, pair_gap, hourly) for n in numbers)
    plan = replace(plan, steps=steps)
    if pair_gap is None or pair_gap.reason:
        return replace(plan, reason=pair_gap.reason if pair_gap else "")
    return replace(
        plan,
        gap=pair_gap.gap,
        voted=pair_gap.voted if gap is None else None,
        most_power=pair_gap.power(unlabelled, unlabelled),
        needed=pair_gap.labels_needed(unlabelled),
        thin={d: number for d in DRAWS if (number := pair_gap.thin_groups(d, labels, unlabelled))},
    )


def _check_request(
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
            listed = ", ".join(systems) or "none"
            raise InputError(f"Run {run.id} has no system {name!r}. Its systems are: {listed}.")


def _cells(store: Store, run: Run, criterion: str, drawn_labels: DrawnLabels) -> tuple[_Cells, int]:
    """Return the cells that labels may represent, and the number of random labels."""
    table = CellTable(store, run)
    unlabelled = table.decided == NO_LABEL
    labelled = np.zeros(len(table), np.bool_)
    if not drawn_labels.reason:
        labelled[drawn_labels.cells.cells[_representing(drawn_labels)]] = True
        unlabelled &= ~labelled
    counted = has_verdict(table) & (unlabelled | labelled)
    if criterion:
        counted &= table.of(criterion)
    cells = np.flatnonzero(counted)
    question, voted = table.question[cells], table.judged[cells]
    about = table.drawn_from(cells, voted)
    wrong = np.full(len(table), np.nan)
    wrong[cells] = _change_chance(table, question, table.verdicts("votes")[cells], about.margin)
    ratio, seen = _measured_factor(drawn_labels, wrong)
    weights = np.ones(len(cells)) if criterion else table.weight[cells]
    part = weights / (float(weights[weights > 0].sum()) or 1.0)
    expected = _expected_answers(table, question, voted, np.minimum(1.0, wrong[cells] * ratio))
    return _Cells(table.item[cells], about, Expected(part, *expected, unlabelled[cells])), seen


def _representing(labels: DrawnLabels) -> Numbers:
    """Return which cells have a label that may represent others: drawn labels, otherwise all."""
    everywhere = labels.queue is None and labels.declared is None
    labelled: Numbers = ~np.isnan(labels.cells.counted) & (labels.cells.drawn | everywhere)
    return labelled


def _label_vote_gap(drawn_labels: DrawnLabels, criterion: str) -> float:
    """Return the weighted root mean square difference between labels and votes."""
    if drawn_labels.reason:
        return 0.0
    cells = drawn_labels.cells.take(~np.isnan(drawn_labels.cells.counted))
    weights = np.ones(len(cells)) if criterion else np.abs(cells.weight)
    squares = (cells.said - cells.value) ** 2
    return float(np.sqrt(np.average(squares, weights=weights))) if weights.any() else 0.0


def _change_chance(table: CellTable, question: Numbers, votes: Numbers, margin: Numbers) -> Numbers:
    """Return the chance of a different answer, from the votes' agreement (as in a queue's
    order).
    """
    options = np.array([len(question_of.scored) for question_of in table.questions])[question]
    top = (1 + np.where(np.isnan(margin), 1.0, margin)) / 2
    chance: Numbers = 1 - (votes * top + 1 / options) / (votes + 1)
    return chance


def _expected_answers(
    table: CellTable, question: Numbers, voted: Numbers, wrong: Numbers
) -> tuple[Numbers, Numbers, Numbers]:
    """Return the votes' values, and mean and variance of people's answers with that chance."""
    scales: dict[tuple[tuple[int, ...], tuple[float, ...]], int] = {}
    spread_of = [
        scales.setdefault(
            (tuple(each.scored), tuple(each.values[i] or 0.0 for i in each.scored)), len(scales)
        )
        for each in table.questions
    ]
    scale = np.array(spread_of)[question]
    judged, mean, variance = (np.zeros(len(voted)) for _ in range(3))
    for (scored, values), number in scales.items():
        for index, option in enumerate(scored):
            cells = np.flatnonzero((scale == number) & (voted == option))
            judged[cells] = values[index]
            mean[cells], variance[cells] = outcome_moments(values, index, wrong[cells])
    return judged, mean, variance


def _measured_factor(drawn_labels: DrawnLabels, wrong: Numbers) -> tuple[float, int]:
    """Return by what factor people differ more than expected, and how many labels show that.

    ``wrong`` is the expectation for all cells of the run, NaN for cells that are left out.
    """
    if drawn_labels.reason:
        return 1.0, 0
    cells = drawn_labels.cells
    cells = cells.take(_representing(drawn_labels) & ~np.isnan(wrong[cells.cells]))
    came, due = int((cells.option != cells.voted).sum()), float(wrong[cells.cells].sum())
    usual = BELIEVED * (float(np.nanmean(wrong)) if (~np.isnan(wrong)).any() else 0.0)
    return ((came + usual) / (due + usual) if due + usual else 1.0), len(cells)


def _with_gap_shown(plan: LabelPlan, gaps: Sequence[SystemsApart]) -> LabelPlan:
    """Return the plan with the gap that random labels show, if they show one."""
    for pair in gaps:
        if plan.pair is None or {*plan.pair} != {pair.first, pair.second}:
            continue
        gap = pair.found.mean if pair.first == plan.pair[0] else reversed_sign(pair.found.mean)
        if gap.value is not None and gap.low is not None:
            return replace(plan, shown=gap, told=bool(pair.better_system))
    return plan


class _Apart(NamedTuple):
    """Two systems: their cells on shared tasks, the uncertainty due to tasks, the gap to find, and
    the gap by the votes.

    ``tests`` is the number of pairs that are corrected together.
    """

    cells: _Cells
    tasks: float
    gap: float
    reason: str = ""
    voted: float = 0.0
    tests: int = 1

    def gap_error(self, labels: float, left: int) -> float | None:
        """Return the standard error of the gap with this many labels of all that are ``left``."""
        error_of_mean = sum_error(self.cells.groups("even", labels * self.cells.unlabelled / left))
        return None if error_of_mean is None else float(np.hypot(error_of_mean, self.tasks))

    def power(self, labels: float, n_left: int) -> float | None:
        """Return the chance to find the gap."""
        spread = self.gap_error(labels, n_left)
        return None if spread is None else detection_power(self.gap, spread, self.tests)

    def thin_groups(self, draw: DrawKind, labels: float, n_left: int) -> int:
        """Return how many groups of this draw (a system's verdict) would have too few labels."""
        groups = self.cells.groups(draw, labels * self.cells.unlabelled / n_left)
        return sum(group.labels < min(THIN, group.cells) for group in groups)

    def labels_needed(self, n_left: int) -> int | None:
        """Return the fewest labels that find the gap with a chance of 80%, or ``None``."""
        for labels in (*range(10, n_left, max(1, n_left // 200)), n_left):
            if (self.power(labels, n_left) or 0.0) >= POWER:
                return int(labels)
        return None


def _systems_gap(
    store: Store, run: Run, cells: _Cells, pair: tuple[str, str], gap: float | None
) -> _Apart:
    shared = system_answers.shared_tasks(store, run)
    common = [items for items in shared.tasks.values() if all(name in items for name in pair)]
    if len(common) < 2:
        reason = shared.why or f"{pair[0]} and {pair[1]} share fewer than two tasks."
        return _Apart(cells, 0.0, 0.0, reason)
    rows = run_columns.places_of_items(store, run)
    task, of_side = (np.zeros(len(rows), np.int64) for _ in range(2))
    for index, side_of in enumerate(common):
        for number, name in zip((-1, 1), pair, strict=True):
            row = rows[side_of[name]]
            task[row], of_side[row] = index, number
    side_cells = np.flatnonzero(of_side[cells.item])
    side, expected = of_side[cells.item[side_cells]], cells.expected
    part = expected.part[side_cells]
    reached = [float(np.maximum(part[side == side_of], 0.0).sum()) or 1.0 for side_of in (-1, 1)]
    part = side * part / np.where(side < 0, *reached)
    judged, mean, variance = (
        side_of[side_cells] for side_of in (expected.said, expected.mean, expected.variance)
    )
    scaled = Expected(part, judged, mean, variance, expected.left[side_cells])
    about = cells.about
    drawn_from = DrawableCells(about.names, *(column[side_cells] for column in about[1:]))
    tasks = gap_error_if_labelled(scaled, task[cells.item[side_cells]])
    voted_gap = float(scaled.part @ scaled.mean)
    cells_of = _Cells(cells.item[side_cells], drawn_from, scaled, side)
    systems = len(shared.systems)
    tests = max(1, systems * (systems - 1) // 2)
    voted = float(scaled.part @ scaled.said)
    return _Apart(cells_of, tasks, voted_gap if gap is None else gap, voted=voted, tests=tests)


def _label_gain(
    store: Store,
    run_id: int,
    cells: _Cells,
    labels: int,
    pair_gap: _Apart | None,
    hourly: float | None,
) -> LabelGain:
    unlabelled = cells.unlabelled
    width = {draw: half_width(cells.groups(draw, labels)) for draw in DRAWS}
    minutes = queue_cap.expected_minutes(store, run_id, labels, QueueSettings())
    money = None if minutes is None or hourly is None else minutes / 60 * hourly
    if pair_gap is None or pair_gap.reason:
        return LabelGain(labels, width, None, None, minutes, money)
    spread = pair_gap.gap_error(labels, unlabelled)
    finds = None if spread is None else smallest_detectable_gap(spread, pair_gap.tests)
    return LabelGain(labels, width, pair_gap.power(labels, unlabelled), finds, minutes, money)
