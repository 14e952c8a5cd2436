"""How long every figure with its interval takes.

    python -m bench.metrics

First the whole report of ``metrics --bootstrap 1000`` on 2,000 items x 6 criteria x 3 judges with
gold labels (groups, pairs, panel, scores), then 10,000 resamples of 100,000 items x 6 criteria and
of 1,000,000 items x 1 criterion, 3 judges each. Prints the median of five rounds, wall and CPU, and
how many figures and intervals came out, so that a report that leaves something out cannot look
fast. Set ``OPENBLAS_NUM_THREADS=1``: a second thread of BLAS counts while it waits, too.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from core.domain.base import build_model
from core.domain.rubric import Rubric
from core.services.agreement.metrics_report import metrics_report
from core.services.agreement.rating_tables import ratings_by_criterion
from core.services.agreement.ratings import FAILED, Column, Rated, RatedItems, Rater, Traits

JUDGES = ("A", "B", "C")
FIVE = [{"label": f"L{i}", "value": i / 4} for i in range(5)]
SIX: list[dict[str, Any]] = [
    {"name": "right", "requirement": "r", "weight": 10},
    {"name": "safe", "requirement": "r", "weight": 5},
    {"name": "depth", "requirement": "r", "scale": "ordinal", "options": FIVE},
    {"name": "tone", "requirement": "r", "scale": "ordinal", "options": FIVE},
    {"name": "clear", "requirement": "r", "scale": "ordinal", "options": FIVE},
    {"name": "kind", "requirement": "r", "scale": "nominal", "options": FIVE[:3]},
]
NOISE, MISSING, ROUNDS = 0.35, 0.02, 5


def made(items: int, criteria: list[dict[str, Any]], seed: int = 7) -> Rated:
    """Judges who each take another level with probability ``NOISE``, and gold labels."""
    rng = np.random.default_rng(seed)
    rubric = build_model(Rubric, {"criteria": criteria}, "rubric")
    rows, labels, columns = np.arange(items), {}, list[Column]()
    for criterion in rubric.criteria:
        scored = np.array(criterion.scored)
        truth = rng.integers(0, len(scored), items)
        labels[criterion.name] = scored[truth]
        for judge in JUDGES:
            other = rng.integers(0, len(scored), items)
            given = scored[np.where(rng.random(items) < NOISE, other, truth)]
            given[rng.random(items) < MISSING] = FAILED
            columns.append(Column(criterion.name, Rater(judge, "llm"), rows, given))
    of = RatedItems(tuple(map(str, rows)), (Traits(),) * items, rubric, {}, tuple)
    return ratings_by_criterion(of, columns, (), labels)


def main() -> None:
    _show("2,000 items x 6 criteria x 3 judges, points only", made(2_000, SIX), 0)
    _show("2,000 items x 6 criteria x 3 judges, 1,000 resamples", made(2_000, SIX), 1_000)
    six = made(100_000, SIX)
    _show("100,000 items x 6 criteria x 3 judges, points only", six, 0)
    _show("100,000 items x 6 criteria x 3 judges, 10,000 resamples", six, 10_000)
    one = made(1_000_000, SIX[2:3])
    _show("1,000,000 items x 1 criterion x 3 judges, points only", one, 0)
    _show("1,000,000 items x 1 criterion x 3 judges, 10,000 resamples", one, 10_000)


def _show(name: str, rated: Rated, resamples: int) -> None:
    figures = metrics_report(rated, None, resamples, 1)
    wall, cpu = _medians(lambda: metrics_report(rated, None, resamples, 1))
    print(
        f"{name:60} {wall:6.2f} s wall {cpu:6.2f} s CPU  "
        f"{_count(figures, 'figures'):5} figures {_count(figures, 'ci'):5} intervals"
    )


def _medians(work: Callable[[], object]) -> tuple[float, float]:
    walls, cpus = list[float](), list[float]()
    for _ in range(ROUNDS):
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return statistics.median(walls), statistics.median(cpus)


def _count(found: Any, what: str) -> int:
    if not isinstance(found, dict):
        return 0
    if what == "ci":
        ci = found.get("ci", {})
        own = sum(v is not None for v in ci.values()) if isinstance(ci, dict) else 1
    else:
        own = sum(isinstance(v, float) for v in found.values())
    return own + sum(_count(v, what) for key, v in found.items() if key != "ci")


if __name__ == "__main__":
    main()
