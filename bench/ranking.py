"""How often the intervals of strengths hold: systems with planted strengths, many small studies.

    python bench/ranking.py [studies]

For each design it draws studies from Davidson's model with a random effect per item (contests of an
item hang together), and counts: how often a system's interval holds its true strength; how often
all rank ranges hold all true ranks at once (nominal 95 %); how often somebody is called better who
is not; and the root of the mean squared error.

Then four systems on 6 to 50 tasks, ranked by the scores that one, three or five judges give on five
or twenty-one levels (a task suits one system more than another): how often somebody is called
better of four equal ones, how often the best is told from the others where it is better by one
standard deviation of a judge, how often intervals of strengths and win rates hold, and how
often means of systems that share no task are told apart.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from core.metrics.ranking.bradley_terry import outcome_shares, strengths_by_group
from core.metrics.ranking.contests import ContestTable, contest_table
from core.metrics.ranking.ranks import contests_of_ballots, rank_ranges
from core.services.pairwise.leaderboard_parts import rates_of
from core.services.pairwise.unmatched_tasks import better_of

#: systems, items, spread of strengths, log tie parameter, standard deviation of the item's effect
DESIGNS = [
    (3, 20, 1.0, -0.7, 0.0),
    (3, 50, 1.0, -0.7, 0.5),
    (5, 30, 1.0, -np.inf, 0.5),
    (5, 100, 1.0, -0.7, 0.5),
    (10, 50, 1.5, -0.7, 0.5),
    (10, 200, 0.5, -0.7, 1.0),
    (5, 40, 0.0, -0.7, 0.5),
    (5, 40, 0.1, -0.7, 0.5),
]


def study(
    true: np.ndarray, items: int, log_tie: float, item_sd: float, rng: np.random.Generator
) -> ContestTable:
    """All pairs on all items, each once."""
    n = len(true)
    first, second = np.triu_indices(n, 1)
    item = np.repeat(np.arange(items), len(first))
    a, b = np.tile(first, items), np.tile(second, items)
    shown = true[None, :] + rng.normal(0, item_sd, (items, n))
    won, tied, _ = outcome_shares(shown[item, a] - shown[item, b], log_tie)
    dice = rng.random(len(item))
    points = np.where(dice < won, 1.0, np.where(dice < won + tied, 0.5, 0.0))
    return contest_table(item, a, b, points, systems=n, n_items=items)


def target(true: np.ndarray, log_tie: float, item_sd: float) -> np.ndarray:
    """What a study without end would estimate: with item effects it is not the planted strength."""
    if not item_sd:
        return true - true.mean()
    rng = np.random.default_rng(99)
    table = study(true, 60_000, log_tie, item_sd, rng)
    (found,) = strengths_by_group(table, rng, resamples=0)
    return found.value


TASKS = (6, 10, 20, 30, 50)
#: Judges, the highest level, standard deviation of what a task adds to a system.
PANELS = ((1, 4, 0.0), (3, 4, 0.5), (3, 20, 1.0), (5, 20, 2.0))
SYSTEMS = 4


def ballots(
    tasks: int, panel: tuple[int, int, float], better: float, rng: np.random.Generator
) -> np.ndarray:
    """Scores of shape (judges, tasks, systems), the first system better by so much."""
    judges, top, spread = panel
    quality = rng.normal(0, 1, (tasks, SYSTEMS)) * spread
    quality[:, 0] += better
    said = quality + rng.normal(0, 1, (judges, tasks, SYSTEMS))
    return np.clip(np.round(said + top / 2), 0, top)


def of_ballots(scores: np.ndarray) -> ContestTable:
    """Every two systems of a ballot as a contest."""
    judges, tasks, _ = scores.shape
    return contests_of_ballots(scores.reshape(-1, SYSTEMS), np.tile(np.arange(tasks), judges))


def somebody_better(
    tasks: int, panel: tuple[int, int, float], studies: int, resamples: int = 500
) -> tuple[float, float]:
    """How often one of four equal systems is called better: by strengths, and by means of scores on
    tasks that no two systems share.
    """
    rng, by_strength, by_mean = np.random.default_rng(tasks), 0, 0
    for _ in range(studies):
        scores = ballots(tasks, panel, 0.0, rng)
        found = strengths_by_group(of_ballots(scores), rng, resamples=resamples)[0]
        by_strength += bool(found.better.any())
        by_mean += bool(better_of(list(scores.mean(axis=0).T)).any())
    return by_strength / studies, by_mean / studies


def few(studies: int) -> None:
    """Four systems on few tasks."""
    for panel in PANELS:
        for tasks in TASKS:
            false, means = somebody_better(tasks, panel, studies)
            rng, found, held, rates = np.random.default_rng(tasks), 0.0, 0.0, 0.0
            for _ in range(studies):
                table = of_ballots(ballots(tasks, panel, 1.0, rng))
                one = strengths_by_group(table, rng, resamples=500)[0]
                found += one.better[0, 1:].mean() if len(one.members) == SYSTEMS else 0.0
                table = of_ballots(ballots(tasks, panel, 0.0, rng))
                ends = strengths_by_group(table, rng, resamples=500)[0].intervals
                held += np.mean([i.low is not None and i.low <= 0 <= i.high for i in ends])
                each = rates_of(table, rng, 500)
                rates += np.mean([r.low is not None and r.low <= 0.5 <= r.high for r in each])
            print(
                f"{panel[0]} judges, {panel[1] + 1} levels, {tasks} tasks: equal ones 'better' "
                f"{false:.3f}, by means without common tasks {means:.3f}, a better one found "
                f"{found / studies:.3f}; strengths held {held / studies:.3f}, win rates "
                f"{rates / studies:.3f}",
                flush=True,
            )


def main() -> None:
    studies = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    few(studies)
    print("systems items spread tie   item_sd | interval  all ranks  false 'better'  rmse  s/study")
    for n, items, spread, log_tie, item_sd in DESIGNS:
        rng = np.random.default_rng(n * items)
        true = np.linspace(-spread, spread, n)
        aim = target(true, log_tie, item_sd)
        hit = ranks = false = 0.0
        error = 0.0
        began = time.perf_counter()
        for _ in range(studies):
            (found,) = strengths_by_group(study(true, items, log_tie, item_sd, rng), rng)
            hit += np.mean(
                [
                    i.low is not None and i.low <= t <= i.high
                    for i, t in zip(found.intervals, aim, strict=True)
                ]
            )
            ranges = rank_ranges(found.better)
            places = [(1 + int((true > t).sum()), n - int((true < t).sum())) for t in true]
            ranks += all(
                best <= high and low <= worst
                for (best, worst), (low, high) in zip(ranges, places, strict=True)
            )
            false += bool((found.better & (true[:, None] <= true[None, :])).any())
            error += float(((found.value - aim) ** 2).mean())
        took = (time.perf_counter() - began) / studies
        print(
            f"{n:7} {items:5} {spread:6} {np.exp(log_tie):4.2f} {item_sd:8} |"
            f" {hit / studies:8.3f} {ranks / studies:10.3f} {false / studies:14.3f}"
            f" {np.sqrt(error / studies):6.3f} {took:7.3f}"
        )


if __name__ == "__main__":
    main()
