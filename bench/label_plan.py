"""A plan of labels against what came of it: width promised and found, coverage, power.

    python -m bench.label_plan [samples]

1,000 made cells, three judges right in 80% each (a third of the cells is hard: 60%), a yes-or-no
question, of which 25% are yes. After 40 random labels a second draw of N is planned in each of the
three ways, made with its known chances, and both together correct the mean. Then two systems on
300 tasks, .1 apart: the chance promised to find it, and how often it was found.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np

from core.domain.review import DrawKind
from core.metrics.intervals.planning import (
    Expected,
    detection_power,
    draw_groups,
    gap_error_if_labelled,
    half_width,
    sum_error,
)
from core.metrics.intervals.powered_gaps import powered_gap
from core.metrics.intervals.sampling import powered_mean
from core.metrics.measure import Array, Ratings
from core.services.labelling.label_plan import BELIEVED, DRAWS
from core.services.queueing.draw_chances import DrawableCells, chances_by_stratum, strata

CELLS, FIRST, JUDGES, YES = 1000, 40, 3, 0.25
TASKS, GAP = 300, 0.1


class Made(NamedTuple):
    """Truth, the panel's verdict, and the margin of its votes."""

    true: Ratings
    voted: Ratings
    margin: Array


def made(generator: np.random.Generator, cells: int, *, shift: float = 0.0) -> Made:
    """Cells with their votes; every second has ``shift`` more chance of yes."""
    true = generator.binomial(1, YES + shift * (np.arange(cells) % 2), cells)
    right = np.where(generator.random(cells) < 1 / 3, 0.6, 0.8)
    said = np.where(generator.random((JUDGES, cells)) < right, true, 1 - true)
    for_yes = said.mean(axis=0)
    return Made(true, (for_yes > 0.5).astype(np.int64), np.abs(2 * for_yes - 1))


def wrong(margin: Array) -> Array:
    """The chance of another answer, as ``label_plan`` has it."""
    return np.asarray(1 - (JUDGES * (1 + margin) / 2 + 0.5) / (JUDGES + 1), np.float64)


def expected(of: Made, seen: Array, part: Array) -> Expected:
    """What a plan expects of cells, by the labels there are."""
    due = wrong(of.margin)
    usual = BELIEVED * due.mean()
    came = (of.true != of.voted)[seen > 0].sum() + usual
    off = np.minimum(1.0, due * came / (due[seen > 0].sum() + usual))
    mean = np.where(of.voted == 1, 1 - off, off)
    return Expected(part, of.voted.astype(np.float64), mean, mean * (1 - mean), seen == 0)


def planned(of: Made, seen: Array, draw: DrawKind, labels: int) -> tuple[float, Ratings, Array]:
    """The half width promised, every cell's stratum, and its chance."""
    group, kinds = strata(
        draw, DrawableCells(["c"], np.zeros(CELLS, np.int64), of.voted.astype(int), of.margin)
    )
    sizes = np.bincount(group[seen == 0], minlength=len(kinds)).tolist()
    left = {kind: size for kind, size in zip(kinds, sizes, strict=True) if size}
    chance = chances_by_stratum(draw, labels / sum(sizes), left)
    each = np.array([chance.get(kinds[at], 0.0) for at in group])
    groups = draw_groups(expected(of, seen, np.full(CELLS, 1 / CELLS)), group, each)
    return half_width(groups) or float("nan"), group, each


def means(samples: int) -> None:
    """Width promised and found, and coverage."""
    generator = np.random.default_rng(18)
    for labels in (50, 100, 200):
        for draw in DRAWS:
            promised, came, held = list[float](), list[float](), 0
            for _ in range(samples):
                of = made(generator, CELLS)
                seen = np.zeros(CELLS)
                seen[generator.choice(CELLS, FIRST, replace=False)] = 1
                width, group, chance = planned(of, seen, draw, labels)
                mark = (seen > 0) | (generator.random(CELLS) < chance)
                found = powered_mean(of.voted, of.true[mark], mark, group)
                low, high = found.mean.low, found.mean.high
                if low is None or high is None:
                    continue
                promised.append(width)
                came.append((high - low) / 2)
                held += low <= of.true.mean() <= high
            print(
                f"{FIRST} + {labels} labels, {DRAWS[draw]}: promised {np.mean(promised):.4f}, "
                f"found {np.mean(came):.4f}, coverage {held / len(came):.3f} of {len(came)}",
                flush=True,
            )


def gaps(samples: int) -> None:
    """Power promised and found: the second system is truly better on GAP of the tasks."""
    generator = np.random.default_rng(5)
    tasks, sides = np.repeat(np.arange(TASKS), 2), np.tile([-1, 1], TASKS)
    for labels in (100, 300, 600):
        promised, hits = list[float](), 0
        for _ in range(samples):
            of = made(generator, 2 * TASKS, shift=GAP)
            mark = np.full(2 * TASKS, np.nan)
            mark[generator.choice(2 * TASKS, labels, replace=False)] = 1.0
            known = of.true * mark
            found = powered_gap(of.voted, known, np.zeros(2 * TASKS), sides, tasks)
            hits += found.p is not None and found.p < 0.05 and (found.mean.value or 0) > 0
            cells = expected(of, np.zeros(2 * TASKS), sides / TASKS)
            chance = np.full(2 * TASKS, labels / (2 * TASKS))
            spread = sum_error(draw_groups(cells, (sides > 0).astype(np.int64), chance)) or 0.0
            promised.append(
                detection_power(GAP, float(np.hypot(spread, gap_error_if_labelled(cells, tasks))))
            )
        print(
            f"{TASKS} tasks, {labels} of {2 * TASKS} labels: power promised "
            f"{np.mean(promised):.3f}, found {hits / samples:.3f}",
            flush=True,
        )


def main() -> None:
    """Print a line for each setting."""
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    means(samples)
    gaps(samples)


if __name__ == "__main__":
    main()
