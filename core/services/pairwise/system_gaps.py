"""Differences between systems of one run that answered the same tasks, by judges and by people.

Two systems are compared on the tasks that both answered, criterion by criterion, so that the
difficulty of tasks cancels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from core.domain.runs import Run
from core.metrics.estimate import USUAL, Confidence, Estimate
from core.metrics.intervals.bootstrap import holm
from core.metrics.intervals.means import LEVEL, Difference, paired_difference
from core.metrics.intervals.powered_gaps import powered_gap, whole_items
from core.metrics.intervals.sampling import Powered
from core.metrics.measure import Array, Statistic, ratio_or_nan
from core.services.agreement.group_figures import Draws
from core.services.datasets import label_draws
from core.services.pairwise.system_answers import SharedTasks, shared_tasks
from core.services.queueing.drawn_cells import DrawnCells
from core.services.results import grid, run_columns, scored_items
from core.services.review import random_labels
from core.services.review.corrected_estimates import CorrectedMean, mean_of
from core.store.store import Store
from core.text.numbers import percent, plural, points

RESAMPLES = 1000
NO_TASK = "No task has a value of both."
NO_SYSTEMS = "The items name fewer than two systems."


def gaps_between(
    store: Store,
    run: Run,
    shared: SharedTasks,
    first: str,
    second: str,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    confidence: Confidence = USUAL,
) -> dict[str, Difference]:
    """Return the second system's mean minus the first's, by criterion; by score under "".

    All are on the same resamples of the tasks that both answered.

    Intervals and p-values are those of ``compare`` (``paired_difference`` over tasks). The
    criteria's p-values are corrected (Holm 1979); the score's is not.
    """
    shared_items = [t for t in shared.tasks.values() if first in t and second in t]
    rubric = scored_items.scored_rubric(store, run)
    ids = run_columns.ids_of_run(store, run)
    given = run_columns.score_columns(store, run).score.tolist()
    values: dict[str, dict[str, float | None]] = {"": dict(zip(ids, given, strict=True))}
    criteria = {criterion.name: criterion for criterion in rubric.criteria}
    for column in run_columns.cell_columns(store, run):
        if column.criterion in criteria:
            earned = {
                value: grid.earned_share(criteria[column.criterion], value)
                for value in np.unique(column.value[~np.isnan(column.value)]).tolist()
            }
            shares = values.setdefault(column.criterion, {})
            for row, value in zip(column.rows.tolist(), column.value.tolist(), strict=True):
                shares[ids[row]] = earned.get(value)
    draws = Draws(len(shared_items), resamples, seed, confidence) if shared_items else None

    def gap_of(name: str) -> Difference:
        shares = values.get(name, {})
        sides = [
            # NumPy reads None as NaN.
            np.array([shares.get(task[system]) for task in shared_items], np.float64)
            for system in (first, second)
        ]
        return _gap_between(sides, draws)

    gaps = {criterion.name: gap_of(criterion.name) for criterion in rubric.criteria}
    corrected = holm([gap.p.value for gap in gaps.values()])
    return {
        "": gap_of(""),
        **{
            name: gap._replace(p=gap.p._replace(value=p))
            for (name, gap), p in zip(gaps.items(), corrected, strict=True)
        },
    }


def _gap_between(sides: Sequence[Array], draws: Draws | None) -> Difference:
    compared: npt.NDArray[np.bool_] = ~np.isnan(np.add(*sides))
    n = int(compared.sum())
    if draws is None or not n:
        undefined = Estimate.undefined(NO_TASK)
        return Difference(undefined, undefined, "bootstrap")
    weights_compared, level = compared.astype(np.float64), draws.confidence

    def mean(side: Array) -> Statistic:
        values = np.where(compared, side, 0.0)
        return lambda weights: ratio_or_nan(values @ weights, weights_compared @ weights)

    tasks, times = np.arange(len(compared)), np.ones(len(compared), dtype=np.int64)
    means, drawn = (mean(sides[0]), mean(sides[1])), draws.of(tasks, times)
    result = paired_difference(*means, drawn, times, mask=compared, confidence=level)
    return result._replace(value=result.value._replace(n=n))


# Systems ranked as if people had judged all answers.
#
# Judges' votes on all answers are corrected by people's labels on a random part: means of these
# answers, and gaps between two systems over the tasks that both answered.


class SystemMean(NamedTuple):
    """One system's mean, and the range of its possible ranks, from 1.

    ``places`` is the range that significant gaps allow; ``None`` if no gap is known.
    """

    system: str
    mean: CorrectedMean
    places: tuple[int, int] | None


class SystemsApart(NamedTuple):
    """The second system's gap to the first. ``p`` is corrected for the number of pairs."""

    first: str
    second: str
    found: Powered
    p: float | None

    @property
    def better_system(self) -> str:
        """Return the system that is significantly better, or an empty string."""
        value = self.found.mean.value
        if value is None or self.p is None or self.p >= LEVEL:
            return ""
        return self.second if value > 0 else self.first


@dataclass(frozen=True)
class CorrectedSystems:
    """Systems by corrected mean; ``criterion`` is empty for all criteria, by weight.

    ``reason`` says why a correction is impossible, ``queue`` names the queue that drew the labels,
    ``declared`` says in words who declared them a random draw.
    """

    criterion: str
    systems: tuple[SystemMean, ...]
    gaps: tuple[SystemsApart, ...]
    queue: str = ""
    reason: str = ""
    declared: str = ""


def corrected_systems(
    store: Store,
    run: Run,
    criterion: str = "",
    tasks: SharedTasks | None = None,
    level: float = USUAL.level,
) -> CorrectedSystems:
    """Return the systems of a run, as if people had judged all their answers.

    A criterion's mean is the share of its best value, as in the grid. The mean of all criteria is
    points by weight as a share of the possible points, before gates, penalties and limits.
    ``tasks`` is the result of ``shared_tasks``, if already loaded.
    """
    labels = random_labels.labels_of_run(store, run.id, criterion)
    shared = shared_tasks(store, run) if tasks is None else tasks
    if len(shared.systems) < 2:
        return CorrectedSystems(criterion, (), (), reason=shared.why or NO_SYSTEMS)
    drawn = _earned_shares(labels.cells) if criterion else labels.cells
    row_of = {item: row for row, item in enumerate(drawn.table.ids)}
    of_system = np.full(len(row_of), -1)
    for items in shared.tasks.values():
        for name, item in items.items():
            of_system[row_of[item]] = shared.systems.index(name)
    numbers = of_system[drawn.item]
    cells = {name: drawn.take(numbers == index) for index, name in enumerate(shared.systems)}
    by_item = labels.by_item
    gap_of = partial(_powered_gap, shared, cells, criterion, by_item=by_item, level=level)
    gaps = [] if labels.reason else _compared_pairs(shared.systems, gap_of)
    places = _ranks(shared.systems, gaps)
    means = (
        SystemMean(
            name, mean_of(part, criterion, labels.reason, level, by_item=by_item), places.get(name)
        )
        for name, part in cells.items()
    )
    return CorrectedSystems(
        criterion,
        tuple(sorted(means, key=_descending)),
        tuple(gaps),
        labels.queue.name if labels.queue is not None else "",
        labels.reason,
        label_draws.draw_words(labels.declared),
    )


def _earned_shares(cells: DrawnCells) -> DrawnCells:
    """Return the cells with each value as a share of the criterion's best value, as in grids. Cells
    without such a share are left out.
    """
    # The share grows evenly from the share at value 0 to the share at value 1.
    questions = cells.table.questions
    ends = [[grid.earned_share(question, end) for question in questions] for end in (0.0, 1.0)]
    lowest, highest = (np.array(end, np.float64)[cells.question] for end in ends)
    voted, value = (lowest + values * (highest - lowest) for values in (cells.said, cells.value))
    return replace(cells, said=voted, value=value).take(~np.isnan(voted))


def _descending(system: SystemMean) -> tuple[float, float]:
    mean = None if system.mean.powered is None else system.mean.powered.mean.value
    voted = system.mean.said or 0.0
    return (-(voted if mean is None else mean), -voted)


def _compared_pairs(
    systems: Sequence[str], gap_of: Callable[[tuple[str, str]], Powered]
) -> list[SystemsApart]:
    """Return every pair of systems compared, over the tasks that both answered."""
    compared = [(*pair, gap_of(pair)) for pair in combinations(systems, 2)]
    corrected = holm([gap.p for *_, gap in compared])
    return [
        SystemsApart(first, second, gap, p)
        for (first, second, gap), p in zip(compared, corrected, strict=True)
    ]


def _powered_gap(
    shared: SharedTasks,
    cells: dict[str, DrawnCells],
    criterion: str,
    pair: tuple[str, str],
    *,
    by_item: bool,
    level: float,
) -> Powered:
    tasks = {
        items[name]: index
        for index, items in enumerate(shared.tasks.values())
        if all(name in items for name in pair)
        for name in pair
    }
    of_item = np.array([tasks.get(item, -1) for item in cells[pair[0]].table.ids], np.int64)
    sides = [cells[name].take(of_item[cells[name].item] >= 0) for name in pair]
    n_items = len(np.unique(np.concatenate([of_item[side.item] for side in sides])))
    parts = []
    for sign, side in zip((-1, 1), sides, strict=True):
        weights = np.ones(len(side)) if criterion else side.weight
        reached = float(weights[weights > 0].sum())
        parts.append(weights * (sign * n_items / reached if reached else 0.0))
    first, second = sides
    all_ = first.and_more(second)
    units: tuple[npt.NDArray[Any], ...]
    units = (all_.said, all_.counted, all_.stratum, np.concatenate(parts), of_item[all_.item])
    if by_item and not criterion:
        signs = np.repeat([-1.0, 1.0], [len(first), len(second)])
        units = whole_items(all_.item, signs, *units)
    return powered_gap(*units, level=level)


def _ranks(systems: Sequence[str], gaps: Sequence[SystemsApart]) -> dict[str, tuple[int, int]]:
    """Return each system's range of ranks: after surely better, before surely worse systems."""
    if not any(gap.found.mean.value is not None for gap in gaps):
        return {}
    above, below = (dict.fromkeys(systems, 0) for _ in range(2))
    for gap in gaps:
        if gap.better_system:
            above[gap.first if gap.better_system == gap.second else gap.second] += 1
            below[gap.better_system] += 1
    return {name: (1 + above[name], len(systems) - below[name]) for name in systems}


def in_words(systems: CorrectedSystems) -> str:
    """Return which system is best by judges and by people, and whether it is the same.

    Empty if a correction is impossible. For declared labels it ends by saying who declared them.
    """
    text = _leader_words(systems)
    return f"{text} {systems.declared}" if systems.declared and systems.systems else text


def _leader_words(systems: CorrectedSystems) -> str:
    if systems.reason or len(systems.systems) < 2:
        return systems.reason
    best = systems.systems[0]
    if best.mean.powered is None:
        return best.mean.reason
    by_votes = max(systems.systems, key=lambda system: system.mean.said or 0.0)
    mean = best.mean.powered.mean
    if mean.value is None:
        return mean.reason
    in_total = f"{percent(mean.value)}, counted on all of its {plural(best.mean.cells, 'cell')}"
    share = in_total if mean.low == mean.high else mean.words(percent).inline
    figure_name = f"mean on {systems.criterion}" if systems.criterion else "mean score"
    head = f"By the labels {best.system} is ahead with a {figure_name} of {share}"
    if by_votes.system != best.system:
        head += (
            f", not {by_votes.system}, whom the votes alone put first "
            f"({percent(by_votes.mean.said)} against {percent(best.mean.said)})"
        )
    return f"{head}. {_how_sure(systems, best.system, by_votes.system)}"


def _how_sure(systems: CorrectedSystems, best: str, best_by_votes: str) -> str:
    rival = best_by_votes if best_by_votes != best else systems.systems[1].system
    for pair in systems.gaps:
        if {pair.first, pair.second} == {best, rival}:
            gap = pair.found.mean
            if gap.value is None:
                return f"The size of its lead is unknown: {gap.reason}"
            if pair.first == best:
                low, high = -(gap.high or 0.0), -(gap.low or 0.0)
                gap = gap._replace(value=-gap.value, low=low, high=high)
            caution = f"sure if taken alone, not among {len(systems.gaps)} pairs"
            unsure = caution if (gap.low or 0.0) > 0 else "no more than chance may do"
            certainty = "more than chance" if pair.better_system else unsure
            ahead, ends, _ = gap.words(points)
            return f"It is {ahead} before {rival} ({ends}): {certainty}."
    return ""


def as_data(systems: CorrectedSystems) -> dict[str, Any]:
    """Return the corrected systems for ``rank --json``."""
    data: dict[str, Any] = {
        "queue": systems.queue or None,
        **({"declared": systems.declared} if systems.declared else {}),
        "systems": [
            {
                "system": system.system,
                "raw": system.mean.said,
                "corrected": figure(
                    None if (p := system.mean.powered) is None else p.mean, system.mean.reason
                ),
                "labels_alone": figure(None if p is None else p.labels, system.mean.reason),
                "cells": system.mean.cells,
                "labelled": system.mean.labelled,
                "places": system.places,
            }
            for system in systems.systems
        ],
        "gaps": [
            {
                "first": pair.first,
                "second": pair.second,
                "raw": pair.found.raw,
                **figure(pair.found.mean),
                "labels_alone": figure(pair.found.labels),
                "listened": pair.found.listened,
                "p": pair.p,
                "better": pair.better_system or None,
            }
            for pair in systems.gaps
        ],
    }
    no = {"undefined": {"corrected": systems.reason}}
    return {**data, **(no if systems.reason else {"in_words": in_words(systems)})}


def corrected_data(store: Store, run: Run, level: float = USUAL.level) -> dict[str, Any]:
    """Return the figures of all criteria together and of each, for ``rank --json``."""
    tasks = shared_tasks(store, run)
    names = [c.name for c in scored_items.scored_rubric(store, run).criteria]
    overall = as_data(corrected_systems(store, run, "", tasks, level))
    if "undefined" in overall or len(names) < 2:
        return overall
    parts = {name: as_data(corrected_systems(store, run, name, tasks, level)) for name in names}
    return {**overall, "criteria": parts}


def figure(estimate: Estimate | None, reason: str = "") -> dict[str, Any]:
    """Return a figure with its interval, or the reason why it is missing."""
    if estimate is None or estimate.value is None:
        reason = reason if estimate is None else estimate.reason
        return {"value": None, "undefined": {"value": reason}}
    return {"value": estimate.value, "ci": estimate.ci, "n": estimate.n}
